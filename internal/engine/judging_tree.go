package engine

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
)

// Checks do not run where the agent works. They run in a checkout of exactly the commit that they judge, with what the
// setup makes there, and on a laptop with what the user shares with them of the clone. So what passes is what someone
// gets who clones the commit and runs the setup.
//
// Where a sandbox cannot show that checkout at the worktree's path, it lies somewhere else. People and agents know the
// worktree alone, so what a check says of the other path is said of that one, and a path into the worktree is given to
// a check as one into the checkout.

// newJudgingTree plans a run's judging tree, with what is shared with it.
func newJudgingTree(run *Run, shared []*Shared) *judgingTree {
	return &judgingTree{run: run, dir: run.judgeDir(), shared: shared}
}

// admit lets the user whom checks run as come to the tree, or keeps it out: while an agent takes a turn as that user.
func (j *judgingTree) admit(in bool) {
	if j == nil {
		return
	}
	if j.used = j.used || in; j.run.User == nil {
		return
	}
	mode := os.FileMode(0o700)
	if in {
		mode = 0o711
	}
	if err := os.Chmod(filepath.Dir(j.dir), mode); err != nil && !errors.Is(err, os.ErrNotExist) {
		j.run.Log("warning: closing the tree of the checks: %v", err)
	}
}

// mapped reports whether checks see the tree at the worktree's own path.
func (j *judgingTree) mapped() bool { return j.box.Mapped() }

// workdir is where the checks run.
func (j *judgingTree) workdir() string {
	return filepath.Join(j.dir, filepath.FromSlash(j.run.Settings.WorkingDirectory))
}

// asWorktree is a text of a check's as people read it.
func (j *judgingTree) asWorktree(text string) string {
	if j == nil {
		return text
	}
	return replacePath(text, j.dir, j.run.Workspace.Dir())
}

// inCheckout is a text of the settings or of the environment as a check gets it.
func (j *judgingTree) inCheckout(text string) string {
	if j == nil {
		return text
	}
	if text = j.run.inTree(text); j.mapped() {
		return text
	}
	return replacePath(text, j.run.Workspace.Dir(), j.dir)
}

// Without a sandbox an agent, the checks and a reviewer have one home. Files there say what tools do ("go env -w"
// writes one), so they are put back before the checks, and before a review, when they were changed since the run began.

// homeConfig are the files of a home, or of a directory above a project, by which tools that check decide what they do.
var homeConfig = []string{
	".config/go/env", "Library/Application Support/go/env", "go.work", "go.mod", ".npmrc", ".yarnrc", ".yarnrc.yml",
	".bunfig.toml", ".config/pnpm/rc", "package.json", ".eslintrc*", "eslint.config.*", ".prettierrc*", ".babelrc*",
	".nvmrc", ".node-version", ".config/pip/pip.conf", ".pip/pip.conf", ".pydistutils.cfg",
	".config/pypoetry/config.toml", ".config/uv/uv.toml", ".coveragerc", ".flake8", ".config/flake8", ".pylintrc",
	".config/pylintrc", ".mypy.ini", ".config/mypy/config", ".config/ruff/*.toml", ".isort.cfg", "pytest.ini",
	"tox.ini", "setup.cfg", "pyproject.toml", "conftest.py", ".python-version",
	".local/lib/python*/site-packages/*.pth", ".local/lib/python*/site-packages/*customize.py", ".cargo/config",
	".cargo/config.toml", "rust-toolchain", "rust-toolchain.toml", ".config/rustfmt/*.toml", "rustfmt.toml",
	"clippy.toml", ".m2/settings.xml", ".mavenrc", ".gradle/gradle.properties", ".gradle/init.gradle*",
	".gradle/init.d/*", ".rspec", ".rubocop.yml", ".config/rubocop/config.yml", ".bundle/config", ".gemrc",
	".ruby-version", ".proverc", ".perlcriticrc", ".luacheckrc", ".shellcheckrc", ".tool-versions", "Makefile",
	"GNUmakefile", ".justfile", "justfile",
	// instructions for agents wherever they work, a reviewer too
	".claude/CLAUDE.md", ".codex/AGENTS.md", ".gemini/GEMINI.md", ".config/opencode/AGENTS.md", ".config/amp/AGENTS.md",
	".config/AGENTS.md",
}

// mostConfig bounds what is remembered of one such file.
const mostConfig = 1 << 20

// guardHome begins, where the checks have the agent's home.
func (spec *Spec) guardHome(box *sandbox.Sandbox) *homeGuard {
	if box != nil && box.Mode != sandbox.Off {
		return nil
	}
	home := cmp.Or(spec.Home, proc.Value(spec.Parent, "HOME"))
	if !filepath.IsAbs(home) {
		return nil
	}
	g := &homeGuard{home: home, files: map[string][]byte{}}
	root, err := os.OpenRoot(home)
	if err != nil {
		return nil
	}
	defer root.Close()
	for _, name := range found(root) {
		if content, err := readConfig(root, name); err == nil {
			g.files[name] = content
		}
	}
	return g
}

