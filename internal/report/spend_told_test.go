package report

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestCostByTheAgentsCount: what agents counted stands beside what was seen, where the two differ, of the turns since
// the run was asked for.
func TestCostByTheAgentsCount(t *testing.T) {
	t.Parallel()
	seen, told := loop.Usage{CostUSD: 2, Input: 3000, Output: 1000}, loop.Usage{CostUSD: 0.5, Input: 1000, Output: 1000}
	for _, c := range []struct {
		name     string
		told     *loop.Usage
		reopened int
		want     string
	}{
		{"they agree", nil, 0, "**Cost so far:** $4.00 · 6.0k tokens in (0 from cache), 2.0k out"},
		{"they differ", &told, 0, "**Cost so far:** $4.00 · 6.0k tokens in (0 from cache), 2.0k out; by the agent's own " +
			"count $2.50 · 4.0k tokens in (0 from cache), 2.0k out"},
		{"they differed before", &told, 2, "**Cost so far:** $4.00 · 6.0k tokens in (0 from cache), 2.0k out"},
	} {
		s := loop.State{Usage: seen.Plus(seen), Reopened: c.reopened, Iterations: []*loop.Iteration{
			{N: 1, Turn: loop.Turn{Usage: seen}}, {N: 2, Turn: loop.Turn{Usage: seen, AgentUsage: c.told}}}}
		if got := (View{State: s}).cost(); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
		each := View{State: s}.spentOn(s.Iterations[1])
		if has := strings.Contains(each, "the agent counted $0.50"); has != (c.told != nil) {
			t.Errorf("%s: %s", c.name, each)
		}
	}
}
