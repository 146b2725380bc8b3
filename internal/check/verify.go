package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

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
	// Runner runs the commands.
	Runner Runner
	Ask    Asker // nil: no model can be asked
	// Diff is the change of the run, for the model to hold against the output; nil: it sees only the output.
	Diff func(ctx context.Context, s loop.State) (string, error)
	Log  func(format string, args ...any)
}

// Severity of a broken promise is hard.
func (*Verify) Severity() loop.Severity { return loop.Hard }

// Needs a claim with every hard check before it passed: a promise over a failing build is not worth a model's time.
func (*Verify) Needs() Need { return HardGreen | AChange }

// subject is what a promise is verified on.
type subject struct {
	at      Input
	text    string // the agent's own words, of the whole turn
	last    string // the last of them
	lacks   string // what is not known of them; empty: nothing
	lost    bool   // all but the last of them were to be had and are not
	claimed bool   // its claim was accepted
	gone    bool   // the words are too old to be kept, all but the claim's; they were verified when they were new
}

func (c *Verify) role() task.Role { return cmp.Or(c.Role, task.Coder) }

// Name is the check's name in verdicts: "verify coder".
func (c *Verify) Name() string { return "verify " + string(c.role()) }

func (c *Verify) log(format string, args ...any) {
	c.Log(c.Name()+": "+format, args...)
}

func sum(a, b *loop.Usage) *loop.Usage {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	both := a.Plus(*b)
	return &both
}

// Runner runs the commands of verifications: as checks do, in the run's worktree, without tokens and keys.
type Runner struct {
	Place
	Programs
	Scaled func(time.Duration) time.Duration // stretches a time limit; nil: as it is
}

// Asker asks a model one question in a fresh context, without tools, with an answer of the form SemanticSchema. model
// is the one that the criteria name; empty: a cheap one. The turn's
// class reports a model that gave no answer.
type Asker func(ctx context.Context, prompt, model string) (loop.Turn, error)

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

// complete makes a verdict of what a method found: its reason, and of a command what it printed, and how it ended.
func (c *Verify) complete(v loop.Verdict) loop.Verdict {
	if !v.Pass {
		v.PromptText = c.failureText(v)
	}
	v.Role, v.Verification, v.Output = c.role(), true, loop.Excerpt(v.Output)
	return v
}

// stringMatch looks for the promise in the agent's own text. Any accepted claim counts as the role's default promise.
func (c *Verify) stringMatch(s subject) loop.Verdict {
	own := c.role().Promise()
	promise := cmp.Or(strings.TrimSpace(c.Criteria.Promise), own)
	if containsFold(s.text, promise) || s.claimed && strings.EqualFold(promise, own) {
		return loop.Verdict{Pass: true, Reason: "Promise found in output"}
	}
	return loop.Verdict{Reason: fmt.Sprintf("Promise '%s' not found in output", promise)}
}

// failureText says what was promised and does not hold.
func (c *Verify) failureText(v loop.Verdict) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The %s's promise was verified and does not hold. Verification failed: %s\n", c.role(), v.Reason)
	if d := c.Criteria.Description; d != "" {
		fmt.Fprintf(&b, "It is kept when this is true: %s\n", d)
	}
	if v.LogFile != "" {
		fmt.Fprintf(&b, "Output file: %s\n", c.Runner.logFile(v.LogFile))
	}
	if v.Output != "" {
		b.WriteString("Output (truncated):\n" + truncate(v.Output, promptOutputRunes, "both"))
	}
	return strings.TrimSpace(b.String())
}

// promptOutputRunes is how much of a command's output the next prompt gets.
const promptOutputRunes = 5000
