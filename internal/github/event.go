// Package github is the door to GitHub: it reads events and facts, and it writes what a run has to say. Nothing else
// speaks to the API.
package github

import (
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
	if p.Action != "" && d.Name != "repository_dispatch" { // its action is any text that whoever sent it liked
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
