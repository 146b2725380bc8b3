package report

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
)

// askedBy is a view of a run that somebody asked for.
func askedBy(v View, who string) View {
	v.State.Asked = who
	return v
}

// outcomeComments are the comments that tell whoever asked, one for each outcome that has one.
func outcomeComments() string {
	var all []string
	for _, v := range []View{done(), asks(), failed(), mistaken()} {
		all = append(all, OutcomeComment(askedBy(v, "alice")))
	}
	return strings.Join(all, "\n---\n\n")
}

// TestAsker has a row for each login: only one of a person is mentioned, and nothing that only looks like one.
func TestAsker(t *testing.T) {
	for login, want := range map[string]string{
		"alice": "@alice", "Alice-B2": "@Alice-B2", "alice_acme": "@alice_acme", "": "", "renovate[bot]": "",
		"alice/team": "", "alice bob": "", "@alice": "", "alice\n@bob": "",
		"-alice": "", "a.b": "", strings.Repeat("a", 60): "",
	} {
		if got := askedBy(done(), login).Mention(); got != want {
			t.Errorf("%q is mentioned as %q, want %q", login, got, want)
		}
	}
}

// TestTells has a row for each outcome: the value of notifyOn that it is.
func TestTells(t *testing.T) {
	for _, tt := range []struct {
		name string
		view View
		want string
	}{
		{"running", runningFirst(), ""}, {"done", done(), "done"}, {"capped", capped(), "failed"},
		{"a time limit", timedOut(), "failed"}, {"a spending limit", spentAll(), "failed"},
		{"ralph's own part", failed(), "failed"}, {"cannot run", mistaken(), "failed"}, {"a question", asks(), "waiting"},
		{"a limit's reset", waiting(), ""}, {"stopped", interrupted(), ""},
	} {
		if got := tt.view.NotifyKind(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestOutcomeCommentIsInert: but for the mention at its beginning nothing in it does anything, whatever the run's texts
// hold.
func TestOutcomeCommentIsInert(t *testing.T) {
	for _, outcome := range []loop.Outcome{loop.Done, loop.Failed, loop.Invalid, loop.Waiting} {
		v := askedBy(hostile(), "alice")
		end := *v.State.End
		end.Outcome = outcome
		v.State.End = &end
		text, ok := strings.CutPrefix(OutcomeComment(v), "@alice ")
		if !ok || len(text) > 4<<10 {
			t.Errorf("%s: %d bytes: %.200s", outcome, len(text), text)
		}
		for _, p := range sample.Inertness(text) {
			t.Errorf("%s: %s", outcome, p)
		}
	}
}
