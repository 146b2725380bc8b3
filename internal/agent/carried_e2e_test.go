//go:build e2e

package agent_test

import (
	"cmp"
	"context"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/fake/model"
	proxy "github.com/ralph-loop/ralph/internal/gateway"
	"github.com/ralph-loop/ralph/internal/loop"
)

// wire is a real gateway, and where it listened.
type wire struct {
	mu    sync.Mutex
	hosts []string
}

func (w *wire) Prices(string) bool { return true }

func (w *wire) Open(routes []agent.Route, _ loop.Left) (agent.TurnGateway, error) {
	o := proxy.Options{Upstreams: map[string]proxy.Upstream{}}
	for _, r := range routes {
		base, err := url.Parse(r.Base)
		if err != nil {
			return nil, err
		}
		up := proxy.Upstream{Base: base, Credentials: []proxy.Credential{{Header: r.Header, Value: r.Value}}}
		for _, format := range r.Formats {
			up.Protocols = append(up.Protocols, proxy.Protocol(format))
		}
		o.Upstreams[r.Name] = up
	}
	turn, err := proxy.Open(o)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hosts = append(w.hosts, turn.Addr().String())
	return wired{turn}, nil
}

type wired struct{ *proxy.Turn }

func (w wired) Usage() (sum loop.Usage, asked bool) {
	for _, u := range w.Turn.Usage() {
		sum = sum.Plus(loop.Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite})
		asked = true
	}
	return sum, asked
}

// carriedReals are the real CLIs as a gateway carries them, with what leads it to the stand-in for their model.
func carriedReals(way agent.Gateway) []real {
	by := func(model string, env ...string) func(*agent.Options, string, func(string, string)) {
		return func(o *agent.Options, url string, write func(string, string)) {
			write(".gemini/settings.json", `{"security":{"auth":{"selectedType":"gemini-api-key"}},"general":{"maxAttempts":2}}`)
			o.Gateway, o.Model = way, model
			for _, name := range env {
				path := ""
				if name == "OPENAI_BASE_URL" {
					path = "/v1"
				}
				o.Parent = append(o.Parent, name+"="+url+path)
			}
		}
	}
	return []real{
		{"claude", "ANTHROPIC_API_KEY", stream.NewClaude, by("", "ANTHROPIC_BASE_URL")},
		{"codex", "OPENAI_API_KEY", stream.NewCodex, by("gpt-5.5", "OPENAI_BASE_URL")},
		{"gemini", "GEMINI_API_KEY", stream.NewGemini, by("gemini-2.5-flash", "GOOGLE_GEMINI_BASE_URL")},
		{"opencode", "OPENAI_API_KEY", stream.NewOpencode, by("openai/gpt-5.5", "OPENAI_BASE_URL")},
	}
}

// TestRealAgentsByAGatewayMeetTrouble: what a model's refusals make of a turn is the same with a gateway between.
func TestRealAgentsByAGatewayMeetTrouble(t *testing.T) {
	t.Parallel()
	for _, scenario := range []string{"limit", "overloaded", "server-error", "cut", "billing", "too-long"} {
		for _, r := range carriedReals(&wire{}) {
			t.Run(scenario+"/"+r.name, func(t *testing.T) {
				t.Parallel()
				b := ready(t, r, agent.Options{}, model.Scenario(scenario)...)
				turn := b.take(t.Context(), t, "Say something.")
				if want := cmp.Or(untold[r.name+"/"+scenario], troubles[scenario]); turn.Class != want || turn.Reason == "" {
					t.Errorf("turn = %+v, want class %s", turn, want)
				}
			})
		}
	}
}

// TestRealAgentsByAGatewayAtAUsageLimit: when a limit ends comes through, where the agent tells it.
func TestRealAgentsByAGatewayAtAUsageLimit(t *testing.T) {
	t.Parallel()
	for _, r := range carriedReals(&wire{}) {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			o := agent.Options{}
			if r.name == "opencode" {
				if turn := takeUntilLimit(t, r, o, model.Scenario("limit-reset")...); turn.Class != loop.UsageLimit ||
					!turn.SatOut {
					t.Errorf("turn = %+v", turn)
				}
				return
			}
			if r.name == "claude" {
				o.Keys = map[string]string{"CLAUDE_CODE_OAUTH_TOKEN": testKey}
			}
			b := ready(t, r, o, model.Scenario("limit-reset")...)
			turn := b.take(t.Context(), t, "Say something.")
			if off := turn.ResetAt.Sub(b.model.ResetAt).Abs(); turn.Class != loop.UsageLimit || off > time.Minute {
				t.Errorf("turn = %+v, want a reset at %s", turn, b.model.ResetAt)
			}
		})
	}
}

// TestRealAgentsByAGatewayKilled: of a turn that is ended in the middle of an answer nothing is left: no process, no
// gateway that listens, no request at the model.
func TestRealAgentsByAGatewayKilled(t *testing.T) {
	t.Parallel()
	for i := range carriedReals(nil) {
		way := &wire{}
		r := carriedReals(way)[i]
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			b := ready(t, r, agent.Options{Bounds: agent.Bounds{Grace: 2 * time.Second}}, model.Scenario("hang")...)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				for b.model.Answering() == 0 && ctx.Err() == nil {
					time.Sleep(20 * time.Millisecond)
				}
				cancel()
			}()
			if turn := b.take(ctx, t, "Say something."); turn.Class != loop.Stopped {
				t.Errorf("turn = %+v", turn)
			}
			if len(way.hosts) != 1 {
				t.Fatalf("gateways at %v", way.hosts)
			}
			if c, err := net.Dial("tcp", way.hosts[0]); err == nil {
				_ = c.Close()
				t.Errorf("the gateway at %s listens", way.hosts[0])
			}
			for end := time.Now().Add(10 * time.Second); b.model.Answering() > 0; time.Sleep(20 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("%d requests are at the model", b.model.Answering())
				}
			}
		})
	}
}
