package check

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestNewestBaseIsBounded: a base branch that moves again and again is followed three times.
func TestNewestBaseIsBounded(t *testing.T) {
	at := Input{Iteration: loop.Iteration{Commit: &loop.Commit{SHA: "change"}}}
	for n := 1; n <= 5; n++ {
		var merged string
		c := &NewestBase{
			Branch: "main", Tree: repository{t, t.TempDir()}, Log: t.Logf,
			Newest: func(context.Context) (string, error) { return fmt.Sprint("moved", n), nil },
			Merge: func(_ context.Context, _, base string) (string, string, []string, error) {
				merged = base
				return "", "", []string{"shop.go"}, nil
			},
		}
		v, err := c.Run(t.Context(), at)
		if want := fmt.Sprint("moved", min(n, 3)); err != nil || merged != want || v.Base != want || !strings.Contains(v.Reason, "conflicts") {
			t.Errorf("move %d is judged with %s: %+v, %v", n, merged, v, err)
		}
		v.Check = c.Name()
		at.State.Iterations = append(at.State.Iterations, &loop.Iteration{N: n, Verdicts: []loop.Verdict{v}})
		at.Iteration.N = n + 1
	}
}
