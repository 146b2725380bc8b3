package report

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestUsageByTheAgentsCount: what an agent counted stands beside what was seen, if the two differ.
func TestUsageByTheAgentsCount(t *testing.T) {
	t.Parallel()
	seen, told := loop.Usage{CostUSD: 2, Input: 3000, Output: 1000}, loop.Usage{CostUSD: 0.5, Input: 1000, Output: 1000}
	for _, of := range []*loop.Usage{nil, &told} {
		said := (View{}).spentOn(&loop.Iteration{N: 1, Turn: loop.Turn{Usage: seen, AgentUsage: of}})
		if has := strings.Contains(said, "the agent counted $0.50"); has != (of != nil) {
			t.Errorf("of %v: %s", of, said)
		}
	}
}
