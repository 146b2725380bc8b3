package supervise

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// attempt runs the command once. It is ended with everything it has started, registered children too, when hard is done
// or its time is over; when it ends by itself, registered children live on and everything else it left is ended.
func (w *supervision) attempt(hard context.Context) {
	n := w.attempts + 1
	w.console.log("Starting agent (attempt %d/%d)", n, w.MaxRestarts)
	w.post("attempt", "attempt %d of %d begins", n, w.MaxRestarts)
	w.last = ending{Program: w.Argv[0]}
	if err := w.signals.begin(); err != nil {
		w.last.Err = err
	} else {
		w.run(hard, n)
	}
	w.attempts, w.fresh, w.ran, w.told, w.rested, w.next = n, true, true, false, false, w.Clock().Add(w.RestartDelay)
	w.post("attempt", "attempt %d of %d ended: %s", n, w.MaxRestarts, w.last.how())
}

func (w *supervision) run(hard context.Context, n int) {
	log, err := newAttemptLog(w.dir, n)
	if err != nil {
		w.last.Err = err
		return
	}
	defer log.Close()
	ctx, stop := w.limited(hard)
	defer stop()
	defer w.endWith(hard)()
	defer loop.BeginStep(hard, fmt.Sprintf("attempt %d of %d", n, w.MaxRestarts), w.Timeout)()
	env := w.environment(n - 1)
	spec := proc.Spec{
		Argv: w.Argv, Dir: w.Dir, Env: env, Grace: w.Grace,
		Stdout: io.MultiWriter(log, w.console), Stderr: io.MultiWriter(log, w.Err),
		Spare: func() []int {
			w.outlived = w.registered()
			w.spared = w.spared || len(w.outlived) > 0
			return w.outlived
		},
	}
	if sameFile(w.Out, w.Err) { // one stream keeps the order in which the command wrote
		spec.Stderr = spec.Stdout
	}
	w.last.Ours = w.isSelf(env)
	w.last.Result, w.last.Err = proc.Run(ctx, spec)
	if w.spared {
		proc.End(nil, w.Grace) // what registered children have left that crashed meanwhile
	}
	if w.last.Class == proc.Cancelled && hard.Err() == nil {
		w.last.After = w.Timeout
	}
}

// limited is the time of one attempt. The log says that it is over before anything is ended.
func (w *supervision) limited(hard context.Context) (context.Context, func()) {
	if w.Timeout == 0 {
		return hard, func() {}
	}
	ctx, cancel := context.WithTimeout(hard, w.Timeout)
	told := make(chan struct{})
	forget := context.AfterFunc(ctx, func() {
		defer close(told)
		if errors.Is(ctx.Err(), context.DeadlineExceeded) && hard.Err() == nil {
			w.console.log("Agent timeout after %s, killing process group", w.Timeout)
		}
	})
	return ctx, func() {
		if !forget() {
			<-told
		}
		cancel()
	}
}

// isSelf reports whether the command is this program.
func (w *supervision) isSelf(env []string) bool {
	name := w.Argv[0]
	if filepath.Base(name) != name && !filepath.IsAbs(name) {
		name = filepath.Join(w.Dir, name)
	}
	path, err := proc.LookPath(name, env)
	if err != nil || w.Self == "" {
		return false
	}
	command, err := os.Stat(path)
	if err != nil {
		return false
	}
	self, err := os.Stat(w.Self)
	return err == nil && os.SameFile(command, self)
}

// withheld are the variables that the command does not get: what opens GitHub, and what the runner tells an action. The
// rest is the user's own environment, with the keys that his agent needs.
var withheld = []string{
	"GITHUB_TOKEN", "GH_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GH_ENTERPRISE_TOKEN", "ACTIONS_*", "INPUT_*",
}

// environment is the whole environment of an attempt, counted from 0.
func (w *supervision) environment(attempt int) []string {
	ours := []string{
		"TASK_FOLDER=" + w.dir,
		fmt.Sprintf("RALPH_ATTEMPT=%d", attempt),
		journal.SupervisorDir + "=" + w.dir,
	}
	var env []string
	for _, entry := range w.Parent {
		name, _, _ := strings.Cut(entry, "=")
		if !slices.ContainsFunc(
			withheld, func(pattern string) bool { return named(pattern, strings.ToUpper(name)) },
		) {
			env = append(env, entry)
		}
	}
	return append(env, ours...)
}

func named(pattern, name string) bool {
	prefix, starred := strings.CutSuffix(pattern, "*")
	return pattern == name || starred && strings.HasPrefix(name, prefix)
}

// sameFile reports whether two writers are the same open file or terminal.
func sameFile(a, b io.Writer) bool {
	fa, ok := a.(*os.File)
	fb, also := b.(*os.File)
	if !ok || !also {
		return false
	}
	ia, errA := fa.Stat()
	ib, errB := fb.Stat()
	return errA == nil && errB == nil && os.SameFile(ia, ib)
}

// What is kept of the attempts' output.
const (
	attemptLogBytes = 64 << 20 // of one attempt
	attemptLogs     = 20       // the newest attempts, of all runs in the directory
)

// newAttemptLog makes the file that an attempt's output is kept in, and removes the oldest of the others.
func newAttemptLog(dir string, n int) (io.WriteCloser, error) {
	root, err := os.OpenRoot(dir) // no link leads out of it
	if err != nil {
		return nil, fmt.Errorf("keeping the output of attempt %d: %w", n, err)
	}
	defer root.Close()
	name := fmt.Sprintf("%s/attempt_%03d.log", journal.SuperviseDir, n)
	if err := root.MkdirAll(journal.SuperviseDir, 0o755); err != nil {
		return nil, fmt.Errorf("keeping the output of attempt %d: %w", n, err)
	}
	if err := root.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("keeping the output of attempt %d: %w", n, err)
	}
	if err := prune(root, attemptLogs-1); err != nil {
		return nil, fmt.Errorf("removing old logs of attempts: %w", err)
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("keeping the output of attempt %d: %w", n, err)
	}
	return proc.NewCapped(file, attemptLogBytes), nil
}

// prune leaves the newest logs of attempts.
func prune(root *os.Root, keep int) error {
	list, err := root.Open(journal.SuperviseDir)
	if err != nil {
		return err
	}
	defer list.Close()
	entries, err := list.Readdir(-1)
	if err != nil {
		return err
	}
	entries = slices.DeleteFunc(entries, func(e os.FileInfo) bool {
		ours, _ := filepath.Match("attempt_*.log", e.Name())
		return !ours
	})
	slices.SortFunc(entries, func(a, b os.FileInfo) int {
		if d := b.ModTime().Compare(a.ModTime()); d != 0 {
			return d
		}
		return strings.Compare(b.Name(), a.Name())
	})
	for _, old := range entries[min(keep, len(entries)):] {
		if err := root.Remove(journal.SuperviseDir + "/" + old.Name()); err != nil &&
			!errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
