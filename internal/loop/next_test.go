package loop

import (
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/task"
)

var (
	noon  = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	green = []Verdict{{Check: AgentCheck, Severity: Hard, Pass: true, Tree: "t"},
		{Check: "make test", Severity: Hard, Pass: true, Tree: "t"},
		{Check: ReviewCheck, Severity: Hard, Pass: true, Tree: "t"}}
	claims = Turn{Class: OK, Claim: Claim{Done: true}}
	made   = &Commit{SHA: "c", Tree: "t"}
)

func with(v Verdict, at int) []Verdict {
	out := append([]Verdict(nil), green...)
	out[at] = v
	return out
}

func judged(n int, t Turn, verdicts []Verdict) *Iteration {
	return &Iteration{N: n, Mode: Implement, Turn: t, Commit: made, Judged: true, Verdicts: verdicts}
}

func failed(n int) *Iteration {
	return judged(n, claims, with(Verdict{Check: "make test", Severity: Hard, Tree: "t", Reason: "it exited with code 1"},
		1))
}

var (
	asked    = Verdict{Check: "CI", Severity: Hard, Waits: true, Tree: "t", Reason: "CI has not ended"}
	hopeless = Verdict{Check: "make test", Severity: Hard, Tree: "t", Unfixable: true, Reason: "pytest is not installed"}
	limited  = Verdict{Check: ReviewCheck, Severity: Hard, Tree: "t", Waits: true, Reason: "limit",
		Until: noon.Add(time.Hour)}
	unpaid = Verdict{Check: ReviewCheck, Severity: Hard, Skipped: "the money is spent", Later: true, Tree: "t"}
)

// same is an iteration that failed as the one before.
func same(n int, tier Tier) *Iteration {
	it := judged(n, claims, with(Verdict{Check: "make test", Severity: Hard, Tree: "t", Hash: "h"}, 1))
	it.Tier = tier
	return it
}

// cutOff is an iteration whose turn was stopped because of what the run may spend.
func cutOff(n int) *Iteration {
	return judged(n, Turn{Class: Spent, Ours: true, Reason: "the agent was stopped"},
		with(Verdict{Check: AgentCheck, Severity: Hard, Tree: "t", Hash: "a"}, 0))
}

// silent is an iteration whose model answered nothing, ten minutes before noon.
func silent(n int) *Iteration {
	it := judged(n, Turn{Class: Idle, Silent: true, Duration: 10 * time.Minute},
		with(Verdict{Check: AgentCheck, Severity: Hard, Tree: "t", Hash: "a"}, 0))
	it.At = noon.Add(-10 * time.Minute)
	return it
}

// failing is a run whose newest turn failed for the nth time in a row.
func failing(n int, t Turn, p *Pause) State {
	return State{MaxIterations: 5, At: noon, FailInRow: n, Pause: p,
		Iterations: []*Iteration{{N: 1, Mode: Implement, At: noon.Add(-t.Duration), Turn: t, Commit: made}}}
}

// after is a run after these iterations.
func after(its ...*Iteration) State { return State{MaxIterations: 5, Iterations: its} }

func (s State) spent(u Usage) State { s.Usage = u; return s }

func (s State) most(n int) State { s.MaxIterations = n; return s }

func (s State) reopened(n int) State { s.Reopened = n; return s }

func takes(n int) Step { return Step{Do: TakeTurn, Iteration: n, Mode: Implement} }

func stop(o Outcome, reason string) Step { return Step{Do: Stop, Outcome: o, Reason: reason} }

// forHint is a run that was done when it took its second iteration only for a hint.
func forHint(it *Iteration) State {
	return State{MaxIterations: 5, HintTurn: true, DoneAt: 1, Iterations: []*Iteration{judged(1, claims, green), it}}
}

