//go:build unix

package agent_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/loop"
)

// gateway notes what it is asked to carry, and carries nothing.
type gateway struct {
	mu      sync.Mutex
	routes  []agent.Route
	used    loop.Usage
	refuses string
	closed  bool
	fails   error
}

func (g *gateway) Open(routes []agent.Route, _ loop.Left) (agent.TurnGateway, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.routes = routes
	return g, g.fails
}

func (g *gateway) Prices(model string) bool  { return model != "unpriced" }
func (g *gateway) URL() string               { return "http://127.0.0.1:4567" }
func (g *gateway) Bearer() string            { return "bearer-of-the-turn" }
func (g *gateway) Usage() (loop.Usage, bool) { return g.used, g.used != loop.Usage{} }
func (g *gateway) Refused() string           { return g.refuses }
func (g *gateway) Close() error              { g.closed = true; return nil }

// The keys of everybody, as a person may have them in the environment.
var everyKey = map[string]string{"ANTHROPIC_API_KEY": "sk-ant-real", "OPENAI_API_KEY": "sk-openai-real",
	"GEMINI_API_KEY": "AIza-real", "AMP_API_KEY": "amp-real"}

// secrets are all that no agent may see which is carried.
var secrets = []string{"sk-ant-real", "sk-openai-real", "AIza-real", "amp-real", "header-real", "sk-saved-real"}

// claudeSays is a script that ends as claude does, well or with an error.
func claudeSays(cost float64, failure string) string {
	return fmt.Sprintf(`echo '{"type":"result","subtype":"success","is_error":%t,"result":"%s","total_cost_usd":%g,`+
		`"usage":{"input_tokens":3,"output_tokens":4}}'; exit %d`, failure != "", cmp.Or(failure, "DONE"), cost,
		min(1, len(failure)))
}

// What a turn took is what its model's answers say; what the gateway refuses because of a limit ends it as spent.
func TestCarriedSpend(t *testing.T) {
	t.Parallel()
	seen := loop.Usage{Input: 100, Output: 50, CacheRead: 7}
	for _, c := range []struct {
		name, script string
		used         loop.Usage
		refuses      string
		want         loop.Usage
		class        loop.Class
	}{
		{"the agent's own account, where nothing was asked", claudeSays(0.5, ""), loop.Usage{}, "",
			loop.Usage{CostUSD: 0.5, Input: 3, Output: 4}, loop.OK},
		{"the wire's tokens, the agent's price", claudeSays(0.5, ""), seen, "",
			loop.Usage{CostUSD: 0.5, Input: 100, Output: 50, CacheRead: 7}, loop.OK},
		{"the wire's price", claudeSays(0.5, ""), loop.Usage{CostUSD: 0.25, Input: 1}, "",
			loop.Usage{CostUSD: 0.25, Input: 1}, loop.OK},
		{"refused", claudeSays(0, "API Error: 402 ralph: spent"), seen, "it is spent", seen, loop.Spent},
		{"refused, and well all the same", claudeSays(0, ""), seen, "it is spent", seen, loop.OK},
		{"within what is left", claudeSays(0, "API Error: 402 no credit"), seen, "", seen, loop.Billing},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f, g := newFake(t, "claude", c.script), &gateway{used: c.used, refuses: c.refuses}
			turn := f.turn(t, agent.Options{Host: agent.Host{Gateway: g, Keys: everyKey, Home: t.TempDir()}}, "Do it.")
			if told := turn.AgentUsage != nil; told != (c.used != loop.Usage{}) || told && turn.AgentUsage.Tokens() != 7 {
				t.Errorf("the agent told %+v", turn.AgentUsage)
			}
			ours := c.class == loop.Spent
			if turn.Usage != c.want || turn.Class != c.class || turn.Ours != ours || ours && turn.Reason != c.refuses {
				t.Errorf("turn = %+v, want %+v, %s", turn, c.want, c.class)
			}
		})
	}
}

func TestCarriedBadly(t *testing.T) {
	t.Parallel()
	f := newFake(t, "claude", "")
	for _, c := range []struct {
		o    agent.Options
		want string
	}{
		{agent.Options{Host: agent.Host{Gateway: &gateway{}}}, "no key for claude is in the environment"},
		{agent.Options{Host: agent.Host{Gateway: &gateway{fails: errors.New("no port")}, Keys: everyKey}}, "no port"},
	} {
		a := must(agent.New(f.options(c.o)))
		if _, err := a.Turn(t.Context(), "Do it."); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	if _, err := os.Stat(filepath.Join(f.dir, "argv")); err == nil {
		t.Error("the agent was run")
	}
}
