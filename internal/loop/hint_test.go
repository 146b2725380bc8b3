package loop

import (
	"context"
	"fmt"
	"testing"
)

// hinted is a world with a reviewer, in which someone says something at a moment. Each call of a port, before and
// after, is a moment.
type hinted struct {
	world
	memory
	at, now int  // the moment of the hint, and the present one
	bad     bool // what an agent makes of the hint fails
	said    []Hint
	read    bool // an agent or the reviewer has read it
	kept    string
}

func (h *hinted) moment() {
	if h.now++; h.now == h.at {
		h.said = []Hint{{ID: "1", By: "alice", Text: "greet in French"}}
	}
}

func (h *hinted) hear(ctx context.Context) bool {
	defer h.moment()
	if len(h.said) == len(h.State().Hints) {
		return false
	}
	_, _ = h.memory.Append(ctx, Record{Type: Hinted, At: noon, Hint: &h.said[0]})
	return true
}

func (h *hinted) Append(ctx context.Context, r Record) (State, error) {
	h.moment()
	defer h.moment()
	return h.memory.Append(ctx, r)
}

func (h *hinted) For(s State, step Step) (string, error) {
	h.moment()
	h.read = h.read || len(s.Hints) > 0
	return h.world.For(s, step)
}

func (h *hinted) Turn(ctx context.Context, told string) (Turn, error) {
	h.moment()
	defer h.moment()
	return h.world.Turn(ctx, told)
}

func (h *hinted) Judge(ctx context.Context, s State) ([]Verdict, error) {
	h.moment()
	verdicts, err := h.world.Judge(ctx, s)
	if verdicts[0].Pass {
		h.moment()
		h.hear(ctx)
		h.read = h.read || len(h.State().Hints) > 0
		h.moment()
		verdicts = append(verdicts, Verdict{Check: ReviewCheck, Severity: Hard, Pass: !h.bad || h.written == 3,
			Reason: "not like this", Tree: verdicts[0].Tree, Usage: &Usage{}})
	}
	return verdicts, err
}

func (h *hinted) back(_ context.Context, from, to string) (string, error) {
	h.kept = from
	return "wip/" + from, nil
}

// TestHintAtAnyMoment: whenever someone says something, an agent or the reviewer reads it, or the end knows that nobody
// has. The run is done in any case: with the hint's turn when that is approved, else without it.
func TestHintAtAnyMoment(t *testing.T) {
	for _, bad := range []bool{false, true} {
		turns, unread, moments := 0, 0, 0
		for at := 1; ; at++ {
			h := &hinted{memory: memory{records: []Record{started()}}, at: at, bad: bad}
			h.records[0].Start.Branch = "ralph/issue-1"
			p := h.ports(h)
			p.Agent, p.Tree, p.Checks, p.Prompt, p.Hear, p.Back = h, h, h, h, h.hear, h.back
			result, err := Run(t.Context(), t.Context(), Limits{}, p)
			if err != nil || result.Outcome != Done {
				t.Fatalf("at moment %d: %s (%s), %v", at, result.Outcome, result.Reason, err)
			}
			_, _ = h.Append(t.Context(), Record{Type: Ended, At: noon, End: &End{Outcome: Done}})
			h.hear(t.Context()) // as the end does
			if h.now < at {
				moments = at - 1
				break
			}
			s := h.State()
			extra, fails := len(h.turns) > 3, bad && len(h.turns) > 3
			if len(s.Hints) != 1 && len(h.said) != 1 || len(s.Hints) == 1 && h.read != (s.Hints[0].ReadIn > 0) {
				t.Errorf("at moment %d: read %v, known as %+v", at, h.read, s.Hints)
			}
			if len(h.turns) > 4 || fails != (h.kept == "c4") || fails != (s.Back != nil) || fails && !s.Hints[0].Undone {
				t.Errorf("at moment %d: turns %v, kept %q, %+v", at, h.turns, h.kept, s.Back)
			}
			if want := fmt.Sprint("c", len(h.turns)); !fails && s.Tip != want || fails && s.Tip != "c3" {
				t.Errorf("at moment %d: the run ends at %s after %d turns", at, s.Tip, len(h.turns))
			}
			if extra {
				turns++
			}
			if !h.read {
				unread++
			}
		}
		if moments < 20 || turns == 0 || unread == 0 || unread > 5 {
			t.Errorf("%d moments, of which %d had a turn of their own and %d were not read", moments, turns, unread)
		}
	}
}
