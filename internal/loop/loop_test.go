package loop

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// memory is a journal that can die: before or after a record of a given type it panics, as a killed process stops.
type memory struct {
	records []Record
	dieAt   RecordType
	after   bool
}

type killed struct{}

func (m *memory) State() State { return Fold(m.records) }

func (m *memory) Append(_ context.Context, r Record) (State, error) {
	if r.Type == m.dieAt && !m.after {
		panic(killed{})
	}
	m.records = append(m.records, r)
	if r.Type == m.dieAt {
		panic(killed{})
	}
	return m.State(), nil
}

// world is a tree and an agent: each turn writes one file, each commit takes what is written.
type world struct {
	turns   []int // iteration numbers of the turns that ran
	written int   // files in the worktree
	commits []int // files in each commit
}

func (w *world) Turn(context.Context, string) (Turn, error) {
	w.written++
	return Turn{Class: OK, Claim: Claim{Done: w.written >= 3}}, nil
}

func (w *world) Commit(_ context.Context, _ string, s State) (Commit, error) {
	have := 0
	if n := len(w.commits); n > 0 {
		have = w.commits[n-1]
	}
	if have == w.written { // made before the process died
		return Commit{SHA: fmt.Sprint("c", have), Tree: fmt.Sprint("t", have)}, nil
	}
	w.commits = append(w.commits, w.written)
	return Commit{SHA: fmt.Sprint("c", w.written), Tree: fmt.Sprint("t", w.written)}, nil
}

func (w *world) Judge(_ context.Context, s State) ([]Verdict, error) {
	it := s.Last()
	return []Verdict{{Check: ClaimCheck, Severity: Hard, Pass: it.Turn.Claim.Done, Tree: it.Commit.Tree}}, nil
}

func (w *world) For(_ State, step Step) (string, error) {
	w.turns = append(w.turns, step.Iteration)
	return "work", nil
}

func (w *world) ports(j Journal) Ports {
	return Ports{Agent: w, Tree: w, Checks: w, Journal: j, Prompt: w, Clock: func() time.Time { return noon },
		Log: func(string, ...any) {}, Sleep: func(context.Context, Pause) {}, Grace: time.Second}
}

func started() Record {
	return Record{Type: Started, At: noon, Start: &Start{Run: "r", Task: "issue-1", Base: "base", MaxIterations: 5}}
}

// TestKilledAnywhere kills the loop before and after every record and starts it again: no commit is lost, the
// iterations keep their numbers, and a turn runs twice only when its record had not been written.
func TestKilledAnywhere(t *testing.T) {
	for _, at := range []RecordType{TurnBegun, Turned, Committed, Judged} {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s after=%v", at, after), func(t *testing.T) {
				w, m := &world{}, &memory{records: []Record{started()}, dieAt: at, after: after}
				func() {
					defer func() {
						if r := recover(); r == nil {
							t.Fatal("it did not die")
						} else if _, ours := r.(killed); !ours {
							panic(r)
						}
					}()
					_, _ = Run(context.Background(), context.Background(), Limits{}, w.ports(m))
				}()
				m.dieAt = ""
				result, err := Run(context.Background(), context.Background(), Limits{}, w.ports(m))
				if err != nil || result.Outcome != Done {
					t.Fatalf("second Run = %s (%s), %v; want done", result.Outcome, result.Reason, err)
				}
				if got := result.State.Tip; got != fmt.Sprint("c", w.written) {
					t.Errorf("tip = %s, but the tree holds %d files", got, w.written)
				}
				for i, it := range result.State.Iterations {
					if it.N != i+1 {
						t.Errorf("iteration %d has the number %d", i+1, it.N)
					}
				}
			})
		}
	}
}

// TestTurnEndedWithTheRun: an agent that somebody else ends while the run is being stopped was stopped, also when the
// run hears of it a moment later. One that is ended for no reason was not.
func TestTurnEndedWithTheRun(t *testing.T) {
	for name, c := range map[string]struct {
		class Class
		stop  func(cancel func())
		want  Class
	}{
		"stopped with the run":          {Stopped, func(cancel func()) { cancel() }, Stopped},
		"ended with the run":            {Killed, func(cancel func()) { cancel() }, Stopped},
		"ended a moment before":         {Killed, func(cancel func()) { time.AfterFunc(time.Millisecond, cancel) }, Stopped},
		"ended by itself meanwhile":     {Broke, func(cancel func()) { cancel() }, Broke},
		"ended long before the run was": {Killed, func(cancel func()) { time.AfterFunc(time.Second, cancel) }, Killed},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			w, m := &world{}, &memory{records: []Record{started()}}
			p := w.ports(m)
			p.Agent = agentFunc(func() (Turn, error) {
				if len(w.turns) > 1 { // the run goes on until it is stopped
					<-ctx.Done()
					return Turn{Class: OK}, nil
				}
				w.written++
				c.stop(cancel)
				return Turn{Class: c.class, Exit: -1, Reason: "ended"}, nil
			})
			result, err := Run(ctx, ctx, Limits{}, p)
			if err != nil || result.Outcome != Interrupted || result.State.Tip != "c1" {
				t.Fatalf("Run = %s, %v, at %q; want interrupted, with the turn's work committed", result.Outcome, err, result.State.Tip)
			}
			if got := result.State.Iterations[0].Turn; got.Class != c.want || (got.Reason == "ended") != (c.want == c.class) {
				t.Errorf("the turn is %s (%s), want %s", got.Class, got.Reason, c.want)
			}
		})
	}
}

type agentFunc func() (Turn, error)

func (f agentFunc) Turn(context.Context, string) (Turn, error) { return f() }

func TestErrorsEndTheRun(t *testing.T) {
	w, m := &world{}, &memory{records: []Record{started()}}
	p := w.ports(m)
	p.Agent = agentFunc(func() (Turn, error) { return Turn{}, errors.New("no more processes") })
	result, err := Run(context.Background(), context.Background(), Limits{}, p)
	if err == nil || result.Outcome != Failed {
		t.Fatalf("Run = %s, %v; want failed with an error", result.Outcome, err)
	}
}

func TestFoldKeepsOldStates(t *testing.T) {
	s := Fold([]Record{started(), {Type: TurnBegun, Iteration: 1, Mode: Implement},
		{Type: Turned, Iteration: 1, Turn: &Turn{Class: OK}}})
	_ = s.With(Record{Type: Committed, Iteration: 1, Commit: made})
	if s.Last().Commit != nil {
		t.Error("folding one more record changed the state before it")
	}
}

func TestFoldForgetsOldOutputs(t *testing.T) {
	s := Fold([]Record{started()})
	for n := 1; n <= 10; n++ {
		for _, r := range []Record{
			{Type: Turned, Iteration: n, Turn: &Turn{Class: OK, Text: "words"}},
			{Type: Committed, Iteration: n, Commit: made},
			{Type: Judged, Iteration: n, Verdicts: []Verdict{{Check: "c", Severity: Hard, Output: "long", Hash: "h"}}},
		} {
			s = s.With(r)
		}
	}
	kept := 0
	for _, it := range s.Iterations {
		if it.Verdicts[0].Output != "" {
			kept++
		}
	}
	if kept != Window {
		t.Errorf("%d iterations keep their output, want %d", kept, Window)
	}
	if s.StuckCount() != 10 {
		t.Errorf("StuckCount = %d, want 10", s.StuckCount())
	}
}
