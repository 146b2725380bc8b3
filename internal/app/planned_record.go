package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

// planRules are what the settings ask of a plan.
func planRules(s config.Settings) task.PlanRules {
	return task.PlanRules{SkipReview: !s.Review, ReviewCap: s.ReviewCap, FailAtCap: s.AtReviewCap == config.Fail}
}

// bind makes the plan that the run begins with say no more of reviews than what is on record. It returns the approvals that are not.
func (p *planned) bind() []task.Unrecorded {
	if p.Reviews == nil {
		return nil
	}
	var claims []task.Unrecorded
	p.begun, p.record, claims = p.begun.Bound(p.rules, p.Reviews...)
	return claims
}

// tell says before the first turn which approvals are not believed, what is done about it, and what that will cost.
func (p *planned) tell(claims []task.Unrecorded) {
	for _, line := range unrecordedLines(claims, p.rules, p.ReviewCost) {
		p.log("plan: %s", line)
	}
}

// mostClaims is how many stories a sentence names.
const mostClaims = 10

func unrecordedLines(claims []task.Unrecorded, rules task.PlanRules, cost float64) (lines []string) {
	var unknown, changed []string
	for _, c := range claims {
		if c.Changed {
			changed = append(changed, c.Story)
		} else {
			unknown = append(unknown, c.Story)
		}
	}
	if n := len(unknown); n > 0 {
		lines = append(lines, fmt.Sprintf("%s %s approved in the file, and nobody on record approved %s", few(unknown), isAre(n), itThem(n)))
	}
	if n := len(changed); n > 0 {
		lines = append(lines, fmt.Sprintf("%s %s approved with other acceptance criteria than now", few(changed), wasWere(n)))
	}
	n := len(claims)
	switch {
	case n == 0:
		return nil
	case rules.SkipReview:
		lines = append(lines, fmt.Sprintf("%s done again: about %s; to approve %s yourself: ralph plan approve %s", counted(n, "story is", "stories are"), counted(n, "turn", "turns"), itThem(n), idsOf(claims)))
	default:
		about := fmt.Sprintf("about %s", counted(n, "turn", "turns"))
		if cost > 0 {
			about += fmt.Sprintf(" and $%.2f, by what a review of this plan has cost so far", cost*float64(n))
		}
		lines = append(lines, fmt.Sprintf("%s reviewed now: %s; to approve %s yourself: ralph plan approve %s", counted(n, "story is", "stories are"), about, itThem(n), idsOf(claims)))
	}
	return lines
}

func claimed(claims []task.Unrecorded) (ids []string) {
	for _, c := range claims {
		ids = append(ids, c.Story)
	}
	return ids
}

func idsOf(claims []task.Unrecorded) string {
	ids := claimed(claims)
	if more := len(ids) - mostClaims; more > 0 {
		return strings.Join(ids[:mostClaims], " ") + " …"
	}
	return strings.Join(ids, " ")
}

func few(ids []string) string {
	if more := len(ids) - mostClaims; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(ids[:mostClaims], ", "), more)
	}
	return strings.Join(ids, ", ")
}

func isAre(n int) string   { return oneOrMany(n, "is", "are") }
func wasWere(n int) string { return oneOrMany(n, "was", "were") }
func itThem(n int) string  { return oneOrMany(n, "it", "them") }

func oneOrMany(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// bindPlan finds what is believed of the plan's reviews, and holds the plan in the clone against it.
func (l *Local) bindPlan(ctx context.Context, id string, settings config.Settings) {
	if l.Plan == "" {
		return
	}
	rules := planRules(settings)
	l.source.Reviews, l.source.ReviewCost = l.recordedReviews(ctx, id, l.source.plan, rules)
	l.source.plan, _, _ = l.source.plan.Bound(rules, l.source.Reviews...)
}

// recordedReviews is what is believed of a plan in the user's clone: what its sealed runs say, newest first, and what a person has approved. Where
// that does not vouch for all that the file says, the record that others have pushed is fetched and believed as well.
func (s *Seat) recordedReviews(ctx context.Context, id string, of task.Plan, r task.PlanRules) (sources [][]task.OnRecord, cost float64) {
	here, cost := s.sealedReviews(id)
	sources = [][]task.OnRecord{s.approvedByHand(id), here}
	if bound, _, claims := of.Bound(r, sources...); len(claims) == 0 && slices.Equal(counts(of), counts(bound)) {
		return sources, cost
	}
	pushed, known, err := git.FetchRecord(ctx, s.Dir, s.Parent, id)
	switch {
	case err != nil:
		s.log("plan: what others have on record of its reviews cannot be fetched: %v", err)
	case known:
		state, err := stateOf(pushed)
		if err != nil {
			s.log("plan: the record on the remote cannot be read: %v", err)
			break
		}
		sources = append(sources, state.OnRecord())
		if cost == 0 {
			cost = state.ReviewCost()
		}
	}
	return sources, cost
}

// counts are how many reviews the file says that each story has had.
func counts(p task.Plan) []int {
	out := make([]int, len(p.Stories))
	for i, s := range p.Stories {
		out[i] = s.ReviewCount
	}
	return out
}

// sealedReviews is what the sealed journals of this directory's runs of a plan say. What a newer run knows of a story counts, and not what an
// older one does. cost is what a review has cost in the newest run that tells.
func (s *Seat) sealedReviews(id string) (all []task.OnRecord, cost float64) {
	known := map[string]bool{}
	s.eachSealed(id, func(state loop.State) {
		for _, o := range state.OnRecord() {
			if !known[o.Story] {
				known[o.Story] = true
				all = append(all, o)
			}
		}
		if cost == 0 {
			cost = state.ReviewCost()
		}
	})
	return all, cost
}

// stateOf is the state that a run record holds.
func stateOf(record git.RunRecord) (loop.State, error) {
	records, _, err := journal.Read(bytes.NewReader(record.Files[journal.File]))
	if err != nil {
		return loop.State{}, err
	}
	if len(records) == 0 {
		return loop.State{}, errors.New("it holds no journal")
	}
	return loop.Fold(records), nil
}

// keepRecord keeps the run's record as a ref of the clone, and says how others come by it: who has it does not review again what was reviewed.
func (l *Local) keepRecord(ctx context.Context, work *opened) {
	if l.Plan == "" {
		return
	}
	s := work.ledger.State()
	message := fmt.Sprintf("ralph: %s, run %s, record %d", s.Start.Task, s.Start.Run, s.Records)
	ref, err := work.shop.tree.KeepRecord(ctx, map[string][]byte{journal.File: work.ledger.journal.Bytes()}, message)
	if err != nil {
		l.log("the run's record is in this directory alone: %v", err)
		return
	}
	if url, err := git.RemoteURL(ctx, l.Dir, l.Parent); err == nil && url != "" {
		l.log("to share the work and its reviews: git push origin %s %s", s.Start.Branch, ref)
	}
}
