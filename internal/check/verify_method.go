package check

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/task"
)

// external runs a command and looks at how it ended and what it printed. What keeps it from running is a
// failed verification like any other, and is logged.
func (c *Verify) external(ctx context.Context, config *task.Verification, stage string, at Input) result {
	if strings.TrimSpace(config.Command) == "" {
		return result{reason: "No command specified for external verification"}
	}
	cannot := func(why any) result {
		c.log("the command %q cannot be run: %v", config.Command, why)
		return result{reason: fmt.Sprintf("Command failed: %v", why)}
	}
	if runtime.GOOS == "windows" && strings.Contains(strings.TrimSpace(config.Command), "\n") {
		return cannot("cmd runs one line only; put the lines into a script and name that")
	}
	if c.Runner.Stray != nil {
		if err := c.Runner.Stray(); err != nil {
			return cannot(err)
		}
	}
	dir, err := c.Runner.within(config.WorkingDir)
	if err != nil {
		return cannot(err)
	}
	command, log := c.Runner.command(config, dir, &c.mu), c.logName(at.Iteration.N, stage)
	o, err := command.logged(ctx, log)
	switch {
	case err != nil:
		return cannot(err)
	case o.Class == proc.NotFound, o.Class == proc.NotExecutable:
		return cannot("there is no shell to run it")
	}
	out := result{output: o.output, log: log, exit: o.Exit, killed: killed(o.Result)}
	if out.reason = unverified(o, command.Timeout, config); out.reason == "" {
		out.pass, out.reason = true, "External verification passed"
	}
	lacking := loop.Verdict{Pass: out.pass}
	command.Title = c.Name()
	if command.environment(at, o, &lacking); lacking.Unfixable {
		out.unfixable, out.reason = true, "Command failed: "+lacking.Reason
	}
	if o.Exit == shellExit || o.Exit == shellExit+1 {
		out.missing = !out.pass
		c.log("the command %q ended with %d, which is how a shell says that it cannot run a program", config.Command, o.Exit)
	}
	return out
}

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

// result is what a method found.
type result struct {
	pass      bool
	reason    string // one sentence
	output    string // of the command, redacted
	log       string // its log's name; empty: there is none
	exit      int
	missing   bool
	unfixable bool        // of the command: no change to the code fixes it
	killed    bool        // what it ran was ended by a signal that was not ours
	usage     *loop.Usage // nil: no model was asked
}

// stringMatch looks for the promise in the agent's own text. Of the role's default promise, which any
// claim stands for, the accepted claim is enough.
func (c *Verify) stringMatch(s subject) result {
	own := c.role().Promise()
	promise := cmp.Or(strings.TrimSpace(c.Criteria.Promise), own)
	if containsFold(s.text, promise) || s.claimed && strings.EqualFold(promise, own) {
		return result{pass: true, reason: "Promise found in output"}
	}
	return result{reason: fmt.Sprintf("Promise '%s' not found in output", promise)}
}

// fill puts a result into a verdict.
func (c *Verify) fill(v *loop.Verdict, r result) {
	v.Verification = true
	v.Pass, v.Reason, v.Exit, v.Missing, v.Unfixable = r.pass, r.reason, r.exit, r.missing, r.unfixable
	v.Killed = r.killed
	v.Output = loop.Excerpt(r.output)
	if r.log != "" {
		v.LogFile = r.log
	}
	v.Usage = sum(v.Usage, r.usage)
	if !r.pass {
		v.PromptText = c.failureText(r)
	}
}

// promptOutputRunes is how much of a command's output the next prompt gets.
const promptOutputRunes = 5000

// failureText says what was promised and does not hold.
func (c *Verify) failureText(r result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The %s's promise was verified and does not hold. Verification failed: %s\n", c.role(), r.reason)
	if d := c.Criteria.Description; d != "" {
		fmt.Fprintf(&b, "It is kept when this is true: %s\n", d)
	}
	if r.log != "" {
		fmt.Fprintf(&b, "Output file: %s\n", c.Runner.logFile(r.log))
	}
	if r.output != "" {
		b.WriteString("Output (truncated):\n" + truncate(r.output, promptOutputRunes, "both"))
	}
	return strings.TrimSpace(b.String())
}

func (c *Verify) log(format string, args ...any) {
	if c.Log == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Log(c.Name()+": "+format, args...)
}

func sum(a, b *loop.Usage) *loop.Usage {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	both := a.Plus(*b)
	return &both
}

func containsFold(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}
