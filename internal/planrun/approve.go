package planrun

import (
	"bytes"
	"cmp"
	"context"
	"strings"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Approve records that the person approves stories, and writes that into the plan. No run may be at work: an agent is
// no person.
func (p *Plans) Approve(ctx context.Context, ids []string) error {
	root, err := p.Open(ctx)
	if err != nil {
		return err
	}
	defer root.Close()
	unlock, err := p.Alone(journal.Lock(p.Dir, p.Log))
	if err != nil {
		return err
	}
	defer unlock()
	src, err := ReadPlanIn(p.Dir, p.PlanDir)
	if err != nil {
		return err
	}
	wanted, of, err := src.Task()
	if err != nil {
		return err
	}
	on, err := FindOnBranch(ctx, &p.Session, src)
	if err != nil {
		return err
	}
	if on.Branch != "" {
		of = on.Plan
	}
	who := p.person(ctx)
	known, err := readApprovals(&p.Session)
	if err != nil {
		return err
	}
	sealed, _ := sealedReviews(&p.Session, wanted.ID)
	for _, id := range ids {
		story := of.Story(id)
		if story == nil {
			p.Note(on)
			return invalid.Errorf("%s has no story %q; it has %s", on.Name(src.File), id, safetext.FirstN(safetext.Map(of.Stories, func(s plan.Story) string { return s.ID }), 10))
		}
		if _, record, _ := of.Bound(p.Rules(), sealed); recorded(record, id).By == plan.ByReview {
			p.Say("%s is %s already, and that is on record", id, of.Standing(id))
			continue
		}
		known = append(known, handApproval{wanted.ID, plan.RecordedReview{
			Story: id, Reviews: recorded(sealed, id).Reviews, By: plan.ByPerson, Who: who, At: p.Clock().UTC(),
			Criteria: story.Digest(),
		}})
		of = of.ApprovedBy(id, who)
		p.Say("%s is approved by %s", id, who)
	}
	if err := writeApprovals(&p.Session, known); err != nil { // first: without the record, the file is only a claim
		return err
	}
	if on.Branch != "" {
		p.Say("the next ralph plan run writes that on %s", on.Branch)
		p.Note(on)
		return nil
	}
	text := of.Marshal()
	if err := p.SecretFree(src.File, string(text)); err != nil {
		return err
	}
	if bytes.Equal(text, src.Content) {
		return nil
	}
	if err := files.ReplaceIn(root, src.File, string(text)); err != nil {
		return err
	}
	p.Say("%s says so; the next ralph plan run commits it with the rest of the plan", src.File)
	return nil
}

// recorded is what is on record of a story; the zero value: nothing.
func recorded(record []plan.RecordedReview, id string) plan.RecordedReview {
	for _, o := range record {
		if o.Story == id {
			return o
		}
	}
	return plan.RecordedReview{}
}

// person is who sits here, as git knows them.
func (p *Plans) person(ctx context.Context) string {
	name := ""
	if clone, ok := git.Beside(ctx, p.Dir, proc.Environment(p.Parent, proc.Allowed), nil); ok {
		if out, known, err := clone.Run(ctx, []string{"config", "user.name"}); err == nil && known {
			name = out
		}
	}
	name = cmp.Or(strings.TrimSpace(name), proc.Value(p.Parent, "USER"), proc.Value(p.Parent, "USERNAME"), "a person")
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune("[]<>`@", r) {
			return -1
		}
		return r
	}, safetext.Inert(name))
	return safetext.Shorten(safetext.OneLine(name), 60)
}
