package check

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// Runner is where and as whom the commands of verifications run: as checks do, in the run's worktree, without tokens and keys.
type Runner struct {
	Dir     string
	Env     []string
	As      *proc.User
	LogDir  string              // where verify_<iteration>_<role>[_<stage>].log goes
	LogAs   string              // the same as the prompt names it, from Dir; empty: LogDir
	Redact  func(string) string // takes secrets out before anything is cut; nil: nothing does
	Console io.Writer           // what a person sees live; nil: nothing
	// Scaled stretches a time limit (S0-27); nil: as it is.
	Scaled func(time.Duration) time.Duration
}

// order is one command to run.
type order struct {
	line, dir, log   string
	limit            time.Duration
	wanted, unwanted *needle
}

// run runs a command to its end or its limit. output is what it printed, both streams as one (S2-29), its middle left out when it is
// long. What the command does wrong is in the result.
func (r Runner) run(ctx context.Context, o order, console *sync.Mutex) (end proc.Result, output string, err error) {
	file := filepath.Join(r.LogDir, o.log)
	log, err := proc.CreateLog(file, logBytes)
	if err != nil {
		return end, "", err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	if r.As != nil { // the next prompt names the file, and the agent is that user
		if err := os.Chmod(file, 0o644); err != nil {
			return end, "", fmt.Errorf("letting the agent read the output: %w", err)
		}
	}
	kept := proc.NewTail(loop.OutputBytes, loop.OutputBytes)
	to := []io.Writer{log, kept, o.wanted, o.unwanted}
	if r.Console != nil {
		lines := newInert(locked{console, r.Console})
		defer lines.flush()
		to = append(to, lines)
	}
	all := io.MultiWriter(to...)
	end, err = proc.Run(ctx, proc.Spec{
		Argv: append(Shell(runtime.GOOS), o.line), Dir: o.dir, Env: r.Env, As: r.As, Timeout: o.limit, Stdout: all, Stderr: all,
	})
	if output = kept.String(); r.Redact != nil {
		output = r.Redact(output)
	}
	return end, output, err
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

// needle looks for a text in a stream of any length.
type needle struct {
	text []byte
	end  []byte // of the stream so far: as much as the text's beginning may have in common with it
	seen bool
}

func newNeedle(text string) *needle { return &needle{text: []byte(text)} }

// found reports whether the text was in the stream. The empty text always was.
func (f *needle) found() bool { return f.seen || len(f.text) == 0 }

func (f *needle) Write(p []byte) (int, error) {
	if !f.found() {
		both := append(f.end, p...)
		f.seen = bytes.Contains(both, f.text)
		f.end = bytes.Clone(both[max(0, len(both)-len(f.text)+1):])
	}
	return len(p), nil
}
