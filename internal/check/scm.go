package check

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

// SCM runs source control tasks on an iteration whose hard checks have all passed, whether the agent claims to be done or not
// (S1-99…S1-106). A task that fails keeps the run from being done: nobody wants to hear that work is committed which is not.
type SCM struct {
	Tasks []string // "commit", "push", in order
	// Ask asks the agent for a commit message (S1-100).
	Ask func(ctx context.Context) (loop.Turn, error)
	// Changed reports whether there is anything to commit.
	Changed func(ctx context.Context) (bool, error)
	// Do runs one task. message is the commit's, for the task commit. What it prints comes back; done is false when it failed.
	Do func(ctx context.Context, task, message string) (output string, done bool, err error)
}

// MessagePrompt is what the agent is asked for a commit's message.
const MessagePrompt = "Provide a short imperative commit message for the changes. Output only the message, no explanation."

// Name is the check's name in verdicts.
func (*SCM) Name() string { return "scm" }

// Severity of a task that failed is hard.
func (*SCM) Severity() loop.Severity { return loop.Hard }

// Needs every hard check before it passed.
func (*SCM) Needs() Need { return SomeWork | Green }

// Run runs the tasks in their order, up to the first that fails.
func (c *SCM) Run(ctx context.Context, _ At) (v loop.Verdict, err error) {
	for _, task := range c.Tasks {
		message := ""
		if task == "commit" {
			changed, err := c.Changed(ctx)
			if err != nil {
				return v, err
			}
			if !changed {
				continue
			}
			turn, err := c.Ask(ctx)
			if err != nil || ctx.Err() != nil {
				return v, err
			}
			v.Usage = &turn.Usage
			if message = Message(turn); message == "" {
				return c.failed(v, task, "the agent gave no commit message"+because(turn), ""), nil
			}
		}
		output, done, err := c.Do(ctx, task, message)
		if err != nil || ctx.Err() != nil {
			return v, err
		}
		if !done {
			return c.failed(v, task, "it failed: "+telling(output), output), nil
		}
	}
	v.Pass = true
	return v, nil
}

func (c *SCM) failed(v loop.Verdict, task, why, output string) loop.Verdict {
	v.Reason = fmt.Sprintf("the source control task %q: %s", task, why)
	v.Output = loop.Excerpt(output)
	v.FailAction = loop.Append
	v.Tell = fmt.Sprintf("The source control task %q failed.\nOutput:\n%s", task, v.Output)
	return v
}

func because(t loop.Turn) string {
	if t.Reason == "" {
		return ""
	}
	return ": " + t.Reason
}

// response is what a message may be wrapped in. Its lines stay lines: the first is the subject, what follows an empty one the body.
var response = lazy(`(?is)<response>(.*?)</response>`)

// Message is the commit message in an agent's answer: what its <response> holds, else its first line that says anything (S1-101,
// S1-102). It is empty when the answer has none.
func Message(turn loop.Turn) string {
	if turn.Class != loop.OK {
		return ""
	}
	if m := response.FindStringSubmatch(turn.Text); m != nil {
		return strings.TrimSpace(m[1])
	}
	for line := range strings.Lines(turn.Text) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}
