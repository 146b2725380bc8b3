package serve

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/queue"
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
		if _, err := s.Deliver(ctx, delivered(id, "issue_comment", payload, time.Now())); err != nil {
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

// TestOwnLabel: a label that the App itself took off asks for nothing, and takes no process; another's does.
func TestOwnLabel(t *testing.T) {
	for sender, want := range map[string]int{"ralph[bot]": 0, "bob": 1} {
		sv, _ := aServer(t)
		asked := make(chan string, 1)
		sv.outbox.answers = make(chan struct{}, 1)
		sv.outbox.wrote = func(login string) bool { return login == "ralph[bot]" }
		sv.outbox.answer = func(_ context.Context, id string, _ job, _ int) (queue.Result, error) {
			asked <- id
			return queue.Result{}, nil
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
