package fake_test

import (
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/fake"
)

func TestIssuePayloads(t *testing.T) {
	s := newScene(t)
	n := s.AddIssue(owner, name, fake.Issue{Title: "t", Body: "b", Labels: []string{"ralph"}})
	s.Unlabel(owner, name, n, "ralph", "bob")
	off := parse[*github.IssuesEvent](t, "issues", s.UnlabeledPayload(owner, name, n, "ralph", "bob"))
	equal(t, "action", off.GetAction(), "unlabeled")
	equal(t, "label", off.GetLabel().GetName(), "ralph")
	equal(t, "labels that are left", len(off.GetIssue().Labels), 0)

	was := s.Issue(owner, name, n)
	s.EditIssue(owner, name, n, "t", "b2")
	edited := parse[*github.IssuesEvent](t, "issues", s.IssueEditedPayload(owner, name, n, was, "bob"))
	equal(t, "the body before", edited.GetChanges().GetBody().GetFrom(), "b")
	equal(t, "the body now", edited.GetIssue().GetBody(), "b2")
	equal(t, "the title stayed", edited.GetChanges().Title == nil, true)

	id := s.AddComment(owner, name, n, fake.Comment{Author: "bob", Body: "/ralph run"})
	s.EditComment(owner, name, id, "/ralph stop")
	said := parse[*github.IssueCommentEvent](t, "issue_comment",
		s.CommentEditedPayload(owner, name, id, "/ralph run", "bob"))
	equal(t, "action", said.GetAction(), "edited")
	equal(t, "the text before", said.GetChanges().GetBody().GetFrom(), "/ralph run")
	equal(t, "the text now", said.GetComment().GetBody(), "/ralph stop")

	s.CloseIssue(owner, name, n)
	closed := parse[*github.IssuesEvent](t, "issues", s.IssueClosedPayload(owner, name, n, "bob"))
	equal(t, "state", closed.GetIssue().GetState(), "closed")
	equal(t, "sender", closed.GetSender().GetLogin(), "bob")
}

func TestPullPayloads(t *testing.T) {
	s := newScene(t)
	work := s.branch("work")
	n := s.AddIssue(owner, name, fake.Issue{Title: "t"})
	pr := s.AddPull(owner, name, fake.Pull{Title: "p", Head: "work", Body: "Closes #1", Labels: []string{"ralph"}})
	labelled := parse[*github.PullRequestEvent](t, "pull_request", s.PullLabeledPayload(owner, name, pr, "ralph", "bob"))
	equal(t, "label", labelled.GetLabel().GetName(), "ralph")
	equal(t, "number", labelled.GetNumber(), pr)
	equal(t, "head", labelled.GetPullRequest().GetHead().GetSHA(), work)

	sha := s.Merge(owner, name, pr, "bob")
	merged := parse[*github.PullRequestEvent](t, "pull_request", s.PullClosedPayload(owner, name, pr, "bob"))
	equal(t, "action", merged.GetAction(), "closed")
	equal(t, "merged", merged.GetPullRequest().GetMerged(), true)
	equal(t, "by", merged.GetPullRequest().GetMergedBy().GetLogin(), "bob")
	equal(t, "the merge", merged.GetPullRequest().GetMergeCommitSHA(), sha)
	equal(t, "main is there", s.BranchSHA(owner, name, "main"), sha)
	equal(t, "its file", s.mustGit(s.GitDir(owner, name), "show", "main:work.txt"), "work\n")
	equal(t, "the issue is closed", s.Issue(owner, name, n).Closed, true)

	fork := s.AddPull(owner, name, fake.Pull{Title: "f", Head: "x", HeadRepo: "mallory/demo", Author: "mallory"})
	s.ClosePull(owner, name, fork)
	closed := parse[*github.PullRequestEvent](t, "pull_request", s.PullClosedPayload(owner, name, fork, owner))
	equal(t, "merged", closed.GetPullRequest().GetMerged(), false)
	equal(t, "a fork's", closed.GetPullRequest().GetHead().GetRepo().GetFullName(), "mallory/demo")
}

