package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
)

// A run may work in a directory of its repository instead of at the top: the setting workingDirectory. The agent's turns, the setup and
// every command that judges begin there. What is committed, what a reviewer sees and what the sandbox holds is the whole worktree, and so
// are the paths of findings, whoever found them. In a run of a plan the agent stays at the top, since all of a plan is named from there.

// workdir is where checks work, an absolute path.
func (w *Spec) workdir() string {
	return filepath.Join(w.Workspace.Dir(), filepath.FromSlash(w.Settings.WorkingDirectory))
}

// desk is where the agent works.
func (w *Spec) desk() string {
	if w.Plan != nil {
		return w.Workspace.Dir()
	}
	return w.workdir()
}

// below is a path of the working directory as git names it, from the top.
func (w *Spec) below(name string) string {
	return path.Join(w.Settings.WorkingDirectory, filepath.ToSlash(name))
}

// Stray says why nothing may run in the working directory; nil when something may. It is asked before each use: an agent can put a link in
// the place of a directory, which would lead anywhere.
func (w *Spec) Stray() error { return Stray(w.Place, w.Settings) }

// Stray says why nothing may run in a place's working directory; nil when something may.
func Stray(p Place, set config.Settings) error {
	if set.WorkingDirectory == "" {
		return nil
	}
	return realDirectory(p.Workspace.Dir(), path.Clean(set.WorkingDirectory))
}

// realDirectory fails unless a path below top leads to a directory through nothing but directories.
func realDirectory(top, name string) error {
	root, err := os.OpenRoot(top)
	if err != nil {
		return fmt.Errorf("looking for the working directory %q: %w", name, err)
	}
	defer root.Close()
	parts := strings.Split(name, "/")
	for i := range parts {
		at := path.Join(parts[:i+1]...)
		info, err := root.Lstat(filepath.FromSlash(at))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("the working directory %q cannot be used: there is no %q in %s; put it back, or name another one in the setting workingDirectory", name, at, top)
		case err != nil:
			return fmt.Errorf("looking for the working directory %q: %w", name, err)
		case info.Mode()&fs.ModeSymlink != 0:
			return fmt.Errorf("the working directory %q cannot be used: %q is a link, which may lead out of the repository; put a directory in its place", name, at)
		case !info.IsDir():
			return fmt.Errorf("the working directory %q cannot be used: %q is no directory; put one in its place", name, at)
		}
	}
	return nil
}

// inBase refuses a working directory that is none in the base commit: nobody but the agent could have made it.
func (w *Spec) inBase(ctx context.Context, base string) error {
	if w.Settings.WorkingDirectory == "" || w.Tree == nil {
		return nil
	}
	name := path.Clean(w.Settings.WorkingDirectory)
	if _, err := w.Tree.List(ctx, base+":"+name); err != nil && ctx.Err() == nil {
		return invalid.Errorf("the setting workingDirectory is %q, which is no directory of the base commit %.12s; name one by its path from the top of the repository, without a link or a submodule on the way", name, base)
	}
	return ctx.Err()
}

// topNames are the names at the top of what a commit shows of the working directory.
func (w *Spec) topNames(ctx context.Context, base string) ([]string, error) {
	if w.Settings.WorkingDirectory == "" {
		return w.Tree.List(ctx, base)
	}
	return w.Tree.List(ctx, base+":"+path.Clean(w.Settings.WorkingDirectory))
}

// fromTop is a program of the settings as the agent's door takes it. A path is one from the top, where the settings are.
func (w *Spec) fromTop(program string) string {
	if w.Settings.WorkingDirectory == "" || filepath.Base(program) == program || filepath.IsAbs(program) {
		return program
	}
	return filepath.Join(w.Workspace.Dir(), program)
}

// logsFrom is where outputs are, as a prompt names it to an agent in the working directory; empty: by the whole path.
func (w *Spec) logsFrom() string {
	if w.Settings.WorkingDirectory == "" {
		return w.LogsAs
	}
	return ""
}

// Directory is a place without git.
type Directory string

// Dir implements place.
func (d Directory) Dir() string { return string(d) }

// Env implements place.
func (Directory) Env() []string { return nil }

// Prepare implements check.Tree: the checks run in the directory as the turn has left it.
func (Directory) Prepare(context.Context, check.At, bool) (*loop.Verdict, error) { return nil, nil }

// Explain implements check.Tree.
func (Directory) Explain(context.Context, check.At, *loop.Verdict) error { return nil }

// Clean implements check.Tree: nobody knows what is tracked here.
func (Directory) Clean(context.Context) ([]string, error) { return nil, nil }

// Restore implements check.Tree.
func (Directory) Restore(context.Context) error { return nil }
