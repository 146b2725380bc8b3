// Package github is the door to GitHub: it reads events and facts, and it writes what a run has to say. Nothing else speaks to the API.
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

// ParseEvent makes an event of a delivery. An event that ralph does not know is Other, not an error; an error is a payload that
// cannot be read or is not about this repository.
func ParseEvent(d Delivery) (event.Event, error) {
	ev, err := parse(d)
	if err != nil {
		return event.Event{}, fmt.Errorf("reading the %s event: %w", d.Name, err)
	}
	ev.TriggeringActor = d.TriggeringActor
	if d.Repository != "" && !strings.EqualFold(ev.Repo.String(), d.Repository) {
		return event.Event{}, fmt.Errorf("reading the %s event: it is about %s, but this job belongs to %s", d.Name, ev.Repo, d.Repository)
	}
	return ev, nil
}

func parse(d Delivery) (event.Event, error) {
	switch d.Name {
	case "issues", "issue_comment", "workflow_dispatch":
	case "schedule":
		return parseBare(d, event.Scheduled)
	default:
		return parseBare(d, event.Other)
	}
	payload, err := github.ParseWebHook(d.Name, d.Payload)
	if err != nil {
		return event.Event{}, err
	}
	switch p := payload.(type) {
	case *github.IssuesEvent:
		return labeled(p)
	case *github.IssueCommentEvent:
		return commented(p)
	case *github.WorkflowDispatchEvent:
		return event.Event{Kind: event.Dispatched, Name: d.Name, Repo: repo(p.GetRepo()), Sender: actor(p.GetSender()), At: d.At}, nil
	}
	return event.Event{}, fmt.Errorf("payload of an unexpected shape")
}

// parseBare reads what every payload has. A schedule's payload may have no repository at all; the job's own serves then.
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
	if p.Action != "" {
		name += "." + p.Action
	}
	ev := event.Event{Kind: kind, Name: name, Repo: repo(p.Repository), Sender: actor(p.Sender), At: d.At}
	if p.Repository == nil {
		owner, short, ok := strings.Cut(d.Repository, "/")
		if !ok {
			return event.Event{}, errors.New("neither the payload nor GITHUB_REPOSITORY names a repository")
		}
		ev.Repo = event.Repo{Owner: owner, Name: short}
	}
	return ev, nil
}

func labeled(p *github.IssuesEvent) (event.Event, error) {
	if p.Issue == nil || p.Repo == nil {
		return event.Event{}, errors.New("it holds no issue or no repository")
	}
	ev := event.Event{
		Kind: event.Labeled, Name: "issues." + p.GetAction(), Repo: repo(p.GetRepo()), Sender: actor(p.GetSender()),
		At: p.GetIssue().GetUpdatedAt().Time, Label: p.GetLabel().GetName(), Issue: issue(p.GetIssue()),
	}
	if p.GetAction() != "labeled" {
		ev.Kind = event.Other
	}
	return ev, nil
}

func commented(p *github.IssueCommentEvent) (event.Event, error) {
	if p.Issue == nil || p.Repo == nil || p.Comment == nil {
		return event.Event{}, errors.New("it holds no issue, no comment or no repository")
	}
	c := comment(p.GetComment())
	ev := event.Event{
		Kind: event.Commented, Name: "issue_comment." + p.GetAction(), Repo: repo(p.GetRepo()), Sender: actor(p.GetSender()),
		At: c.CreatedAt, Issue: issue(p.GetIssue()), Comment: &c,
	}
	if p.GetAction() != "created" {
		ev.Kind = event.Other
	}
	return ev, nil
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
		Pull: i.IsPullRequest(), Closed: i.GetState() == "closed",
	}
	for _, l := range i.Labels {
		out.Labels = append(out.Labels, l.GetName())
	}
	return out
}

func comment(c *github.IssueComment) event.Comment {
	return event.Comment{
		ID: c.GetID(), Author: actor(c.GetUser()), Body: c.GetBody(),
		CreatedAt: c.GetCreatedAt().Time, UpdatedAt: c.GetUpdatedAt().Time,
	}
}
