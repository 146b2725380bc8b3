package check

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/diffscan"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// environment marks a failure that no change to the code fixes: the command lacks a program, and it was not the change
// that took it away. In doubt it was: a failure that ends the run must be certain, one more attempt costs only itself.
func (c *Command) environment(at Input, o ending, v *loop.Verdict) {
	if o.Class == proc.Idle && !v.Pass && !c.ranBefore(at) {
		v.Missing, v.Unfixable = c.Hard, c.Hard
		return
	}
	if c.Lacks == nil || v.Pass || !c.Hard || at.Iteration.Commit == nil || o.Class != proc.Exited {
		return
	}
	lack, ok := c.Lacks(c.Line, o.Exit, o.output)
	if !ok || c.ranBefore(at) || !c.certain(at, lack) {
		return
	}
	v.Missing, v.Unfixable = true, true
	v.Reason = "the check cannot run here: " + lack.Advice
}

// ranBefore reports whether the command found all its programs once, on the base commit or in an earlier iteration:
// then it was the change that took one away.
func (c *Command) ranBefore(at Input) bool {
	ran := func(v loop.Verdict) bool {
		return v.Check == c.Title && v.Skipped == "" && !v.Missing && !cannotRun(v.Exit)
	}
	return slices.ContainsFunc(at.State.Baseline, ran) ||
		slices.ContainsFunc(at.State.Iterations, func(it *loop.Iteration) bool {
			return slices.ContainsFunc(it.Verdicts, ran)
		})
}

// certain reports whether nothing that the run has changed can be why a program is missing, of a command that has never
// run before: its own line, which no one can change, names the program, and it did not exist before the first turn; or
// the run has changed no script and nothing that configures tools. A version may be missing because another one was chosen.
func (c *Command) certain(at Input, lack Lack) bool {
	if lack.Chosen {
		return !c.touched(at, c.Versions)
	}
	if slices.Contains(Words(c.Line), lack.Tool) {
		return !slices.Contains(c.Present, lack.Tool)
	}
	edits := func(f loop.FileChange) bool { return diffscan.Judges(f.Path) || interpreted.MatchString(f.Path) }
	edited := slices.ContainsFunc(at.State.Iterations, func(it *loop.Iteration) bool {
		return it.Commit != nil && (it.Commit.Unchecked || slices.ContainsFunc(it.Commit.Files, edits))
	})
	return !edited && !c.touched(at, manifests)
}

// Words are the words of a command line, any of which may be a program.
func Words(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\n;&|()`\"'<>=$", r) })
}

// manifests name what a project depends on: a program may be missing because one of them asks for it now.
var manifests = []string{
	"package.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "pyproject.toml", "requirements*.txt",
	"uv.lock", "poetry.lock",
	"Pipfile", "Pipfile.lock", "setup.py", "setup.cfg", "tox.ini", "noxfile.py", "Gemfile", "Gemfile.lock",
	"composer.json", "composer.lock", "go.mod",
	"Cargo.toml", "Cargo.lock", "pom.xml", "build.gradle", "build.gradle.kts", "mix.exs", "Makefile", "justfile",
	"Taskfile.yml",
}

// touched reports whether the run may have changed a file of one of these names. In a run without commits, the
// modification time decides.
func (c *Command) touched(at Input, names []string) bool {
	matches := func(name string) bool {
		return slices.ContainsFunc(names, func(glob string) bool {
			ok, _ := path.Match(glob, path.Base(name))
			return ok
		})
	}
	if at.Iteration.Commit.Unchecked {
		return c.writtenSince(at.State.StartedAt, names)
	}
	for _, it := range at.State.Iterations {
		if it.Commit == nil {
			continue
		}
		if it.Commit.MoreFiles > 0 || slices.ContainsFunc(it.Commit.Files,
			func(f loop.FileChange) bool { return matches(f.Path) }) {
			return true
		}
	}
	return false
}

// writtenSince reports whether a file of one of these names, where the command runs, was written after a time.
func (c *Command) writtenSince(began time.Time, names []string) bool {
	root, err := os.OpenRoot(c.Dir)
	if err != nil {
		return false
	}
	defer root.Close()
	for _, glob := range names {
		found, _ := fs.Glob(root.FS(), filepath.ToSlash(glob))
		for _, name := range found {
			if info, err := root.Lstat(name); err == nil && info.ModTime().After(began.Add(-time.Second)) {
				return true
			}
		}
	}
	return false
}

// interpreted matches scripts, by their extensions.
var interpreted = lazy(`\.(?:sh|bash|py|[cm]?[jt]s|rb|pl|php|lua|ps1|tcl)$`)