// TestNext has a row for every rule of going on or stopping, for every rule of the turn that a run takes only for a hint,
// and for a clock that is set anew while a run waits.
func TestNext(t *testing.T) {
	done, allPassed := judged(1, claims, green), stop(Done, "all checks passed on iteration 1")
	unread := State{MaxIterations: 5, Hints: []TakenHint{{}}, Iterations: []*Iteration{done}}
	tests := []struct {
		name  string
		state State
		at    time.Time
		want  Step
	}{
		{"a new run takes its first turn", State{MaxIterations: 5}, noon, takes(1)},
		{"a turn is followed by a commit, whatever it did",
			after(&Iteration{N: 1, Mode: Implement, Turn: Turn{Class: Broke}}),
			noon, Step{Do: MakeCommit, Iteration: 1, Mode: Implement}},
		{"a commit is judged", after(&Iteration{N: 1, Mode: Implement, Turn: claims, Commit: made}),
			noon, Step{Do: Judge, Iteration: 1, Mode: Implement}},
		{"a turn whose process died is taken again, with its number and mode",
			State{MaxIterations: 5, Turning: &Turning{Iteration: 2, Mode: Implement}, Iterations: []*Iteration{failed(1)}},
			noon, takes(2)},
		{"claim and every hard check on one tree: done", after(judged(1, claims, green)), noon,
			stop(Done, "all checks passed on iteration 1")},
		{"done counts on the last allowed iteration",
			after(judged(1, claims, green)).most(1), noon, stop(Done, "all checks passed on iteration 1")},
		{"done counts when the time is over", after(judged(1, claims, green)),
			noon.Add(2 * time.Hour), stop(Done, "all checks passed on iteration 1")},
		{"green without a claim goes on", after(judged(1, Turn{Class: OK}, green)), noon, takes(2)},
		{"a claim without verdicts goes on", after(judged(1, claims, nil)), noon, takes(2)},
		{"a claim with a failed hard check goes on", after(failed(1)), noon, takes(2)},
		{"a failed soft check does not block",
			after(judged(1, claims, append(with(green[1], 1), Verdict{Check: "lint", Severity: Soft, Tree: "t"}))), noon,
			stop(Done, "all checks passed on iteration 1")},
		{"a skipped hard check is no pass",
			after(judged(1, claims,
				with(Verdict{Check: ReviewCheck, Severity: Hard, Pass: true, Skipped: "why", Tree: "t"}, 2))),
			noon, takes(2)},
		{"a verdict on another tree is no pass",
			after(judged(1, claims, with(Verdict{Check: ReviewCheck, Severity: Hard, Pass: true, Tree: "other"}, 2))), noon,
			takes(2)},
		{"only the reviewer objects: review-fix",
			after(judged(1, claims, with(Verdict{Check: ReviewCheck, Severity: Hard, Tree: "t"}, 2))), noon,
			Step{Do: TakeTurn, Iteration: 2, Mode: ReviewFix}},
		{"what no change to the code makes pass ends the run", after(judged(1, Turn{Class: OK}, with(hopeless, 1))), noon,
			stop(Invalid, "pytest is not installed")},
		{"also beside an ordinary failure",
			after(judged(1, claims, append(with(hopeless, 1), Verdict{Check: "make lint", Severity: Hard, Tree: "t"}))), noon,
			stop(Invalid, "pytest is not installed")},
		{"what ended the run before it was asked for again does not end it again",
			after(judged(1, claims, with(hopeless, 1))).reopened(1), noon, takes(2)},
		{"a reader whose model has a limit is waited for, until its reset", after(judged(1, claims, with(limited, 2))),
			noon, Step{Do: Stop, Outcome: Waiting, Reason: "limit", Until: noon.Add(time.Hour)}},
		{"the cap", after(failed(1), failed(2)).most(2), noon, stop(Capped, "2 of 2 iterations are used up")},
		{"the time limit", after(failed(1)), noon.Add(time.Hour), stop(Timeout, "the run's time limit of 1h is over")},
		{"a fatal class stops at once, after the commit",
			after(&Iteration{N: 1, Turn: Turn{Class: Auth, Reason: "log in"}, Commit: made}), noon, stop(Invalid, "log in")},
		{"an agent that could not run a program stops the run if nothing changed",
			after(&Iteration{N: 1, Turn: Turn{Class: Missing, Reason: "install it"}, Commit: &Commit{Empty: true}}),
			noon, stop(Invalid, "install it")},
		{"an agent that could not run a program, after a change",
			after(&Iteration{N: 1, Turn: Turn{Class: Missing}, Commit: made}), noon, Step{Do: Judge, Iteration: 1}},
		{"an agent that could not run a program, where no one looks for changes, after words",
			after(&Iteration{N: 1, Turn: Turn{Class: Missing, Text: "Edited."}, Commit: &Commit{Unchecked: true}}),
			noon, Step{Do: Judge, Iteration: 1}},
		{"a fatal class still keeps what the turn left", after(&Iteration{N: 1, Turn: Turn{Class: Auth}}), noon,
			Step{Do: MakeCommit, Iteration: 1}},
		{"an empty turn is retried with the same number",
			State{MaxIterations: 5, EmptyInRow: 1,
				Iterations: []*Iteration{{N: 1, Turn: Turn{Class: Empty}, Commit: &Commit{Empty: true}}}},
			noon, takes(1)},
		{"the third empty turn in a row counts",
			State{MaxIterations: 5, EmptyInRow: 3,
				Iterations: []*Iteration{{N: 1, Turn: Turn{Class: Empty}, Commit: &Commit{Empty: true}}}},
			noon, Step{Do: Judge, Iteration: 1}},
		{"an empty answer that changed files counts", after(&Iteration{N: 1, Turn: Turn{Class: Empty}, Commit: made}), noon,
			Step{Do: Judge, Iteration: 1}},
		{"a stopped turn does not count", after(failed(1), &Iteration{N: 2, Turn: Turn{Class: Stopped}, Commit: made}),
			noon, takes(2)},
		{"a failed turn counts",
			after(judged(1, Turn{Class: Broke}, with(Verdict{Check: AgentCheck, Severity: Hard, Tree: "t"}, 0))).most(1),
			noon, stop(Capped, "1 of 1 iterations are used up")},
		{"a busy model is asked again after a pause, with the same number",
			failing(1, Turn{Class: Overloaded, Reason: "busy"}, nil), noon,
			Step{Do: Wait, Iteration: 1, Mode: Implement, Reason: "busy", Until: noon.Add(1836 * time.Millisecond)}},
		{"the pause is over", failing(1, Turn{Class: OutOfOrder}, &Pause{Until: noon}), noon, takes(1)},
		{"a model that does not come back ends the run", failing(9, Turn{Class: OutOfOrder, Reason: "HTTP 500"}, nil), noon,
			stop(Failed, "the model was not to be had 9 times in a row: HTTP 500")},
		{"a pause longer than the run",
			failing(8, Turn{Class: OutOfOrder, Reason: "HTTP 500"}, &Pause{Until: noon.Add(time.Hour)}),
			noon.Add(time.Hour - time.Second),
			stop(Timeout, "the run's time limit of 1h ends before the usage limit resets: HTTP 500")},
		{"a limit that the agent has sat out is not asked again",
			failing(1, Turn{Class: UsageLimit, SatOut: true, Reason: "limit"}, nil), noon, stop(Waiting, "limit")},
		{"unless its end is known", failing(1,
			Turn{Class: UsageLimit, SatOut: true, Reason: "limit", ResetAt: noon.Add(30 * time.Minute)}, nil), noon,
			Step{Do: Wait, Iteration: 1, Mode: Implement, Reason: "limit", Until: noon.Add(30*time.Minute + 2*time.Second)}},
		{"one silent turn is an attempt", after(failed(1), silent(2)).most(9), noon, takes(3)},
		{"two in a row are a model that does not answer",
			State{MaxIterations: 9, Iterations: []*Iteration{failed(1), silent(2), silent(3)}}, noon,
			Step{Do: Stop, Outcome: Waiting, Reason: "the model has answered nothing in 2 turns, each stopped for its silence " +
				"after 10m: it does not work, or the agent waits for a usage limit without saying so; see whether it answers, " +
				"or raise the idle limit if it needs longer"}},
		{"two with another between", after(silent(1), failed(2), silent(3)).most(9), noon, takes(4)},
		{"two, of which the run was resumed after the first",
			State{MaxIterations: 9, ResumedAt: noon.Add(-5 * time.Minute), Iterations: []*Iteration{silent(1), silent(2)}}, noon,
			takes(3)},
		{"a reset that is known is waited for",
			failing(1, Turn{Class: UsageLimit, Reason: "limit", ResetAt: noon.Add(30 * time.Minute)}, nil), noon,
			Step{Do: Wait, Iteration: 1, Mode: Implement, Reason: "limit", Until: noon.Add(30*time.Minute + 2*time.Second)}},
		{"the reset has come", failing(1, Turn{Class: UsageLimit, ResetAt: noon.Add(time.Minute)}, nil),
			noon.Add(63 * time.Second), takes(1)},
		{"a reset after the run's time",
			failing(1, Turn{Class: UsageLimit, Reason: "limit", ResetAt: noon.Add(2 * time.Hour)}, nil), noon,
			Step{Do: Stop, Outcome: Waiting, Reason: "limit", Until: noon.Add(2*time.Hour + 2*time.Second)}},
		{"a limit without a reset is tried a few times", failing(3, Turn{Class: UsageLimit, Reason: "limit"}, nil), noon,
			Step{Do: Wait, Iteration: 1, Mode: Implement, Reason: "limit", Until: noon.Add(7344 * time.Millisecond)}},
		{"a reset that came before the turn ended tells nothing",
			failing(3, Turn{Class: UsageLimit, Reason: "limit", ResetAt: noon.Add(-time.Hour), Duration: time.Minute}, nil),
			noon, Step{Do: Wait, Iteration: 1, Mode: Implement, Reason: "limit", Until: noon.Add(7344 * time.Millisecond)}},
		{"a reset that keeps moving is not waited for for ever",
			failing(9, Turn{Class: UsageLimit, Reason: "limit", ResetAt: noon.Add(time.Minute)}, nil), noon,
			Step{Do: Stop, Outcome: Waiting, Reason: "limit", Until: noon.Add(time.Minute + 2*time.Second)}},
		{"then the run waits", failing(4, Turn{Class: UsageLimit, Reason: "limit"}, nil), noon, stop(Waiting, "limit")},
		{"a resumed run asks again at once",
			after(failing(1, Turn{Class: UsageLimit, ResetAt: noon.Add(time.Hour)}, nil).Iterations...),
			noon, takes(1)},
		{"a turn that waits for a human ends the run",
			State{MaxIterations: 5, Waits: true,
				Iterations: []*Iteration{{N: 1, Turn: Turn{Class: Waits, Reason: "exit code 42"}, Commit: made}}},
			noon, stop(Waiting, "exit code 42")},
		{"after the answer it is taken again", after(&Iteration{N: 1, Turn: Turn{Class: Waits}, Commit: made}), noon,
			takes(1)},
		{"a check that waits for its answer: so does the run", after(judged(1, claims, with(asked, 2))), noon,
			stop(Waiting, "CI has not ended")},
		{"it waits also when nothing is left to spend: waiting costs nothing",
			State{MaxIterations: 1, Usage: Usage{CostUSD: 9}, Iterations: []*Iteration{judged(1, claims, with(asked, 2))}},
			noon.Add(2 * time.Hour), stop(Waiting, "CI has not ended")},
		{"what fails beside it is worked on",
			after(judged(1, claims, append(with(asked, 2), Verdict{Check: "lint", Severity: Hard, Tree: "t"}))), noon,
			takes(2)},
		{"a soft check is not waited for",
			after(judged(1, claims, append(with(green[1], 1), Verdict{Check: "CI", Severity: Soft, Waits: true, Tree: "t"}))),
			noon, stop(Done, "all checks passed on iteration 1")},
		{"the money is spent to the cent",
			after(failed(1)).spent(Usage{CostUSD: 5}), noon, stop(Budget, "cost limit reached: $5.00 of $5.00 spent")},
		{"a cent is left", after(failed(1)).spent(Usage{CostUSD: 4.99}), noon, takes(2)},
		{"the tokens are used up, whatever they were",
			State{MaxIterations: 5, Usage: Usage{Input: 400, Output: 100, CacheRead: 300, CacheWrite: 200},
				Iterations: []*Iteration{failed(1)}},
			noon, stop(Budget, "token limit reached: 1000 of 1000 used")},
		{"what earlier runs of the issue have cost counts against its limit",
			State{MaxIterations: 5, Start: Start{Earlier: &Usage{CostUSD: 16}}, Usage: Usage{CostUSD: 4.5},
				Iterations: []*Iteration{failed(1)}},
			noon, stop(Budget, "cost limit of the issue reached: $20.50 of $20.00 spent")},
		{"a run that was asked for again has its budget again",
			State{MaxIterations: 5, Usage: Usage{CostUSD: 5.25, Input: 2000}, UsageBefore: Usage{CostUSD: 5.25, Input: 2000},
				Iterations: []*Iteration{failed(1)}},
			noon, takes(2)},
		{"a claim that nobody could pay a reviewer for is not done",
			State{MaxIterations: 5, Usage: Usage{CostUSD: 6}, Iterations: []*Iteration{judged(1, claims, with(unpaid, 2))}},
			noon, stop(Budget, "cost limit reached: $6.00 of $5.00 spent")},
		{"the commit comes first when the money is spent",
			State{MaxIterations: 5, Usage: Usage{CostUSD: 6}, Iterations: []*Iteration{{N: 1, Mode: Implement, Turn: claims}}},
			noon, Step{Do: MakeCommit, Iteration: 1, Mode: Implement}},
		{"money before time and cap: more of those would not help",
			State{MaxIterations: 1, Usage: Usage{CostUSD: 5}, Iterations: []*Iteration{failed(1)}},
			noon.Add(2 * time.Hour), stop(Budget, "cost limit reached: $5.00 of $5.00 spent")},
		{"stuck before money", State{MaxIterations: 9, Usage: Usage{CostUSD: 5},
			Iterations: []*Iteration{same(1, Moving), same(2, Moving), same(3, Moving), same(4, Shift)}},
			noon, stop(Stuck, "the same failure of make test 4 times in a row, also after a strategy shift")},
		{"but a turn that money stopped says nothing of being stuck",
			State{MaxIterations: 9, Usage: Usage{CostUSD: 5},
				Iterations: []*Iteration{same(1, Moving), same(2, Moving), same(3, Moving), cutOff(4)}},
			noon, stop(Budget, "cost limit reached: $5.00 of $5.00 spent, in the middle of iteration 4")},
		{"a turn that the run's money stopped ends the run, whatever it says to have cost", after(cutOff(1)), noon,
			stop(Budget, "the agent was stopped")},
		{"after a retry it is an iteration like another", after(cutOff(1)).reopened(1), noon, takes(2)},
		{"the agent's own budget is its own",
			after(judged(1, Turn{Class: Spent}, with(Verdict{Check: AgentCheck, Severity: Hard, Tree: "t"}, 0))), noon,
			takes(2)},
		{"no reset is waited for with nothing left to spend after it",
			failing(1, Turn{Class: UsageLimit, Reason: "limit", ResetAt: noon.Add(time.Minute)}, nil).spent(Usage{CostUSD: 5}), noon,
			stop(Budget, "cost limit reached: $5.00 of $5.00 spent")},
		{"a human's answer is waited for",
			State{MaxIterations: 5, Waits: true, Usage: Usage{CostUSD: 5},
				Iterations: []*Iteration{{N: 1, Turn: Turn{Class: Waits, Reason: "exit code 42"}, Commit: made}}},
			noon, stop(Waiting, "exit code 42")},
		{"a clock a little back holds up no pause by much", failing(8, Turn{Class: Overloaded}, &Pause{Until: noon.Add(mostPause)}),
			noon.Add(-20 * time.Second), Step{Do: Wait, Iteration: 1, Mode: Implement, Until: noon.Add(mostPause)}},
		{"a clock a day back holds up no pause", failing(8, Turn{Class: Overloaded}, &Pause{Until: noon.Add(mostPause)}),
			noon.Add(-24 * time.Hour), takes(1)},
		{"nor one that is not recorded yet", failing(1, Turn{Class: Network}, nil), noon.Add(-24 * time.Hour), takes(1)},
		{"a reset is a time of day, and waited for an hour back",
			failing(1, Turn{Class: UsageLimit, ResetAt: noon.Add(30 * time.Minute)}, nil), noon.Add(-time.Hour),
			Step{Do: Wait, Iteration: 1, Mode: Implement, Until: noon.Add(30*time.Minute + 2*time.Second)}},
		{"but not a day back", failing(1, Turn{Class: UsageLimit, ResetAt: noon.Add(30 * time.Minute)}, nil),
			noon.Add(-24 * time.Hour), Step{Do: Stop, Outcome: Waiting, Until: noon.Add(30*time.Minute + 2*time.Second)}},
		{"a hint that nobody has read", unread, noon, takes(2)},
		{"no iteration is left for a hint", unread.most(1), noon, allPassed},
		{"nor is time", unread, noon.Add(time.Hour), allPassed},
		{"nor is there for a second one",
			State{MaxIterations: 5, Hints: []TakenHint{{}}, HintTurn: true, Iterations: []*Iteration{done}}, noon, allPassed},
		{"someone has read it", State{MaxIterations: 5, Hints: []TakenHint{{ReadIn: 1}}, Iterations: []*Iteration{done}}, noon,
			allPassed},
		{"a hint's turn is committed first", forHint(&Iteration{N: 2, Turn: claims}), noon, Step{Do: MakeCommit, Iteration: 2}},
		{"and judged", forHint(&Iteration{N: 2, Turn: claims, Commit: made}), noon, Step{Do: Judge, Iteration: 2}},
		{"the time is over in a hint's turn", forHint(&Iteration{N: 2, Turn: claims, Commit: made}), noon.Add(time.Hour),
			Step{Do: GoBack, Iteration: 1, Reason: "its turn did not end"}},
		{"a hint's turn is done, too", forHint(judged(2, claims, green)), noon, stop(Done, "all checks passed on iteration 2")},
		{"a hint's turn fails", forHint(failed(2)), noon,
			Step{Do: GoBack, Iteration: 1, Reason: "make test: it exited with code 1"}},
		{"its agent asks", State{MaxIterations: 5, HintTurn: true, DoneAt: 1, Waits: true,
			Iterations: []*Iteration{done, {N: 2, Turn: Turn{Class: Waits, Reason: "which one?"}, Commit: made}}}, noon,
			Step{Do: GoBack, Iteration: 1, Reason: "which one?"}},
		{"no cap", State{Iterations: []*Iteration{failed(1)}}, noon, takes(2)},
		{"done goes on when a change was asked for", after(judged(1, claims, green)).reopened(1), noon, takes(2)},
		{"an outcome stays", State{MaxIterations: 5, End: &End{Outcome: Capped, Reason: "why"}}, noon, stop(Capped, "why")},
	}
	limits := Limits{Deadline: noon.Add(time.Hour), Wall: time.Hour, CostUSD: 5, Tokens: 1000, IssueCostUSD: 20}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.want
			if want.Do == TakeTurn {
				want.Role = task.Coder
			}
			if got := Next(tt.state, limits, tt.at); got != want {
				t.Errorf("Next = %+v\nwant   %+v", got, want)
			}
		})
	}
}

