package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/detect"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/invalid"
)

// A run may work in a directory of its repository instead of at the top: the setting workingDirectory. The agent's
// turns, the setup and every command that judges begin there. What is committed, what a reviewer sees and what the
// sandbox holds is the whole worktree, and so are the paths of all findings. In a run of a plan the agent stays at the
// top, since all of a plan is named from there.

// workdir is where checks work, an absolute path.
func (spec *Spec) workdir() string {
	return filepath.Join(spec.Workspace.Dir(), filepath.FromSlash(spec.Settings.WorkingDirectory))
}

// inTree is what a text of the settings or of the environment says of the clone, as it is said of the run's tree.
func (spec *Spec) inTree(text string) string {
	if spec.Clone == "" {
		return text
	}
	return replacePath(text, spec.Clone, spec.Workspace.Dir())
}

// judgeDir is the directory of the judging tree; "" without one. It keeps the name of the clone, which tools show.
func (spec *Spec) judgeDir() string {
	if spec.JudgeName == "" {
		return ""
	}
	return filepath.Join(spec.Scratch, "judge", path.Base(filepath.ToSlash(spec.JudgeName)))
}

// ForPeople is what tools print, with the clone's place for those of its checkouts: these are gone when the run is over.
func (p Place) ForPeople(text string) string {
	if p.Clone == "" {
		return text
	}
	judge := (&Spec{Place: p}).judgeDir()
	return replacePath(replacePath(text, judge, p.Clone), p.Workspace.Dir(), p.Clone)
}

// agentDir is where the agent works.
func (spec *Spec) agentDir() string {
	if spec.Plan != nil {
		return spec.Workspace.Dir()
	}
	return spec.workdir()
}

// fromTop is a path of the working directory as git names it, from the top.
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
		why := ""
		switch {
		case errors.Is(err, fs.ErrNotExist):
			why = "is not in " + top
		case err != nil:
			return fmt.Errorf("looking for the working directory %q: %w", name, err)
		case info.Mode()&fs.ModeSymlink != 0:
			why = "is a link, which may lead out of the repository"
		case !info.IsDir():
			why = "is not a directory"
		}
		if why != "" {
			return fmt.Errorf("the working directory %q cannot be used: %q %s; put a directory in its place", name, at, why)
		}
	}
	return nil
}

// inBase refuses a working directory that the base commit does not have: only the agent could have made it.
func (spec *Spec) inBase(ctx context.Context, base string) error {
	if spec.Settings.WorkingDirectory == "" || spec.Tree == nil {
		return nil
	}
	name := spec.fromTop("")
	if _, err := spec.Tree.List(ctx, base+":"+name); err != nil && ctx.Err() == nil {
		return invalid.Errorf(
			"the setting workingDirectory is %q, which is not a directory of the base commit %.12s; name one by its path from "+
				"the top of the repository, without a link or a submodule on the way",
			name, base,
		)
	}
	return ctx.Err()
}

// agentCommand is a program of the settings as the agent's door takes it. A path is one from the top, where the
// settings are: of a person's clone, which no agent writes.
func (spec *Spec) agentCommand(program string) string {
	if filepath.Base(program) == program || filepath.IsAbs(program) || spec.Settings.WorkingDirectory+spec.Clone == "" {
		return program
	}
	return filepath.Join(cmp.Or(spec.Clone, spec.Workspace.Dir()), program)
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

// Clean implements check.Tree: no one knows what is tracked here.
func (Directory) Clean(context.Context) ([]string, error) { return nil, nil }

// Restore implements check.Tree.
func (Directory) Restore(context.Context) error { return nil }

// runDir is a directory of the run's own: records, prompts, outputs. On a laptop it is in the worktree, and where no
// sandbox closes it an agent can put links in the place of what leads there. None is followed.
type runDir struct{ top, dir string }

func (spec *Spec) aside(dir string) runDir { return runDir{spec.Workspace.Dir(), dir} }

// open opens it, and makes it where it is missing.
func (a runDir) open() (*os.Root, error) {
	if rel, err := filepath.Rel(a.top, a.dir); err == nil && filepath.IsLocal(rel) {
		return files.OpenBelow(a.top, a.dir)
	}
	if err := os.MkdirAll(a.dir, 0o755); err != nil { // no one but ralph writes there
		return nil, err
	}
	return os.OpenRoot(a.dir)
}

// write puts a file there, in the place of whatever has its name.
func (a runDir) write(name string, content []byte, mode fs.FileMode) error {
	root, err := a.open()
	if err != nil {
		return err
	}
	return errors.Join(files.Write(root, name, content, mode), root.Close())
}

// remove removes files from it; what cannot be removed stays.
func (a runDir) remove(names ...string) {
	root, err := a.open()
	if err != nil {
		return
	}
	for _, name := range names {
		_ = root.Remove(name)
	}
	_ = root.Close()
}

// replacePath replaces a path by another one, where it stands as a whole or with something below it.
func replacePath(text, from, to string) string {
	if from == "" || from == to || !strings.Contains(text, from) {
		return text
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, from)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if endsName(after) && !escapesTree(after) && (before == "" || !pathRune(before[len(before)-1])) {
			b.WriteString(to)
		} else {
			b.WriteString(from)
		}
		text = after
	}
}

// endsName reports whether what follows a path does not continue with its last name.
func endsName(rest string) bool {
	return rest == "" || rest[0] == filepath.Separator || !pathRune(rest[0])
}

// escapesTree reports whether what follows a path goes up from it: what is beside the worktree is not beside the tree.
func escapesTree(rest string) bool {
	up, ok := strings.CutPrefix(rest, string(filepath.Separator)+"..")
	return ok && (up == "" || !pathRune(up[0]))
}

// pathRune reports whether a byte may be a part of a name.
func pathRune(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' ||
		strings.IndexByte("._-+~", c) >= 0 ||
		c >= 0x80
}

// RemovePartial removes the files that a killed process was about to put in the place of others. No link leads it out
// of the directory.
func RemovePartial(dir string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close()
	for _, replaced := range []string{".ralph/runs/*/*", ActiveFile, StateFile} {
		halves, _ := fs.Glob(root.FS(), replaced+files.Partial) // the patterns are sound
		for _, name := range halves {
			_ = root.Remove(name)
		}
	}
}

// ActiveFile tells an agent's hooks that a plan is run, and how.
const ActiveFile = ".ralph-active"

// StateFile is the view of the journal that people and agents read.
const StateFile = ".ralph_state.md"

func Exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// environmentIn is the virtual environment that is in a directory; "" none.
func environmentIn(dir string) string {
	for _, name := range detect.Environments {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err == nil && info.IsDir() && Exists(filepath.Join(dir, detect.EnvironmentMark(name))) {
			return name
		}
	}
	return ""
}
