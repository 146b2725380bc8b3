// Package github is the door to GitHub: it reads events and facts, and it writes what a run has to say. Nothing else
// speaks to the API.
package github

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/event"
)

// Delivery is one event as the runner hands it over.
type Delivery struct {
	Name            string // GITHUB_EVENT_NAME: "issues"
	Payload         []byte // the file GITHUB_EVENT_PATH
	Repository      string // GITHUB_REPOSITORY: "alice/demo"
	TriggeringActor string // GITHUB_TRIGGERING_ACTOR
	At              time.Time
}

// ParseEvent makes an event of a delivery. An event that ralph does not know is Other, not an error; an error is a
// payload that cannot be read or is not about this repository, or a repository_dispatch that asks for what cannot be (a
// *event.UsageError).
func ParseEvent(d Delivery) (event.Event, error) {
	ev, err := parse(d)
	if err != nil {
		return event.Event{}, fmt.Errorf("reading the %s event: %w", d.Name, err)
	}
	ev.TriggeringActor = d.TriggeringActor
	if d.Repository != "" && !strings.EqualFold(ev.Repo.String(), d.Repository) {
		return event.Event{}, fmt.Errorf("reading the %s event: it is about %s, but this job belongs to %s", d.Name, ev.Repo,
			d.Repository)
	}
	return ev, nil
}

// known are the events that can ask for something, by the name under which go-github knows their payload.
var known = map[string]string{
	"issues": "issues", "issue_comment": "issue_comment", "pull_request": "pull_request",
	"pull_request_target": "pull_request",
	"pull_request_review": "pull_request_review", "pull_request_review_comment": "pull_request_review_comment",
	"workflow_run": "workflow_run", "check_suite": "check_suite",
	"workflow_dispatch": "workflow_dispatch", "repository_dispatch": "repository_dispatch",
}

func parse(d Delivery) (event.Event, error) {
	kind := event.Other
	if d.Name == "schedule" {
		kind = event.Scheduled
	}
	ev, err := parseBare(d, kind)
	if err != nil || known[d.Name] == "" {
		return ev, err
	}
	payload, err := github.ParseWebHook(known[d.Name], d.Payload)
	if err != nil {
		return event.Event{}, err
	}
	if d.Name != "workflow_dispatch" && d.Name != "repository_dispatch" { // theirs may leave it out, as a schedule's may
		if ev.Repo.Owner == "" || ev.Repo.Name == "" {
			return event.Event{}, errors.New("it holds no repository")
		}
	}
	switch p := payload.(type) {
	case *github.IssuesEvent:
		return ofIssue(ev, p)
	case *github.IssueCommentEvent:
		return ofComment(ev, p)
	case *github.PullRequestEvent:
		return ofPull(ev, p)
	case *github.PullRequestReviewEvent:
		return ofReview(ev, p)
	case *github.PullRequestReviewCommentEvent:
		return ofInline(ev, p)
	case *github.WorkflowRunEvent:
		return ofWorkflow(ev, p)
	case *github.CheckSuiteEvent:
		return ofSuite(ev, p)
	case *github.WorkflowDispatchEvent:
		ev.Kind = event.Dispatched
		return ev, nil
	case *github.RepositoryDispatchEvent:
		return ofDispatch(ev, p)
	}
	return event.Event{}, errors.New("payload of an unexpected shape")
}

// parseBare reads what every payload has. A schedule's payload may have no repository at all; the job's own serves
// then.
func parseBare(d Delivery, kind event.Kind) (event.Event, error) {
	var p struct {
		Action     string             `json:"action"`
		Repository *github.Repository `json:"repository"`
		Sender     *github.User       `json:"sender"`
	}
	if len(d.Payload) > 0 {
		if err := json.Unmarshal(d.Payload, &p); err != nil {
			return event.Event{}, err
		}
	}
	name := d.Name
	if p.Action != "" && d.Name != "repository_dispatch" { // its action is any text of the sender
		name += "." + p.Action
	}
	ev := event.Event{Kind: kind, Name: name, Repo: repo(p.Repository), Sender: actor(p.Sender), At: d.At}
	if p.Repository == nil && (known[d.Name] == "" || strings.HasSuffix(d.Name, "_dispatch")) {
		owner, short, ok := strings.Cut(d.Repository, "/")
		if !ok {
			return event.Event{}, errors.New("neither the payload nor GITHUB_REPOSITORY names a repository")
		}
		ev.Repo = event.Repo{Owner: owner, Name: short}
	}
	return ev, nil
}

