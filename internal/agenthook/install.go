package agenthook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/hook"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/session"
)

// HookInstall puts ralph's hooks into an agent's settings of a project.
type HookInstall struct {
	Dir     string // the current directory
	Project string // relative to Dir; "" is the top of the clone that Dir is in
	Agent   string
	Local   bool   // claude's settings that are not shared
	DryRun  bool   // only show what would be written
	Program string // what the hooks call; "" is ralph, as PATH has it
	Environ []string
	Out     io.Writer
}

// Run changes the file, at once or not at all. What keeps it from that is invalid.
func (i HookInstall) Run(ctx context.Context) error {
	name, err := hook.File(i.Agent, i.Local)
	if err != nil {
		return invalid.Errorf("%w", err)
	}
	project := filepath.Join(i.Dir, i.Project)
	switch {
	case i.Project == "":
		project = session.Top(i.Dir)
	case filepath.IsAbs(i.Project):
		project = i.Project
	}
	root, err := os.OpenRoot(project) // links in it lead nowhere else
	if err != nil {
		return invalid.Errorf("opening the project: %w", err)
	}
	defer root.Close()
	before, mode, err := readSettings(root, name)
	if err != nil {
		return invalid.Errorf("reading %s: %w", filepath.Join(project, name), err)
	}
	after, done, err := hook.Install(i.Agent, cmp.Or(i.Program, "ralph"), before)
	if err != nil {
		return invalid.Errorf("changing %s: %w", filepath.Join(project, name), err)
	}
	changed := string(after) != string(before)
	if i.DryRun {
		_, err := fmt.Fprintf(i.Out, "%s", after)
		return err
	}
	if changed {
		if err := writeSettings(root, name, after, mode); err != nil {
			return invalid.Errorf("writing %s: %w", filepath.Join(project, name), err)
		}
	}
	return i.tell(name, done, changed)
}

func (i HookInstall) tell(name string, done []string, changed bool) error {
	for _, line := range done {
		fmt.Fprintln(i.Out, line)
	}
	last := name + " is written."
	if !changed {
		last = name + " has all of it already; nothing is changed."
	}
	if i.Agent == "codex" {
		last += " Codex calls hooks only in a project that it trusts."
	}
	_, err := fmt.Fprintln(i.Out, last)
	return err
}

// readSettings reads a file below root, which is no link; nil if it does not exist.
func readSettings(root *os.Root, name string) ([]byte, fs.FileMode, error) {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0o644, nil
	case err != nil:
		return nil, 0, err
	case !info.Mode().IsRegular():
		return nil, 0, errors.New("it is a link or no file; make it a file, then run ralph hook install again")
	}
	text, err := files.ReadIn(root, name, hook.MostSettings)
	return text, info.Mode().Perm(), err
}

// writeSettings puts a file in the place of the one that exists.
func writeSettings(root *os.Root, name string, text []byte, mode fs.FileMode) error {
	if err := root.Mkdir(path.Dir(name), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return files.Write(root, name, text, mode)
}
