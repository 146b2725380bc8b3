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

// A run may work in a directory of its repository instead of at the top: the setting workingDirectory. The agent's
// turns, the setup and every command that judges begin there. What is committed, what a reviewer sees and what the
// sandbox holds is the whole worktree, and so are the paths of findings, whoever found them. In a run of a plan the
// agent stays at the top, since all of a plan is named from there.

// workdir is where checks work, an absolute path.
func (spec *Spec) workdir() string {
	return filepath.Join(spec.Workspace.Dir(), filepath.FromSlash(spec.Settings.WorkingDirectory))
}

// agentDir is where the agent works.
func (spec *Spec) agentDir() string {
	if spec.Plan != nil {
		return spec.Workspace.Dir()
	}
	return spec.workdir()
}

// agentCommand is a path of the working directory as git names it, from the top.
func (spec *Spec) fromTop(name string) string {
	return path.Join(spec.Settings.WorkingDirectory, filepath.ToSlash(name))
}

// CheckWorkingDir says why nothing may run in the working directory; nil when something may. It is asked before each
// use: an agent can put a link in the place of a directory, which would lead anywhere.
func (spec *Spec) CheckWorkingDir() error { return CheckWorkingDir(spec.Place, spec.Settings) }

// CheckWorkingDir says why nothing may run in a place's working directory; nil when something may.
func CheckWorkingDir(p Place, set config.Settings) error {
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
			return fmt.Errorf(
				"the working directory %q cannot be used: there is no %q in %s; put it back, or name another one in the setting "+
					"workingDirectory",
				name, at, top,
			)
		case err != nil:
			return fmt.Errorf("looking for the working directory %q: %w", name, err)
		case info.Mode()&fs.ModeSymlink != 0:
			return fmt.Errorf(
				"the working directory %q cannot be used: %q is a link, which may lead out of the repository; put a directory in "+
					"its place",
				name, at,
			)
		case !info.IsDir():
			return fmt.Errorf(
				"the working directory %q cannot be used: %q is not a directory; put one in its place", name, at,
			)
		}
	}
	return nil
}

// inBase refuses a working directory that is none in the base commit: nobody but the agent could have made it.
func (spec *Spec) inBase(ctx context.Context, base string) error {
	if spec.Settings.WorkingDirectory == "" || spec.Tree == nil {
		return nil
	}
	name := path.Clean(spec.Settings.WorkingDirectory)
	if _, err := spec.Tree.List(ctx, base+":"+name); err != nil && ctx.Err() == nil {
		return invalid.Errorf(
			"the setting workingDirectory is %q, which is not a directory of the base commit %.12s; name one by its path from "+
				"the top of the repository, without a link or a submodule on the way",
			name, base,
		)
	}
	return ctx.Err()
}

// topNames are the names at the top of what a commit shows of the working directory.
func (spec *Spec) topNames(ctx context.Context, base string) ([]string, error) {
	if spec.Settings.WorkingDirectory == "" {
		return spec.Tree.List(ctx, base)
	}
	return spec.Tree.List(ctx, base+":"+path.Clean(spec.Settings.WorkingDirectory))
}

// agentCommand is a program of the settings as the agent's door takes it. A path is one from the top, where the
// settings are.
func (spec *Spec) agentCommand(program string) string {
	if spec.Settings.WorkingDirectory == "" || filepath.Base(program) == program || filepath.IsAbs(program) {
		return program
	}
	return filepath.Join(spec.Workspace.Dir(), program)
}

// logsShownAs is where outputs are, as a prompt names it to an agent in the working directory; empty: by the whole
// path.
func (spec *Spec) logsShownAs() string {
	if spec.Settings.WorkingDirectory == "" {
		return spec.LogsAs
	}
	return ""
}

// Directory is a place without git.
type Directory string

// Dir implements Workspace.
func (d Directory) Dir() string { return string(d) }

// Env implements Workspace.
func (Directory) Env() []string { return nil }

// Prepare implements check.Tree: the checks run in the directory as the turn has left it.
func (Directory) Prepare(context.Context, check.Input, bool) (*loop.Verdict, error) { return nil, nil }

// Explain implements check.Tree.
func (Directory) Explain(context.Context, check.Input, *loop.Verdict) error { return nil }

// Clean implements check.Tree: nobody knows what is tracked here.
func (Directory) Clean(context.Context) ([]string, error) { return nil, nil }

// Restore implements check.Tree.
func (Directory) Restore(context.Context) error { return nil }
