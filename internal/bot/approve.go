package bot

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/planrun"
	"github.com/ralph-loop/ralph/internal/report/planlist"
)

// planOn is the newest comment with a plan for the issue that ralph wrote; nil: none exists.
func planOn(comments []event.Comment, self string, issue int) *event.Comment {
	name := fmt.Sprintf("issue-%d", issue)
	for i := len(comments) - 1; i >= 0; i-- {
		first, _, _ := strings.Cut(comments[i].Body, "\n")
		first = strings.TrimSpace(first)
		if self != "" && strings.EqualFold(comments[i].Author.Login, self) &&
			first == planlist.Marker(name) {
			return &comments[i]
		}
	}
	return nil
}

// seal ends a comment with a mark of what ralph wrote, so that it can tell later whether someone has edited it. It
// restricts no one: everyone who can edit the comment can also approve the plan.
func seal(body string) string {
	return strings.TrimRight(body, "\n") + "\n\n" + sealOf(body) + "\n"
}

func sealOf(body string) string { return fmt.Sprintf("<!-- ralph:written:%.16x -->", digest(body)) }

// digest leaves out what GitHub's own editor changes: the ends of lines.
func digest(body string) [sha256.Size]byte {
	return sha256.Sum256([]byte(strings.TrimSpace(strings.ReplaceAll(body, "\r\n", "\n"))))
}

// sealed reports whether a comment is as ralph wrote it.
func sealed(body string) bool {
	body = strings.TrimSpace(strings.ReplaceAll(body, "\r\n", "\n"))
	at := strings.LastIndex(body, "\n")
	return at >= 0 && sealOf(body[:at]) == body[at+1:]
}

// approvedComment is the plan that an approval is about: the newest one, as it was when the approval was written.
// GitHub keeps whole seconds, so an edit within the approval's own second is taken for a later one.
func approvedComment(comments []event.Comment, self, phrase string, ev event.Event) (*event.Comment, error) {
	found := planOn(comments, self, ev.Issue.Number)
	switch {
	case found == nil:
		return nil, &heldError{fmt.Sprintf("there is no plan of ralph's on issue #%d; `%s plan` asks for one",
			ev.Issue.Number, phrase)}
	case !found.CreatedAt.Before(ev.At):
		return nil, invalid.Errorf("the plan was posted after you approved it; look at it and approve again")
	case !found.UpdatedAt.Before(ev.At):
		return nil, invalid.Errorf("the plan was edited after you approved it; look at it again and approve again")
	}
	return found, nil
}

// approvedName is what problems of an approved plan call it.
const approvedName = "the plan"

// approval is a request to run the plan that an issue has.
type approval struct {
	*Action
	ev    event.Event
	facts event.Facts
}

// approved is the plan that stands on an issue, as it was written when it was approved.
func (p approval) approved(ctx context.Context) (*planrun.Source, planlist.Approved,
	error) {
	var none planlist.Approved
	comments := p.facts.Comments
	if p.ev.On != 0 { // they are the pull request's
		var err error
		if comments, err = p.github.Comments(ctx, p.ev.Issue.Number); err != nil {
			return nil, none, err
		}
	}
	found, err := approvedComment(comments, p.facts.Self, p.rules.TriggerPhrase, p.ev)
	if err != nil {
		return nil, none, err
	}
	if err := p.mayEdit(ctx, *found); err != nil {
		return nil, none, err
	}
	read, err := planlist.Read(approvedName, found.Body)
	if err != nil {
		return nil, none, invalid.Mark(err)
	}
	if _, _, err := plan.Read(approvedName, read.Content); err != nil {
		return nil, none, invalid.Mark(err)
	}
	return &planrun.Source{Content: read.Content}, read, nil
}

// mayEdit checks that the issue is open now that the job begins, and that the last editor of the plan can request a run. If
// the comment is as ralph wrote it, no permission is looked up.
func (p approval) mayEdit(ctx context.Context, found event.Comment) error {
	who, edited, closed, err := p.github.LastEditor(ctx, found.NodeID)
	switch {
	case err != nil:
		return fmt.Errorf("reading who edited the plan last: %w", err)
	case closed:
		return &heldError{fmt.Sprintf("issue #%d is closed; reopen it, then ask again", p.ev.Issue.Number)}
	case !edited || sealed(found.Body):
		return nil
	}
	if _, looked := p.facts.Permissions[strings.ToLower(who.Login)]; !looked && who.Login != "" && !who.Bot {
		p.facts.Permissions = map[string]event.Permission{strings.ToLower(who.Login): p.github.Permission(ctx, who.Login)}
	}
	if refusal := event.AuthorizeEdit(who, p.facts, p.rules); refusal != nil {
		return invalid.Mark(&plan.Error{Name: approvedName, Problems: []string{"the last edit of its comment does not count: " + refusal.Reason}})
	}
	return nil
}