func ofIssue(ev event.Event, p *github.IssuesEvent) (event.Event, error) {
	if p.GetIssue().GetNumber() <= 0 {
		return ev, errors.New("it holds no issue or no repository")
	}
	ev.Issue, ev.Label, ev.At = issue(p.GetIssue()), p.GetLabel().GetName(), p.GetIssue().GetUpdatedAt().Time
	ev.Kind = ofAction(p.GetAction())
	return ev, nil
}

func ofComment(ev event.Event, p *github.IssueCommentEvent) (event.Event, error) {
	if p.GetIssue().GetNumber() <= 0 || p.Comment == nil {
		return ev, errors.New("it holds no issue, no comment or no repository")
	}
	c := comment(p.GetComment())
	ev.Issue, ev.Comment, ev.At = issue(p.GetIssue()), &c, c.CreatedAt
	if p.GetAction() == "created" {
		ev.Kind = event.Commented
	}
	return ev, nil
}

// ofWorkflow reads what a workflow made of a commit. A head that names no repository counts as one of another.
func ofWorkflow(ev event.Event, p *github.WorkflowRunEvent) (event.Event, error) {
	r := p.GetWorkflowRun()
	if r == nil {
		return ev, errors.New("it holds no workflow run")
	}
	ev.Build = &event.Build{
		Name: r.GetName(), Conclusion: strings.ToLower(r.GetConclusion()), Branch: r.GetHeadBranch(), SHA: r.GetHeadSHA(),
		URL: r.GetHTMLURL(), Suite: r.GetCheckSuiteID(),
		Fork: !strings.EqualFold(r.GetHeadRepository().GetFullName(), ev.Repo.String()),
	}
	return completed(ev, p.GetAction()), nil
}

// ofSuite reads what a service made of a commit. GitHub names the branch only of what is in this repository.
func ofSuite(ev event.Event, p *github.CheckSuiteEvent) (event.Event, error) {
	s := p.GetCheckSuite()
	if s == nil {
		return ev, errors.New("it holds no check suite")
	}
	ev.Build = &event.Build{
		Name: s.GetApp().GetName(), Conclusion: strings.ToLower(s.GetConclusion()), Branch: s.GetHeadBranch(),
		SHA: s.GetHeadSHA(),
		URL: fmt.Sprintf("%s/commit/%s/checks", p.GetRepo().GetHTMLURL(), s.GetHeadSHA()), Fork: s.GetHeadBranch() == "", Suite: s.GetID(),
		App: s.GetApp().GetSlug(),
	}
	return completed(ev, p.GetAction()), nil
}

func completed(ev event.Event, action string) event.Event {
	if action == "completed" {
		ev.Kind = event.Built
	}
	return ev
}

// dispatchType is the event_type of a repository_dispatch that is meant for ralph.
const dispatchType = "ralph"

// ofDispatch reads what another program asks for. A dispatch of another type is another program's.
func ofDispatch(ev event.Event, p *github.RepositoryDispatchEvent) (event.Event, error) {
	if p.GetAction() != dispatchType {
		return ev, nil
	}
	var err error
	ev.Kind = event.Dispatched
	ev.Ask, err = event.ParseAsk(p.ClientPayload)
	return ev, err
}

// ofAction is the kind of what happened to an issue or a pull request.
func ofAction(action string) event.Kind {
	switch action {
	case "labeled":
		return event.Labeled
	case "unlabeled":
		return event.Unlabeled
	case "closed":
		return event.Closed
	}
	return event.Other
}

