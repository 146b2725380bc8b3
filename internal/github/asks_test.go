package github

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/fake"
)

// ask is one thing that a client does, for the kth time, and how much of it there is afterwards: at most one, whatever
// goes wrong. A nil made is a read.
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
	p.first = s.AddReviewComment(owner, name, p.pull,
		fake.ReviewComment{Author: "bob", Path: "a.go", Line: 1, Body: "why?"})
	p.review = s.ReviewComments(owner, name, p.pull)[0].ReviewID
	text := logged("##[error]no")
	_, jobs := s.AddWorkflowRun(owner, name,
		fake.WorkflowRun{Branch: "main", Jobs: []fake.Job{{Name: "test", Conclusion: "failure", Log: &text}}})
	p.job = jobs[0]
	return p
}

func errOf[T any](_ T, err error) error { return err }

// count is how many of a list are so.
func count[T any](list []T, so func(T) bool) (n int) {
	for _, one := range list {
		if so(one) {
			n++
		}
	}
	return n
}

// asks are everything that the client does.
func asks(t *testing.T, p place) []ask {
	ctx := t.Context()
	mark := func(k int) string { return fmt.Sprintf("<!-- %d -->", k) }
	return []ask{
		{"Gather", func(_ *stage, c *Client, _ int) error {
			_, _, err := c.Gather(ctx, event.Event{Kind: event.Labeled, Sender: event.Actor{Login: "alice"}, Label: "ralph",
				Issue: &event.Issue{Number: p.issue}})
			return err
		}, nil},
		{"Issue", func(_ *stage, c *Client, _ int) error { return errOf(c.Issue(ctx, p.issue)) }, nil},
		{"File", func(_ *stage, c *Client, _ int) error {
			_, _, err := c.File(ctx, "main", "README.md")
			return err
		}, nil},
		{"Labeler", func(_ *stage, c *Client, _ int) error {
			_, _, err := c.LabelChanged(ctx, p.issue, event.Labeled, "ralph")
			return err
		}, nil},
		{"Comments", func(_ *stage, c *Client, _ int) error { return errOf(c.Comments(ctx, p.issue)) }, nil},
		{"Pending", func(_ *stage, c *Client, _ int) error {
			return errOf(c.Pending(ctx, []string{"ralph"}, "main", "README.md"))
		}, nil},
		{"Queued", func(_ *stage, c *Client, _ int) error { return errOf(c.Queued(ctx, "ralph")) }, nil},
		{"FindPull", func(_ *stage, c *Client, _ int) error { return errOf(c.FindPull(ctx, "ralph/1")) }, nil},
		{"FindComment", func(_ *stage, c *Client, _ int) error { return errOf(c.FindComment(ctx, p.issue, "c")) }, nil},
		{"LastEdited", func(_ *stage, c *Client, _ int) error { return errOf(c.LastEdited(ctx, p.issue)) }, nil},
		{"LastEditor", func(_ *stage, c *Client, _ int) error {
			all, err := c.Comments(ctx, p.issue)
			if err != nil || len(all) == 0 {
				return err
			}
			_, _, _, err = c.LastEditor(ctx, all[0].NodeID)
			return err
		}, nil},
		{"Threads", func(_ *stage, c *Client, _ int) error { return errOf(c.Threads(ctx, p.pull)) }, nil},
		{"Wanting", func(_ *stage, c *Client, _ int) error { return errOf(c.Wanting(ctx, p.pull)) }, nil},
		{"Builds", func(s *stage, c *Client, _ int) error { return errOf(c.Builds(ctx, s.sha, "ralph", 0)) }, nil},
		{"BuildLog", func(_ *stage, c *Client, _ int) error {
			_, _, err := c.BuildLog(ctx, Build{Name: "test", CheckRun: p.job, JobID: p.job})
			return err
		}, nil},
		{"Labels", func(_ *stage, c *Client, _ int) error { return errOf(c.Labels(ctx)) }, nil},
		{"React", func(_ *stage, c *Client, _ int) error {
			return c.React(ctx, event.Event{Issue: &event.Issue{Number: p.issue}, Comment: &event.Comment{ID: p.comment}},
				"eyes")
		}, func(s *stage, _ int) int { return len(s.Comments(owner, name, p.issue)[0].Reactions) }},
		{"Comment", func(_ *stage, c *Client, k int) error {
			return errOf(c.Comment(ctx, p.issue, mark(k)+"\nhello", false))
		},
			func(s *stage, k int) int {
				return count(s.Comments(owner, name, p.issue), func(c fake.Comment) bool { return strings.HasPrefix(c.Body, mark(k)) })
			}},
		{"EditComment", func(_ *stage, c *Client, _ int) error { return c.EditComment(ctx, p.comment, "edited") }, nil},
		{"Reply", func(_ *stage, c *Client, k int) error {
			return errOf(c.Reply(ctx, p.pull, p.first, mark(k)+"\nhello", false))
		},
			func(s *stage, k int) int {
				return count(s.ReviewComments(owner, name, p.pull), func(c fake.ReviewComment) bool { return strings.HasPrefix(c.Body, mark(k)) })
			}},
		{"AddLabel", func(_ *stage, c *Client, k int) error {
			return errOf(c.AddLabel(ctx, p.issue, fmt.Sprint("label-", k)))
		}, func(s *stage, k int) int {
			return count(s.Issue(owner, name, p.issue).Labels, func(l string) bool { return l == fmt.Sprint("label-", k) })
		}},
		{"RemoveLabel", func(_ *stage, c *Client, _ int) error { return c.RemoveLabel(ctx, p.issue, "old") }, nil},
		{"MakeLabel", func(_ *stage, c *Client, k int) error {
			return c.MakeLabel(ctx, fmt.Sprint("made-", k), "ededed", "d")
		}, func(s *stage, k int) int {
			return count(s.RepoLabels(owner, name), func(l string) bool { return l == fmt.Sprint("made-", k) })
		}},
		{"OpenPull", func(s *stage, c *Client, k int) error {
			branch := fmt.Sprint("open/", k)
			if s.BranchSHA(owner, name, branch) == "" {
				s.branch(branch)
			}
			return errOf(c.OpenPull(ctx, PullRequest{Title: "P", Body: "B", Head: branch, Base: "main", Draft: true}))
		}, func(s *stage, k int) int { return s.pullsOf(fmt.Sprint("open/", k)) }},
		{"EditPull", func(_ *stage, c *Client, _ int) error {
			_, _, err := c.EditPull(ctx, p.pull, "P2", "B2")
			return err
		}, nil},
		{"ReadyPull", func(s *stage, c *Client, _ int) error { return c.ReadyPull(ctx, s.Pulls(owner, name)[0].NodeID) },
			nil},
		{"PutCheckRun", func(s *stage, c *Client, k int) error {
			run := s.ralphRun(60)
			run.ExternalID, run.Name = fmt.Sprint("run-", k), fmt.Sprint("ralph-", k)
			return errOf(c.PutCheckRun(ctx, run, false))
		}, func(s *stage, k int) int {
			mine := func(r fake.CheckRun) bool { return r.ExternalID == fmt.Sprint("run-", k) }
			double := func(r fake.CheckRun) bool { return mine(r) && len(r.Annotations) > 60 }
			return count(s.CheckRuns(owner, name, s.sha), mine) + count(s.CheckRuns(owner, name, s.sha), double)
		}},
		{"WriteFileByPull", func(_ *stage, c *Client, k int) error {
			return errOf(c.WriteFileByPull(ctx, fmt.Sprint("write/", k), "ralph.txt", []byte("text"), "Add it", "B"))
		}, func(s *stage, k int) int { return s.pullsOf(fmt.Sprint("write/", k)) }},
	}
}

// branch is one with a commit of its own.
func (s *stage) branch(name string) { s.commit(name, "x.txt", name) }

func (s *stage) pullsOf(branch string) int {
	return count(s.Pulls(owner, name), func(p fake.Pull) bool { return p.Head == branch })
}
