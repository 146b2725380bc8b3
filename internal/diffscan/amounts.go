package diffscan

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Amount is what a changed file amounts to.
type Amount int

// The amounts of a change.
const (
	Work   Amount = iota
	Spaces        // white space only
	Kept          // a file that ralph or an agent keeps for itself
	Empty         // an empty file that came or went
	Mode          // the permission to run it
)

// Amounts says what the changed files amount to, up to the first that is work: the names of the files, by amount. own
// names further files that are no work.
func (d *Change) Amounts(own []string) map[Amount][]string {
	found := map[Amount][]string{}
	for _, name := range d.Names {
		a := amount(name, d.byName[name], own)
		found[a] = append(found[a], name)
		if a == Work {
			break
		}
	}
	return found
}

func amount(name string, f *fileDiff, own []string) Amount {
	switch {
	case isKept(name, f, own):
		return Kept
	case f == nil || f.binary:
		return Work
	case f.modeOnly:
		return Mode
	case len(f.hunks) == 0 && slices.Contains(tellingEmpty, path.Base(name)):
		return Work
	case len(f.hunks) == 0:
		return Empty
	case f.onlySpace():
		return Spaces
	}
	return Work
}

// tellingEmpty are files that say something by being there.
var tellingEmpty = []string{
	"__init__.py", "py.typed", ".nojekyll", ".gitkeep", ".keep", ".gitignore", ".npmignore", ".dockerignore",
	".nomedia", ".metadata_never_index", "conftest.py", "CODEOWNERS", ".prettierignore", ".eslintignore",
}

// keptFiles are never work, whatever becomes of them.
var keptFiles = []string{
	".ralph/**", ".ralph_state.md", ".ralph-active", ".ralph.lock", "ralph/progress.txt", "ralph/tasks.json",
	".claude/**", ".codex/**", ".gemini/**", ".opencode/**", ".aider*", ".aider*/**",
}

// agentWork is what people have an agent write in those directories, too: it may be the task.
var agentWork = []string{
	".{claude,codex,gemini,opencode}/{agents,agent,commands,command,skills,hooks,prompts,rules}/**",
	".{claude,codex,gemini,opencode}/*.md",
	".claude/settings.json", ".mcp.json",
}

// isKept reports whether a file is not work. A log file counts as such only when it is new: one that already exists
// may be data.
func isKept(name string, f *fileDiff, own []string) bool {
	for _, o := range own {
		if name == path.Clean(o) {
			return true
		}
	}
	if matchesAny(agentWork, name) {
		return false
	}
	return matchesAny(keptFiles, name) || f != nil && f.added && strings.HasSuffix(name, ".log")
}

func matchesAny(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool { return doublestar.MatchUnvalidated(glob, name) })
}

// onlySpace reports whether nothing but white space differs. Where indentation has a meaning, it counts.
func (f *fileDiff) onlySpace() bool {
	return !slices.ContainsFunc(f.hunks, func(h hunk) bool {
		return squeeze(h.old, f.indented()) != squeeze(h.new, f.indented())
	})
}

// indented reports whether a file is written in a language in which the beginning of a line says what it belongs to.
func (f *fileDiff) indented() bool {
	switch strings.ToLower(path.Ext(f.name)) {
	case ".py", ".pyi", ".pyx", ".yaml", ".yml", ".mk", ".haml", ".slim", ".pug", ".sass", ".styl", ".coffee", ".hs",
		".elm", ".nim", ".fs", ".gd":
		return true
	}
	return strings.EqualFold(path.Base(f.name), "makefile")
}

// squeeze is the text of lines without white space; with each line's indentation when that counts.
func squeeze(lines []line, indented bool) string {
	var b strings.Builder
	for _, l := range lines {
		text := strings.Join(strings.Fields(l.text), "")
		if indented && text != "" {
			b.WriteByte('\n')
			b.WriteString(l.text[:len(l.text)-len(strings.TrimLeft(l.text, " \t"))])
		}
		b.WriteString(text)
	}
	return b.String()
}

// OnlyJudges reports whether the change touches nothing but what judges: tests, settings, prose.
func (d *Change) OnlyJudges() bool {
	return !slices.ContainsFunc(d.Names, func(name string) bool {
		return !isTest(name) && !isSetting(name) && !prose.MatchString(name) && !fixtures.MatchString(name) &&
			!matchesAny(keptFiles, name)
	})
}
