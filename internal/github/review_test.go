package github

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/fake"
)

func TestThreads(t *testing.T) {
	s := newStage(t)
	pull := s.pull("ralph/1")
	s.AddUser("helper[bot]", true)
	add := func(c fake.ReviewComment) int64 { return s.AddReviewComment(owner, name, pull, c) }
	open := add(fake.ReviewComment{Author: "bob", Path: "a.go", Line: 1, Body: "why?"})
	add(fake.ReviewComment{Author: "helper[bot]", InReplyTo: open, Body: "because"})
	done := add(fake.ReviewComment{Author: "bob", Path: "a.go", Line: 1, Body: "settled"})
	s.ResolveThread(owner, name, done, true)
	old := add(fake.ReviewComment{Author: "alice", Path: "b.go", Line: 7, Body: "was here"})
	s.OutdateThread(owner, name, old)
	s.EditReviewComment(owner, name, old, "was there")

	threads := must[[]Thread](t)(s.client().Threads(t.Context(), pull))
	if len(threads) != 2 {
		t.Fatalf("%d threads, want the open one and the outdated one: %+v", len(threads), threads)
	}
	first := threads[0]
	if first.First != open || first.Path != "a.go" || first.Line != 1 || first.Outdated || len(first.Comments) != 2 {
		t.Errorf("the open thread: %+v", first)
	}
	if got := first.Comments[1]; got.Author != (event.Actor{Login: "helper[bot]", Bot: true}) || got.Body != "because" ||
		!got.Inline {
		t.Errorf("a bot's reply: %+v, want the login as REST names it", got)
	}
	if c := first.Comments[0]; c.UpdatedAt.After(c.CreatedAt) || c.CreatedAt.IsZero() {
		t.Errorf("a comment that was not edited: %+v", c)
	}
	if threads[1].First != old || !threads[1].Outdated || threads[1].Line != 7 ||
		threads[1].Comments[0].Body != "was there" {
		t.Errorf("the outdated thread: %+v", threads[1])
	}
	for range 101 { // more threads than fit on a page
		add(fake.ReviewComment{Author: "bob", Path: "a.go", Line: 1, Body: "x"})
	}
	if threads := must[[]Thread](t)(s.client().Threads(t.Context(), pull)); len(threads) != 103 {
		t.Errorf("%d threads, want 103", len(threads))
	}
	fails(t, errOf(s.client().Threads(t.Context(), 99)), "reading the review threads of #99")
}

// TestReply: posted once, also where an earlier process may have posted it; someone else's with its first line is not it.
func TestReply(t *testing.T) {
	s := newStage(t)
	pull := s.pull("ralph/1")
	first := s.AddReviewComment(owner, name, pull, fake.ReviewComment{Author: "bob", Path: "a.go", Line: 1, Body: "why?"})
	s.AddReviewComment(owner, name, pull, fake.ReviewComment{Author: "mallory", InReplyTo: first, Body: "<!-- mine -->"})
	id := must[int64](t)(s.client().Reply(t.Context(), pull, first, "<!-- mine -->\nbecause", true))
	if again := must[int64](t)(s.client().Reply(t.Context(), pull, first, "<!-- mine -->\nbecause", true)); again != id || id == 0 {
		t.Errorf("the reply is %d, and then %d", id, again)
	}
	c := s.client()
	ev := event.Event{Kind: event.Commented, Issue: &event.Issue{Number: pull, Pull: true},
		Comment: &event.Comment{ID: first, Inline: true}}
	if err := c.React(t.Context(), ev, "eyes"); err != nil {
		t.Error(err)
	}
	if got := s.ReviewComments(owner, name, pull)[0].Reactions; len(got) != 1 || got[0].Content != "eyes" {
		t.Errorf("reactions: %+v", got)
	}
}
