package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
)

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
	// what agents are told wherever they work, a reviewer too
	".claude/CLAUDE.md", ".codex/AGENTS.md", ".gemini/GEMINI.md", ".config/opencode/AGENTS.md", ".config/amp/AGENTS.md",
	".config/AGENTS.md",
}

// mostConfig bounds what is remembered of one such file.
const mostConfig = 1 << 20

// homeGuard remembers them as they were before the first turn.
type homeGuard struct {
	home  string
	files map[string][]byte // by path from there, with slashes; those that were there
}

// guardHome begins, where the checks have the agent's home.
func (spec *Spec) guardHome(box *sandbox.Sandbox) *homeGuard {
	if box != nil && box.Mode != sandbox.Off {
		return nil
	}
	home := spec.Home
	if home == "" {
		home = proc.Value(spec.Parent, "HOME")
	}
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
	names := found(home)
	for name := range g.files {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		was, known := g.files[name]
		now, reading := readConfig(home, name)
		if reading == nil && known && bytes.Equal(was, now) || !known && errors.Is(reading, fs.ErrNotExist) {
			continue
		}
		if reading == nil {
			// to be looked at; the run goes on without it
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
