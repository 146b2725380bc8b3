package check

import (
	"context"
	"sync"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

// Verify says no when the promise of a role that writes does not hold. It is asked on every later tree
// too, also when another role made it: what was promised must hold on the tree that the run ends with.
type Verify struct {
	Role task.Role // empty: the coder
	// Criteria are the role's: promise, method and config. Empty, they are the role's own promise and the default method.
	Criteria   task.Criteria
	Acceptance []string // the task's acceptance criteria, for {{acceptance_criteria}}
	// Said reads all that an agent said in a turn, where the turn's record names more than it holds; ok is false when it
	// cannot be had.
	Said func(t loop.Turn) (text string, ok bool)
	// After says why the check has to wait for another role; nil: until this one has worked.
	After func(at Input) string
	// Runner runs the commands.
	Runner Runner
	Ask    Asker // nil: no model can be asked
	Again  int   // how often a model is asked once more whose answer cannot be read
	// Diff is the change of the run, for the model to hold against the output; nil: it sees the output alone.
	Diff func(ctx context.Context, s loop.State) (string, error)
	Log  func(format string, args ...any) // nil: no one listens

	mu     sync.Mutex // of Log and the console, while stages run side by side
	asking sync.Mutex // of Ask, which has one log
}

// Severity of a broken promise is hard.
func (*Verify) Severity() loop.Severity { return loop.Hard }

// Needs a claim with every hard check before it passed: a promise over a failing build is not worth a model's time.
func (*Verify) Needs() Need { return HardGreen | AChange }

// Waits implements Waiter.
func (c *Verify) Waits(at Input) string {
	if c.After != nil {
		return c.After(at)
	}
	return Awaits(c.role())(at)
}

// Run verifies the promise. The verdict tells the role, the method's reason and what its command printed.
func (c *Verify) Run(ctx context.Context, at Input) (loop.Verdict, error) {
	s := subject{at: at}
	if it := lastTurn(at, c.role()); it != nil {
		s = c.words(at, it.Turn)
		s.gone = it.N != at.Iteration.N && it.Turn.Text == "" && s.text == s.last
	}
	r, err := c.judge(ctx, s)
	if err != nil {
		return loop.Verdict{}, err
	}
	v := loop.Verdict{Role: c.role()}
	c.fill(&v, r)
	if s.lacks != "" && !s.gone {
		v.Reason += " (" + s.lacks + ")"
	}
	return v, nil
}
