package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

// stages verifies by several methods in their order.
func (c *Verify) stages(ctx context.Context, config *task.Verification, s subject) (out loop.Verdict, err error) {
	if len(config.Stages) == 0 {
		return loop.Verdict{Reason: "No stages specified for multi_stage verification"}, nil
	}
	var failed, warnings []string
	var printed strings.Builder
	for i, stage := range config.Stages {
		name := cmp.Or(stage.Name, "unnamed")
		r, err := c.single(ctx, cmp.Or(stage.Method, task.StringMatch), cmp.Or(stage.Config, &task.Verification{}),
			Slug(fmt.Sprintf("%d %s", i+1, name)), s)
		if err != nil {
			return loop.Verdict{}, err
		}
		c.log("stage %s: %s", name, r.Reason)
		out.Usage, out.Killed = sum(out.Usage, r.Usage), out.Killed || r.Killed
		if !r.Pass && r.Output != "" {
			fmt.Fprintf(&printed, "%s:\n%s\n", name, strings.TrimRight(r.Output, "\n"))
			out.Output = printed.String()
		}
		if r.Pass {
			continue
		}
		if stage.Required != nil && !*stage.Required {
			warnings = append(warnings, name+": "+r.Reason)
			continue
		}
		if len(failed) == 0 {
			out.LogFile, out.Exit, out.Missing, out.Unfixable = r.LogFile, r.Exit, r.Missing, r.Unfixable
		}
		if failed = append(failed, name+": "+r.Reason); config.RequireAll == nil || *config.RequireAll {
			out.Reason = fmt.Sprintf("Stage '%s' failed: %s", name, r.Reason)
			return out, nil
		}
	}
	if out.Pass = len(failed) == 0; out.Pass {
		out.Reason = fmt.Sprintf("All %d verification stages passed", len(config.Stages))
	} else {
		out.Reason = "Failed stages: " + strings.Join(failed, "; ")
	}
	if len(warnings) > 0 {
		out.Reason += " (warnings: " + strings.Join(warnings, "; ") + ")"
	}
	return out, nil
}

// judge verifies by the method of the criteria.
func (c *Verify) judge(ctx context.Context, s subject) (loop.Verdict, error) {
	config := cmp.Or(c.Criteria.Config, &task.Verification{})
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
func (c *Verify) single(ctx context.Context, method task.Method, config *task.Verification, stage string,
	s subject) (loop.Verdict, error) {
	switch method {
	case task.StringMatch:
		if stage != "" {
			return loop.Verdict{Pass: true, Reason: "Skipped"}, nil
		}
		return c.stringMatch(s), nil
	case task.Semantic:
		return c.semantic(ctx, config, s)
	case task.External:
		return c.external(ctx, config, stage, s.at), nil
	}
	return loop.Verdict{Reason: fmt.Sprintf("Unknown verification method: %s", method)}, nil
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
	v := c.complete(r)
	if s.lacks != "" && !s.gone {
		v.Reason += " (" + s.lacks + ")"
	}
	return v, nil
}

// Waits implements Waiter: until the role has worked.
func (c *Verify) Waits(at Input) string { return Awaits(c.role())(at) }

func (c *Verify) asksModel() bool {
	of := c.Criteria
	return of.Method == task.Semantic || of.Method == task.MultiStage && of.Config != nil &&
		slices.ContainsFunc(of.Config.Stages, func(s task.Stage) bool { return s.Method == task.Semantic })
}

// Reverify says no when what a task's promise was verified by does not hold on a later commit: its commands run again,
// since they need no agent's word.
type Reverify struct {
	Task   string
	Verify *Verify
}

// Name is the check's name in verdicts: "verify coder of TASK-1".
func (k *Reverify) Name() string { return k.Verify.Name() + " of " + k.Task }

// Severity of a broken promise is hard.
func (*Reverify) Severity() loop.Severity { return loop.Hard }

// Needs nothing.
func (*Reverify) Needs() Need { return 0 }

// Run runs the commands, until one does not hold.
func (k *Reverify) Run(ctx context.Context, at Input) (v loop.Verdict, err error) {
	v.Role = k.Verify.role()
	for i, config := range k.Verify.Criteria.Externals() {
		v = k.Verify.complete(k.Verify.external(ctx, config, Slug(fmt.Sprintf("%s %d", k.Task, i+1)), at))
		if !v.Pass {
			break
		}
	}
	return v, nil
}
