package app

import (
	"context"
	"fmt"
	"runtime"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
)

// setup runs the setting's setup command, once a process, before the checks run on the base commit.
func (w *workshop) setup(ctx context.Context) error {
	if w.settings.Setup == "" {
		return nil
	}
	w.log("setup: %s", w.settings.Setup)
	kept := proc.NewTail(0, 2<<10)
	r, err := proc.Run(ctx, proc.Spec{
		Argv: append(check.Shell(runtime.GOOS), w.settings.Setup), Dir: w.place.Dir(), Env: w.environment(), As: w.as, Box: w.box(sandbox.Checks), Timeout: w.settings.Scaled(setupLimit), Stdout: kept, Stderr: kept,
	})
	if err != nil {
		return fmt.Errorf("running the setup: %w", err)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if r.Class != proc.Exited || r.Exit != 0 {
		return invalid("the setup command %q ended with %s, exit code %d; its output ends:\n%s", w.settings.Setup, r.Class, r.Exit, kept.String())
	}
	return w.place.Restore(ctx)
}

// baseline runs the checks on the base commit, before anything is spent (B-24).
func (w *workshop) baseline(ctx context.Context, checks check.List, l *ledger) error {
	s := l.State()
	if s.Baselined || len(s.Iterations) > 0 || w.settings.Baseline == config.BaselineOff {
		return nil
	}
	verdicts, err := checks.Baseline(ctx, s)
	if err != nil {
		return err
	}
	if _, err := l.Append(ctx, loop.Record{Type: loop.Baselined, At: w.clock(), Baseline: verdicts}); err != nil {
		return err
	}
	for _, v := range verdicts {
		if v.Missing {
			return invalid("the check %q cannot run here: %s", v.Check, v.Reason)
		}
		if v.Blocks() && w.settings.Baseline == config.BaselineRequire {
			return invalid("the check %q already fails on the base commit (%s), and the setting baseline is require; mend it first, or set baseline to report", v.Check, v.Reason)
		}
	}
	return nil
}
