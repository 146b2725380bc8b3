package check

import (
	"context"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ralph-loop/ralph/internal/loop"
)

// Diff says no when the agent claims to be done and the whole run has changed nothing that counts: nothing at all, white space, empty
// files, modes, or files that ralph and agents keep for themselves. White space counts when it was the task, as far as can be told: a
// hard check failed on the base commit and passes now. For that Diff must stand after the commands in the list.
type Diff struct {
	Changes *Changes // nil: only a tree like the base commit's is nothing
	// Kept names further files that are not work, as the setting doneFile.
	Kept []string
}

// Name is the check's name in verdicts.
func (Diff) Name() string { return loop.DiffCheck }

// Severity of an empty diff is hard.
func (Diff) Severity() loop.Severity { return loop.Hard }

// Needs a claim: without one, nothing changed is nothing said.
func (Diff) Needs() Need { return SomeWork | AClaim }

// Run judges the diff from the base commit.
func (c Diff) Run(ctx context.Context, at At) (loop.Verdict, error) {
	if at.Iteration.Commit.NoDiff {
		return loop.Verdict{
			Reason: "the agent claims to be done, but nothing has changed",
			Tell:   "The last attempt claimed to be done, but no file differs from where you began. Do the work, or say without the claim why nothing needs doing.",
		}, nil
	}
	d, err := c.Changes.of(ctx, at)
	if err != nil || d == nil {
		return loop.Verdict{Pass: true}, err
	}
	kinds := c.kinds(d)
	if kinds[work] || len(d.names) == 0 || kinds[spaces] && mended(at) {
		return loop.Verdict{Pass: true}, nil
	}
	what := kinds.sentence()
	return loop.Verdict{
		Reason: "the agent claims to be done, but " + what,
		Tell:   "The last attempt claimed to be done, but " + what + ". Do the work, or say without the claim why nothing needs doing.",
	}, nil
}

// kind is what a changed file amounts to.
type kind int

const (
	work   kind = iota
	spaces      // white space only
	kept        // a file that ralph or an agent keeps for itself
	empty       // an empty file that came or went
	mode        // the permission to run it
)

type kinds map[kind]bool

func (c Diff) kinds(d *change) kinds {
	found := kinds{}
	for _, name := range d.names {
		f := d.byName[name]
		switch {
		case c.isKept(name, f):
			found[kept] = true
		case f == nil || f.binary:
			found[work] = true
		case f.modeOnly:
			found[mode] = true
		case len(f.hunks) == 0:
			found[empty] = true
		case f.onlySpace():
			found[spaces] = true
		default:
			found[work] = true
		}
		if found[work] {
			break
		}
	}
	return found
}

func (k kinds) sentence() string {
	says := map[kind]string{
		spaces: "only white space has changed",
		kept:   "only files that ralph or the agent keeps for itself have changed",
		empty:  "only empty files came or went",
		mode:   "only the modes of files have changed",
	}
	short := map[kind]string{spaces: "white space", kept: "files that ralph or the agent keeps for itself", empty: "empty files", mode: "modes"}
	var parts []string
	for _, one := range []kind{spaces, kept, empty, mode} {
		if k[one] && len(k) == 1 {
			return says[one]
		}
		if k[one] {
			parts = append(parts, short[one])
		}
	}
	last := len(parts) - 1
	return "only " + strings.Join(parts[:last], ", ") + " and " + parts[last] + " have changed"
}

// mended reports whether a hard check that failed on the base commit passes now.
func mended(at At) bool {
	for _, before := range at.State.Baseline {
		for _, now := range at.So {
			if before.Check == now.Check && before.Skipped == "" && before.Blocks() && now.Skipped == "" && now.Pass && now.Severity == loop.Hard {
				return true
			}
		}
	}
	return false
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

// isKept reports whether a file is not work. A log file counts as such only when it is new: one that is there already may be data.
func (c Diff) isKept(name string, f *fileDiff) bool {
	for _, own := range c.Kept {
		if name == path.Clean(own) {
			return true
		}
	}
	if matchesAny(agentWork, name) {
		return false
	}
	return matchesAny(keptFiles, name) || f != nil && f.added && strings.HasSuffix(name, ".log")
}

func matchesAny(globs []string, name string) bool {
	for _, glob := range globs {
		if doublestar.MatchUnvalidated(glob, name) {
			return true
		}
	}
	return false
}

// onlySpace reports whether nothing but white space differs. Where indentation has a meaning, it counts.
func (f *fileDiff) onlySpace() bool {
	for _, h := range f.hunks {
		if squeeze(h.old, f.indented()) != squeeze(h.new, f.indented()) {
			return false
		}
	}
	return true
}

// indented reports whether a file is written in a language in which the beginning of a line says what it belongs to.
func (f *fileDiff) indented() bool {
	switch strings.ToLower(path.Ext(f.name)) {
	case ".py", ".pyi", ".pyx", ".yaml", ".yml", ".mk", ".haml", ".slim", ".pug", ".sass", ".styl", ".coffee", ".hs", ".elm", ".nim", ".fs", ".gd":
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