func TestReviewPayloads(t *testing.T) {
	s := newScene(t)
	s.branch("work")
	pr := s.AddPull(owner, name, fake.Pull{Title: "p", Head: "work"})
	review := s.AddReview(owner, name, pr,
		fake.Review{Author: "bob", State: "CHANGES_REQUESTED", Body: "fix",
			Comments: []fake.ReviewComment{{Path: "work.txt", Line: 1, Body: "here"}}})
	said := parse[*github.PullRequestReviewEvent](t, "pull_request_review", s.ReviewPayload(owner, name, review))
	equal(t, "action", said.GetAction(), "submitted")
	equal(t, "state, in lower case", said.GetReview().GetState(), "changes_requested")
	equal(t, "pull request", said.GetPullRequest().GetNumber(), pr)
	equal(t, "sender", said.GetSender().GetLogin(), "bob")

	first := s.ReviewComments(owner, name, pr)[0].ID
	reply := s.AddReviewComment(owner, name, pr, fake.ReviewComment{Author: "carol", Body: "yes", InReplyTo: first})
	comment := parse[*github.PullRequestReviewCommentEvent](t, "pull_request_review_comment",
		s.ReviewCommentPayload(owner, name, reply))
	equal(t, "action", comment.GetAction(), "created")
	equal(t, "in reply to", comment.GetComment().GetInReplyTo(), first)
	equal(t, "sender", comment.GetSender().GetLogin(), "carol")
}

func TestCIPayloads(t *testing.T) {
	s := newScene(t)
	sha := s.branch("work")
	pr := s.AddPull(owner, name, fake.Pull{Title: "p", Head: "work"})
	id, jobs := s.AddWorkflowRun(owner, name, fake.WorkflowRun{
		Event: "pull_request", Branch: "work", Actor: "ralph[bot]", TriggeringActor: "bob", Attempt: 2,
		Jobs: []fake.Job{{Name: "test", Conclusion: "failure"}},
	})
	s.FinishWorkflowRun(owner, name, id, "failure")
	run := parse[*github.WorkflowRunEvent](t, "workflow_run", s.WorkflowRunPayload(owner, name, id)).GetWorkflowRun()
	equal(t, "head", run.GetHeadBranch()+" "+run.GetHeadSHA(), "work "+sha)
	equal(t, "who", run.GetActor().GetLogin()+" "+run.GetTriggeringActor().GetLogin(), "ralph[bot] bob")
	equal(t, "conclusion", run.GetEvent()+" "+run.GetConclusion(), "pull_request failure")
	equal(t, "attempt", run.GetRunAttempt(), 2)
	equal(t, "pull request", run.PullRequests[0].GetNumber(), pr)
	equal(t, "head's repository", run.GetHeadRepository().GetFullName(), "alice/demo")
	forked, _ := s.AddWorkflowRun(owner, name,
		fake.WorkflowRun{Branch: "work", HeadRepo: "mallory/demo", Conclusion: "success", Actor: "mallory"})
	run = parse[*github.WorkflowRunEvent](t, "workflow_run", s.WorkflowRunPayload(owner, name, forked)).GetWorkflowRun()
	equal(t, "a fork's", run.GetHeadRepository().GetFullName(), "mallory/demo")
	equal(t, "its pull requests are not told", len(run.PullRequests), 0)

	check := parse[*github.CheckRunEvent](t, "check_run", s.CheckRunPayload(owner, name, jobs[0]))
	equal(t, "check", check.GetCheckRun().GetName()+" "+check.GetCheckRun().GetConclusion(), "test failure")
	equal(t, "its suite's branch", check.GetCheckRun().GetCheckSuite().GetHeadBranch(), "work")
	suite := parse[*github.CheckSuiteEvent](t, "check_suite", s.CheckSuitePayload(owner, name, sha, ""))
	equal(t, "suite", suite.GetCheckSuite().GetConclusion()+" "+suite.GetCheckSuite().GetHeadSHA(), "failure "+sha)
	equal(t, "sender", suite.GetSender().GetLogin(), "github-actions[bot]")
}

func TestRepositoryDispatchPayload(t *testing.T) {
	s := newScene(t)
	asked := parse[*github.RepositoryDispatchEvent](t, "repository_dispatch",
		s.RepositoryDispatchPayload(owner, name, "bob", "ralph", map[string]any{"issue": 3}))
	equal(t, "action", asked.GetAction(), "ralph")
	equal(t, "branch", asked.GetBranch(), "main")
	equal(t, "payload", string(asked.ClientPayload), "{\n    \"issue\": 3\n  }")
}