func TestTakeUp(t *testing.T) {
	run := func(end *End, lease time.Duration) State {
		return State{Start: Start{Run: "r", Task: "issue-1"}, End: end, Owner: "other", Lease: noon.Add(lease)}
	}
	ended := func(o Outcome) State { return run(&End{Outcome: o}, 0) }
	tests := []struct {
		name  string
		state State
		known bool
		asked Request
		want  ResumeMode
	}{
		{"nothing there", State{}, false, Request{}, Begin},
		{"somebody holds it", run(nil, time.Minute), true, Request{}, Held},
		{"somebody holds it, and a fresh start is no way around", run(nil, time.Minute), true,
			Request{Fresh: true, Retry: true}, Held},
		{"we hold it ourselves", run(nil, time.Minute), true, Request{Owner: "other"}, Continue},
		{"the owner is dead", run(nil, -time.Minute), true, Request{}, Continue},
		{"the owner is dead, fresh", run(nil, -time.Minute), true, Request{Fresh: true}, Begin},
		{"interrupted", ended(Interrupted), true, Request{}, Continue},
		{"capped, asked plainly", ended(Capped), true, Request{}, Begin},
		{"capped, retry", ended(Capped), true, Request{Retry: true}, Again},
		{"capped, retry --fresh", ended(Capped), true, Request{Retry: true, Fresh: true}, Begin},
		{"failed, retry", ended(Failed), true, Request{Retry: true}, Again},
		{"done, asked again", ended(Done), true, Request{}, Begin},
		{"done, retry", ended(Done), true, Request{Retry: true}, Nothing},
		{"done, retry with what to change", ended(Done), true, Request{Retry: true, Hint: true}, Again},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, why := TakeUp(tt.state, tt.known, tt.asked, noon)
			if got != tt.want || why == "" {
				t.Errorf("TakeUp = %s (%s), want %s", got, why, tt.want)
			}
		})
	}
}

