package loop

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/task"
)

// history makes a run of a line of words, one an iteration: a letter is the signature of what failed, "-" a missing
// claim alone, and digits count what failed; with "=" the tree is unchanged, with "!" the agent claims, with "?" the
// failure names a gap.
func history(words string) State {
	s := State{MaxIterations: 20}
	for i, word := range strings.Fields(words) {
		it := &Iteration{N: i + 1, Mode: Implement, Role: task.Coder, Turn: Turn{Class: OK}, Commit: &Commit{Tree: "t"},
			Judged: true}
		it.Turn.Claim.Done = strings.Contains(word, "!")
		it.Commit.Empty = strings.Contains(word, "=")
		it.Verdicts = []Verdict{{Check: ClaimCheck, Severity: Hard, Pass: it.Turn.Claim.Done, Tree: "t", Hash: "claim"}}
		if letter := word[:1]; letter != "-" {
			v := Verdict{Check: "make test", Severity: Hard, Tree: "t", Hash: letter}
			if count := strings.Trim(word[1:], "=!?"); count != "" {
				n, _ := strconv.ParseFloat(count, 64)
				v.Measure = &Measure{Quantities: []Quantity{{Name: "findings", Value: n}}}
			}
			if strings.Contains(word, "?") {
				v.MissingNames = []string{"jwt"}
			}
			it.Verdicts = append(it.Verdicts, v)
		}
		step := s.nextTurn(Limits{}, noon)
		if step.Do == Stop {
			s.End = &End{Outcome: step.Outcome, Reason: step.Reason}
			return s
		}
		it.Tier = step.Tier
		s.Iterations = append(s.Iterations, it)
	}
	return s
}

// TestLadder has a row for every rule of C28. What a run does next is said by its tiers so far and the next: "." for an
// ordinary turn, "s" for a strategy shift, "e" for one with more context, "X" for the end.
func TestLadder(t *testing.T) {
	tests := []struct{ name, history, want string }{
		{"a new run", "", "."},
		{"the third leads to a shift", "a a a", "...s"},
		{"the fourth ends it when nothing is missing", "a a a a", "...sX"},
		{"the fourth leads to more context when the failure names a gap", "a? a? a? a?", "...se"},
		{"the fifth ends it", "a? a? a? a? a?", "...seX"},
		{"a shift that helps leads back to ordinary turns", "a a a b", "...s."},
		{"what fails differently each time is no repetition", "a b c d e f", "......."},
		{"two failures in turn, three times each", "a b a b a b", "......s"},
		{"two failures in turn with a gap", "a b a b a b a?", "......se"},
		{"both shifts are used up by one pattern, so that another ends the run", "a? a? a? a? b b b", "...se..X"},
		{"a second pattern may have the second shift", "a a a b b b", "...s..s"},
		{"not more than two shifts a run", "a a a b b b c c c", "...s..s..X"},
		{"no claim, but the tree changes: work goes on", "- - - - - -", "......."},
		{"no claim and nothing changed twice, and nothing failed: the agent reads", "-= -= - -= -=", "......"},
		{"no claim and nothing changed, three times", "-= -= -=", "...s"},
		{"no claim and nothing changed, and again", "-= -= -= -=", "...sX"},
		{"three failures in turn", "a b c a b c a b c", ".........s"},
		{"three failures in turn with a gap", "a b c a b c a b c a? b?", ".........seX"},
		{"five failures in turn", "a b c d e a b c d e a", "..........ss"},
		{"three failures in any order", "a b c c b a b c a b", ".........sX"},
		{"a new failure among old ones", "a b c a b c d a b c a", "..........sX"},
		{"another failure each time", "a b c d e f g h i j k", "..........sX"},
		{"another failure each time, and fewer now and then", "a5 b5 c5 d5 e5 f4 g4 h4 i4 j4 k4 l3", "............."},
		{"a pass among old failures", "a b a b - a b a", "........."},
		{"fewer each time", "a7 a6 a5 a4 a3", "......"},
		{"fewer, and then no fewer", "a7 a6 a5 a5 a5", ".....s"},
		{"as few as before is no progress", "a5 a4 a5 a4", "....s"},
		{"fewer than ever after more", "a5 a4 a6 a3", "....."},
		{"a shift that helps a little", "a5 a5 a5 a4 a4", "...s.."},
		{"two failures in turn, each with less", "a5 b3 a4 b2 a3 b1 a2", "........"},
		{"two failures in turn with as much as before", "a5 b3 a4 b2 a5 b3 a4 b2", "........s"},
		{"a claim three times over an unchanged tree", "-!= -!= -!=", "...s"},
		{"different failures of an unchanged tree", "a= b= c=", "...s"},
		{"a change in between", "a= b= c d= e=", "......"},
	}
	letters := map[Tier]string{Moving: ".", Shift: "s", Expand: "e"}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, got := history(tt.history), ""
			for _, it := range s.Iterations {
				got += letters[it.Tier]
			}
			switch step := s.nextTurn(Limits{}, noon); {
			case s.End != nil:
				got += "X, and turns after it"
			case step.Do == Stop && step.Outcome == Stuck && step.Reason != "":
				got += "X"
			default:
				got += letters[step.Tier]
			}
			if got != tt.want {
				t.Errorf("%s: tiers %s, want %s", tt.history, got, tt.want)
			}
		})
	}
}

