package status

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/plan"
)

// PlanView is a plan with what is known besides its file.
type PlanView struct {
	Plan  plan.Plan
	Rules plan.Rules
	File  string // "ralph/tasks.json"
	Run   string // the newest run of it, in one line; empty: there is none
	Note  string // what else the reader should know, a sentence; empty: nothing
	// Working is the story that a run works on right now, and Mode what it does to it; empty: nobody works.
	Working string
	Mode    plan.Mode
	Redact  func(string) string // nil: nothing is secret
	// Unrecorded are the stories that the file says are approved, and nobody on record has approved. Plan has them as not
	// approved.
	Unrecorded []string
}

// The states of a story as a plan's status tells them.
const (
	planTodo       = "todo"
	planBlocked    = "blocked" // a story that it depends on has not passed
	planInReview   = "needs_review"
	planChanges    = "changes_requested"
	planApproved   = "approved"
	planAtCap      = "approved_at_cap"  // nobody approved it but the cap of reviews
	planUnreviewed = "passed"           // done in a run without reviews
	planByHand     = "approved_by_hand" // a person approved it
	planUnrecorded = "unrecorded"       // the file says that it is approved, and nobody on record approved it
)

// PlanStanding is where a plan stands, for people (Text, Mermaid) and for programs (as JSON, docs/plans.md). Every
// field is always there.
type PlanStanding struct {
	File        string `json:"file"`
	Project     string `json:"project"`
	Branch      string `json:"branch"`
	Description string `json:"description"`

	Complete  bool        `json:"complete"`
	Passed    int         `json:"passed"` // stories
	Total     int         `json:"total"`
	NextStory string      `json:"next_story"` // empty: nothing can be done
	NextMode  string      `json:"next_mode"`
	Likely    int         `json:"likely_iterations"` // that the stories which are left will take
	Most      int         `json:"most_iterations"`   // that the cap of reviews allows
	ReviewCap int         `json:"review_cap"`
	AtCap     []string    `json:"at_cap"`     // the ids of stories that were approved at the cap
	ByHand    []string    `json:"by_hand"`    // of those that a person approved
	NoRecord  []string    `json:"unrecorded"` // of those that the file says are approved, and nobody on record approved
	Run       string      `json:"run"`
	Note      string      `json:"note"`
	Stories   []PlanStory `json:"stories"` // in an order in which they can be done
}

// PlanStory is where one story stands.
type PlanStory struct {
	ID        string   `json:"id"`
	Title     string   `json:"title"`
	State     string   `json:"state"`   // one of the constants above
	Working   string   `json:"working"` // the mode in which a run works on it right now; empty: none does
	Passes    bool     `json:"passes"`
	Status    string   `json:"review_status"` // as in the file; empty is null
	Reviews   int      `json:"review_count"`
	Feedback  string   `json:"review_feedback"`
	Priority  float64  `json:"priority"`
	DependsOn []string `json:"depends_on"`
	BlockedBy []string `json:"blocked_by"` // those of them that have not passed
}

// StandPlan says where a plan stands.
func StandPlan(v PlanView) PlanStanding {
	p, redact := v.Plan, v.Redact
	if redact == nil {
		redact = func(s string) string { return s }
	}
	out := PlanStanding{
		File: v.File, Project: redact(p.Project), Branch: redact(p.BranchName), Description: redact(p.Description),
		Complete: p.Complete(v.Rules), Passed: p.Passed(), Total: len(p.Stories), ReviewCap: v.Rules.ReviewCap,
		AtCap: []string{}, ByHand: append([]string{}, p.ByHand()...), NoRecord: append([]string{}, v.Unrecorded...),
		Run: redact(v.Run), Note: redact(v.Note), Stories: make([]PlanStory, 0, len(p.Stories)),
	}
	out.Likely, out.Most = p.Estimate(v.Rules)
	if !out.Complete {
		mode := p.Mode(v.Rules)
		if s, ok := p.Next(mode, v.Rules); ok {
			out.NextStory, out.NextMode = s.ID, string(mode)
		}
	}
	passed := make(map[string]bool, len(p.Stories))
	for _, s := range p.Stories {
		passed[s.ID] = s.Passes
	}
	for _, s := range inOrder(p) {
		story := PlanStory{
			ID: s.ID, Title: redact(s.Title), Passes: s.Passes, Status: string(s.ReviewStatus), Reviews: s.ReviewCount,
			Feedback: redact(s.ReviewFeedback),
			Priority: s.Priority, DependsOn: append([]string{}, s.DependsOn...), BlockedBy: []string{},
		}
		if s.ID == v.Working {
			story.Working = string(v.Mode)
		}
		for _, id := range s.DependsOn {
			if !passed[id] {
				story.BlockedBy = append(story.BlockedBy, id)
			}
		}
		if story.State = planState(s, len(story.BlockedBy) > 0); story.State == planAtCap {
			out.AtCap = append(out.AtCap, s.ID)
		}
		if slices.Contains(v.Unrecorded, s.ID) {
			story.State = planUnrecorded
		}
		out.Stories = append(out.Stories, story)
	}
	return out
}

// inOrder is the plan's stories in an order in which they can be done; as the file has them when there is none.
func inOrder(p plan.Plan) []plan.Story {
	ids, err := p.Order()
	if err != nil {
		return p.Stories
	}
	at := make(map[string]int, len(ids))
	for i, id := range ids {
		at[id] = i
	}
	stories := slices.Clone(p.Stories)
	slices.SortStableFunc(stories, func(a, b plan.Story) int { return at[a.ID] - at[b.ID] })
	return stories
}

func planState(s plan.Story, blocked bool) string {
	switch {
	case s.AtCap():
		return planAtCap
	case s.Person() != "":
		return planByHand
	case s.ReviewStatus == plan.Approved:
		return planApproved
	case s.Passes:
		return planUnreviewed
	case s.ReviewStatus == plan.NeedsReview:
		return planInReview
	case s.ReviewStatus == plan.ChangesRequested:
		return planChanges
	case blocked:
		return planBlocked
	}
	return planTodo
}
