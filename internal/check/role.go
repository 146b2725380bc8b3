package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// Waiter is a check that another role may have to work for first.
type Waiter interface {
	// Waits says why the check cannot be asked yet; empty when it can. It is skipped then until a later iteration.
	Waits(at Input) string
}

// Awaits makes a check wait until a role that writes has claimed to have done its part.
func Awaits(r task.Role) func(at Input) string {
	return func(at Input) string {
		it := lastTurn(at, r)
		if it == nil || it.N != at.Iteration.N && !it.Turn.Claim.Done {
			return fmt.Sprintf("the %s has yet to work", r)
		}
		return ""
	}
}

// lastTurn is the newest iteration that a role has taken the turn of; nil when it has taken none.
func lastTurn(at Input, r task.Role) *loop.Iteration {
	if cmp.Or(at.Iteration.Role, task.Coder) == r {
		return &at.Iteration
	}
	for _, it := range slices.Backward(at.State.Iterations) {
		if it.N != at.Iteration.N && cmp.Or(it.Role, task.Coder) == r {
			return it
		}
	}
	return nil
}

// words is all that is known of an agent's own words in a turn.
func (c *Verify) words(at Input, t loop.Turn) subject {
	s := subject{at: at, last: spoken(t, t.Text), claimed: t.Claim.Done}
	switch text, ok := c.said(t); {
	case ok:
		s.text = spoken(t, text)
		if t.Words != nil && t.Words.Cut {
			s.lacks = "the agent said more than is kept, and the middle of it is not looked at"
		}
	case t.Words == nil:
		s.text = s.last
	default:
		s.text, s.lost = s.last, true
		s.lacks = fmt.Sprintf("of what the agent said only the last %d bytes are known: the file with all of it is gone",
			len(t.Text))
	}
	return s
}

// said is all that an agent said in a turn; ok is false when no more is known than the turn itself holds.
func (c *Verify) said(t loop.Turn) (text string, ok bool) {
	switch {
	case t.Transcript != "":
		return t.Transcript, true
	case t.Words != nil && c.Said != nil:
		return c.Said(t)
	}
	return "", false
}

// spoken is a text of an agent's with its answer in a form, and the tag of its claim, which may stand elsewhere.
func spoken(t loop.Turn, text string) string {
	if !strings.Contains(text, t.Structured) {
		text = strings.TrimSpace(text + "\n" + t.Structured)
	}
	if c := t.Claim; (c.Tag == "promise" || c.Tag == "response") && !containsFold(text, c.Text) {
		text = fmt.Sprintf("<%s>%s</%s>\n%s", c.Tag, c.Text, c.Tag, text)
	}
	return text
}

// who is the reviewer in a sentence.
func (r *Review) who() string {
	if r.Role == task.QA {
		return "the QA engineer"
	}
	return "the reviewer"
}

// promiseHolds reports whether a verdict approves. A rejection that comes with the promise of an approval is one all the
// same.
func (r *Review) promiseHolds(v *loop.Verdict, a Answer, t loop.Turn) bool {
	if r.Promise != "" && !v.Pass && r.promised(a, t) {
		v.Verification = true
		v.Reason = fmt.Sprintf("%s gives its promise %q but asks for changes, which is a rejection", r.who(),
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
