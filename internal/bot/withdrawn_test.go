package bot

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/actions"
	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
)

// TestWhatIsTrueWhenTheJobBegins: a job may be queued for long, and what somebody took back meanwhile is not begun. One
// request is one run.
func TestWhatIsTrueWhenTheJobBegins(t *testing.T) {
	t.Parallel()
	labelled := func(w *world) (string, []byte) {
		w.gh.Label(owner, name, w.issue, "ralph", "alice")
		return "issues", w.gh.LabeledPayload(owner, name, w.issue, "ralph", "alice")
	}
	for _, tt := range []struct {
		name      string
		asked     func(*world) (string, []byte)
		meanwhile func(*world)
		said      string
	}{
		{"the label was taken off", labelled, func(w *world) { w.gh.Unlabel(owner, name, w.issue, "ralph", "alice") },
			"the request was withdrawn"},
		{"the issue was closed", labelled, func(w *world) { w.gh.CloseIssue(owner, name, w.issue) }, "is closed"},
		{"the issue was closed after a comment", func(w *world) (string, []byte) {
			id := w.gh.AddComment(owner, name, w.issue, fake.Comment{Author: "alice", Body: "/ralph run"})
			return "issue_comment", w.gh.CommentPayload(owner, name, id)
		}, func(w *world) { w.gh.CloseIssue(owner, name, w.issue) }, "is closed"},
		{"a sweep was first", labelled, func(w *world) {
			w.must(loop.Done)(w.sweep())
		}, "another job is running it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			turns := w.shared("turns")
			w.inputs["agent"] = w.script("agent", "echo turn >> "+turns+"\n"+fixer)
			event, payload := tt.asked(w)
			tt.meanwhile(w)
			before, said := countLines(t, turns), len(w.bodies(w.issue))
			result, err := w.action(context.Background(), event, payload)
			if err != nil || result.Outcome != "" || countLines(t, turns) != before {
				t.Errorf("outcome %q (%s), %v; %d more turns", result.Outcome, result.Reason, err, countLines(t, turns)-before)
			}
			if log := w.out.String(); !strings.Contains(log, tt.said) {
				t.Errorf("the log does not say %q", tt.said)
			}
			if n := len(w.bodies(w.issue)); event == "issues" && n != said {
				t.Errorf("%d more comments: %q", n-said, w.bodies(w.issue))
			}
		})
	}
}

// TestLabelOnAPullRequestComesOff: there too it asks once, whatever comes of it.
func TestLabelOnAPullRequestComesOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.inputs["agent"] = w.script("agent", fixer)
	pull := w.must(loop.Done)(w.label("alice")).State.Post.Pull
	w.gh.Label(owner, name, pull, "ralph", "alice")
	if result, err := w.action(context.Background(), "pull_request_target",
		w.gh.LabeledPayload(owner, name, pull, "ralph", "alice")); result.Outcome != "" || err != nil {
		t.Errorf("with nothing to take up: %s (%s), %v", result.Outcome, result.Reason, err)
	}
	if labels := w.gh.Issue(owner, name, pull).Labels; len(labels) != 0 {
		t.Errorf("labels = %q", labels)
	}
}

// TestOutputsOfAJobThatCannotBegin: later steps find an outcome whatever is wrong with the inputs.
func TestOutputsOfAJobThatCannotBegin(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(*world){
		"an input that cannot be read": func(w *world) {
			environ := w.environ("issues", nil)
			runner := actions.New(func(name string) string { return environ[name] }, &w.out)
			if err := WrongInputs(runner, errors.New("input x is wrong")); err != nil {
				t.Error(err)
			}
		},
		"no event": func(w *world) {
			if result, err := w.action(context.Background(), "", nil); result.Outcome != loop.Invalid || !invalid.Reported(err) {
				t.Errorf("outcome %s, %v", result.Outcome, err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			begin(w)
			if out := w.file("output"); !strings.Contains(out, "\ninvalid\n") || !strings.Contains(out, "\nfailure\n") {
				t.Errorf("outputs: %s", out)
			}
		})
	}
}
