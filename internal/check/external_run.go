package check

import (
	"cmp"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/task"
)

// Runner is where and as whom the commands of verifications run: as checks do, in the run's worktree, without tokens
// and keys.
type Runner struct {
	Dir      string
	Stray    func() error // as of a Command
	Env      []string
	As       *proc.User
	Box      proc.Box            // what it is kept in; nil: nothing
	Limits   proc.Limits         // what it may take of the machine
	LogDir   string              // where verify_<iteration>_<role>[_<stage>].log goes
	LogAs    string              // the same as the prompt names it, from Dir; empty: LogDir
	Redact   func(string) string // takes secrets out before anything is cut; nil: nothing does
	Console  io.Writer           // what a person sees live; nil: nothing
	Lacks    Lacks               // Lacks, Present and Versions are as of a Command
	Present  []string
	Versions []string
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
		Hard: true, Lacks: r.Lacks, Present: r.Present, Versions: r.Versions,
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
