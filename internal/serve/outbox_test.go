package serve

import (
	"testing"
	"time"
)

// TestOwnLabel: a label that the App itself took off asks for nothing, and takes no process; another's does.
func TestOwnLabel(t *testing.T) {
	for sender, want := range map[string]int{"ralph[bot]": 0, "bob": 1} {
		sv, _ := aServer(t)
		sv.outbox.wrote = func(login string) bool { return login == "ralph[bot]" }
		payload := `{"action":"unlabeled",` + anIssue + `,"label":{"name":"ralph:running"},` + place + `}`
		d := delivered("d-1", "issues", []byte(payload), time.Now())
		d.Sender = sender
		_, err := sv.s.Deliver(t.Context(), d)
		must(t, err)
		if n, err := sv.outbox.pass(t.Context()); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		answers, err := sv.s.Due(t.Context(), true)
		if must(t, err); len(answers) != want {
			t.Errorf("%s: %d answers, want %d", sender, len(answers), want)
		}
	}
}
