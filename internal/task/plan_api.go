package task

// What follows is agreed on and not written yet.

// PlanError is everything that is wrong with a plan's file, one sentence each.
type PlanError struct {
	Name     string // of the file
	Problems []string
}

func (e *PlanError) Error() string { panic("not written yet") }

// ParsePlan reads a tasks.json strictly (Check 1, S4-58…S4-62): JSON without duplicate or miscased keys, every field there with its type,
// ids unique. Dependencies are read and not looked at, see Order. The error is a *PlanError.
func ParsePlan(name string, content []byte) (Plan, error) { panic("not written yet") }

// ReadPlan reads a plan that a person wrote: as ParsePlan, or with foreign set a prd.json of the common layout, whose missing review
// fields are filled in. Its order has been checked.
func ReadPlan(name string, content []byte) (p Plan, foreign bool, err error) {
	panic("not written yet")
}

// Marshal is the plan as a tasks.json: indented by two spaces, the fields in the order of the template, a newline at the end.
func (p Plan) Marshal() []byte { panic("not written yet") }

// MarshalJSON implements json.Marshaler.
func (p Plan) MarshalJSON() ([]byte, error) { panic("not written yet") }

// UnmarshalJSON implements json.Unmarshaler, for what Marshal wrote.
func (p *Plan) UnmarshalJSON(content []byte) error { panic("not written yet") }

// Order lists the stories' ids in an order in which they can be done: dependencies first, then by priority, then as the file has them.
// An unknown id and a cycle are errors that name the path: "US-002 → US-003 → US-002".
func (p Plan) Order() ([]string, error) { panic("not written yet") }

// Mode says what the next iteration is for (S4-18): review-fix, else review, else implement; with SkipReview always implement.
func (p Plan) Mode(r PlanRules) Mode { panic("not written yet") }

// Next is the story of the next iteration: of those the mode is for, whose dependencies have passed, the one of the best priority. ok is
// false when nothing is left to do in this mode.
func (p Plan) Next(m Mode, r PlanRules) (s Story, ok bool) { panic("not written yet") }

// Complete reports whether every story passes, and unless SkipReview is approved (S4-20). A plan without stories is not complete.
func (p Plan) Complete(r PlanRules) bool { panic("not written yet") }

// Passed counts the stories that are done.
func (p Plan) Passed() int { panic("not written yet") }

// Estimate is how many iterations the stories that are left will take (S4-133): likely is three a story, most is what the cap allows.
func (p Plan) Estimate(r PlanRules) (likely, most int) { panic("not written yet") }

// Standing is what reviews are about in one story.
type Standing struct {
	Passes       bool         `json:"passes"`
	ReviewStatus ReviewStatus `json:"reviewStatus"` // null in JSON when Unreviewed
	ReviewCount  int          `json:"reviewCount"`
}

// Snapshot is the standing of every story before an iteration (S4-17).
type Snapshot map[string]Standing

// Snapshot is the plan's.
func (p Plan) Snapshot() Snapshot { panic("not written yet") }

// Violation is one rule that a plan, or a change of it, breaks.
type Violation struct {
	Check string `json:"check"` // "1", "2", "2.5" or "content"
	Story string `json:"story,omitempty"`
	Field string `json:"field,omitempty"`
	Text  string `json:"text"` // one sentence or two; those of the specification literally
}

// Invariants are Check 2 (S4-64…S4-67); nothing with SkipReview.
func (p Plan) Invariants(r PlanRules) []Violation { panic("not written yet") }

// Transitions are Check 2.5 (S4-69…S4-82): whether what changed against the snapshot is legal in the mode; nothing with SkipReview.
func Transitions(before Snapshot, after Plan, m Mode, r PlanRules) []Violation {
	panic("not written yet")
}

// Compare is every rule that the harness holds an iteration to: Invariants, Transitions, and what nobody may do to a plan while it is run
// (C8): delete or rename a story, rewrite its title, description or criteria (a criterion may move to a new story, never vanish), change
// project, branch, description or verify commands, add a story that has passed, bring in a cycle. story is the one that the iteration was
// given; any other's review fields are out of bounds, and with SkipReview any other's passes.
func Compare(before, after Plan, story string, m Mode, r PlanRules) []Violation {
	panic("not written yet")
}

// Accept is what the harness takes of an iteration's edit: after, when there are no violations; else before with the new stories that begin
// as new stories do, and with the notes, priorities and dependencies of after as far as they are legal. No review field of before changes.
func Accept(before, after Plan, story string, m Mode, r PlanRules) (Plan, []Violation) {
	panic("not written yet")
}

// Opinion is a reviewer's verdict on a story.
type Opinion struct {
	Approve  bool
	Feedback string // what has to change; of an approval empty
}

// Reviewed is the plan after a review of a story (S4-89, S4-90): the count goes up; an approval passes it; a rejection asks for changes, or,
// when the count has reached the cap, passes it with AtCap before the feedback.
func (p Plan) Reviewed(story string, o Opinion, r PlanRules) Plan { panic("not written yet") }

// Agrees reports whether the edit of a review iteration says what the opinion says (C8); edited is false when the edit left the story as it
// was, which the harness then writes itself.
func Agrees(before, after Plan, story string, o Opinion, r PlanRules) (agrees, edited bool) {
	panic("not written yet")
}
