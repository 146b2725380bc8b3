package check

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

// subject is what a promise is verified on.
type subject struct {
	at      At
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
	reason    string // one sentence, which begins with the words of S2
	output    string // of the command, redacted
	log       string // its log's name; empty: there is none
	exit      int
	missing   bool
	unfixable bool        // of the command: no change to the code mends it
	killed    bool        // what it ran was ended by a signal that was not ours
	usage     *loop.Usage // nil: no model was asked
}

// judge verifies by the method of the criteria.
func (c *Verify) judge(ctx context.Context, s subject) (result, error) {
	config := c.Criteria.Config
	if config == nil {
		config = &task.Verification{}
	}
	method := c.Criteria.Method
	if method == "" {
		method = task.StringMatch
		if config.Command != "" {
			method = task.External
		}
	}
	if method == task.MultiStage {
		return c.stages(ctx, config, s)
	}
	return c.single(ctx, method, config, "", s)
}

// single verifies by a method that is no list of others. stage is empty outside one.
func (c *Verify) single(ctx context.Context, method task.Method, config *task.Verification, stage string, s subject) (result, error) {
	switch method {
	case task.StringMatch:
		if stage != "" { // S2-42
			return result{pass: true, reason: "Skipped"}, nil
		}
		return c.stringMatch(s), nil
	case task.Semantic:
		return c.semantic(ctx, config, s)
	case task.External:
		return c.external(ctx, config, stage, s.at), nil
	}
	return result{reason: fmt.Sprintf("Unknown verification method: %s", method)}, nil // S2-43
}

// stringMatch looks for the promise in the agent's own text (S2-15, S2-16). Of the role's default promise, which any claim stands for
// (C2), the accepted claim is enough.
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
		v.Tell = c.tell(r)
	}
}

// tellRunes is how much of a command's output the next prompt gets.
const tellRunes = 5000

// tell says what was promised and does not hold (S2-65).
func (c *Verify) tell(r result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The %s's promise was verified and does not hold. Verification failed: %s\n", c.role(), r.reason)
	if d := c.Criteria.Description; d != "" {
		fmt.Fprintf(&b, "It is kept when this is true: %s\n", d)
	}
	if r.log != "" {
		fmt.Fprintf(&b, "Output file: %s\n", c.Runner.logFile(r.log))
	}
	if r.output != "" {
		b.WriteString("Output (truncated):\n" + truncate(r.output, tellRunes, "both"))
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
