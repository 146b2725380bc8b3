package proc_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
)

// TestQuietFor is not parallel: it looks at everything that this process runs.
func TestQuietFor(t *testing.T) {
	quiet := func(want bool) {
		t.Helper()
		time.Sleep(20 * time.Millisecond)
		if got := proc.QuietFor(); (got > 0) != want {
			t.Errorf("quiet for %s", got)
		}
	}
	quiet(true)
	_, _ = proc.Run(t.Context(), proc.Spec{Argv: []string{"no-such-program"}})
	quiet(true)

	s := script(t, `echo > begun; until [ -e go ]; do sleep 0.02; done; setsid sleep 600 & echo $! > child`)
	s.Spare = func() []int { return ids(t, s.Dir, "child") }
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run(t, s)
	}()
	waitFor(t, filepath.Join(s.Dir, "begun"))
	quiet(false)
	_ = os.WriteFile(filepath.Join(s.Dir, "go"), nil, 0o600)
	<-ended
	quiet(false) // of what was spared
	proc.End(ids(t, s.Dir, "child"), time.Second)
	quiet(true)
}
