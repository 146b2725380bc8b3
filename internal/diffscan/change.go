// Package diffscan says what a change did to tests and checks, from its diff and the files of its two commits alone:
// tests that were weakened, work that is unfinished, files by which tests are judged. It starts nothing and reads
// only what it is given.
package diffscan

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/ralph-loop/ralph/internal/secret"
)

// Change is the difference between two commits.
type Change struct {
	From, To string
	Names    []string // every path that differs, the old and the new one of a moved file
	Partial  string   // why not all of it could be read; empty if it could
	Marked   bool     // a mark of something that was taken out of a commit may be in it

	files  []*fileDiff // those whose patch could be read, in its order
	byName map[string]*fileDiff
	file   func(ctx context.Context, commit, path string) (content []byte, ok bool, err error)
}

func newChange(from, to string, names []string, files []*fileDiff) *Change {
	d := &Change{From: from, To: to, Names: names, files: files, byName: map[string]*fileDiff{}}
	for _, f := range files {
		d.byName[f.name] = f
	}
	return d
}

// before and after read a file of the two commits; ok is false when it has none.
func (d *Change) before(ctx context.Context, name string) (string, bool, error) {
	return d.read(ctx, d.From, name)
}

func (d *Change) after(ctx context.Context, name string) (string, bool, error) {
	return d.read(ctx, d.To, name)
}

func (d *Change) read(ctx context.Context, commit, name string) (string, bool, error) {
	content, ok, err := d.file(ctx, commit, name)
	return string(content), ok, err
}

// Changes gives what a run has changed. Its owner fills the functions; every commit is named by its hash. It may be
// shared by the checks of a run: a patch is made and parsed once for each pair of commits.
type Changes struct {
	// Patch is the change between two commits in git's form, without context and renames, at most PatchBytes of it; whole
	// is false when it was cut.
	Patch func(ctx context.Context, from, to string) (patch string, whole bool, err error)
	// Names lists every path that differs, the old and the new one of a moved file. It is never cut.
	Names func(ctx context.Context, from, to string) ([]string, error)
	// File reads a regular file of a commit, at most FileBytes of its beginning; ok is false without one.
	File func(ctx context.Context, commit, path string) (content []byte, ok bool, err error)

	mu   sync.Mutex
	last *Change
}

// How much is read of a change.
const (
	PatchBytes = 8 << 20
	FileBytes  = 1 << 20
)

// Between is the change from one commit to another.
func (c *Changes) Between(ctx context.Context, from, to string) (*Change, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last != nil && c.last.From == from && c.last.To == to {
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
	d := newChange(from, to, names, parsePatch(text, whole))
	d.file, d.Marked = c.File, !whole || strings.Contains(text, secret.MarkWord)
	left, err := d.reveal(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case !whole && left > 0:
		d.Partial = fmt.Sprintf("the change is larger than %d MiB, and %d files of it were not looked through",
			PatchBytes>>20, left)
	case left > 0:
		d.Partial = fmt.Sprintf("the change of %d files could not be read, and was not looked through", left)
	}
	c.last = d
	return d, nil
}

// maxReveal is how many files are compared here rather than by git.
const maxReveal = 200

// reveal compares the source files that the patch does not show: those beyond its end, those whose name it could not be
// read for, and those that the repository's attributes call binary, which an agent may have written to hide them. left
// counts the files that no one has looked at. What is found so has no order: a line that was moved is neither old nor
// new, and hunks do not show white space.
func (d *Change) reveal(ctx context.Context) (left int, err error) {
	read := 0
	for _, name := range d.Names {
		f := d.byName[name]
		if f != nil && !f.binary {
			continue
		}
		readable := commentMarks(name) != nil || isSetting(name)
		if !readable || read == maxReveal {
			if f == nil {
				left++
			}
			continue
		}
		read++
		before, was, err := d.before(ctx, name)
		if err != nil {
			return left, err
		}
		after, is, err := d.after(ctx, name)
		if err != nil {
			return left, err
		}
		if f == nil {
			f = &fileDiff{name: name, binary: true, added: !was, deleted: !is}
			d.files = append(d.files, f)
			d.byName[name] = f
		}
		if !strings.Contains(before, "\x00") && !strings.Contains(after, "\x00") {
			f.hunks = []hunk{unordered(before, after)}
		}
	}
	return left, nil
}

// unordered is the lines of which one text has more than the other.
func unordered(before, after string) (h hunk) {
	count := map[string]int{}
	for text := range strings.Lines(after) {
		count[strings.TrimRight(text, "\n")]--
	}
	n := 0
	for text := range strings.Lines(before) {
		n++
		text = strings.TrimRight(text, "\n")
		if count[text]++; count[text] > 0 {
			h.old = append(h.old, line{n, text})
		}
	}
	n = 0
	for text := range strings.Lines(after) {
		n++
		text = strings.TrimRight(text, "\n")
		if count[text] < 0 {
			count[text]++
			h.new = append(h.new, line{n, text})
		}
	}
	return h
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

// parsePatch reads a patch file by file, so that one that cannot be read costs no other. The last file of a cut patch is
// left out, even if its beginning can be read: the lines that were cut off are unknown.
func parsePatch(text string, whole bool) (files []*fileDiff) {
	for len(text) > 0 {
		part := text
		// In a patch every line of content begins with its sign, so only a header can begin like this.
		if i := strings.Index(text[1:], "\ndiff --git "); i >= 0 {
			part = text[:i+2]
		}
		text = text[len(part):]
		if f, ok := parseFile(part); ok && (whole || text != "") {
			files = append(files, f)
		}
	}
	return files
}

func parseFile(part string) (*fileDiff, bool) {
	parsed, _, err := gitdiff.Parse(strings.NewReader(part))
	if err != nil || len(parsed) != 1 {
		return nil, false
	}
	p := parsed[0]
	f := &fileDiff{name: p.NewName, added: p.IsNew, deleted: p.IsDelete,
		binary: p.IsBinary || strings.Contains(part, "\nBinary files ")}
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
