package plan

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// TestRandomRuns runs plans whose agents edit the file at random, legally and not, by its fields and by its text, and
// whose reviewers say yes and no. Whatever they do: no story passes that no review approved, unless the cap did; none
// is lost, nor what it asks for; a story's reviews are counted one by one; and the plan stays one that is read and can
// be done.
func TestRandomRuns(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	total := map[string]int{}
	for i := range uint64(120) {
		r := &run{T: t, rand: rand.New(rand.NewPCG(seed, i)), approved: map[string]bool{}, happened: total}
		if r.play(); t.Failed() {
			t.Fatalf("rand.NewPCG(%d, %d): %s", seed, i, strings.Join(r.log, "\n"))
		}
	}
	for _, what := range []string{"complete", "complete without reviews", "legal edit", "illegal edit", "unreadable edit",
		"approval", "approval at the cap", "rejection", "disagreement", "verdict without edit", "story added"} {
		if total[what] == 0 {
			t.Errorf("with the seed %d there was no %s: %v", seed, what, total)
		}
	}
}

// run is one plan, as the harness trusts it.
type run struct {
	*testing.T
	rand     *rand.Rand
	plan     Plan
	rules    Rules
	approved map[string]bool // by an opinion, or by the cap
	happened map[string]int
	log      []string
}

func (r *run) chance(percent int) bool { return r.rand.IntN(100) < percent }

func (r *run) play() {
	r.rules = Rules{ReviewCap: 1 + r.rand.IntN(3), SkipReview: r.chance(20)}
	r.plan = planOfStories(manyStories(1 + r.rand.IntN(5))...)
	for i := range r.plan.Stories {
		r.plan.Stories[i].Priority = float64(r.rand.IntN(3))
	}
	first := r.plan
	for range 60 {
		mode := r.plan.Mode(r.rules)
		given, ok := r.plan.Next(mode, r.rules)
		if !ok {
			break
		}
		before := r.plan
		if mode == Review {
			r.review(given)
		} else {
			r.work(mode, given)
		}
		r.log = append(r.log, fmt.Sprintf("%s of %s: %+v", mode, given.ID, r.plan.Snapshot()))
		r.holds(first, before, mode, given.ID)
	}
	if _, ok := r.plan.Next(r.plan.Mode(r.rules), r.rules); ok {
		return // the iterations were used up
	}
	if !r.plan.Complete(r.rules) {
		r.Errorf("nothing is left to do, and the plan is not complete")
	}
	r.happened[map[bool]string{false: "complete", true: "complete without reviews"}[r.rules.SkipReview]]++
}

// edit is what the agent leaves: the plan of its file, or the one before when nobody can read it.
func (r *run) edit(mode Mode, given Story) (after Plan, read bool) {
	text := string(r.step(mode, given).Marshal())
	for r.chance(15) {
		text = r.scribble(text)
	}
	after, err := Parse("tasks.json", []byte(text))
	if err != nil {
		r.happened["unreadable edit"]++
		r.log = append(r.log, err.Error())
		return r.plan, false
	}
	return after, true
}

// work is an iteration that implements or mends.
func (r *run) work(mode Mode, given Story) {
	after, read := r.edit(mode, given)
	if !read {
		return
	}
	accepted, broken := Accept(r.plan, after, given.ID, mode, r.rules)
	if len(broken) > 0 {
		r.happened["illegal edit"]++
		r.log = append(r.log, told(broken)...)
	} else {
		r.happened["legal edit"]++
	}
	r.happened["story added"] += len(accepted.Stories) - len(r.plan.Stories)
	if r.rules.SkipReview && len(broken) == 0 && accepted.Story(given.ID).Passes {
		r.approved[given.ID] = true // by itself, as it may
	}
	r.plan = accepted
}

// review is an iteration that reviews: the edit counts when it says what the opinion says, and the harness writes the
// fields.
func (r *run) review(given Story) {
	opinion := Opinion{Approve: r.chance(50), Feedback: "mend it"}
	after, _ := r.edit(Review, given)
	agrees, edited := Agrees(r.plan, after, given.ID, opinion, r.rules)
	if !agrees {
		r.happened["disagreement"]++
		return
	}
	if !edited {
		r.happened["verdict without edit"]++
		after = after.With(*r.plan.Reviewed(given.ID, opinion, r.rules).Story(given.ID))
	}
	accepted, broken := Accept(r.plan, after, given.ID, Review, r.rules)
	if len(broken) > 0 {
		r.happened["illegal edit"]++
		r.log = append(r.log, told(broken)...)
		r.plan = accepted
		return
	}
	r.plan = r.plan.Reviewed(given.ID, opinion, r.rules)
	switch {
	case opinion.Approve:
		r.approved[given.ID] = true
		r.happened["approval"]++
	case given.ReviewCount+1 >= r.rules.ReviewCap:
		r.approved[given.ID] = true
		r.happened["approval at the cap"]++
	default:
		r.happened["rejection"]++
	}
}

// holds is what no edit may break.
func (r *run) holds(first, before Plan, mode Mode, given string) {
	if problem := harmOfText(first, r.plan); problem != "" {
		r.Error(problem)
	}
	for _, s := range r.plan.Stories {
		if (s.Passes || s.ReviewStatus == Approved) && !r.approved[s.ID] {
			r.Errorf("%s passes, and nobody approved it: %+v", s.ID, s)
		}
	}
	for _, was := range before.Stories {
		is := r.plan.Story(was.ID)
		switch {
		case is == nil:
			r.Errorf("%s is lost", was.ID)
		case is.standing() != was.standing() && was.ID != given:
			r.Errorf("%s made a step, and %s was given", was.ID, given)
		case is.ReviewCount != was.ReviewCount && (mode != Review || is.ReviewCount != was.ReviewCount+1):
			r.Errorf("%s: reviewCount %d → %d in %s", was.ID, was.ReviewCount, is.ReviewCount, mode)
		case was.Passes && !is.Passes:
			r.Errorf("%s passes no more", was.ID)
		}
	}
	again, err := Parse("tasks.json", r.plan.Marshal())
	if err != nil || !reflect.DeepEqual(again, r.plan) {
		r.Errorf("the plan is not read again: %v", err)
	}
	if _, err := r.plan.Order(); err != nil {
		r.Error(err)
	}
	if broken := r.plan.Invariants(r.rules); len(broken) > 0 {
		r.Errorf("%q", told(broken))
	}
}

// harmOfText is what the stories of a plan have lost of what they asked for.
func harmOfText(first, now Plan) string {
	var criteria []string
	for _, s := range now.Stories {
		for _, c := range s.AcceptanceCriteria {
			criteria = append(criteria, safetext.OneLine(c))
		}
	}
	for _, was := range first.Stories {
		is := now.Story(was.ID)
		if is == nil || is.Title != was.Title || is.Description != was.Description {
			return was.ID + " is not what it was"
		}
		for _, c := range was.AcceptanceCriteria {
			if !slices.Contains(criteria, safetext.OneLine(c)) {
				return fmt.Sprintf("%s lost %q", was.ID, c)
			}
		}
	}
	if now.BranchName != first.BranchName || now.Project != first.Project ||
		!slices.Equal(now.VerifyCommands, first.VerifyCommands) {
		return "the plan is not what it was"
	}
	return ""
}
