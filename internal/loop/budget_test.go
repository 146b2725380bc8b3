package loop

import (
	"testing"
	"time"
)

func TestLeft(t *testing.T) {
	for name, c := range map[string]struct {
		limits Limits
		state  State
		left   Left
		used   bool
	}{
		"no limits": {state: State{Usage: Usage{CostUSD: 100, Input: 1e9}}},
		"of the run": {limits: Limits{CostUSD: 5, Tokens: 100},
			state: State{Usage: Usage{CostUSD: 2, Output: 30}}, left: Left{CostUSD: 3, Tokens: 70}},
		"of the issue, when that is less": {limits: Limits{CostUSD: 5, IssueCostUSD: 8},
			state: State{Start: Start{Earlier: &Usage{CostUSD: 5}}, Usage: Usage{CostUSD: 2}},
			left:  Left{CostUSD: 1, OfIssue: true}},
		"of the run, when that is less": {limits: Limits{CostUSD: 5, IssueCostUSD: 8},
			state: State{Usage: Usage{CostUSD: 2}}, left: Left{CostUSD: 3}},
		"of the issue alone": {limits: Limits{IssueCostUSD: 8}, state: State{Usage: Usage{CostUSD: 2}},
			left: Left{CostUSD: 6, OfIssue: true}},
		"since it was asked for again": {limits: Limits{CostUSD: 5, IssueCostUSD: 20},
			state: State{Usage: Usage{CostUSD: 7}, UsageBefore: Usage{CostUSD: 6}}, left: Left{CostUSD: 4}},
		"nothing": {limits: Limits{Tokens: 100}, state: State{Usage: Usage{CacheRead: 100}},
			used: true},
	} {
		t.Run(name, func(t *testing.T) {
			left, why := c.limits.Left(c.state)
			if left != c.left || (why != "") != c.used {
				t.Errorf("Left = %+v, %q", left, why)
			}
		})
	}
}

func TestWarning(t *testing.T) {
	limits := Limits{CostUSD: 5, IssueCostUSD: 20, Tokens: 1000}
	for want, s := range map[string]State{
		"":                     {Usage: Usage{CostUSD: 3.99, Input: 799}},
		"$4.10 of $5.00 spent": {Usage: Usage{CostUSD: 4.1}},
		"$16.00 of $20.00 spent for all runs of the issue": {Start: Start{Earlier: &Usage{CostUSD: 15}},
			Usage: Usage{CostUSD: 1}},
		"800 of 1000 tokens used": {Usage: Usage{Input: 700, Output: 100}},
	} {
		if got := limits.Warning(s); got != want {
			t.Errorf("Warning = %q, want %q", got, want)
		}
	}
	if got := (Limits{}).Warning(State{Usage: Usage{CostUSD: 1000}}); got != "" {
		t.Errorf("without limits: %q", got)
	}
}

func TestDollars(t *testing.T) {
	for usd, want := range map[float64]string{0: "$0.00", 4.1: "$4.10", 5: "$5.00", 0.0042: "$0.0042", 12.345: "$12.3450",
		0.1 + 0.2: "$0.30"} {
		if got := Dollars(usd); got != want {
			t.Errorf("Dollars(%v) = %s, want %s", usd, got, want)
		}
	}
}

// recorded is a run whose first iteration was judged so, and that ended with an outcome.
func recorded(t Turn, verdicts []Verdict, outcome Outcome) []Record {
	return []Record{
		started(), {Type: TurnBegun, At: noon, Iteration: 1, Mode: Implement},
		{Type: Turned, At: noon, Iteration: 1, Turn: &t},
		{Type: Committed, At: noon, Iteration: 1, Commit: made}, {Type: Judged, At: noon, Iteration: 1, Verdicts: verdicts},
		{Type: Ended, At: noon, End: &End{Outcome: outcome}},
	}
}

