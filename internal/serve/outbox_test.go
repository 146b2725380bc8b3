package serve

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/store"
)

// TestDecidedAgain: a delivery whose run works already, since a process died or a person asked, stops nobody.
func TestDecidedAgain(t *testing.T) {
	ctx := t.Context()
	s, err := store.Open(ctx, store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	made := 0
	o := &outbox{s: s, rules: event.Rules{TriggerLabel: "ralph", TriggerPhrase: "/ralph"},
		log: slog.New(slog.DiscardHandler), clock: time.Now,
		enqueue: func(context.Context, string, job, time.Time) error { made++; return nil },
		ours:    func(string, string) bool { return false }}
	payload := []byte(strings.Replace(aComment, "BODY", "/ralph retry", 1))
	for _, id := range []string{"d-1", "d-2"} {
		if _, err := s.Deliver(ctx, store.Delivery{ID: id, Event: "issue_comment", Payload: payload}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.PutRun(ctx, store.Run{ID: "d-1", State: "running", Attempt: 1}); err != nil {
		t.Fatal(err)
	}
	if n, err := o.pass(ctx); n != 2 || err != nil || made != 2 {
		t.Errorf("%d decided, %d jobs, %v", n, made, err)
	}
	if run, err := s.Run(ctx, "d-1"); err != nil || run.State != "running" {
		t.Errorf("the run that works is %+v, %v", run, err)
	}
	if n, _, err := s.Outbox(ctx); n != 0 || err != nil {
		t.Errorf("%d wait, %v", n, err)
	}
}
