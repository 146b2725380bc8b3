package diffscan

import (
	"context"
	"path"
	"strings"
)

// maxReveal is how many files are compared here rather than by git.
const maxReveal = 200

// reveal compares the source files that the patch does not show: those beyond its end, those whose name it could not be
// read for, and those that the repository's attributes call binary, which an agent may have written to hide them. left
// counts the files that no one has looked at. What is found so has no order: a line that was moved is neither old nor
// new, and hunks tell nothing of white space.
func (d *Change) reveal(ctx context.Context) (left int, err error) {
	read := 0
	for _, name := range d.Names {
		f := d.byName[name]
		if f != nil && !f.binary {
			continue
		}
		readable := commentsOf[strings.ToLower(path.Ext(name))] != "" || isSetting(name)
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
