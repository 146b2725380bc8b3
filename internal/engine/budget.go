package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// now is the run's state with what its turns have spent since its newest record. The caller holds mu.
func (p *Budget) now() loop.State {
	s := p.state()
	if s.Usage != p.booked {
		p.booked, p.spent = s.Usage, loop.Usage{}
	}
	s.Usage = s.Usage.Plus(p.spent)
	return s
}

// left is what a turn may spend, and why that is nothing.
func (p *Budget) left() (loop.Left, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limits.Left(p.now())
}

// Turn takes a turn within what is left.
func (p *Budget) Turn(ctx context.Context, o agent.Options, asked string) (loop.Turn, error) {
	left, empty := p.left()
	if err := unheld(p.limits, o); err != nil {
		return loop.Turn{}, err
	}
	if empty != "" {
		return loop.Turn{Class: loop.Spent, Ours: true, Exit: -1, Reason: empty}, nil
	}
	o.Left = left
	t, err := turn(ctx, o, asked)
	p.mu.Lock()
	p.now()
	p.spent = p.spent.Plus(t.Usage)
	p.mu.Unlock()
	p.warn()
	return t, err
}

// Turn takes a turn within what is left of the run's budget.
func (run *Run) Turn(ctx context.Context, o agent.Options, asked string) (loop.Turn, error) {
	return run.budget.Turn(ctx, o, asked)
}

// warn says once that most of it is spent.
func (p *Budget) warn() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if why := p.limits.Warning(p.now()); why != "" && !p.warned {
		p.warned = true
		p.log("warning: %s", why)
	}
}

// limited fills in what a run may spend.
func limited(l loop.Limits, set config.Settings) loop.Limits {
	l.CostUSD, l.Tokens, l.IssueCostUSD = set.MaxCostUSD, int64(set.MaxTokens), set.MaxCostUSDPerIssue
	return l
}

// spendingLimits reports whether a run is held to anything that it may spend. Then its agents must report what they do,
// and plain text reports nothing.
func spendingLimits(set config.Settings) bool {
	return set.MaxCostUSD > 0 || set.MaxTokens > 0 || set.MaxCostUSDPerIssue > 0
}

// OwnBudget is that of turns that belong to no run, such as those of a planner: they may spend what a run may.
func (run *Run) OwnBudget() *Budget {
	return &Budget{
		limits: limited(loop.Limits{}, run.Settings), state: func() loop.State { return loop.State{} }, log: run.Log,
	}
}

// tellLimits logs the limits of the run. It returns an error if an agent cannot be held to one of them.
func (p *Budget) tellLimits(agents ...*agent.Options) error {
	var held []string
	if p.limits.CostUSD > 0 {
		held = append(held, loop.Dollars(p.limits.CostUSD))
	}
	if p.limits.Tokens > 0 {
		held = append(held, fmt.Sprintf("%d tokens", p.limits.Tokens))
	}
	if p.limits.IssueCostUSD > 0 {
		s := p.state()
		held = append(
			held,
			fmt.Sprintf(
				"%s for all runs of the issue, of which %s are spent", loop.Dollars(p.limits.IssueCostUSD),
				loop.Dollars(s.OnIssue().CostUSD),
			),
		)
	}
	if len(held) == 0 {
		return nil
	}
	if p.limits.Wall > 0 {
		held = append(held, safetext.Duration(p.limits.Wall))
	}
	p.log("limits: %s", strings.Join(held, ", "))
	for _, o := range agents {
		if o == nil {
			continue
		}
		if err := unheld(p.limits, *o); err != nil {
			return err
		}
	}
	return nil
}

// unheld is an error if an agent cannot be held to one of the limits.
func unheld(l loop.Limits, o agent.Options) error {
	name := filepath.Base(o.Command)
	cost, tokens := o.ReportsUsage()
	setting := (loop.Left{OfIssue: l.CostUSD <= 0}).Setting()
	money := l.CostUSD > 0 || l.IssueCostUSD > 0
	switch {
	case money && o.Gateway != nil && !o.Gateway.Prices(o.Model):
		return invalid.Errorf("the price of the model %q is not known, so %s cannot limit this run: name it in the setting "+
			"prices, or set maxTokens, maximumIterations or timeoutMinutes instead", o.Model, setting)
	case money && !cost && tokens:
		return invalid.Errorf("%s does not report its cost, so %s cannot limit this run: run it with gateway: auto and a "+
			"key, or set maxTokens, maximumIterations or timeoutMinutes instead", name, setting)
	case (money || l.Tokens > 0) && !tokens:
		if !money {
			setting = "maxTokens"
		}
		return invalid.Errorf("%s reports neither its cost nor its tokens, so %s cannot limit this run: set gateway: "+
			"require, or maximumIterations or timeoutMinutes instead", name, setting)
	}
	return nil
}

// limits are what one turn, one check or the setup may take of the machine.
func (spec *Spec) limits() proc.Limits {
	set := spec.Settings.Limits
	dirs := []string{spec.Scratch, os.TempDir(), "/dev/shm"}
	if cache := CacheDir(runtime.GOOS, spec.Parent); cache != "" {
		dirs = append(dirs, filepath.Join(cache, "ralph"))
	}
	return proc.Limits{
		Processes: set.MostProcesses(runtime.NumCPU()), Memory: set.MostMemory(proc.Memory()), Disk: set.Disk.Bytes(),
		Output: set.Output.Bytes(), Dirs: dirs,
	}
}