func TestBackoff(t *testing.T) {
	for n, want := range map[int]time.Duration{1: 2 * time.Second, 2: 4 * time.Second, 5: 32 * time.Second, 6: time.Minute,
		60: time.Minute} {
		least, most := time.Hour, time.Duration(0)
		for i := range 1000 {
			got := backoff(n, noon.Add(time.Duration(i)*time.Microsecond))
			least, most = min(least, got), max(most, got)
		}
		if least < want*3/4 || most > want*5/4 || most == least {
			t.Errorf("backoff %d is between %s and %s, want %s and up to a quarter more or less", n, least, most, want)
		}
	}
}

// TestUncommittedCountsWhenAskedAgain: a turn whose commit failed has ended nothing by itself, so what it has done may
// be all that is wanted; when something is to be changed, a turn has to do that.
func TestUncommittedCountsWhenAskedAgain(t *testing.T) {
	for want, resume := range map[Do]Resume{Stop: {Retry: true}, TakeTurn: {Retry: true, Hint: "Use cents."}} {
		s := Fold([]Record{
			{Type: Started, At: noon, Start: &Start{MaxIterations: 5}},
			{Type: TurnBegun, At: noon, Iteration: 1, Mode: Implement},
			{Type: Turned, At: noon, Iteration: 1, Turn: &claims},
			{Type: Ended, At: noon, End: &End{Outcome: Invalid, Reason: "git could not sign"}},
			{Type: Resumed, At: noon, Resume: &resume},
		})
		if step := Next(s, Limits{}, noon); step.Do != MakeCommit {
			t.Errorf("%+v", step)
		}
		s = s.With(Record{Type: Committed, At: noon, Iteration: 1, Commit: made})
		s = s.With(Record{Type: Judged, At: noon, Iteration: 1, Verdicts: green})
		if step := Next(s, Limits{}, noon); step.Do != want {
			t.Errorf("%+v, want %v", step, want)
		}
	}
}
