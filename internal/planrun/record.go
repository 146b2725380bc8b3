package planrun

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
)

func unrecordedLines(claims []plan.Unrecorded, rules plan.Rules, cost float64) (lines []string) {
	var unknown, changed []string
	for _, c := range claims {
		if c.Changed {
			changed = append(changed, c.Story)
		} else {
			unknown = append(unknown, c.Story)
		}
	}
	if n := len(unknown); n > 0 {
		lines = append(
			lines,
			fmt.Sprintf(
				"%s %s approved in the file, but no record has an approval of %s", safetext.FirstN(unknown, 10),
				safetext.IsAre(n), safetext.ItThem(n),
			),
		)
	}
	if n := len(changed); n > 0 {
		lines = append(
			lines,
			fmt.Sprintf(
				"%s %s approved with other acceptance criteria than now", safetext.FirstN(changed, 10),
				safetext.WasWere(n),
			),
		)
	}
	n := len(claims)
	switch {
	case n == 0:
		return nil
	case rules.SkipReview:
		lines = append(
			lines,
			fmt.Sprintf(
				"%s done again: about %s; to approve %s yourself: ralph plan approve %s",
				safetext.Counted(n, "story is", "stories are"), safetext.Counted(n, "turn", "turns"),
				safetext.ItThem(n), idsOf(claims),
			),
		)
	default:
		about := fmt.Sprintf("about %s", safetext.Counted(n, "turn", "turns"))
		if cost > 0 {
			about += fmt.Sprintf(" and $%.2f, by what a review of this plan has cost so far", cost*float64(n))
		}
		lines = append(
			lines,
			fmt.Sprintf(
				"%s reviewed now: %s; to approve %s yourself: ralph plan approve %s",
				safetext.Counted(n, "story is", "stories are"), about, safetext.ItThem(n), idsOf(claims),
			),
		)
	}
	return lines
}

func Claimed(claims []plan.Unrecorded) (ids []string) {
	for _, c := range claims {
		ids = append(ids, c.Story)
	}
	return ids
}

func idsOf(claims []plan.Unrecorded) string {
	ids := Claimed(claims)
	if more := len(ids) - 10; more > 0 {
		return strings.Join(ids[:10], " ") + " …"
	}
	return strings.Join(ids, " ")
}

// RecordedReviews is what is believed of a plan in the user's clone: what its sealed runs say, newest first, and what a
// person has approved. Where that does not vouch for all that the file says, the record that others have pushed is
// fetched and believed as well.
func RecordedReviews(
	ctx context.Context, s *session.Session, id string, of plan.Plan, r plan.Rules,
) (sources [][]plan.RecordedReview, cost float64) {
	here, cost := sealedReviews(s, id)
	sources = [][]plan.RecordedReview{approvedByHand(s, id), here}
	if bound, _, claims := of.Bound(r, sources...); len(claims) == 0 && slices.Equal(counts(of), counts(bound)) {
		return sources, cost
	}
	pushed, known, err := git.FetchRecord(ctx, s.Dir, s.Parent, id)
	switch {
	case err != nil:
		s.Log("plan: what others have on record of its reviews cannot be fetched: %v", err)
	case known:
		state, err := stateOf(pushed)
		if err != nil {
			s.Log("plan: the record on the remote cannot be read: %v", err)
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
func counts(p plan.Plan) []int {
	out := make([]int, len(p.Stories))
	for i, s := range p.Stories {
		out[i] = s.ReviewCount
	}
	return out
}

// sealedReviews is what the sealed journals of this directory's runs of a plan say. What a newer run knows of a story
// counts, and not what an older one does. cost is what a review has cost in the newest run that tells.
func sealedReviews(s *session.Session, id string) (all []plan.RecordedReview, cost float64) {
	known := map[string]bool{}
	s.EachSealedRun(id, func(state loop.State) {
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
