package check

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Changes is what a run has changed, as the checks that look at changes read it. App fills the functions; every commit is named by its hash.
// It may be shared by the checks of a run: a patch is made and parsed once for each pair of commits.
type Changes struct {
	// Patch is the change between two commits in git's form, without context and renames, at most PatchBytes of it; whole is false when
	// it was cut.
	Patch func(ctx context.Context, from, to string) (patch string, whole bool, err error)
	// Names lists every path that differs, the old and the new one of a moved file. It is never cut.
	Names func(ctx context.Context, from, to string) ([]string, error)
	// File reads a regular file of a commit, at most FileBytes of its beginning; ok is false when there is none.
	File func(ctx context.Context, commit, path string) (content []byte, ok bool, err error)

	mu   sync.Mutex
	last *change
}

// How much the checks read of a change.
const (
	PatchBytes = 8 << 20
	FileBytes  = 1 << 20
	lineBytes  = 4 << 10 // of a line that is looked at; nobody writes longer ones
)

// change is the difference between two commits.
type change struct {
	source   *Changes
	from, to string
	names    []string    // of every file
	files    []*fileDiff // those whose patch could be read, in its order
	named    map[string]bool
	byName   map[string]*fileDiff
	partial  string // why not all of them could; empty: they could
}

// fileDiff is one changed file.
type fileDiff struct {
	name             string
	added, deleted   bool // the file itself
	binary, modeOnly bool
	hunks            []hunk
}

// hunk is lines that took the place of others; either may be none.
type hunk struct{ old, new []line }

// line is one line of a file without its end.
type line struct {
	n    int // 1-based, in its own version of the file
	text string
}

// of is the change that a check judges; nil when there is nothing to compare.
func (c *Changes) of(ctx context.Context, at At) (*change, error) {
	if c == nil || at.Iteration.Commit == nil || at.State.Start.Base == "" || at.Iteration.Commit.SHA == "" {
		return nil, nil
	}
	return c.between(ctx, at.State.Start.Base, at.Iteration.Commit.SHA)
}

func (c *Changes) between(ctx context.Context, from, to string) (*change, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last != nil && c.last.from == from && c.last.to == to {
		return c.last, nil
	}
	names, err := c.Names(ctx, from, to)
	if err != nil {
		return nil, err
	}
	text, whole, err := c.Patch(ctx, from, to)
	if err != nil {
		return nil, err
	}
	files, unread := parsePatch(text)
	d := &change{source: c, from: from, to: to, names: names, files: files, named: map[string]bool{}, byName: map[string]*fileDiff{}}
	for _, name := range names {
		d.named[name] = true
	}
	for _, f := range files {
		d.byName[f.name] = f
	}
	left, err := d.reveal(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case !whole && left > 0:
		d.partial = fmt.Sprintf("the change is larger than %d MiB, and %d files of it were not looked through", PatchBytes>>20, left)
	case unread > 0 && left > 0:
		d.partial = fmt.Sprintf("the change of %d files could not be read, and was not looked through", left)
	}
	c.last = d
	return d, nil
}

// before and after read a file of the two commits; ok is false when it has none.
func (d *change) before(ctx context.Context, name string) (string, bool, error) {
	return d.file(ctx, d.from, name)
}

func (d *change) after(ctx context.Context, name string) (string, bool, error) {
	return d.file(ctx, d.to, name)
}

func (d *change) file(ctx context.Context, commit, name string) (string, bool, error) {
	content, ok, err := d.source.File(ctx, commit, name)
	return string(content), ok, err
}

// parsePatch reads a patch file by file, so that one that cannot be read costs no other. unread counts those.
func parsePatch(text string) (files []*fileDiff, unread int) {
	for len(text) > 0 {
		part := text
		// In a patch every line of content begins with its sign, so only a header can begin like this.
		if i := strings.Index(text[1:], "\ndiff --git "); i >= 0 {
			part = text[:i+2]
		}
		text = text[len(part):]
		f, ok := parseFile(part)
		if !ok {
			unread++
			continue
		}
		files = append(files, f)
	}
	return files, unread
}

func parseFile(part string) (*fileDiff, bool) {
	parsed, _, err := gitdiff.Parse(strings.NewReader(part))
	if err != nil || len(parsed) != 1 {
		return nil, false
	}
	p := parsed[0]
	f := &fileDiff{name: p.NewName, added: p.IsNew, deleted: p.IsDelete, binary: p.IsBinary || strings.Contains(part, "\nBinary files ")}
	if f.deleted || f.name == "" || f.name == "/dev/null" {
		f.name = p.OldName
	}
	f.modeOnly = !f.added && !f.deleted && !f.binary && len(p.TextFragments) == 0
	for _, t := range p.TextFragments {
		f.hunks = append(f.hunks, lines(t))
	}
	return f, true
}

func lines(t *gitdiff.TextFragment) (h hunk) {
	before, after := int(t.OldPosition), int(t.NewPosition)
	for _, l := range t.Lines {
		text := strings.TrimSuffix(l.Line, "\n")
		if l.Op == gitdiff.OpDelete {
			h.old = append(h.old, line{before, text})
		}
		if l.Op == gitdiff.OpAdd {
			h.new = append(h.new, line{after, text})
		}
		if l.Old() {
			before++
		}
		if l.New() {
			after++
		}
	}
	return h
}

// clip shortens a line that is looked at.
func clip(text string) string { return text[:min(len(text), lineBytes)] }

// shownName writes a path into a sentence: as it is, or quoted when it holds what could break the sentence.
func shownName(name string) string {
	plain := strings.IndexFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || strings.ContainsRune("\"`\uFFFD", r) }) < 0
	if !plain {
		name = strconv.Quote(name)
	}
	return safetext.Shorten(safetext.Inert(name), 200)
}

// few names at most five paths, and counts the rest.
func few(names []string) string {
	shown := make([]string, len(names))
	for i, name := range names {
		shown[i] = shownName(name)
	}
	return safetext.Few(shown, 5)
}
