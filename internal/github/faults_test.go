package github

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/fake"
)

// mishap is what goes wrong with one call on its way: instead of sending it, or after it was carried out.
type mishap struct {
	name   string
	before func() (*http.Response, error) // in place of the call
	after  bool                           // the call is carried out first, and its answer lost
}

func answering(status int, body string, headers ...string) func() (*http.Response, error) {
	return func() (*http.Response, error) {
		r := &http.Response{StatusCode: status, Status: fmt.Sprint(status, " ", http.StatusText(status)), Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		return r, nil
	}
}

func failing(err error) func() (*http.Response, error) {
	return func() (*http.Response, error) { return nil, err }
}

func says(message string) string { return fmt.Sprintf(`{"message": %q}`, message) }

var mishaps = []mishap{
	{"401", answering(401, says("Bad credentials")), false},
	{"403", answering(403, says("Resource not accessible by integration"), "X-Accepted-GitHub-Permissions", "issues=write; pull_requests=write"), false},
	{"404", answering(404, says("Not Found")), false},
	{"409", answering(409, says("Conflict")), false},
	{"410", answering(410, says("Issues are disabled for this repo")), false},
	{"422", answering(422, `{"message": "Validation Failed\n\nmore", "errors": [{"resource": "X", "field": "y", "code": "invalid"}]}`), false},
	{"429 with a time", answering(429, says("API rate limit exceeded"), "Retry-After", "7"), false},
	{"a secondary limit", answering(403, `{"message": "You have exceeded a secondary rate limit.", "documentation_url": "https://docs.github.com/x#about-secondary-rate-limits"}`), false},
	{"500", answering(500, says("Server Error")), false},
	{"a proxy's page", answering(502, "<html>\n<body>\n<h1>Bad gateway ghs_job</h1>\n</html>"), false},
	{"a proxy's page as a good answer", answering(200, "<html>\n<body>log in</body>\n</html>"), false},
	{"dropped before", failing(io.ErrUnexpectedEOF), false},
	{"dropped after", failing(io.ErrUnexpectedEOF), true},
	{"500 after", answering(500, says("Server Error")), true},
	{"too slow", failing(context.DeadlineExceeded), false},
	{"carried out, but too slow", failing(context.DeadlineExceeded), true},
	{"no name", failing(&net.DNSError{Name: "api.nowhere", IsNotFound: true}), false},
	{"no trust", failing(&tls.CertificateVerificationError{Err: errors.New("unknown authority")}), false},
}

// trouble lets one mishap happen to the nth call, or to all from there on.
type trouble struct {
	mishap
	next   http.RoundTripper
	nth    int
	always bool
	calls  int
}

func (f *trouble) RoundTrip(req *http.Request) (*http.Response, error) {
	f.calls++
	if f.calls < f.nth || f.calls > f.nth && !f.always {
		return f.next.RoundTrip(req)
	}
	if f.after {
		resp, err := f.next.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		_ = resp.Body.Close()
	}
	resp, err := f.before()
	if resp != nil {
		resp.Request = req
	}
	return resp, err
}

// ask is one thing that a client does, for the kth time, and how much of it there is afterwards: at most one, whatever goes wrong. A nil
// made is a read.
type ask struct {
	name string
	do   func(s *stage, c *Client, k int) error
	made func(s *stage, k int) int
}

// where the asks act: an issue, a pull request with a thread, a commit that CI has judged.
type place struct {
	issue, pull         int
	comment, first, job int64
	review              int64
}

func (s *stage) place() place {
	var p place
	p.issue = s.AddIssue(owner, name, fake.Issue{Title: "t", Author: "alice", Labels: []string{"ralph", "old"}})
	p.comment = s.AddComment(owner, name, p.issue, fake.Comment{Author: "alice", Body: "c"})
	p.pull = s.pull("ralph/1")
	p.first = s.AddReviewComment(owner, name, p.pull, fake.ReviewComment{Author: "bob", Path: "a.go", Line: 1, Body: "why?"})
	p.review = s.ReviewComments(owner, name, p.pull)[0].ReviewID
	text := logged("##[error]no")
	_, jobs := s.AddWorkflowRun(owner, name, fake.WorkflowRun{Branch: "main", Jobs: []fake.Job{{Name: "test", Conclusion: "failure", Log: &text}}})
	p.job = jobs[0]
	return p
}

func errOf[T any](_ T, err error) error { return err }

func one(ok bool) int {
	if ok {
		return 1
	}
	return 0
}

// asks are everything that the client does.
func asks(t *testing.T, p place) []ask {
	ctx := t.Context()
	mark := func(k int) string { return fmt.Sprintf("<!-- %d -->", k) }
	return []ask{
		{"Gather", func(_ *stage, c *Client, _ int) error {
			_, _, err := c.Gather(ctx, event.Event{Kind: event.Labeled, Sender: event.Actor{Login: "alice"}, Label: "ralph", Issue: &event.Issue{Number: p.issue}})
			return err
		}, nil},
		{"Issue", func(_ *stage, c *Client, _ int) error { return errOf(c.Issue(ctx, p.issue)) }, nil},
		{"File", func(_ *stage, c *Client, _ int) error {
			_, _, err := c.File(ctx, "main", "README.md")
			return err
		}, nil},
		{"Labeller", func(_ *stage, c *Client, _ int) error {
			_, _, err := c.Labeller(ctx, p.issue, "ralph")
			return err
		}, nil},
		{"Comments", func(_ *stage, c *Client, _ int) error { return errOf(c.Comments(ctx, p.issue)) }, nil},
		{"Queued", func(_ *stage, c *Client, _ int) error { return errOf(c.Queued(ctx, "ralph")) }, nil},
		{"FindPull", func(_ *stage, c *Client, _ int) error { return errOf(c.FindPull(ctx, "ralph/1")) }, nil},
		{"FindComment", func(_ *stage, c *Client, _ int) error { return errOf(c.FindComment(ctx, p.issue, "c")) }, nil},
		{"FindReply", func(_ *stage, c *Client, _ int) error { return errOf(c.FindReply(ctx, p.pull, p.first, "c")) }, nil},
		{"LastEdited", func(_ *stage, c *Client, _ int) error { return errOf(c.LastEdited(ctx, p.issue)) }, nil},
		{"Threads", func(_ *stage, c *Client, _ int) error { return errOf(c.Threads(ctx, p.pull)) }, nil},
		{"ReviewRemarks", func(_ *stage, c *Client, _ int) error { return errOf(c.ReviewRemarks(ctx, p.pull, p.review)) }, nil},
		{"Builds", func(s *stage, c *Client, _ int) error { return errOf(c.Builds(ctx, s.sha, "ralph")) }, nil},
		{"BuildLog", func(_ *stage, c *Client, _ int) error {
			_, _, err := c.BuildLog(ctx, Build{Name: "test", CheckRun: p.job, JobID: p.job})
			return err
		}, nil},
		{"Labels", func(_ *stage, c *Client, _ int) error { return errOf(c.Labels(ctx)) }, nil},
		{"React", func(_ *stage, c *Client, _ int) error {
			return c.React(ctx, event.Event{Issue: &event.Issue{Number: p.issue}, Comment: &event.Comment{ID: p.comment}}, "eyes")
		}, func(s *stage, _ int) int { return len(s.Comments(owner, name, p.issue)[0].Reactions) }},
		{"Comment", func(_ *stage, c *Client, k int) error { return errOf(c.Comment(ctx, p.issue, mark(k)+"\nhello")) }, func(s *stage, k int) int {
			n := 0
			for _, c := range s.Comments(owner, name, p.issue) {
				n += one(strings.HasPrefix(c.Body, mark(k)))
			}
			return n
		}},
		{"EditComment", func(_ *stage, c *Client, _ int) error { return c.EditComment(ctx, p.comment, "edited") }, nil},
		{"Reply", func(_ *stage, c *Client, k int) error { return errOf(c.Reply(ctx, p.pull, p.first, mark(k)+"\nhello")) }, func(s *stage, k int) int {
			n := 0
			for _, c := range s.ReviewComments(owner, name, p.pull) {
				n += one(strings.HasPrefix(c.Body, mark(k)))
			}
			return n
		}},
		{"AddLabel", func(_ *stage, c *Client, k int) error { return c.AddLabel(ctx, p.issue, fmt.Sprint("label-", k)) }, func(s *stage, k int) int {
			n := 0
			for _, l := range s.Issue(owner, name, p.issue).Labels {
				n += one(l == fmt.Sprint("label-", k))
			}
			return n
		}},
		{"RemoveLabel", func(_ *stage, c *Client, _ int) error { return c.RemoveLabel(ctx, p.issue, "old") }, nil},
		{"MakeLabel", func(_ *stage, c *Client, k int) error { return c.MakeLabel(ctx, fmt.Sprint("made-", k), "ededed", "d") }, func(s *stage, k int) int {
			n := 0
			for _, l := range s.RepoLabels(owner, name) {
				n += one(l == fmt.Sprint("made-", k))
			}
			return n
		}},
		{"OpenPull", func(s *stage, c *Client, k int) error {
			branch := fmt.Sprint("open/", k)
			if s.BranchSHA(owner, name, branch) == "" {
				s.branch(branch)
			}
			return errOf(c.OpenPull(ctx, PullRequest{Title: "P", Body: "B", Head: branch, Base: "main", Draft: true}))
		}, func(s *stage, k int) int { return s.pullsOf(fmt.Sprint("open/", k)) }},
		{"EditPull", func(_ *stage, c *Client, _ int) error { return c.EditPull(ctx, p.pull, "P2", "B2") }, nil},
		{"ReadyPull", func(s *stage, c *Client, _ int) error { return c.ReadyPull(ctx, s.Pulls(owner, name)[0].NodeID) }, nil},
		{"PutCheckRun", func(s *stage, c *Client, k int) error {
			run := s.ralphRun(60)
			run.ExternalID, run.Name = fmt.Sprint("run-", k), fmt.Sprint("ralph-", k)
			return errOf(c.PutCheckRun(ctx, run))
		}, func(s *stage, k int) int {
			n := 0
			for _, r := range s.CheckRuns(owner, name, s.sha) {
				if r.ExternalID == fmt.Sprint("run-", k) {
					n += 1 + one(len(r.Annotations) > 60)
				}
			}
			return n
		}},
		{"WriteFileByPull", func(_ *stage, c *Client, k int) error {
			return errOf(c.WriteFileByPull(ctx, fmt.Sprint("write/", k), "ralph.txt", []byte("text"), "Add it", "B"))
		}, func(s *stage, k int) int { return s.pullsOf(fmt.Sprint("write/", k)) }},
	}
}

// branch is one with a commit of its own.
func (s *stage) branch(name string) { s.commit(name, "x.txt", name) }

func (s *stage) pullsOf(branch string) int {
	n := 0
	for _, p := range s.Pulls(owner, name) {
		n += one(p.Head == branch)
	}
	return n
}

// TestEveryCallSurvivesEveryMishap: each thing that the client does meets each thing that can go wrong, at its first call and at later
// ones, once and for good. It recovers, or it says in one sentence what it was doing, what GitHub said and what to do; and nothing is done twice.
func TestEveryCallSurvivesEveryMishap(t *testing.T) {
	s := bareStage(t) // whether the calls are GitHub's, other tests ask
	p := s.place()
	k := 0
	for _, a := range asks(t, p) {
		t.Run(a.name, func(t *testing.T) {
			healthy := &trouble{nth: 1 << 30}
			if err := s.under(a, healthy, k); err != nil {
				t.Fatalf("without a mishap: %v", err)
			}
			k++
			for i, m := range mishaps {
				for nth := 1; nth <= min(healthy.calls, 8); nth++ {
					if nth > 1 && !m.after && (i+nth)%3 != 0 { // the later calls share them: it is the lost answers that double things
						continue
					}
					for _, always := range []bool{false, true} {
						if always && nth > 1 && !m.after {
							continue
						}
						err := s.under(a, &trouble{mishap: m, nth: nth, always: always}, k)
						if err != nil {
							clear(t, fmt.Sprintf("%s at call %d, always: %v", m.name, nth, always), err)
						}
						if a.made == nil {
							continue
						}
						if n := a.made(s, k); n > 1 || err == nil && n != 1 && !s.said("add `checks: write`") {
							t.Errorf("%s at call %d, always: %v: there are %d of it after the error %v", m.name, nth, always, n, err)
						}
						k++
					}
				}
			}
		})
	}
}

// under does one thing with a client of its own, whose calls are in trouble.
func (s *stage) under(a ask, f *trouble, k int) error {
	s.log = nil
	c := s.client()
	f.next = c.wire.next
	c.wire.next = f
	return a.do(s, c, k)
}

var sentence = regexp.MustCompile(`^[a-z]+ing [^\n]+`)

// clear holds an error to what a reader needs.
func clear(t *testing.T, when string, err error) {
	t.Helper()
	text := err.Error()
	if !sentence.MatchString(text) || !strings.Contains(text, "; ") && !strings.Contains(text, ": run again then") || len(text) > 700 ||
		strings.Contains(text, "\n") || strings.Contains(text, jobToken) || strings.Contains(text, "<html") || strings.Contains(text, "http://") {
		t.Errorf("%s: not one clear sentence: %q", when, text)
	}
}

// TestATryHasItsTimeLimit: one slow try is given up and made again.
func TestATryHasItsTimeLimit(t *testing.T) {
	s := newStage(t)
	n := s.AddIssue(owner, name, fake.Issue{Title: "t"})
	c := s.client()
	slow := &hanging{next: c.wire.next}
	c.wire.next, c.wire.timeout = slow, 1 // nanosecond; as soon as the slow try has been given up, the others have time
	slow.given = func() { c.wire.timeout = requestTimeout }
	if _, err := c.Issue(t.Context(), n); err != nil || slow.calls != 2 {
		t.Errorf("%d tries: %v", slow.calls, err)
	}
}

// hanging does not answer its first call.
type hanging struct {
	next  http.RoundTripper
	calls int
	given func()
}

func (h *hanging) RoundTrip(req *http.Request) (*http.Response, error) {
	if h.calls++; h.calls > 1 {
		return h.next.RoundTrip(req)
	}
	<-req.Context().Done()
	h.given()
	return nil, req.Context().Err()
}

// TestSecondaryLimitsWaitAMinute: what GitHub's documents say when the answer gives no time.
func TestSecondaryLimitsWaitAMinute(t *testing.T) {
	s := newStage(t)
	n := s.AddIssue(owner, name, fake.Issue{Title: "t"})
	s.Fail(fake.Fault{SecondaryLimit: true})
	if _, err := s.client().Comment(t.Context(), n, "hello"); err != nil {
		t.Fatal(err)
	}
	if len(s.slept) != 1 || s.slept[0].Seconds() != 60 || len(s.Comments(owner, name, n)) != 1 {
		t.Errorf("waited %v; %d comments", s.slept, len(s.Comments(owner, name, n)))
	}
}
