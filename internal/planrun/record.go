package planrun

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
)

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
	return safetext.Map(p.Stories, func(s plan.Story) int { return s.ReviewCount })
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

// handApproval is one person's approval of one story of a plan.
type handApproval struct {
	Plan string `json:"plan"` // the task that a run of it is
	plan.RecordedReview
}

// approvalsFile holds what people have approved in a clone, in a directory of ours outside of it, where an agent has no
// business.
const approvalsFile = "approvals.json"

// approvedByHand is what people have approved of a plan in this clone.
func approvedByHand(s *session.Session, id string) []plan.RecordedReview {
	all, err := readApprovals(s)
	if err != nil {
		s.Log("plan: %v", err)
	}
	var out []plan.RecordedReview
	for _, a := range slices.Backward(all) { // the newest first
		if a.Plan == id {
			out = append(out, a.RecordedReview)
		}
	}
	return out
}

func approvals(s *session.Session) string { return filepath.Join(s.Places().State, approvalsFile) }

func readApprovals(s *session.Session) (all []handApproval, err error) {
	text, err := files.Read(approvals(s))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, fmt.Errorf(
			"reading what people have approved: %w; remove %s to begin without it", err, approvals(s),
		)
	}
	return all, nil
}

func writeApprovals(s *session.Session, all []handApproval) error {
	text, err := json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(approvals(s)), 0o700)
	}
	if err == nil {
		err = files.Replace(approvals(s), append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("writing down what is approved: %w", err)
	}
	return nil
}
