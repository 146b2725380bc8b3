package engine

import (
	"bytes"
	"context"
	"strings"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// search looks for names in a commit.
type search struct {
	tree    searched
	commit  string
	files   []string // those that somebody wrote by hand
	known   map[string]bool
	places  []place
	defined bool
	used    int // bytes
}

// place is a place worth showing.
type place struct {
	file     string
	from, to int // lines, 1-based
	why      string
}

// searched is a commit that can be searched.
type searched interface {
	Files(ctx context.Context, commit string) ([]git.Entry, error)
	Grep(ctx context.Context, commit string, words []string) ([]git.Hit, error)
	Read(ctx context.Context, commit, path string, most int) ([]byte, bool, error)
}

// add notes a place, unless there are enough, or its file already exists with the same lines.
func (l *search) add(p place) {
	for _, q := range l.places {
		if q.file == p.file && p.from <= q.to && q.from <= p.to {
			return
		}
	}
	if len(l.places) < mostShown {
		l.places = append(l.places, p)
	}
}

// excerpt reads a place, as far as there is room for it.
func (l *search) excerpt(ctx context.Context, p place) (prompt.Excerpt, bool) {
	content, ok, err := l.tree.Read(ctx, l.commit, p.file, mostFile)
	if err != nil || !ok || bytes.IndexByte(content, 0) >= 0 {
		return prompt.Excerpt{}, false
	}
	lines := strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
	if p.from > len(lines) {
		p.from = 1 // the line is not one of this file
	}
	var b strings.Builder
	for _, line := range lines[p.from-1 : min(max(p.to, p.from), len(lines))] {
		line = safetext.Shorten(strings.ToValidUTF8(line, "\uFFFD"), 150) + "\n"
		if l.used+len(line)+8 > mostContext-mostShown*200 { // with its number; what heads an excerpt takes the rest
			break
		}
		l.used += len(line) + 8
		b.WriteString(line)
	}
	return prompt.Excerpt{File: p.file, From: p.from, Why: p.why, Text: b.String()}, b.Len() > 0
}
