package loop

import (
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/plan"
)

// Rules are what a run of a plan is held to.
func (s State) Rules() plan.Rules { return s.Start.Plan.Rules() }

// OnRecord is what the run's record says of the stories of its plan: who approved which, in how many reviews, and where
// the work on those that are not approved began.
func (s State) OnRecord() []plan.RecordedReview {
	if s.Plan == nil || s.Start.Plan == nil {
		return nil
	}
	var out []plan.RecordedReview
	for _, story := range s.Plan.Stories {
		if o, known := s.onRecord(story); known {
			out = append(out, o)
		}
	}
	return out
}

// onRecord is what is known of one story.
func (s State) onRecord(story plan.Story) (o plan.RecordedReview, known bool) {
	for _, earlier := range s.Start.Plan.Record {
		if earlier.Story == story.ID {
			o, known = earlier, true
		}
	}
	o.Story = story.ID
	by := o.By
	for _, it := range s.Iterations[s.planned:] {
		if it.Story != story.ID {
			continue
		}
		known = true
		handed := it.Commit != nil && it.Commit.Plan != nil && it.Commit.Plan.Handed
		switch {
		case it.Mode == Review && handed:
			by, o.Run, o.At, o.From, o.Who = plan.ByReview, s.Start.Run, it.At, "", "" // when the story has passed, see below
		case it.Mode != Review && o.From == "":
			o.From = it.since
		}
		if it.Mode != Review && handed && s.Rules().SkipReview {
			by, o.Run, o.At, o.Who = plan.Unexamined, s.Start.Run, it.At, ""
		}
	}
	o.Reviews = story.ReviewCount
	if !story.Passes || !known {
		o.By, o.Who, o.Run, o.At, o.Criteria = plan.Nobody, "", "", time.Time{}, ""
		return o, known
	}
	o.By, o.Criteria = by, story.Digest()
	if by == plan.ByReview && story.AtCap() {
		o.By = plan.ByCap
	}
	if o.By == plan.ByCap {
		o.Open = strings.TrimSpace(strings.TrimPrefix(story.ReviewFeedback, plan.AtCap))
	}
	return o, true
}

// OnRecord is what was on record of the stories when the run began, with what their plan leaves open.
func (p *Planned) OnRecord() []plan.RecordedReview {
	out := slices.Clone(p.Record)
	for i := range out {
		if story := p.Plan.Story(out[i].Story); story != nil && story.AtCap() {
			out[i].Open = strings.TrimSpace(strings.TrimPrefix(story.ReviewFeedback, plan.AtCap))
		}
	}
	return out
}

// TakenUp is the commit before the work on a story since its last review; empty: no one has worked on it since.
func (s State) TakenUp(id string) string {
	if s.Plan == nil || s.Start.Plan == nil {
		return ""
	}
	story := s.Plan.Story(id)
	if story == nil {
		return ""
	}
	o, _ := s.onRecord(*story)
	return o.From
}

// ApprovedLast reports whether the newest review of a story approved it, and something else kept it from being
// approved.
func (s State) ApprovedLast(id string) bool {
	for i := len(s.Iterations) - 1; i >= 0; i-- {
		it := s.Iterations[i]
		if it.Story == id && it.Mode == Review && it.Commit != nil && it.Commit.Plan != nil && it.Commit.Plan.Handed {
			return it.Commit.Plan.Opinion != nil && it.Commit.Plan.Opinion.Approve
		}
	}
	return false
}

// ReviewCost is what a review of the run's plan has cost so far, on average, in US dollars; 0: no one knows.
func (s State) ReviewCost() float64 {
	spent, n := 0.0, 0
	for _, it := range s.Iterations {
		if it.Mode == Review && it.Turn.Usage.CostUSD > 0 {
			spent, n = spent+it.Turn.Usage.CostUSD, n+1
		}
	}
	if n == 0 {
		return 0
	}
	return spent / float64(n)
}
