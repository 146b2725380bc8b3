package bot

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/report/planlist"
	"github.com/ralph-loop/ralph/internal/report/wording"
)

// Who may approve is who may write; so it is with the comment that holds the plan: GitHub lets people with write access
// edit comments of others. A comment counts as a plan of ours by its first line and by its author, since anyone can
// write the line.

// planOn is the newest comment with a plan for the issue that ralph wrote; nil when there is none.
func planOn(comments []event.Comment, self string, issue int) *event.Comment {
	name := fmt.Sprintf("issue-%d", issue)
	for i := len(comments) - 1; i >= 0; i-- {
		first, _, _ := strings.Cut(comments[i].Body, "\n")
		first = strings.TrimSpace(first)
		if self != "" && strings.EqualFold(comments[i].Author.Login, self) &&
			(first == planlist.Marker(name) || first == planlist.OldMarker(name)) {
			return &comments[i]
		}
	}
	return nil
}

// seal ends a comment with a mark of what ralph wrote, so that it can tell later whether someone has edited it. It
// keeps no one from anything: whoever may edit the comment may approve it too.
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

// postPlan shows a plan on its issue: in the comment with the last one, as long as no one has edited that, else in a
// new one.
func (a *Action) postPlan(ctx context.Context, view report.View, body string) error {
	issue := view.State.Start.Issue
	comments, err := a.github.Comments(ctx, issue)
	if err != nil {
		return err
	}
	before := planOn(comments, a.github.Self(), issue)
	edited := before != nil && !sealed(before.Body)
	if before != nil && !edited {
		err := a.github.EditComment(ctx, before.ID, seal(a.redact(body)))
		if err == nil || !github.ErrGone(err) {
			return err
		}
	}
	if edited {
		body = wording.JoinedBy(" ", strings.TrimRight(body, "\n")+"\n\nThe plan above this one was edited by hand, so it stays "+
			"as it is.", wording.Sentence(view.Offer("approve", "runs this one, which is the newest"))) + "\n"
	}
	_, err = a.github.Comment(ctx, issue, seal(a.redact(body)))
	return err
}

// errNoPlan and its like say why there is nothing to approve, each in one sentence.
var (
	errPlanLater  = errors.New("the plan was posted after you approved it; look at it and approve again")
	errPlanEdited = errors.New("the plan was edited after you approved it; look at it again and approve again")
)

// approvedComment is the plan that an approval is about: the newest one, as it was when the approval was written.
// GitHub keeps whole seconds, so an edit within the approval's own second is taken for a later one.
func approvedComment(comments []event.Comment, self, phrase string, ev event.Event) (*event.Comment, error) {
	found := planOn(comments, self, ev.Issue.Number)
	switch {
	case found == nil:
		return nil, &heldError{fmt.Sprintf("there is no plan of ralph's on issue #%d; `%s plan` asks for one",
			ev.Issue.Number, phrase)}
	case !found.CreatedAt.Before(ev.At):
		return nil, invalid.Mark(errPlanLater)
	case !found.UpdatedAt.Before(ev.At):
		return nil, invalid.Mark(errPlanEdited)
	}
	return found, nil
}
