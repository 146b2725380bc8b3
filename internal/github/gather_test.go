package github

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/fake"
)

// asked lists whose permission was looked up.
func (s *stage) asked() string {
	var who []string
	for _, c := range s.Calls() {
		if rest, ok := strings.CutPrefix(c.Path, "/repos/alice/demo/collaborators/"); ok {
			who = append(who, strings.TrimSuffix(rest, "/permission"))
		}
	}
	return strings.Join(who, " ")
}

// TestWhoIsLookedUp has a row for whose comments reach the agent, and whose permission that takes (B-13).
func TestWhoIsLookedUp(t *testing.T) {
	tests := []struct {
		name    string
		by      event.CommentsBy
		want    string
		dropped int
	}{
		{"people with write access", event.CommentsBy{}, "alice dora carol bob", 1},
		{"nobody", event.CommentsBy{"none"}, "alice", 0},
		{"some by name", event.CommentsBy{"Bob"}, "alice", 0},
		{"writers, and some by name", event.CommentsBy{"writers", "Dora"}, "alice carol bob anna", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t)
			n := s.AddIssue(owner, name, fake.Issue{Title: "t"})
			for _, who := range []string{"anna", "bob", "carol", "dora", "helper[bot]", "alice"} {
				s.AddComment(owner, name, n, fake.Comment{Author: who, Body: "x"})
			}
			c := s.client(func(o *Options) { o.CommentsBy = tt.by })
			_, facts, err := c.Gather(t.Context(), event.Event{
				Kind: event.Dispatched, Repo: c.o.Repo, Sender: event.Actor{Login: "alice"}, Issue: &event.Issue{Number: n},
			})
			if err != nil || s.asked() != tt.want || facts.Dropped != tt.dropped || len(facts.Comments) != 6 {
				t.Errorf("%v; looked up %q, want %q; dropped %d", err, s.asked(), tt.want, facts.Dropped)
			}
		})
	}
}

// TestNoLogin: a name that no account can have is not asked for, since it would be read as a part of the address; it is
// no permission.
func TestNoLogin(t *testing.T) {
	s := newStage(t)
	c := s.client()
	for _, login := range []string{"alice/permission?", "alice#", "../alice", "al ice", "alice%2f", "älice", "alice.b"} {
		facts := event.Facts{Permissions: map[string]event.Permission{}}
		if c.CanWrite(t.Context(), &facts, login) || facts.Permissions[strings.ToLower(login)].Err == nil || s.asked() != "" {
			t.Errorf("%s: %+v, asked for %q", login, facts, s.asked())
		}
	}
	if facts := (event.Facts{Permissions: map[string]event.Permission{}}); !c.CanWrite(t.Context(), &facts, "alice") ||
		s.asked() != "alice" {
		t.Errorf("alice: %+v, asked for %q", facts, s.asked())
	}
}

// TestForksAreAskedForOnce: the payload of a pull request's own event says where its head is, that of a comment does
// not.
func TestForksAreAskedForOnce(t *testing.T) {
	s := newStage(t)
	own := s.pull("ralph/1")
	fork := s.AddPull(owner, name, fake.Pull{Title: "F", Author: "mallory", Head: "x", HeadRepo: "mallory/demo"})
	for _, tt := range []struct {
		event string
		pull  int
		fork  bool // what the payload says
		want  bool
		calls int
	}{
		{"issue_comment.created", own, false, false, 1},
		{"issue_comment.created", fork, false, true, 1},
		{"pull_request_review.submitted", fork, true, true, 0},
		{"pull_request_review_comment.created", own, false, false, 0},
		{"pull_request.closed", own, false, false, 0},
	} {
		s.ResetCalls()
		c := s.client()
		ev, _, err := c.Gather(t.Context(), event.Event{
			Kind: event.Commented, Name: tt.event, Repo: c.o.Repo, Sender: event.Actor{Login: "alice"},
			Issue: &event.Issue{Number: tt.pull, Pull: true, Fork: tt.fork},
		})
		if err != nil || ev.Issue.Fork != tt.want || s.count("GET", "/pulls/") != tt.calls {
			t.Errorf("%s on #%d: fork %v after %d calls, %v", tt.event, tt.pull, ev.Issue.Fork, s.count("GET", "/pulls/"), err)
		}
	}
}

