package check

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

// SCM runs source control tasks on an iteration whose hard checks have all passed, whether the agent claims to be done
// or not. A task that fails keeps the run from being done: no one wants to hear that work is committed
// which is not.
type SCM struct {
	Tasks []string // "commit", "push", in order
	// Ask asks the agent for a commit message.
	Ask func(ctx context.Context) (loop.Turn, error)
	// Changed reports whether there is anything to commit.
	Changed func(ctx context.Context) (bool, error)
	// Do runs one task. message is the commit's, for the task commit. What it prints comes back; done is false when it
	// failed.
	Do func(ctx context.Context, task, message string) (output string, done bool, err error)
}

// MessagePrompt asks the agent for a commit message.
const MessagePrompt = "Provide a short imperative commit message for the changes. Output only the message, no " +
	"explanation."

// Name is the check's name in verdicts.
func (*SCM) Name() string { return loop.SCMCheck }

// Severity of a task that failed is hard.
func (*SCM) Severity() loop.Severity { return loop.Hard }

// Needs every hard check before it passed.
func (*SCM) Needs() Need { return SomeWork | Green }

// Run runs the tasks in their order, up to the first that fails. An agent changes files: what keeps git from committing
// or pushing them is nearly always something else, which a person has to fix.
func (c *SCM) Run(ctx context.Context, _ Input) (v loop.Verdict, err error) {
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
			turn, spent, err := answered(ctx, c.Ask, func(t loop.Turn) bool { return Message(t) != "" })
			if v.Usage = spent; err != nil || ctx.Err() != nil {
				return v, err
			}
			if message = Message(turn); message == "" {
				v.Killed = turn.Class == loop.Killed
				return c.unworded(v, task, turn), nil
			}
		}
		output, done, err := c.Do(ctx, task, message)
		if err != nil || ctx.Err() != nil {
			return v, err
		}
		if !done {
			return c.refused(v, task, output), nil
		}
	}
	v.Pass = true
	return v, nil
}

// unworded is the verdict when there is no commit message.
func (c *SCM) unworded(v loop.Verdict, task string, turn loop.Turn) loop.Verdict {
	v = c.failed(v, task, "the agent gave no commit message"+because(turn), "")
	v.Waits, v.Until = unanswered(turn.Class), turn.ResetAt
	if v.Unfixable = turn.Class == loop.OK || turn.Class == loop.Empty || turn.Class.Fatal(); v.Unfixable {
		v.Reason += "; see whether it answers such a question, or commit yourself and take the task out of scm"
	}
	return v
}

// refused is the verdict on a task that failed.
func (c *SCM) refused(v loop.Verdict, task, output string) loop.Verdict {
	v = c.failed(v, task, "it failed: "+telling(output), output)
	if v.Unfixable = !theAgents.MatchString(output); v.Unfixable {
		v.Reason += "; fix that, or take the task out of scm, then run it again with --resume"
	}
	return v
}

// theAgents are the reasons to refuse a commit that lie in the files.
var theAgents = lazy(
	`the change holds a credential|unmerged (files|paths)|fix conflicts|embedded git repository|does not have a commit checked out`)

func (c *SCM) failed(v loop.Verdict, task, why, output string) loop.Verdict {
	v.Reason = fmt.Sprintf("the source control task %q: %s", task, why)
	v.Output = loop.Excerpt(output)
	v.FailAction = loop.Append
	v.PromptText = fmt.Sprintf("The source control task %q failed.\nOutput:\n%s", task, v.Output)
	return v
}

func because(t loop.Turn) string {
	if t.Reason == "" {
		return ""
	}
	return ": " + t.Reason
}

// response is what a message may be wrapped in. Its lines stay lines: the first is the subject, what follows an empty
// one the body.
var response = lazy(`(?is)<response>(.*?)</response>`)

// Message is the commit message in an agent's answer: what its <response> holds, else its first line that says anything
// . It is empty when the answer has none.
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