// TestWhenTheLadderCounts has a row for what comes before it, and for runs in which it does not count (C25, C28).
func TestWhenTheLadderCounts(t *testing.T) {
	for _, tt := range []struct {
		name, history string
		change        func(*State)
		limits        Limits
		want          Outcome // "": an ordinary turn
	}{
		{"before the cap", "a? a? a? a? a?", func(s *State) { s.MaxIterations = 5 }, Limits{}, Stuck},
		{"after completion", "a? a? a? a? a?", func(s *State) { s.Iterations[4] = judged(5, claims, green) }, Limits{}, Done},
		{"not in a run of a prompt", "a a a a", func(*State) {}, Limits{NoStuckDetection: true}, ""},
		{"from the beginning after a retry", "a a a a", func(s *State) { s.Reopened = 4 }, Limits{}, ""},
	} {
		s := history(tt.history)
		tt.change(&s)
		got := Next(s, tt.limits, noon)
		if got.Outcome != tt.want || tt.want == "" && (got.Do != TakeTurn || got.Tier != Moving) {
			t.Errorf("%s: Next = %+v, want %q", tt.name, got, tt.want)
		}
		if n := s.StuckCount(); s.Reopened > 0 && n != 0 {
			t.Errorf("%s: StuckCount = %d", tt.name, n)
		}
	}
}

func TestARetakenTurnKeepsItsTier(t *testing.T) {
	s := history("a a a")
	s = s.With(Record{Type: TurnBegun, At: noon, Iteration: 4, Mode: Implement, Tier: Shift})
	if got := Next(s, Limits{}, noon); got.Tier != Shift || got.Iteration != 4 {
		t.Errorf("Next = %+v, want the shift of iteration 4 again", got)
	}
	s = s.With(Record{Type: Turned, At: noon, Iteration: 4, Turn: &Turn{Class: Overloaded}})
	s = s.With(Record{Type: Committed, At: noon, Iteration: 4, Commit: &Commit{Tree: "t", Empty: true}})
	s = s.With(Record{Type: Paused, At: noon, Iteration: 4, Pause: &Pause{Until: noon}})
	if got := Next(s, Limits{}, noon.Add(time.Hour)); got.Do != TakeTurn || got.Tier != Shift || got.Iteration != 4 {
		t.Errorf("Next = %+v, want the shift of iteration 4 once more: what did not count escalates nothing", got)
	}
}
