package plan

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Mode is what an iteration is for.
type Mode string

// The modes of an iteration.
const (
	Implement Mode = "implement"
	Review    Mode = "review"
	ReviewFix Mode = "review-fix"
)

// ReviewStatus is how far a story has come in its reviews.
type ReviewStatus string

// The review states of a story; null in JSON is Unreviewed.
const (
	Unreviewed       ReviewStatus = ""
	NeedsReview      ReviewStatus = "needs_review"
	ChangesRequested ReviewStatus = "changes_requested"
	Approved         ReviewStatus = "approved"
)

// AtCap begins the feedback of a story that was approved because its reviews were used up.
const AtCap = "[AUTO-APPROVED AT CAP]"

// DefaultReviewCap is after how many reviews a story is approved where nothing else is set.
const DefaultReviewCap = 5

// Story is one piece of a plan: what one iteration can do.
type Story struct {
	ID                 string       `json:"id"`
	Title              string       `json:"title"`
	Description        string       `json:"description"`
	AcceptanceCriteria []string     `json:"acceptanceCriteria"`
	Priority           float64      `json:"priority"` // the lower, the sooner
	Passes             bool         `json:"passes"`
	ReviewStatus       ReviewStatus `json:"reviewStatus"`
	ReviewCount        int          `json:"reviewCount"`
	ReviewFeedback     string       `json:"reviewFeedback"`
	Notes              string       `json:"notes"`
	DependsOn          []string     `json:"dependsOn"`
	// Extra holds the fields that ralph does not know, by their names; they are kept as they are.
	Extra map[string]json.RawMessage `json:"-"`
}

// Plan is an ordered set of stories: what a tasks.json holds. A plan is a value: a change makes another one, and the
// stories of two plans may share what they point to.
type Plan struct {
	Project        string                     `json:"project"`
	BranchName     string                     `json:"branchName"`
	Description    string                     `json:"description"`
	VerifyCommands []string                   `json:"verifyCommands"`
	Stories        []Story                    `json:"userStories"`
	Extra          map[string]json.RawMessage `json:"-"`
}

// Rules are the options of a plan's run.
type Rules struct {
	SkipReview bool // an implement iteration sets passes itself
	ReviewCap  int
	FailAtCap  bool // a story that its last review does not approve stays unapproved
}

// Story finds a story by its id; nil when the plan has none of it.
func (p Plan) Story(id string) *Story {
	for i := range p.Stories {
		if p.Stories[i].ID == id {
			return &p.Stories[i]
		}
	}
	return nil
}

// With is the plan with a story in the place of the one of its id, or at the end.
func (p Plan) With(stories ...Story) Plan {
	out := p
	out.Stories = append(make([]Story, 0, len(p.Stories)+len(stories)), p.Stories...)
	for _, s := range stories {
		if at := out.Story(s.ID); at != nil {
			*at = s
		} else {
			out.Stories = append(out.Stories, s)
		}
	}
	return out
}

// Error is everything that is wrong with a plan's file, one sentence each.
type Error struct {
	Name     string // of the file
	Problems []string
}

// Error is a line for each problem, which begins with the file's name.
func (e *Error) Error() string {
	return strings.Join(safetext.Map(e.Problems, func(p string) string { return e.Name + ": " + p }), "\n")
}

// mostProblems bounds the problems reported for one file.
const mostProblems = 50

// problems collects what is wrong with a plan's file.
type problems struct {
	told []string
	more int // beyond those
}

func (p *problems) add(format string, args ...any) {
	if len(p.told) == mostProblems-1 {
		p.more++
		return
	}
	p.told = append(p.told, fmt.Sprintf(format, args...))
}

// as is the problems as an error about a file; nil without any.
func (p *problems) as(name string) error {
	if len(p.told) == 0 {
		return nil
	}
	told := p.told
	if p.more > 0 {
		told = append(told[:len(told):len(told)], fmt.Sprintf("and %d more problems", p.more))
	}
	return &Error{Name: name, Problems: told}
}

// Standing says in words where a story stands: "waits for its review", "changes were requested in review 2".
func (p Plan) Standing(id string) string {
	s := p.Story(id)
	switch {
	case s == nil:
		return "there is no such story"
	case s.AtCap():
		return fmt.Sprintf("approved at the cap of %d reviews", s.ReviewCount)
	case s.Person() != "":
		return "approved by " + s.Person()
	case s.ReviewStatus == Approved:
		return fmt.Sprintf("approved in review %d", s.ReviewCount)
	case s.Passes:
		return "done without a review"
	case s.ReviewStatus == NeedsReview:
		return "waits for its review"
	case s.ReviewStatus == ChangesRequested:
		return fmt.Sprintf("changes were requested in review %d", s.ReviewCount)
	}
	return "not handed in"
}

// Restored is the plan with every review field as another has it: what the stories say may stay, how they stand goes
// back. Stories that the other has not keep theirs.
func (p Plan) Restored(before Plan) Plan {
	out := p.With()
	for i := range out.Stories {
		if old := before.Story(out.Stories[i].ID); old != nil {
			s := &out.Stories[i]
			s.Passes, s.ReviewStatus, s.ReviewCount, s.ReviewFeedback = old.Passes, old.ReviewStatus, old.ReviewCount,
				old.ReviewFeedback
		}
	}
	return out
}

// AtCap reports whether the story was approved because its reviews were used up.
func (s Story) AtCap() bool {
	return s.ReviewStatus == Approved && strings.HasPrefix(s.ReviewFeedback, AtCap)
}

// Person is who approved the story by hand; empty: no one did.
func (s Story) Person() string {
	rest, ok := strings.CutPrefix(s.ReviewFeedback, ApprovedBy)
	if !ok || s.ReviewStatus != Approved {
		return ""
	}
	who, _, _ := strings.Cut(rest, "]")
	return who
}

// ApprovedBy begins the feedback of a story that a person approved; the person's name and a bracket follow.
const ApprovedBy = "[APPROVED BY "
