package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/planrun"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/report/planlist"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// approvedName is what problems of an approved plan call it.
const approvedName = "the plan"

// approved is the plan that stands on an issue, as it was written when it was approved.
func (a *Action) approved(ctx context.Context, ev event.Event, facts event.Facts) (*planrun.Source, planlist.Approved,
	error) {
	var none planlist.Approved
	comments := facts.Comments
	if ev.On != 0 { // they are the pull request's
		var err error
		if comments, err = a.github.Comments(ctx, ev.Issue.Number); err != nil {
			return nil, none, err
		}
	}
	found, err := approvedComment(comments, facts.Self, a.rules.TriggerPhrase, ev)
	if err != nil {
		return nil, none, err
	}
	if err := a.mayEdit(ctx, ev, *found, facts); err != nil {
		return nil, none, err
	}
	read, err := planlist.Read(approvedName, found.Body)
	if err != nil {
		return nil, none, invalid.Mark(err)
	}
	p, _, err := plan.Read(approvedName, read.Content)
	if err != nil {
		return nil, none, invalid.Mark(err)
	}
	if problems := begun(p); problems != nil {
		return nil, none, planWrong(problems...)
	}
	return &planrun.Source{Content: read.Content}, read, nil
}

// mayEdit holds that whoever edited the plan last may ask for a run. Of a comment that is as ralph wrote it no one is
// looked up.
func (a *Action) mayEdit(ctx context.Context, ev event.Event, found event.Comment, facts event.Facts) error {
	if sealed(found.Body) {
		return a.stillOpen(ctx, ev.Issue.Number)
	}
	who, edited, closed, err := a.github.LastEditor(ctx, found.NodeID)
	if err != nil {
		return fmt.Errorf("the plan was edited, and by whom is not known: %w", err)
	}
	if closed {
		return closedSince(ev.Issue.Number)
	}
	if !edited {
		return nil
	}
	if _, looked := facts.Permissions[strings.ToLower(who.Login)]; !looked && who.Login != "" && !who.Bot {
		facts.Permissions = map[string]event.Permission{strings.ToLower(who.Login): a.github.Permission(ctx, who.Login)}
	}
	if refusal := event.AuthoriseEdit(who, facts, a.rules); refusal != nil {
		return planWrong("the last edit of its comment does not count: " + refusal.Reason)
	}
	return nil
}

// stillOpen holds that an issue is open now that the job begins.
func (a *Action) stillOpen(ctx context.Context, number int) error {
	now, err := a.github.Issue(ctx, number)
	if err == nil && now.Closed {
		err = closedSince(number)
	}
	return err
}

func closedSince(number int) error {
	return &heldError{fmt.Sprintf("issue #%d is closed; reopen it, then ask again", number)}
}

func planWrong(problems ...string) error {
	return invalid.Mark(&plan.Error{Name: approvedName, Problems: problems})
}

// begun says what of a plan's stories is not as a story begins: nothing in a comment has been reviewed.
func begun(p plan.Plan) []string {
	var problems []string
	for _, s := range p.Stories {
		if s.Passes || s.ReviewStatus != plan.Unreviewed || s.ReviewCount != 0 || s.ReviewFeedback != "" {
			problems = append(problems, fmt.Sprintf(
				"story %s has started already; must have passes false, reviewStatus null, reviewCount 0 and reviewFeedback \"\"",
				s.ID))
		}
	}
	return problems
}

// prdText is an issue's text as a run of its plan reads it: what strangers wrote, without what hides in it.
func prdText(issue *event.Issue) string {
	return safetext.FirstBytes(safetext.Sanitise(issue.Body), planrun.MaxPlanSpec)
}

// rejected tells what is wrong with a request: of a plan everything, so that it is fixed at once.
func (a *Action) rejected(ctx context.Context, ev event.Event, err error) string {
	var wrong *plan.Error
	if !errors.As(err, &wrong) {
		return report.Rejected(a.offers(ctx, ev), err)
	}
	return "The plan is not run, and nothing has begun. What is wrong with it:\n\n" +
		fenced(strings.Split(wrong.Error(), "\n")) +
		fmt.Sprintf("\nEdit the plan's comment, then comment `%s approve` again.\n", a.rules.TriggerPhrase)
}

// fenced shows lines as they are: no one is mentioned by them, and nothing in them is Markdown.
func fenced(lines []string) string { return safetext.Fence(strings.Join(lines, "\n")) }