// found are the files that there are now.
func found(home *os.Root) (names []string) {
	for _, pattern := range homeConfig {
		matches, _ := fs.Glob(home.FS(), pattern)
		names = append(names, matches...)
	}
	return names
}

// readConfig reads a plain file of a bounded size.
func readConfig(home *os.Root, name string) ([]byte, error) {
	info, err := home.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	return files.ReadIn(home, name, mostConfig)
}

// putBack makes them what they were, keeps what they were changed to in a directory, and names them. No link leads it
// out of the home.
func (g *homeGuard) putBack(kept runDir) (changed []string, err error) {
	if g == nil {
		return nil, nil
	}
	home, err := os.OpenRoot(g.home)
	if err != nil {
		return nil, fmt.Errorf("looking at what decides how checks run: %w", err)
	}
	defer home.Close()
	names := slices.AppendSeq(found(home), maps.Keys(g.files))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		was, known := g.files[name]
		now, reading := readConfig(home, name)
		if reading == nil && known && bytes.Equal(was, now) || !known && errors.Is(reading, fs.ErrNotExist) {
			continue
		}
		if reading == nil {
			// to be examined; the run continues without it
			_ = kept.write("home_"+path.Base(name), now, 0o600)
		}
		if err := putBackOne(home, name, was, known); err != nil {
			return changed, fmt.Errorf("putting %s back, which decides how checks run: %w", filepath.Join(g.home, name),
				err)
		}
		changed = append(changed, filepath.Join(g.home, name))
	}
	return changed, nil
}

func putBackOne(home *os.Root, name string, was []byte, known bool) error {
	if !known {
		return files.RemoveIn(home, name)
	}
	if err := files.MkdirAll(home, path.Dir(name), 0o755); err != nil {
		return err
	}
	return files.Write(home, name, was, 0o644)
}

// On a laptop without a setup, checks rely on what is in the clone: packages that someone has installed, a file with
// settings. Such paths are shared with the tree of the checks as they were before the run's first turn, and the report
// names them: the commit does not have them.

// sharedPaths are the paths that the checks are given.
func (j *judgingTree) sharedPaths() []string {
	var paths []string
	for _, s := range j.shared {
		if !s.changed {
			paths = append(paths, s.path)
		}
	}
	return paths
}

// copyShared gives the tree its own copies. What was changed in the run is not given.
func (j *judgingTree) copyShared() error {
	for _, s := range j.shared {
		if s.changed {
			continue
		}
		if err := j.copyPath(s); err != nil {
			return err
		}
	}
	return nil
}

func (j *judgingTree) copyPath(s *Shared) error {
	from := j.run.Workspace.Dir()
	s.seen = git.FootprintOf(from, []string{s.path})
	var rewrite func(text string) string
	if !j.mapped() {
		rewrite = func(text string) string { return replacePath(text, from, j.dir) }
	}
	err := j.tree.Remove([]string{s.path})
	if err == nil {
		err = copyPath(s.path, from, j.dir, rewrite)
	}
	if err != nil {
		return fmt.Errorf("giving %s to the checks: %w", s.path, err)
	}
	s.laid = git.FootprintOf(j.dir, []string{s.path})
	return nil
}

// restoreShared makes the copies what they were: what was added is removed, what was changed is copied again.
func (j *judgingTree) restoreShared() error {
	for _, s := range j.shared {
		if s.changed {
			continue
		}
		added, changed := s.laid.Differs(j.dir)
		if changed {
			if err := j.copyPath(s); err != nil {
				return err
			}
		} else if err := j.tree.Remove(added); err != nil {
			return err
		}
	}
	return nil
}

// refused is the verdict when a turn has changed what is shared: what passes with the copies from before would not pass
// with what is there now.
func (j *judgingTree) refused() (*loop.Verdict, error) {
	var names []string
	for _, s := range j.shared {
		if j.setAt != "" &&
			slices.ContainsFunc(j.own, func(own string) bool { return strings.TrimSuffix(own, "/") == s.path }) {
			continue // the setup has made it again
		}
		was := s.changed
		if s.changed = s.differs(j.run.Workspace.Dir()); s.changed {
			names = append(names, s.path)
		} else if was { // it is again as it was
			if err := j.copyPath(s); err != nil {
				return nil, err
			}
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	what := strings.Join(names, ", ")
	v := unusableTree(
		sharedCheck,
		fmt.Sprintf(
			"%s was changed during the run, and is in no commit: name what installs it in the setting setup, undo the change, "+
				"or accept it with --resume --accept %s",
			what, names[0],
		),
	)
	v.PromptText = fmt.Sprintf(
		"The checks use %s as it was in the clone before this run; it has changed since, and git ignores it, so the "+
			"change is in no commit. Undo that change: the work must pass without it.",
		what,
	)
	return v, nil
}

// unusableTree is the verdict on a tree in which nothing can be judged.
func unusableTree(name, why string) *loop.Verdict {
	return &loop.Verdict{Check: name, Exit: -1, Reason: why, PromptText: "The checks could not be run: " + why + "."}
}
