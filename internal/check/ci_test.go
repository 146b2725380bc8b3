package check

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestCI: what other workflows say decides; until they have spoken the run waits, and spends nothing (B-08).
func TestCI(t *testing.T) {
	t.Parallel()
	told := func(context.Context) (string, []loop.Finding) {
		return "FAIL: add", []loop.Finding{{File: "add.sh", Line: 1, Message: "x"}}
	}
	red := Builds{Failed: []Build{{"test (ubuntu)", "failure", told}}, Pending: []string{"slow"}}
	green, pending := Builds{Passed: true}, Builds{Pending: []string{"test"}}
	for _, tt := range []struct {
		name        string
		says        []Builds // look for look; the last stays
		fails       int      // looks that fail first
		pass, waits bool
		reason      string
		looks       int
	}{
		{"green, and still green a moment later", []Builds{green}, 0, true, false, "the other workflows passed", 2},
		{"one begins when another ends", []Builds{green, pending, green}, 0, true, false, "the other workflows passed", 4},
		{"red, though others run", []Builds{pending, red}, 0, false, false, "other workflows failed: test (ubuntu)", 2},
		{"never ends", []Builds{pending}, 0, false, true, "have not ended on 0123456789ab after 10m", 13},
		{"never begins", []Builds{{}}, 0, false, true, "no other workflow has begun on 0123456789ab within 3m", 6},
		{"GitHub is away for a while", []Builds{green}, 3, true, false, "the other workflows passed", 5},
		{"GitHub stays away", []Builds{green}, 99, false, true, "could not be read", 13},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			now, looks := time.Unix(0, 0), 0
			c := &CI{
				Builds: func(_ context.Context, sha string) (Builds, error) {
					looks++
					if looks <= tt.fails {
						return Builds{}, errors.New("502")
					}
					return tt.says[min(looks-1, len(tt.says)-1)], nil
				},
				Limit: 10 * time.Minute, Begin: 3 * time.Minute, Clock: func() time.Time { return now }, Log: t.Logf,
				Sleep: func(_ context.Context, d time.Duration) error { now = now.Add(d); return nil },
			}
			v, err := c.Run(context.Background(), Input{Iteration: loop.Iteration{Commit: &loop.Commit{SHA: "0123456789abcdef"}}})
			if err != nil || v.Pass != tt.pass || v.Waits != tt.waits || !strings.Contains(v.Reason, tt.reason) ||
				looks != tt.looks {
				t.Errorf("pass %t, waits %t, %q after %d looks, %v", v.Pass, v.Waits, v.Reason, looks, err)
			}
			if !v.Pass && !v.Waits && (len(v.Findings) != 1 || !strings.Contains(v.PromptText, "FAIL: add")) {
				t.Errorf("what is told: %+v", v)
			}
		})
	}
}

// TestCIWithinTheRun: the wait ends before the run's own time does, so that it can still say so.
func TestCIWithinTheRun(t *testing.T) {
	t.Parallel()
	now := time.Now()
	ctx, cancel := context.WithDeadline(context.Background(), now.Add(5*time.Minute))
	defer cancel()
	c := &CI{
		Builds: func(context.Context, string) (Builds, error) { return Builds{Pending: []string{"test"}}, nil },
		Limit:  time.Hour, Begin: time.Hour, Clock: func() time.Time { return now }, Log: t.Logf,
		Sleep: func(_ context.Context, d time.Duration) error { now = now.Add(d); return nil },
	}
	v, err := c.Run(ctx, Input{Iteration: loop.Iteration{Commit: &loop.Commit{SHA: "0123456789abcdef"}}})
	if err != nil || !v.Waits || !strings.Contains(v.Reason, "after 4m") {
		t.Errorf("%q, %v", v.Reason, err)
	}
}
