package loop

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// sluggish is an agent whose every turn is stopped at its hard limit, and whose checks take their time.
type sluggish struct {
	world
	turn, checks time.Duration
}

func (w *sluggish) Turn(ctx context.Context, _ string) (Turn, error) {
	w.written++
	select {
	case <-ctx.Done():
		return Turn{Class: Stopped, Reason: "cancelled"}, nil
	case <-time.After(w.turn):
	}
	return Turn{Class: TimedOut, Reason: "stopped at its time limit", Duration: w.turn}, nil
}

func (w *sluggish) Judge(ctx context.Context, s State) ([]Verdict, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(w.checks):
	}
	tree := s.Last().Commit.Tree
	return []Verdict{{Check: AgentCheck, Severity: Hard, Tree: tree, Hash: tree},
		{Check: ClaimCheck, Severity: Hard, Tree: tree}}, nil
}

func (w *sluggish) ports(j Journal) Ports {
	p := w.world.ports(j)
	p.Agent, p.Checks, p.Clock = w, w, time.Now
	return p
}

// TestTimeLimits has a row for each limit of S0-19…S0-26, on a clock of its own.
func TestTimeLimits(t *testing.T) {
	for _, tt := range []struct {
		name         string
		turn, checks time.Duration
		wall         time.Duration
		most         int
		outcome      Outcome
		took         time.Duration
		attempts     int
		warned       bool
	}{
		{"a turn at its limit is a failed attempt, and the loop goes on", 20 * time.Minute, 0, 0, 2, Capped, 40 * time.Minute,
			2, false},
		{"three quarters of the time are over when the last turn runs: nobody is told", 12 * time.Minute, 5 * time.Minute,
			time.Hour, 3, Capped, 51 * time.Minute, 3, false},
		{"three quarters are over and there is a turn to come: the run is told, once", 12 * time.Minute, 5 * time.Minute,
			time.Hour, 4, Timeout, time.Hour, 3, true},
		{"the whole run ends at its limit, whatever runs", 20 * time.Minute, 11 * time.Minute, time.Hour, 9, Timeout,
			time.Hour, 1, false},
		{"without a limit nothing ends it but its cap", 20 * time.Minute, 10 * time.Minute, 0, 5, Capped, 150 * time.Minute,
			5, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				limits := Limits{Wall: tt.wall}
				ctx := context.Background()
				if tt.wall > 0 {
					limits.Deadline, limits.Soft = begun.Add(tt.wall), begun.Add(tt.wall*3/4)
					var cancel context.CancelFunc
					ctx, cancel = context.WithDeadline(ctx, limits.Deadline)
					defer cancel()
				}
				start := started()
				start.Start.MaxIterations = tt.most
				m := &memory{records: []Record{start}}
				w := &sluggish{turn: tt.turn, checks: tt.checks}
				result, _ := Run(ctx, ctx, limits, w.ports(m))
				if result.Outcome == Interrupted && ctx.Err() == context.DeadlineExceeded { // which the app calls by its name
					result.Outcome = Timeout
				}
				judged, warnings := 0, 0
				for _, it := range result.State.Iterations {
					if it.Judged {
						judged++
					}
				}
				for _, r := range m.records {
					if r.Type == Warned {
						warnings++
						if !strings.Contains(r.Warning, "of its 1h left") {
							t.Errorf("warning %q", r.Warning)
						}
					}
				}
				if took := time.Since(begun); result.Outcome != tt.outcome || took != tt.took || judged != tt.attempts ||
					(warnings == 1) != tt.warned || warnings > 1 {
					t.Errorf("%s after %s, %d attempts, %d warnings; want %s after %s, %d, warned %t", result.Outcome, took, judged,
						warnings, tt.outcome, tt.took, tt.attempts, tt.warned)
				}
			})
		})
	}
}
