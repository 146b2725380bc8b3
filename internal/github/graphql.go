package github

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
)

// LastEdited is when an issue's text was last changed; zero when never. The REST API does not have it.
func (c *Client) LastEdited(ctx context.Context, number int) (time.Time, error) {
	const query = `query($owner: String!, $name: String!, $number: Int!) { repository(owner: $owner, name: $name) { issue(number: $number) { lastEditedAt } } }`
	var data struct {
		Repository struct {
			Issue *struct {
				LastEditedAt nullableTime `json:"lastEditedAt"`
			} `json:"issue"`
		} `json:"repository"`
	}
	doing := fmt.Sprintf("asking when issue #%d was last edited", number)
	err := c.graphql(ctx, doing, query, map[string]any{"owner": c.o.Repo.Owner, "name": c.o.Repo.Name, "number": number},
		&data)
	if err != nil {
		return time.Time{}, err
	}
	switch issue := data.Repository.Issue; {
	case issue == nil:
		return time.Time{}, fmt.Errorf("%s: GitHub does not find it, or the token may not see it", doing)
	case !issue.LastEditedAt.said:
		return time.Time{}, missingFieldError(doing, "when")
	case issue.LastEditedAt.at == nil:
		return time.Time{}, nil
	default:
		return *issue.LastEditedAt.at, nil
	}
}

// Pending is what a sweep asks first, by a single call.
type Pending struct {
	// Labeled is whether an open issue has one of the labels: REST lists the issues that have all of them.
	Labeled bool
	// Content is that of the file; nil if none exists.
	Content []byte
	// Partial is whether there is more of the file than GitHub sent here, so that File has to be asked.
	Partial bool
}

// Pending asks whether open issues have a label, and for a file as a branch has it.
func (c *Client) Pending(ctx context.Context, labels []string, branch, path string) (Pending, error) {
	const query = `query($owner: String!, $name: String!, $labels: [String!]!, $states: [IssueState!]!, $file: String!) {
		repository(owner: $owner, name: $name) { issues(labels: $labels, states: $states, first: 1) { totalCount }
			object(expression: $file) { ... on Blob { text isTruncated } } } }`
	var data struct {
		Repository struct {
			Issues *struct {
				Total *int `json:"totalCount"`
			} `json:"issues"`
			File *struct {
				Text *string `json:"text"` // null: it is no text
				Cut  bool    `json:"isTruncated"`
			} `json:"object"`
		} `json:"repository"`
	}
	const doing = "asking whether issues wait"
	err := c.graphql(ctx, doing, query, map[string]any{"owner": c.o.Repo.Owner, "name": c.o.Repo.Name,
		"labels": labels, "states": []string{"OPEN"}, "file": branch + ":" + path}, &data)
	if err != nil {
		return Pending{}, err
	}
	issues, file := data.Repository.Issues, data.Repository.File
	if issues == nil || issues.Total == nil {
		return Pending{}, missingFieldError(doing, "how many")
	}
	is := Pending{Labeled: *issues.Total > 0}
	if file != nil && file.Text != nil && !file.Cut {
		is.Content = []byte(*file.Text)
	} else {
		is.Partial = file != nil
	}
	return is, nil
}

// LastEditor is who last changed a comment's text, and whether its issue is closed now; ok is false when no one ever
// did. A bot's login ends in [bot]. Of an account that is gone the login is empty. The REST API does not have it.
func (c *Client) LastEditor(ctx context.Context, nodeID string) (who event.Actor, ok, closed bool, err error) {
	const query = `query($id: ID!) { node(id: $id) { ... on IssueComment { issue { closed } lastEditedAt editor { __typename login } } } }`
	var data struct {
		Node *struct {
			Issue struct {
				Closed *bool `json:"closed"`
			} `json:"issue"`
			LastEditedAt nullableTime `json:"lastEditedAt"`
			Editor       *struct {
				Kind  string `json:"__typename"`
				Login string `json:"login"`
			} `json:"editor"`
		} `json:"node"`
	}
	const doing = "asking who last edited a comment"
	if err := c.graphql(ctx, doing, query, map[string]any{"id": nodeID}, &data); err != nil {
		return who, true, false, err
	}
	switch {
	case data.Node == nil:
		return who, true, false, fmt.Errorf("%s: GitHub does not find it, or the token may not see it", doing)
	case data.Node.Issue.Closed == nil:
		return who, true, false, missingFieldError(doing, "whether its issue is closed")
	case !data.Node.LastEditedAt.said:
		return who, true, false, missingFieldError(doing, "whether it was edited")
	case data.Node.LastEditedAt.at == nil:
		return who, false, *data.Node.Issue.Closed, nil
	case data.Node.Editor == nil:
		return who, true, *data.Node.Issue.Closed, nil
	}
	return graphQLActor(data.Node.Editor.Kind, data.Node.Editor.Login), true, *data.Node.Issue.Closed, nil
}

// graphQLActor is someone in REST's words: GraphQL leaves the [bot] of an App's login away.
func graphQLActor(kind, login string) event.Actor {
	who := event.Actor{Login: login, Bot: kind == "Bot"}
	if who.Bot && login != "" && !strings.HasSuffix(login, "[bot]") {
		who.Login += "[bot]"
	}
	return who
}
