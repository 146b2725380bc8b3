package web

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/store"
)

// TestAuditInWords: each entry leads to what it is about.
func TestAuditInWords(t *testing.T) {
	for _, want := range []deed{
		{store.Entry{Action: "run.stop", Subject: "r", Result: "done"}, "stopped the run", "", "r", ""},
		{store.Entry{Action: "run.stop", Subject: "r", Result: "it has ended"}, "tried: stopped the run", "it has ended", "r", ""},
		{store.Entry{Action: "delivery.redeliver", Subject: "d", Result: "done"}, "had a delivery decided again", "", "", "d"},
		{store.Entry{Action: "app.create", Subject: "ralph-of-a", Result: "done"}, "created the App", "ralph-of-a", "", ""},
	} {
		if got := deedOf(want.Entry); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}