// TestResumed has a row for what a run that goes on does first, by how it ended and what it is resumed with.
func TestResumed(t *testing.T) {
	costly := claims
	costly.Usage = Usage{CostUSD: 6}
	cut := Turn{Class: Spent, Ours: true, Usage: Usage{CostUSD: 6}}
	cutVerdicts := with(Verdict{Check: AgentCheck, Severity: Hard, Tree: "t"}, 0)
	remarks := &Feedback{By: "ann", Text: "No."}
	tests := []struct {
		name   string
		past   []Record
		resume Resume
		want   Step
	}{
		{"an answer was awaited: the same commit is judged again", recorded(claims, with(asked, 2), Waiting), Resume{},
			Step{Do: Judge, Iteration: 1, Mode: Implement}},
		{"an answer was awaited, and somebody says what to change", recorded(claims, with(asked, 2), Waiting),
			Resume{Hint: "Use cents."}, Step{Do: TakeTurn, Iteration: 2, Mode: Implement}},
		{"an answer was awaited, and a review came first", recorded(claims, with(asked, 2), Waiting),
			Resume{Feedback: remarks}, Step{Do: TakeTurn, Iteration: 2, Mode: ReviewFix}},
		{"a review of what was done", recorded(claims, green, Done), Resume{Retry: true, Feedback: remarks},
			Step{Do: TakeTurn, Iteration: 2, Mode: ReviewFix}},
		{"a review of a run that was interrupted when it was done", recorded(claims, green, Interrupted),
			Resume{Feedback: remarks}, Step{Do: TakeTurn, Iteration: 2, Mode: ReviewFix}},
		{"a review of a run that failed", recorded(claims, failed(1).Verdicts, Capped),
			Resume{Retry: true, Feedback: remarks}, Step{Do: TakeTurn, Iteration: 2, Mode: ReviewFix}},
		{"the money was spent: again with as much", recorded(cut, cutVerdicts, Budget), Resume{Retry: true},
			Step{Do: TakeTurn, Iteration: 2, Mode: Implement}},
		{"the money was spent, and nobody asks for more", recorded(cut, cutVerdicts, Interrupted), Resume{},
			Step{Do: Stop, Outcome: Budget,
				Reason: "cost limit reached: $6.00 of $5.00 spent, in the middle of iteration 1"}},
		{"the money was spent before the review: it is asked for now", recorded(costly, with(unpaid, 2), Budget),
			Resume{Retry: true}, Step{Do: Judge, Iteration: 1, Mode: Implement}},
		{"the money was spent before the review, and something is to be changed", recorded(costly, with(unpaid, 2), Budget),
			Resume{Retry: true, Hint: "Use cents."}, Step{Do: TakeTurn, Iteration: 2, Mode: Implement}},
		{"the money was spent, and a check had failed", recorded(costly, failed(1).Verdicts, Budget), Resume{Retry: true},
			Step{Do: TakeTurn, Iteration: 2, Mode: Implement}},
		{"a usage limit was waited out: the same iteration",
			recorded(Turn{Class: UsageLimit, ResetAt: noon.Add(9 * time.Hour)}, nil, Waiting)[:4], Resume{},
			Step{Do: TakeTurn, Iteration: 1, Mode: Implement}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := Fold(append(tt.past, Record{Type: Resumed, At: noon.Add(10 * time.Hour), Resume: &tt.resume}))
			if tt.want.Do == TakeTurn {
				tt.want.Role = s.nextRole()
			}
			if got := Next(s, Limits{CostUSD: 5}, noon.Add(10*time.Hour)); got != tt.want {
				t.Errorf("Next = %+v\nwant   %+v", got, tt.want)
			}
		})
	}
}

// TestJudgedAgain: a run that waited for an answer is done when it is good, in the iteration that waited; a review is
// answered by one iteration.
func TestJudgedAgain(t *testing.T) {
	again := append(recorded(claims, with(asked, 2), Waiting), Record{Type: Resumed, At: noon, Resume: &Resume{}},
		Record{Type: Judged, At: noon, Iteration: 1, Verdicts: green})
	if got := Next(Fold(again), Limits{}, noon); got.Outcome != Done || got.Reason != "all checks passed on iteration 1" {
		t.Errorf("Next = %+v, want done", got)
	}
	fixed := append(recorded(claims, green, Done),
		Record{Type: Resumed, At: noon, Resume: &Resume{Retry: true, Feedback: &Feedback{Text: "No."}}})
	second := recorded(claims, failed(1).Verdicts, "")[1:5]
	for _, r := range second {
		r.Iteration = 2
		fixed = append(fixed, r)
	}
	if got := Next(Fold(fixed), Limits{}, noon); got.Do != TakeTurn || got.Iteration != 3 || got.Mode != Implement {
		t.Errorf("Next = %+v, want a third turn that implements", got)
	}
}

// TestOnIssue: what a run may spend begins anew with a retry; what its issue may does not.
func TestOnIssue(t *testing.T) {
	first := started()
	first.Start.Earlier = &Usage{CostUSD: 2, Input: 10}
	begun := append([]Record{first},
		recorded(Turn{Class: OK, Usage: Usage{CostUSD: 3, Input: 5}},
			[]Verdict{{Check: ReviewCheck, Usage: &Usage{CostUSD: 1}}}, Budget)[1:]...)
	s := Fold(append(begun, Record{Type: Resumed, At: noon, Resume: &Resume{Retry: true}}))
	if got := s.Spent(); got != (Usage{}) {
		t.Errorf("Spent = %+v after a retry, want nothing", got)
	}
	if got := s.OnIssue(); got != (Usage{CostUSD: 6, Input: 15}) {
		t.Errorf("OnIssue = %+v", got)
	}
	if s := Fold(append(begun, Record{Type: Resumed, At: noon, Resume: &Resume{}})); s.Spent() != (Usage{CostUSD: 4,
		Input: 5}) {
		t.Errorf("Spent = %+v after a mere resume", s.Spent())
	}
}

// TestWaitingSaysWhy: whatever kind of usage limit ends a run as waiting, there is a sentence, and a time where one is
// known.
func TestWaitingSaysWhy(t *testing.T) {
	limit := Turn{Class: UsageLimit, Reason: "the rate limit is reached"}
	for name, c := range map[string]struct {
		limits Limits
		state  State
		until  time.Time
	}{
		"no reset, and no waiting": {Limits{NoWait: true},
			failing(1, limit, nil), time.Time{}},
		"a reset, and no waiting": {Limits{NoWait: true},
			failing(1, Turn{Class: UsageLimit, Reason: "the rate limit is reached", ResetAt: noon.Add(time.Minute)}, nil),
			noon.Add(62 * time.Second)},
		"a reset in half a day": {Limits{},
			failing(1, Turn{Class: UsageLimit, Reason: "the rate limit is reached", ResetAt: noon.Add(12 * time.Hour)}, nil),
			noon.Add(12*time.Hour + 2*time.Second)},
		"with money left to go on": {Limits{NoWait: true, CostUSD: 5},
			failing(1, limit, nil), time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Next(c.state, c.limits, noon)
			if want := (Step{Do: Stop, Outcome: Waiting, Reason: "the rate limit is reached", Until: c.until}); got != want {
				t.Errorf("Next = %+v\nwant   %+v", got, want)
			}
		})
	}
}
