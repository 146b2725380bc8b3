package check

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

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

// logName is where a command's output goes: verify_3_qa_unit_tests.log.
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

// Name is the check's name in verdicts: "verify coder".
func (c *Verify) Name() string { return "verify " + string(c.role()) }

func (c *Verify) role() task.Role { return cmp.Or(c.Role, task.Coder) }

// Runner is where and as whom the commands of verifications run: as checks do, in the run's worktree, without tokens
// and keys.
type Runner struct {
	Dir     string
	Stray   func() error // as of a Command
	Env     []string
	As      *proc.User
	Box     proc.Box            // what it is kept in; nil: nothing
	Limits  proc.Limits         // what it may take of the machine
	LogDir  string              // where verify_<iteration>_<role>[_<stage>].log goes
	LogAs   string              // the same as the prompt names it, from Dir; empty: LogDir
	Redact  func(string) string // takes secrets out before anything is cut; nil: nothing does
	Console io.Writer           // what a person sees live; nil: nothing
	Programs
	// Scaled stretches a time limit; nil: as it is.
	Scaled func(time.Duration) time.Duration
}

// command is how a verification's command line runs: like any check's, but for what it is told to print and how long it
// may take.
func (r Runner) command(config *task.Verification, dir string, console *sync.Mutex) *Command {
	c := &Command{
		Line: strings.TrimSpace(config.Command), Timeout: r.limit(config.Timeout),
		Expect: Expect{Exit: &config.SuccessExitCode, Contains: []string{config.OutputContains},
			NotContains: []string{config.OutputNotContains}},
		Hard: true, Programs: r.Programs,
		Dir: dir, Env: r.Env, As: r.As, Box: r.Box, Limits: r.Limits, LogDir: r.LogDir, LogAs: r.LogAs, Redact: r.Redact,
	}
	if r.Console != nil {
		c.Console = locked{console, r.Console}
	}
	return c
}

// logFile is a log as the next prompt names it.
func (r Runner) logFile(name string) string { return filepath.Join(cmp.Or(r.LogAs, r.LogDir), name) }

// locked lets several write to one console, a line a Write.
type locked struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
