//go:build unix

package launch

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestAJob: an issue becomes a pull request, and the server hears all of it.
func TestAJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	end := w.must(w.start(w.labelled("5f1e-1", 1)), loop.Done)
	pulls := w.gh.Pulls(owner, name)
	if len(pulls) != 1 || pulls[0].Number != end.Pull || pulls[0].Author != login {
		t.Errorf("pull requests: %+v; the end tells of #%d", pulls, end.Pull)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.begun) != 1 || w.begun[0].Task != "issue-1" || w.records[1].Type != loop.Started ||
		len(w.records) != len(w.types) {
		t.Errorf("begun: %+v, records: %v", w.begun, w.types)
	}
	if w.output.Len() == 0 || len(w.open) != 0 {
		t.Errorf("output of %d bytes; tokens left: %v", w.output.Len(), w.open)
	}
}
