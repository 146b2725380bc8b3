package serve

import (
	"context"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/store"
)

// TestOwnLabel: a label that the App itself took off asks for nothing, and takes no process; another's does.
func TestOwnLabel(t *testing.T) {
	for sender, want := range map[string]int{"ralph[bot]": 0, "bob": 1} {
		sv, _ := aServer(t)
		asked := make(chan string, 1)
		sv.outbox.answers = make(chan struct{}, 1)
		sv.outbox.wrote = func(login string) bool { return login == "ralph[bot]" }
		sv.outbox.answer = func(_ context.Context, d store.Delivery, _ decided) store.Run {
			asked <- d.ID
			return store.Run{State: declined}
		}
		payload := `{"action":"unlabeled",` + anIssue + `,"label":{"name":"ralph:running"},` + place + `}`
		d := delivered("d-1", "issues", []byte(payload), time.Now())
		d.Sender = sender
		_, err := sv.s.Deliver(t.Context(), d)
		must(t, err)
		if n, err := sv.outbox.pass(t.Context()); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		sv.outbox.busy.Wait()
		if len(asked) != want {
			t.Errorf("%s: %d answers, want %d", sender, len(asked), want)
		}
	}
}
