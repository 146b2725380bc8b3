package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// Approver says who approved a story.
type Approver string

// The approvers of a story.
const (
	Nobody     Approver = ""
	ByReview   Approver = "review"     // a review of a run
	ByCap      Approver = "cap"        // the cap of reviews, see AtCap
	ByPerson   Approver = "person"     // ralph plan approve
	Unexamined Approver = "unreviewed" // an iteration of a run without reviews
)

// RecordedReview is what a run's record, or a person, says of one story. What the plan's file says of reviews is a claim;
// this is what a claim is held against.
type RecordedReview struct {
	Story   string    `json:"story"`
	Reviews int       `json:"reviews"` // how many it has had
	By      Approver  `json:"by,omitempty"`
	Who     string    `json:"who,omitempty"` // the name of the person
	Run     string    `json:"run,omitempty"` // whose record has the approval
	At      time.Time `json:"at,omitzero"`   // of the approval
	// Criteria is the digest of what was approved, see Story.Digest.
	Criteria string `json:"criteria,omitempty"`
	// From is the commit before the first work on the story since its last review; empty: there was no such work.
	From string `json:"from,omitempty"`
	// Open is what the last review left open, of a story that was approved at the cap.
	Open string `json:"-"`
}

// Digest is a hash of what a story asks for: an approval of other criteria does not count for this story.
func (s Story) Digest() string {
	sum := sha256.New()
	for _, c := range s.AcceptanceCriteria {
		fmt.Fprintf(sum, "%s\n", strings.Join(strings.Fields(c), " "))
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// Bound is the plan with no more approvals and reviews than are on record: each list of on is a source that is
// believed. An approval that no source has is taken back, so that the story is reviewed, or done again in a run without
// reviews. What the record says that the file does not, such as an approval that its user has taken back, stays as the
// file says. record is what is known of every story of the result, claims are the stories whose approval was taken back.
func (p Plan) Bound(r Rules, on ...[]RecordedReview) (bound Plan, record []RecordedReview, claims []string) {
	bound = p.With()
	for i := range bound.Stories {
		s := &bound.Stories[i]
		known := s.known(r, on)
		if s.claimed() && known.By == Nobody {
			claims = append(claims, s.ID)
		}
		s.bind(known, r)
		record = append(record, known)
	}
	return bound, record, claims
}

// claimed reports whether the story says that it is done.
func (s Story) claimed() bool { return s.Passes || s.ReviewStatus == Approved }

// known is what the sources know of a story: the newest approval of what it asks for now, and the most reviews.
func (s Story) known(r Rules, on [][]RecordedReview) (known RecordedReview) {
	known.Story = s.ID
	for _, source := range on {
		for _, o := range source {
			if o.Story != s.ID {
				continue
			}
			known.Reviews = max(known.Reviews, o.Reviews)
			if known.From == "" {
				known.From = o.From
			}
			switch {
			case !s.claimed() || o.By == Nobody || o.By == Unexamined && !r.SkipReview || o.Criteria != s.Digest():
			case known.By == Nobody || o.At.After(known.At):
				known.By, known.Who, known.Run, known.At, known.Criteria, known.Open = o.By, o.Who, o.Run, o.At, o.Criteria, o.Open
			}
		}
	}
	return known
}

// bind makes the review fields say no more than what is known.
func (s *Story) bind(known RecordedReview, r Rules) {
	s.ReviewCount = min(s.ReviewCount, known.Reviews)
	switch {
	case !s.claimed():
	case known.By == Nobody:
		s.Passes, s.ReviewStatus, s.ReviewFeedback = false, NeedsReview, ""
		if r.SkipReview {
			s.ReviewStatus = Unreviewed
		}
	case known.By == ByCap:
		s.ReviewCount = known.Reviews
		if !s.AtCap() {
			s.ReviewFeedback = strings.TrimSpace(AtCap + " " + known.Open)
		}
	case known.By == ByPerson:
		s.ReviewCount, s.ReviewFeedback = known.Reviews, personMark(known.Who)
	default:
		s.ReviewCount = known.Reviews
		if s.AtCap() || s.Person() != "" { // marks that the record does not know
			s.ReviewFeedback = ""
		}
	}
}

func personMark(who string) string { return ApprovedBy + who + "]" }

// ApprovedBy is the plan with a story that a person approved.
func (p Plan) ApprovedBy(id, who string) Plan {
	found := p.Story(id)
	if found == nil {
		return p
	}
	s := *found
	s.Passes, s.ReviewStatus, s.ReviewFeedback = true, Approved, personMark(who)
	if strings.TrimSpace(s.Notes) == "" {
		s.Notes = "Approved by " + who + "."
	}
	return p.With(s)
}

// AtCap lists the stories that no one approved but the cap of reviews.
func (p Plan) AtCap() (ids []string) { return p.those(Story.AtCap) }

// ByHand lists the stories that a person approved.
func (p Plan) ByHand() (ids []string) {
	return p.those(func(s Story) bool { return s.Person() != "" })
}

// those are the ids of the stories that something is true of.
func (p Plan) those(is func(Story) bool) (ids []string) {
	for _, s := range p.Stories {
		if is(s) {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// Marks says behind a sentence which stories no review approved: "; [AUTO-APPROVED AT CAP] US-001". Empty without any.
func (p Plan) Marks() string {
	text := ""
	if ids := p.AtCap(); len(ids) > 0 {
		text += "; " + AtCap + " " + strings.Join(ids, ", ")
	}
	if ids := p.ByHand(); len(ids) > 0 {
		text += "; approved by a person: " + strings.Join(ids, ", ")
	}
	return text
}
