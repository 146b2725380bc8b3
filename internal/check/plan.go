package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/failure"
	"github.com/ralph-loop/ralph/internal/loop"
)

// Plan says no when an iteration broke the rules of its plan. The commit step has restored what it did; this check
// reports it.
type Plan struct{}

// Name is the check's name in verdicts.
func (Plan) Name() string { return loop.PlanCheck }

// Severity of a broken rule is hard.
func (Plan) Severity() loop.Severity { return loop.Hard }

// Needs only the record: a turn that was cut off can break a rule too.
func (Plan) Needs() Need { return ReadsOnly }

// Run tells what was found when the iteration was committed.
func (Plan) Run(_ context.Context, at Input) (loop.Verdict, error) {
	a := at.Iteration.Commit.Plan
	if a == nil || len(a.Violations) == 0 {
		return loop.Verdict{Pass: true}, nil
	}
	var all []string
	for _, v := range a.Violations {
		all = append(all, v.Text)
	}
	v := loop.Verdict{Reason: all[0], Output: loop.Excerpt(strings.Join(all, "\n"))}
	if more := len(all) - 1; more > 0 {
		v.Reason += fmt.Sprintf(" (and %d more)", more)
	}
	v.PromptText = "The last iteration broke the rules of the plan, so what it did to them was taken back:\n\n- " +
		strings.Join(strings.Split(v.Output, "\n"), "\n- ")
	return v, nil
}

// Handed says no when an iteration did not hand its story on: not in for review, not reviewed, not in again. Work may
// take more than one iteration, so like a missing claim this is nothing that a run is stuck on.
type Handed struct {
	File string // "ralph/tasks.json"
}

// Name is the check's name in verdicts: in a plan, this is how an agent claims.
func (Handed) Name() string { return loop.ClaimCheck }

// Severity of a missing claim is hard.
func (Handed) Severity() loop.Severity { return loop.Hard }

// Needs a turn that is worth judging.
func (Handed) Needs() Need { return SomeWork | ReadsOnly }

// Run judges whether the story went one step on.
func (h Handed) Run(_ context.Context, at Input) (loop.Verdict, error) {
	it := at.Iteration
	if it.Claimed() {
		return loop.Verdict{Pass: true}, nil
	}
	v := loop.Verdict{Hash: failure.Signature(loop.ClaimCheck, "")}
	switch {
	case it.Mode == loop.Review:
		v.Reason = it.Story + " was not reviewed"
		if it.Turn.Class == loop.OK && it.Commit.Plan != nil && len(it.Commit.Plan.Violations) == 0 { // a form is no one's work
			v.Waits, v.Reason = true, it.Story+" is checked, not reviewed: the reviewer gave no clear verdict"
		}
		v.PromptText = fmt.Sprintf("The last iteration was to review %s, and gave no review that counts: end your last message "+
			"with the JSON object that is required, and let %s say the same.", it.Story, h.File)
	case at.State.Rules().SkipReview:
		v.Reason = it.Story + " is not done yet"
		v.PromptText = fmt.Sprintf("The last iteration did not finish %s. When it is done, set its passes to true in %s.", it.Story,
			h.File)
	default:
		v.Reason = it.Story + " was not handed in for review"
		v.PromptText = fmt.Sprintf("The last iteration did not hand %s in. When it is done, set its reviewStatus to "+
			"\"needs_review\" in %s.", it.Story, h.File)
	}
	return v, nil
}

// StoryDiff says no when a story is handed in, and nothing but the plan's own files has changed since the work on it
// began: since its first iteration, or since the review that asked for changes. A review that found the story good,
// before a check failed, asks for none.
type StoryDiff struct {
	// Own are the files of the plan itself: an iteration that changes nothing else has not worked on a story.
	Own []string
	// Changed names what differs between two commits.
	Changed func(ctx context.Context, from, to string) ([]string, error)
}

// Name is the check's name in verdicts.
func (StoryDiff) Name() string { return loop.DiffCheck }

// Severity of an empty diff is hard.
func (StoryDiff) Severity() loop.Severity { return loop.Hard }

// Needs a story that was handed on.
func (StoryDiff) Needs() Need { return SomeWork | AClaim | ReadsOnly }

// Run looks what has changed.
func (d StoryDiff) Run(ctx context.Context, at Input) (loop.Verdict, error) {
	it, from := at.Iteration, at.State.TakenUp(at.Iteration.Story)
	if it.NothingToDo() {
		return nothingDone(at), nil
	}
	if it.Mode == loop.Review || from == "" || it.Mode == loop.ReviewFix && at.State.ApprovedLast(it.Story) {
		return loop.Verdict{Pass: true}, nil
	}
	names, err := d.Changed(ctx, from, it.Commit.SHA)
	if err != nil {
		return loop.Verdict{}, err
	}
	if slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(d.Own, name) }) {
		return loop.Verdict{Pass: true}, nil
	}
	v := loop.Verdict{
		Reason: it.Story + " was handed in, and nothing but the plan's own files has changed for it",
		PromptText: fmt.Sprintf("The last iteration handed %s in without work: since it began, nothing but the plan's own "+
			"files has changed, so it was not handed in. "+
			"Do what its criteria ask for. If other work meets them already, add a test that shows so.", it.Story),
		Hash: failure.Signature(loop.DiffCheck, ""),
	}
	if it.Mode == loop.ReviewFix {
		v.Reason = it.Story + " was handed in again, and nothing but the plan's own files has changed since its review"
		v.PromptText = fmt.Sprintf("The last iteration handed %s in again without a change: since its review, nothing but the "+
			"plan's own files is different, so it was not handed in. "+
			"Change what the review feedback names. If the feedback is mistaken, say why in the plan's progress.txt, and add "+
			"a test that shows so.", it.Story)
	}
	return v, nil
}
