package check

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// who is the reviewer in a sentence.
func (r *Review) who() string {
	if r.Role == task.QA {
		return "the QA engineer"
	}
	return "the reviewer"
}

// promiseHolds reports whether an approval comes with the promise that it needs. A verdict and a promise that contradict each
// other are a rejection.
func (r *Review) promiseHolds(v *loop.Verdict, a Answer, t loop.Turn) bool {
	if r.Promise == "" {
		return v.Pass
	}
	given := r.promised(a, t)
	switch {
	case v.Pass && !given:
		v.Pass, v.Verification = false, true
		v.Reason = fmt.Sprintf("No completion promise found: %s approves without its promise %q, which is no approval",
			r.who(), r.Promise)
		v.Output = loop.Excerpt(t.Text)
	case !v.Pass && given:
		v.Verification = true
		v.Reason = fmt.Sprintf("%s gives its promise %q and asks for changes all the same, which is a rejection", r.who(),
			r.Promise)
	}
	return v.Pass
}

// promised reports whether the promise was given: in the answer's own field, or else in a tag of the reviewer's own
// text.
func (r *Review) promised(a Answer, t loop.Turn) bool {
	if said := safetext.OneLine(a.Promise); said != "" {
		return strings.EqualFold(said, safetext.OneLine(r.Promise))
	}
	if c, ok := loop.ReadClaim(t.Text, "", r.Promise); ok && c.Tag == "promise" {
		return c.Done
	}
	return t.Claim.Tag == "promise" && strings.EqualFold(t.Claim.Text, safetext.OneLine(r.Promise))
}

// verify holds the promise of an approval against the reviewer's own words, and the run's worktree.
func (r *Review) verify(ctx context.Context, at Input, turn loop.Turn, v loop.Verdict) (loop.Verdict, error) {
	said := r.Verify.words(at, turn)
	said.claimed = true
	found, err := r.Verify.judge(ctx, said)
	if err != nil || ctx.Err() != nil {
		return v, err
	}
	summary, log := v.Reason, v.LogFile
	r.Verify.fill(&v, found)
	if v.Pass && summary != "" {
		v.Reason += ": " + summary
	}
	if v.LogFile == "" {
		v.LogFile = log
	}
	return v, nil
}
