package engine

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// What a stuck run is shown of its repository.
const (
	lookTime    = 20 * time.Second
	mostLooked  = 5         // names that are searched for
	mostShown   = 6         // excerpts
	mostContext = 8 << 10   // bytes of them together
	mostFile    = 512 << 10 // bytes of a file that someone wrote by hand
	aroundLine  = 20        // lines before and after the place of a failure
	ofDefined   = 20        // lines from a definition on
	ofNamed     = 40        // lines of a file that is named like what is missing
)

// lookUp finds the files that a failure says are missing, or would define what it says is missing: of the run's commit,
// through git alone. What cannot be read is left out; the run continues without it. ctx is that of the whole run.
func (spec *Spec) lookUp(ctx context.Context) func(s loop.State, v loop.Verdict) prompt.Found {
	if spec.Tree == nil {
		return nil
	}
	return func(s loop.State, v loop.Verdict) prompt.Found {
		ctx, cancel := context.WithTimeout(ctx, lookTime)
		defer cancel()
		names := v.MissingNames[:min(len(v.MissingNames), mostLooked)]
		l := &search{tree: spec.Tree, commit: s.Head()}
		if err := l.find(ctx, names, v.Findings); err != nil {
			spec.Log("warning: looking for what the failure says is missing (%s): %v", strings.Join(names, ", "), err)
		}
		found := prompt.Found{Looked: names, Defined: l.defined}
		for _, p := range l.places {
			if e, ok := l.excerpt(ctx, p); ok {
				found.Excerpts = append(found.Excerpts, e)
			}
		}
		return found
	}
}

// find goes from what is surest to what is least: the place of the failure, files of the name, definitions of the name.
func (l *search) find(ctx context.Context, names []string, findings []loop.Finding) error {
	entries, err := l.tree.Files(ctx, l.commit)
	if err != nil {
		return err
	}
	l.known = map[string]bool{}
	for _, e := range entries {
		if e.Size <= mostFile && !foreign(e.Path) {
			l.files = append(l.files, e.Path)
			l.known[e.Path] = true
		}
	}
	l.failed(findings)
	for _, name := range names {
		l.defined = l.named(name) || l.defined
	}
	return l.definitions(ctx, names)
}

// failed adds the first place of the failure that is a file of ours.
func (l *search) failed(findings []loop.Finding) {
	for _, f := range findings {
		name := path.Clean(strings.TrimPrefix(f.File, "/"))
		if f.Line < 1 || !l.known[name] {
			continue
		}
		l.add(place{name, max(f.Line-aroundLine, 1), f.Line + aroundLine, "where it failed"})
		return
	}
}

// foreign reports whether a file is someone else's, made by a tool, or ralph's own.
func foreign(name string) bool {
	dirs := []string{"vendor", "node_modules", "third_party", "bower_components", "site-packages", ".venv", "venv", "dist",
		"target", "__pycache__", ".git", ".ralph"}
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool { return slices.Contains(dirs, dir) }) ||
		strings.Contains(name, ".min.") || strings.HasSuffix(name, ".lock") || strings.HasSuffix(name, ".map") ||
		strings.ContainsAny(name, "\n\r\x00")
}

// named adds the files that a name may mean, and reports whether there are any: those that are called so, with or without
// an ending, or else those of a directory that is. A module's own name, or the host before it, is no directory here.
func (l *search) named(name string) bool {
	last := slices.DeleteFunc([]string{path.Base(name), symbol(name)}, func(word string) bool { return len(word) < 2 })
	for _, of := range []func(file string) string{
		path.Base,
		func(file string) string { return strings.TrimSuffix(path.Base(file), path.Ext(file)) },
		func(file string) string { return path.Base(path.Dir(file)) },
	} {
		found := slices.DeleteFunc(slices.Clone(l.files), func(file string) bool { return !slices.Contains(last, of(file)) })
		slices.SortStableFunc(found, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
		for _, file := range found[:min(len(found), 2)] {
			l.add(place{file, 1, ofNamed, fmt.Sprintf("is named like %s", name)})
		}
		if len(found) > 0 {
			return true
		}
	}
	return false
}

// search looks for names in a commit.
type search struct {
	tree    *git.Tree
	commit  string
	files   []string // those that someone wrote by hand
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

var (
	identifier = regex.Lazy(`^[\p{L}_$][\p{L}\p{N}_$]*$`)
	// defines matches a line that defines something, in any of the languages that have a word for it; the last group is
	// its name.
	defines = regex.Lazy(
		`(?:^|[\s(;{])(?:#define|func|function\*?|type|class|def|const|static|var|let|fn|struct|interface|enum|trait|impl|mod|module|record|protocol|extension|sub)\s+(?:\([^()]*\)\s*)?(?:mut\s+|self\.)?([\p{L}_$][\p{L}\p{N}_$]*)`,
	)
	// assigns matches a line that gives a name its value.
	assigns = regex.Lazy(
		`^\s*(?:export\s+|self\.|this\.|module\.exports\.|exports\.)?([\p{L}_$][\p{L}\p{N}_$]*)\s*(?::=|:[^=]*=|=)(?:[^=]|$)`,
	)
)

// symbol is the part of a name that could be defined somewhere: Plus of "calc.Plus" and of "crate::calc::Plus". Empty:
// no part.
func symbol(name string) string {
	name = name[strings.LastIndexAny(name, `./:\#>*)`)+1:]
	if len(name) < 2 || len(name) > 100 || !identifier.MatchString(name) {
		return ""
	}
	return name
}

// definitions adds the places that define a name.
func (l *search) definitions(ctx context.Context, names []string) error {
	var words []string
	for _, name := range names {
		if word := symbol(name); word != "" && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	if len(words) == 0 {
		return nil
	}
	hits, err := l.tree.Grep(ctx, l.commit, words)
	if err != nil {
		return err
	}
	shown := map[string]int{}
	for _, hit := range hits {
		if word := defined(hit.Text); l.known[hit.Path] && slices.Contains(words, word) {
			l.defined = true
			if shown[word]++; shown[word] <= 2 {
				l.add(place{hit.Path, max(hit.Line-3, 1), hit.Line + ofDefined, "defines " + word})
			}
		}
	}
	return nil
}

// defined is the name that a line defines; empty when it defines none.
func defined(line string) string {
	text := strings.TrimSpace(line)
	for _, comment := range []string{"//", "#", "*", "/*", "--", ";"} {
		if len(line) > 1000 || strings.HasPrefix(text, comment) && !strings.HasPrefix(text, "#define ") {
			return ""
		}
	}
	for _, pattern := range []*regex.Pattern{defines, assigns} {
		if m := pattern.FindStringSubmatch(line); m != nil {
			return m[1]
		}
	}
	return ""
}
