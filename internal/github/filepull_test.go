package github

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/event"
)

const workflowPath = ".github/workflows/ralph.yml"

func TestWriteFileByPull(t *testing.T) {
	s := newStage(t)
	c := s.client(as(aliceToken))
	write := func(text string) *event.Pull {
		t.Helper()
		return must[*event.Pull](t)(c.WriteFileByPull(t.Context(), "ralph/setup", workflowPath, []byte(text), "Add ralph",
			"B"))
	}
	first := write("one\n")
	sha := s.BranchSHA(owner, name, "ralph/setup")
	if again := write("one\n"); again.Number != first.Number || s.BranchSHA(owner, name, "ralph/setup") != sha {
		t.Errorf("the same again: #%d after #%d", again.Number, first.Number)
	}
	if other := write("two\n"); other.Number != first.Number || s.BranchSHA(owner, name, "ralph/setup") == sha {
		t.Errorf("another content: #%d after #%d", other.Number, first.Number)
	}
	text, ok, err := c.File(t.Context(), "ralph/setup", workflowPath)
	if string(text) != "two\n" || !ok || err != nil {
		t.Errorf("the file: %q, %v, %v", text, ok, err)
	}
	if p := s.Pulls(owner, name); len(p) != 1 || p[0].Base != "main" || p[0].Title != "Add ralph" ||
		s.BranchSHA(owner, name, "main") != s.sha {
		t.Errorf("pull requests: %+v", p)
	}
}

// TestWriteFileByPullCannot has a row for what stands in the way.
func TestWriteFileByPullCannot(t *testing.T) {
	t.Run("a directory of this name", func(t *testing.T) {
		s := newStage(t, listing("dir", &[]string{"file"}))
		_, err := s.client().WriteFileByPull(t.Context(), "b", "dir", []byte("x"), "T", "B")
		fails(t, err, "it is no file; move what is there away")
	})
	t.Run("an empty repository", func(t *testing.T) {
		s := newStage(t)
		noError(t, s.AddRepo(owner, "empty", "main"))
		_, err := s.client(func(o *Options) { o.Repo.Name = "empty" }).WriteFileByPull(t.Context(), "b", "f", []byte("x"),
			"T", "B")
		fails(t, err, "the branch main has no commit yet; push a first one")
	})
}

// TestDryRunWritesNothing: every way to write is left undone (B-32).
func TestDryRunWritesNothing(t *testing.T) {
	s := newStage(t)
	p := s.place()
	c := s.client(dry)
	s.ResetCalls()
	for _, a := range asks(t, p) {
		if a.name == "OpenPull" {
			s.branch("open/1")
		}
		if err := a.do(s, c, 1); err != nil {
			t.Errorf("%s: %v", a.name, err)
		}
	}
	for _, call := range s.Calls() {
		if call.Method != "GET" && call.Path != "/graphql" {
			t.Errorf("a dry run wrote: %s", call)
		}
	}
	if pr := s.Pulls(owner, name); len(pr) != 1 || pr[0].Draft {
		t.Errorf("pull requests: %+v", pr)
	}
}