func repo(r *github.Repository) event.Repo {
	return event.Repo{Owner: r.GetOwner().GetLogin(), Name: r.GetName(), DefaultBranch: r.GetDefaultBranch()}
}

func actor(u *github.User) event.Actor {
	return event.Actor{Login: u.GetLogin(), Bot: u.GetType() == "Bot"}
}

func issue(i *github.Issue) *event.Issue {
	out := &event.Issue{
		Number: i.GetNumber(), Title: i.GetTitle(), Body: i.GetBody(), Author: actor(i.GetUser()),
		Pull: i.IsPullRequest(), Closed: i.GetState() == "closed", ClosedBy: i.GetClosedBy().GetLogin(),
	}
	for _, l := range i.Labels {
		out.Labels = append(out.Labels, l.GetName())
	}
	return out
}

func comment(c *github.IssueComment) event.Comment {
	return event.Comment{
		ID: c.GetID(), NodeID: c.GetNodeID(), Author: actor(c.GetUser()), Body: c.GetBody(),
		CreatedAt: c.GetCreatedAt().Time, UpdatedAt: c.GetUpdatedAt().Time,
	}
}

// side is the issue side of a pull request. Its head is someone else's when that repository is another one, or is
// gone.
func side(p *github.PullRequest) *event.Issue {
	head := p.GetHead().GetRepo().GetFullName()
	out := issue(&github.Issue{Number: p.Number, Title: p.Title, Body: p.Body, User: p.User, State: p.State, Labels: p.Labels,
		PullRequestLinks: &github.PullRequestLinks{}})
	out.Fork = head == "" || !strings.EqualFold(head, p.GetBase().GetRepo().GetFullName())
	return out
}

var errNoPull = errors.New("it holds no pull request")

func ofPull(ev event.Event, p *github.PullRequestEvent) (event.Event, error) {
	if p.GetPullRequest().GetNumber() <= 0 {
		return ev, errNoPull
	}
	ev.Issue, ev.Label, ev.At = side(p.GetPullRequest()), p.GetLabel().GetName(), p.GetPullRequest().GetUpdatedAt().Time
	ev.Kind = ofAction(p.GetAction())
	return ev, nil
}

// ofReview reads a review. Its time is when it was submitted: the text of a draft may be older.
func ofReview(ev event.Event, p *github.PullRequestReviewEvent) (event.Event, error) {
	if p.GetPullRequest().GetNumber() <= 0 || p.Review == nil {
		return ev, errors.New("it holds no pull request or no review")
	}
	r := p.GetReview()
	ev.Issue, ev.At = side(p.GetPullRequest()), cmp.Or(r.GetSubmittedAt().Time, ev.At)
	ev.Review = &event.Review{
		ID: r.GetID(), Author: actor(r.GetUser()), State: strings.ToLower(r.GetState()), Body: r.GetBody(),
		Commit: r.GetCommitID(), At: ev.At,
	}
	if p.GetAction() == "submitted" {
		ev.Kind = event.Reviewed
	}
	return ev, nil
}

// ofInline reads a comment on a line. One that was drafted with a review is created when it was written and updated
// when the review was submitted; that is no edit.
func ofInline(ev event.Event, p *github.PullRequestReviewCommentEvent) (event.Event, error) {
	if p.GetPullRequest().GetNumber() <= 0 || p.Comment == nil {
		return ev, errors.New("it holds no pull request or no comment")
	}
	c := p.GetComment()
	ev.Issue = side(p.GetPullRequest())
	ev.Comment = &event.Comment{
		ID: c.GetID(), Author: actor(c.GetUser()), Body: c.GetBody(), Inline: true,
		CreatedAt: c.GetCreatedAt().Time, UpdatedAt: c.GetUpdatedAt().Time,
	}
	ev.At = ev.Comment.UpdatedAt
	if ev.At.Before(ev.Comment.CreatedAt) {
		ev.At = ev.Comment.CreatedAt
	}
	if p.GetAction() == "created" {
		ev.Kind = event.Commented
	}
	return ev, nil
}
