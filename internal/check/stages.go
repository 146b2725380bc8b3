package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/task"
)

// sideBySide is how many independent stages run at once.
const sideBySide = 4

// step is a stage with what resulted from it.
type step struct {
	task.Stage
	log string // its name in that of its log
	result
}

// stages verifies by several methods in their order. Neighbours that are independent run side by side;
// what comes of them counts in their order anyway.
func (c *Verify) stages(ctx context.Context, config *task.Verification, s subject) (result, error) {
	if len(config.Stages) == 0 {
		return result{reason: "No stages specified for multi_stage verification"}, nil
	}
	steps := stepsOf(config.Stages)
	stop := config.RequireAll == nil || *config.RequireAll
	for i := 0; i < len(steps); {
		end := i + 1
		for end < len(steps) && steps[i].Independent && steps[end].Independent {
			end++
		}
		if err := c.together(ctx, steps[i:end], s); err != nil {
			return result{}, err
		}
		for ; i < end; i++ {
			if stop && steps[i].required() && !steps[i].pass {
				out := gathered(steps[:end], &steps[i])
				out.reason = fmt.Sprintf("Stage '%s' failed: %s", steps[i].Name, steps[i].reason)
				return out, nil
			}
		}
	}
	return concluded(steps), nil
}

// concluded is what comes of stages that have all run.
func concluded(steps []step) result {
	var failed, warnings []string
	var first *step
	for i := range steps {
		st := &steps[i]
		switch {
		case st.pass:
		case st.required():
			failed = append(failed, st.Name+": "+st.reason)
			if first == nil {
				first = st
			}
		default:
			warnings = append(warnings, st.Name+": "+st.reason)
		}
	}
	out := gathered(steps, first)
	if out.pass = len(failed) == 0; out.pass {
		out.reason = fmt.Sprintf("All %d verification stages passed", len(steps))
	} else {
		out.reason = "Failed stages: " + strings.Join(failed, "; ")
	}
	if len(warnings) > 0 {
		out.reason += " (warnings: " + strings.Join(warnings, "; ") + ")"
	}
	return out
}

// gathered is what stages spent and printed: the outputs of those that failed, and the log of the one that matters.
func gathered(steps []step, of *step) result {
	var out result
	var b strings.Builder
	for _, st := range steps {
		out.usage, out.killed = sum(out.usage, st.usage), out.killed || st.killed
		if !st.pass && st.output != "" {
			fmt.Fprintf(&b, "%s:\n%s\n", st.Name, strings.TrimRight(st.output, "\n"))
		}
	}
	out.output = b.String()
	if of != nil {
		out.log, out.exit, out.missing, out.unfixable = of.result.log, of.exit, of.missing, of.unfixable
	}
	return out
}

// together runs stages side by side, at most sideBySide at once.
func (c *Verify) together(ctx context.Context, steps []step, s subject) error {
	errs := make([]error, len(steps))
	slots := make(chan struct{}, sideBySide)
	var running sync.WaitGroup
	for i := range steps {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			st := &steps[i]
			config := st.Config
			if config == nil {
				config = &task.Verification{}
			}
			st.result, errs[i] = c.single(ctx, st.Method, config, st.log, s)
			c.log("stage %s: %s", st.Name, st.reason)
		})
	}
	running.Wait()
	return errors.Join(errs...)
}

// stepsOf fills in what stages leave open, and gives each a log of its own.
func stepsOf(stages []task.Stage) []step {
	steps := make([]step, len(stages))
	taken := map[string]bool{}
	for i, stage := range stages {
		stage.Name = cmp.Or(stage.Name, "unnamed")
		if stage.Method == "" {
			stage.Method = task.StringMatch
		}
		slug := cmp.Or(Slug(stage.Name), "unnamed")
		name := slug
		for n := 2; taken[strings.ToLower(name)]; n++ {
			name = fmt.Sprintf("%s_%d", slug, n)
		}
		taken[strings.ToLower(name)] = true
		steps[i] = step{Stage: stage, log: name}
	}
	return steps
}

func (st step) required() bool { return st.Required == nil || *st.Required }

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
func (c *Verify) single(ctx context.Context, method task.Method, config *task.Verification, stage string,
	s subject) (result, error) {
	switch method {
	case task.StringMatch:
		if stage != "" {
			return result{pass: true, reason: "Skipped"}, nil
		}
		return c.stringMatch(s), nil
	case task.Semantic:
		return c.semantic(ctx, config, s)
	case task.External:
		return c.external(ctx, config, stage, s.at), nil
	}
	return result{reason: fmt.Sprintf("Unknown verification method: %s", method)}, nil
}