// TestCustomRoles: they count as the role they inherit, whatever they are called (B-10).
func TestCustomRoles(t *testing.T) {
	for role, level := range map[string]string{"security-engineer": "write", "admin": "read", "maintain": "write"} {
		c := clientOf(fmt.Appendf(nil, `{"role_name": %q, "permission": %q}`, role, level))
		if got := c.Permission(t.Context(), "alice"); got.Level != level || got.Err != nil {
			t.Errorf("%s: %+v, want %s", role, got, level)
		}
	}
}

// TestCallsBeforeTheFirstTurn: whatever the event, gathering leaves what showing that a run has begun takes.
func TestCallsBeforeTheFirstTurn(t *testing.T) {
	s := newStage(t)
	n := s.AddIssue(owner, name, fake.Issue{Title: "t", Labels: []string{"ralph"}})
	pull := s.pull("ralph/1")
	for i := range 20 {
		for _, on := range []int{n, pull} {
			s.AddComment(owner, name, on, fake.Comment{Author: fmt.Sprint("user", i), Body: "x"})
		}
	}
	alice := event.Actor{Login: "alice"}
	for _, ev := range []event.Event{
		{Kind: event.Labeled, Name: "issues.labeled", Label: "ralph", Issue: &event.Issue{Number: n}},
		{Kind: event.Commented, Name: "issue_comment.created", Issue: &event.Issue{Number: n},
			Comment: &event.Comment{Author: alice}},
		{Kind: event.Commented, Name: "issue_comment.created", Issue: &event.Issue{Number: pull, Pull: true},
			Comment: &event.Comment{Author: alice}},
		{Kind: event.Dispatched, Name: "workflow_dispatch", Ask: event.DispatchRequest{Issue: n}},
		{Kind: event.Reviewed, Name: "pull_request_review.submitted", Issue: &event.Issue{Number: pull, Pull: true}},
	} {
		for _, token := range []string{jobToken, aliceToken} {
			c := s.client(as(token))
			ev.Repo, ev.Sender, ev.TriggeringActor = c.o.Repo, alice, "bob"
			s.ResetCalls()
			_, facts, err := c.Gather(t.Context(), ev)
			if got := len(s.Calls()); err != nil || got > callsBefore-callsToShow || facts.Dropped == 0 {
				t.Errorf("%s with %s: %d calls, %d comments dropped, %v", ev.Name, token, got, facts.Dropped, err)
			}
		}
	}
}

// TestNewestComments: the newest comments are read whatever their count, with one call more where the last page has few
// of them.
func TestNewestComments(t *testing.T) {
	for _, tt := range []struct{ count, want, calls int }{{100, 100, 1}, {119, 119, 2}, {120, 20, 2}, {200, 100, 2}, {205, 105, 3}} {
		s := newStage(t)
		n := s.AddIssue(owner, name, fake.Issue{Title: "t"})
		for i := range tt.count {
			s.AddComment(owner, name, n, fake.Comment{Author: "alice", Body: fmt.Sprint(i)})
		}
		c := s.client()
		s.ResetCalls()
		got, err := c.Comments(t.Context(), n)
		if err != nil || len(got) != tt.want || len(s.Calls()) != tt.calls {
			t.Fatalf("of %d comments %d are read with %d calls (%v), want %d with %d", tt.count, len(got), len(s.Calls()), err,
				tt.want, tt.calls)
		}
		for i, one := range got {
			if want := fmt.Sprint(tt.count - tt.want + i); one.Body != want {
				t.Fatalf("of %d comments, number %d read is %s, want %s", tt.count, i, one.Body, want)
			}
		}
	}
}
