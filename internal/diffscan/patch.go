package diffscan

import (
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

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

// parsePatch reads a patch file by file, so that one that cannot be read costs no other. unread counts those. Of a
// patch that is not whole the last file is one of them, even if what is there of it can be read: no one knows which of
// its lines were cut off.
func parsePatch(text string, whole bool) (files []*fileDiff, unread int) {
	for len(text) > 0 {
		part := text
		// In a patch every line of content begins with its sign, so only a header can begin like this.
		if i := strings.Index(text[1:], "\ndiff --git "); i >= 0 {
			part = text[:i+2]
		}
		text = text[len(part):]
		f, ok := parseFile(part)
		if !ok || !whole && text == "" {
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
