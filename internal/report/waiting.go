package report

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
)

// waitsForOthers reports whether the run waits for what other workflows say of its commit.
func (v View) waitsForOthers() bool {
	f := v.unanswered()
	return f != nil && !wording.IsReview(*f) && len(f.Concerns) == 0
}

// waitsForReader reports whether it waits for a role that reads, whose model could not be asked.
func (v View) waitsForReader() bool {
	f := v.unanswered()
	return f != nil && wording.IsReview(*f)
}

// unanswered is the failure of the newest iteration when it is one that waits.
func (v View) unanswered() *loop.Verdict {
	it := v.Judged()
	if it == nil || it != v.State.Last() || it.Failure() == nil || !it.Failure().Waits {
		return nil
	}
	return it.Failure()
}

// waitsForModel reports whether it waits because its model answered nothing.
func (v View) waitsForModel() bool {
	last := v.State.Last()
	return last != nil && last.Turn.Silent
}

func (v View) waitsForLimit() bool {
	last := v.State.Last()
	return last != nil && last.Turn.Class == loop.UsageLimit
}

// waitsToAccept reports whether a person must accept a concern of a kind.
func (v View) waitsToAccept(kind loop.ConcernKind) bool {
	return slices.ContainsFunc(v.State.ToAccept(), func(c loop.Concern) bool { return c.Kind == kind })
}
