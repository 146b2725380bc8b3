package github

import (
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/event"
)

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
		Pull: i.IsPullRequest(), Closed: i.GetState() == "closed",
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

// later is when something happened as the payload tells it, or else when the job was told of it.
func later(told, happened time.Time) time.Time {
	if happened.IsZero() {
		return told
	}
	return happened
}

// side is the issue side of a pull request. Its head is somebody else's when that repository is another one, or is
// gone.
func side(p *github.PullRequest) *event.Issue {
	head := p.GetHead().GetRepo().GetFullName()
	out := &event.Issue{
		Number: p.GetNumber(), Title: p.GetTitle(), Body: p.GetBody(), Author: actor(p.GetUser()), Pull: true,
		Fork: head == "" || !strings.EqualFold(head, p.GetBase().GetRepo().GetFullName()), Closed: p.GetState() == "closed",
	}
	for _, l := range p.Labels {
		out.Labels = append(out.Labels, l.GetName())
	}
	return out
}
