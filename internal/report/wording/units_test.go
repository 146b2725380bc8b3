package wording

import (
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

func TestUnits(t *testing.T) {
	for d, want := range map[time.Duration]string{-1: "0s", 400 * time.Millisecond: "0.4s", time.Millisecond: "0.1s",
		3 * time.Second: "3s", 9970 * time.Millisecond: "10s", 42 * time.Second: "42s", 185 * time.Second: "3m 05s",
		3725 * time.Second: "1h 02m"} {
		if got := safetext.Duration(d); got != want {
			t.Errorf("duration(%v) = %q, want %q", d, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1.0k", 12_345: "12k", 1_234_567: "1.2M"} {
		if got := Tokens(n); got != want {
			t.Errorf("tokens(%d) = %q, want %q", n, got, want)
		}
	}
	for u, want := range map[loop.Usage]string{{}: "", {CostUSD: 0.001}: "<$0.01",
		{Input: 10, Output: 5}:   "10 tokens in (0 from cache), 5 out",
		{CostUSD: 1.5, Input: 1}: "$1.50 · 1 tokens in (0 from cache), 0 out"} {
		if got := UsageText(u); got != want {
			t.Errorf("spent(%+v) = %q, want %q", u, got, want)
		}
	}
	told := AgentUsage(loop.Turn{Usage: loop.Usage{CostUSD: 2}, AgentUsage: &loop.Usage{CostUSD: 0.5}})
	if told != "in its turn the agent counted $0.50, and its model's answers say $2.00" || AgentUsage(loop.Turn{}) != "" {
		t.Errorf("of a difference it says %q", told)
	}
}
