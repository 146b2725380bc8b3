package planrun

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/session"
)

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
	for i := len(all) - 1; i >= 0; i-- { // the newest first
		if all[i].Plan == id {
			out = append(out, all[i].RecordedReview)
		}
	}
	return out
}

// Approve marks the stories that people have approved since a time, and has the run write that.
func (src *Source) Approve(s *session.Session, id string, since time.Time) {
	for _, o := range approvedByHand(s, id) {
		if story := src.Plan.Story(o.Story); o.At.After(since) && story != nil && story.Digest() == o.Criteria {
			src.Plan = src.Plan.ApprovedBy(o.Story, o.Who)
			src.Content = src.Plan.Marshal()
			src.write(src.File, src.Content)
		}
	}
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
