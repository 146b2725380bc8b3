package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

// Waiter is a check that another role may have to work for first.
type Waiter interface {
	// Waits says why the check cannot be asked yet; empty when it can. It is skipped then until a later iteration.
	Waits(at At) string
}

// Awaits makes a check wait until a role that writes has claimed to have done its part.
func Awaits(r task.Role) func(at At) string {
	return func(at At) string {
		it := lastTurn(at, r)
		if it == nil || it.N != at.Iteration.N && !it.Turn.Claim.Done {
			return fmt.Sprintf("the %s has yet to work", r)
		}
		return ""
	}
}

// lastTurn is the newest iteration that a role has taken the turn of; nil when it has taken none.
func lastTurn(at At, r task.Role) *loop.Iteration {
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

// spoken is all that is known of an agent's own words in a turn: its last message, its answer in a form, and the tag of its claim, which
// may stand in a message before that.
func spoken(t loop.Turn) string {
	text := t.Text
	if !strings.Contains(text, t.Structured) {
		text = strings.TrimSpace(text + "\n" + t.Structured)
	}
	if c := t.Claim; (c.Tag == "promise" || c.Tag == "response") && !containsFold(text, c.Text) {
		text = fmt.Sprintf("<%s>%s</%s>\n%s", c.Tag, c.Text, c.Tag, text)
	}
	return text
}
