package report

import (
	"strings"
	"testing"
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

// TestTells has a row for each value of notifyOn.
func TestTells(t *testing.T) {
	for _, tt := range []struct {
		view View
		want string
	}{
		{runningFirst(), ""}, {done(), "done"}, {capped(), "failed"}, {failed(), "failed"}, {mistaken(), "failed"},
		{asks(), "waiting"}, {waiting(), ""}, {interrupted(), ""},
	} {
		if got := tt.view.NotifyKind(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.view.headline(), got, tt.want)
		}
	}
}
