package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
)

// heard is what a purse logs.
type heard struct{ lines []string }

func (h *heard) log(format string, args ...any) {
	h.lines = append(h.lines, fmt.Sprintf(format, args...))
}

// TestPurse: what turns spend counts before a record tells of it, and only once when one does; no turn begins when
// nothing is left.
func TestPurse(t *testing.T) {
	t.Parallel()
	var log heard
	state := loop.State{Usage: loop.Usage{Input: 500}}
	p := &Budget{limits: loop.Limits{Tokens: 1000}, state: func() loop.State { return state }, log: log.log}
	spend := func(n int64) {
		p.now()
		p.spent = p.spent.Plus(loop.Usage{Output: n})
		p.warn()
	}
	for _, step := range []struct {
		what string
		do   func()
		left int64
	}{
		{"at first", func() {}, 500},
		{"a reviewer's turn", func() { spend(200) }, 300},
		{"another one's", func() { spend(150) }, 150},
		{"the record of both", func() { state.Usage.Output += 350 }, 150},
		{"the next turn", func() { spend(150) }, 0},
	} {
		step.do()
		if left, empty := p.left(); left.Tokens != step.left || (empty != "") != (step.left == 0) {
			t.Errorf("%s: %d left (%s), want %d", step.what, left.Tokens, empty, step.left)
		}
	}
	if want := []string{"warning: 850 of 1000 tokens used"}; !slices.Equal(log.lines, want) {
		t.Errorf("log = %q, want %q, once", log.lines, want)
	}
	turn, err := p.Turn(context.Background(), agent.Options{Command: "/none/claude"}, "Do it.")
	if err != nil || turn.Class != loop.Spent || !turn.Ours || turn.Reason != "token limit reached: 1000 of 1000 used" {
		t.Errorf("turn = %+v, %v; want none", turn, err)
	}
}

// TestTellLimits: a run logs its limits, and does not start with an agent that cannot be held to them.
func TestTellLimits(t *testing.T) {
	t.Parallel()
	claude, codex, mine := &agent.Options{Command: "claude"}, &agent.Options{
		Command: "codex",
	}, &agent.Options{Command: "./agent.sh"}
	carried := modelGateway{}
	priced, unknown := &agent.Options{Command: "codex", Host: agent.Host{Gateway: carried}, Model: "gpt-5.5"},
		&agent.Options{Command: "claude", Host: agent.Host{Gateway: carried}, Model: "opus-99"}
	for name, c := range map[string]struct {
		limits loop.Limits
		agents []*agent.Options
		want   string
	}{
		"no budget": {loop.Limits{Wall: time.Hour}, []*agent.Options{codex}, ""},
		"all of them": {loop.Limits{Wall: time.Hour, CostUSD: 5, Tokens: 10, IssueCostUSD: 20},
			[]*agent.Options{claude, nil},
			"limits: $5.00, 10 tokens, $20.00 for all runs of the issue, of which $2.50 are spent, 1h"},
		"no price": {loop.Limits{CostUSD: 5}, []*agent.Options{claude, codex},
			"limits: $5.00|codex does not report its cost, so maxCostUsd cannot limit this run: run it with gateway: auto " +
				"and a key, or set maxTokens, maximumIterations or timeoutMinutes instead"},
		"a price": {loop.Limits{CostUSD: 5}, []*agent.Options{priced}, "limits: $5.00"},
		"an unknown model": {loop.Limits{IssueCostUSD: 5}, []*agent.Options{unknown},
			"limits: $5.00 for all runs of the issue, of which $2.50 are spent|the price of the model \"opus-99\" is not " +
				"known, so maxCostUsdPerIssue cannot limit this run: name it in the setting prices, or set maxTokens, " +
				"maximumIterations or timeoutMinutes instead"},
		"tokens are told": {loop.Limits{Tokens: 5}, []*agent.Options{codex, unknown}, "limits: 5 tokens"},
		"nothing is told": {loop.Limits{Tokens: 5}, []*agent.Options{mine}, "limits: 5 tokens|agent.sh reports neither its " +
			"cost nor its tokens, so maxTokens cannot limit this run: set gateway: require, or maximumIterations or " +
			"timeoutMinutes instead"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log heard
			p := &Budget{limits: c.limits, log: log.log, state: func() loop.State {
				return loop.State{Start: loop.Start{Earlier: &loop.Usage{CostUSD: 2.5}}}
			}}
			if err := p.tellLimits(c.agents...); err != nil {
				log.log("%v", err)
				if _, again := p.Turn(t.Context(), *c.agents[len(c.agents)-1], "Do it."); again == nil || !invalid.Is(err) {
					t.Errorf("a turn despite %v", err)
				}
			}
			if got := strings.Join(log.lines, "|"); got != c.want {
				t.Errorf("log = %q\nwant  %q", got, c.want)
			}
		})
	}
}
