package check

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/task"
)

// defaultTimeout is how long a verification's command may take when its criteria do not say.
const defaultTimeout = 300 * time.Second

// unverified is why a command that has run does not verify anything; empty when it does.
func unverified(o ending, limit time.Duration, config *task.Verification) string {
	switch {
	case o.Class == proc.TimedOut:
		return fmt.Sprintf("Command timed out after %gs", limit.Seconds())
	case o.Class == proc.Limited:
		return "Command failed: it " + o.Why
	case o.Class == proc.Signalled:
		return "Command failed: it was ended by " + o.Signal
	case o.Class != proc.Exited:
		return fmt.Sprintf("Command failed: it was stopped (%s)", o.Class)
	case o.Exit != config.SuccessExitCode:
		return fmt.Sprintf("Command exited with %d, expected %d", o.Exit, config.SuccessExitCode)
	case !o.seen.has(config.OutputContains):
		return "Output doesn't contain: " + config.OutputContains
	case config.OutputNotContains != "" && o.seen.has(config.OutputNotContains):
		return "Output contains forbidden: " + config.OutputNotContains
	}
	return ""
}

// logName is where a command's output goes: verify_3_qa_2_unit_tests.log.
func (c *Verify) logName(iteration int, stage string) string {
	name := fmt.Sprintf("verify_%d_%s", iteration, c.role())
	if stage != "" {
		name += "_" + stage
	}
	return name + ".log"
}

// within is a directory of the worktree. A path that leads out of it, also by a link, is refused.
func (r Runner) within(name string) (string, error) {
	if name == "" {
		return r.Dir, nil
	}
	local := filepath.Clean(filepath.FromSlash(name))
	if !filepath.IsLocal(local) {
		return "", fmt.Errorf("working_dir %q leads out of the worktree; name a directory in it, by its path from the top",
			name)
	}
	root, err := os.OpenRoot(r.Dir)
	if err != nil {
		return "", fmt.Errorf("opening the worktree: %w", err)
	}
	defer root.Close()
	if info, err := root.Stat(local); err != nil || !info.IsDir() {
		return "", fmt.Errorf("working_dir %q is not a directory in the worktree; name one, by its path from the top", name)
	}
	return filepath.Join(r.Dir, local), nil
}

// limit is how long a command may take, of the seconds that its criteria give it.
func (r Runner) limit(seconds int) time.Duration {
	limit := defaultTimeout
	if seconds > 0 {
		limit = time.Duration(seconds) * time.Second
	}
	if r.Scaled != nil {
		limit = r.Scaled(limit)
	}
	return limit
}

// external runs a command and looks at how it ended and what it printed. What keeps it from running is a
// failed verification like any other, and is logged.
func (c *Verify) external(ctx context.Context, config *task.Verification, stage string, at Input) loop.Verdict {
	if strings.TrimSpace(config.Command) == "" {
		return loop.Verdict{Reason: "No command specified for external verification"}
	}
	cannot := func(why any) loop.Verdict {
		c.log("the command %q cannot be run: %v", config.Command, why)
		return loop.Verdict{Reason: fmt.Sprintf("Command failed: %v", why)}
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
	command := &Command{
		Line: strings.TrimSpace(config.Command), Timeout: c.Runner.limit(config.Timeout), Hard: true,
		Expect: Expect{Exit: &config.SuccessExitCode, Contains: []string{config.OutputContains},
			NotContains: []string{config.OutputNotContains}},
		Programs: c.Runner.Programs, Place: c.Runner.Place,
	}
	command.Dir = dir
	log := c.logName(at.Iteration.N, stage)
	o, err := command.logged(ctx, log)
	switch {
	case err != nil:
		return cannot(err)
	case o.Class == proc.NotFound, o.Class == proc.NotExecutable:
		return cannot("there is no shell to run it")
	}
	out := loop.Verdict{Output: o.output, LogFile: log, Exit: o.Exit, Killed: killed(o.Result)}
	if out.Reason = unverified(o, command.Timeout, config); out.Reason == "" {
		out.Pass, out.Reason = true, "External verification passed"
	}
	command.Title = c.Name()
	if command.environment(at, o, &out); out.Unfixable {
		out.Reason = "Command failed: " + strings.TrimPrefix(out.Reason, "Command failed: ")
	}
	if cannotRun(o.Exit) {
		out.Missing = !out.Pass
		c.log("the command %q ended with %d, which is how a shell says that it cannot run a program", config.Command, o.Exit)
	}
	return out
}
