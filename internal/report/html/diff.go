package html

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// file is one changed file.
type file struct {
	Name, Note string // Note: "new", "deleted", "was a.go", "binary"
	Added      int
	Deleted    int
	Counted    bool   // Added and Deleted are known
	Risk       string // why to look at it first
	Lines      []run
	Open       bool
	size       int
}

// run is some lines of a diff of one kind.
type run struct {
	Kind string // "add", "del", "same", "hunk" or "note"
	Text string // with the sign of each line
}

// A file's diff that is longer than this is folded, and so are those of an iteration that changed more files.
const (
	openLines = 80
	openFiles = 5
)

var bothName = regex.Lazy(`^(?:"?a/.*?"? )"?b/(.*?)"?$`)

// diffFiles are the files of a diff, and one sentence on what is cut off.
func (v view) diffFiles(text string) (files []file, note string) {
	text = WithoutSecrets(text, v.Redacted)
	if len(text) > DiffBytes {
		text = text[:strings.LastIndexByte(text[:DiffBytes], '\n')+1]
		note = fmt.Sprintf("The diff is cut after %d KiB; the commit has all of it.", (len(text)+512)>>10)
	}
	parts := strings.Split("\n"+strings.TrimRight(text, "\n"), "\ndiff --git ")[1:] // a line of a file has a sign before it
	for _, part := range parts {
		f := v.diffFile(strings.Split(part, "\n"))
		f.Open = f.size <= openLines && len(parts) <= openFiles
		files = append(files, f)
	}
	return files, note
}

// WithoutSecrets is a diff without them, as it is otherwise. If a secret appears once invisible characters are removed,
// both are removed: the secret and the invisible characters.
func WithoutSecrets(diff string, redact func(string) string) string {
	seen := wording.Bare(diff)
	if safe := redact(seen); safe != seen {
		return safe
	}
	return redact(diff)
}

// diffFile is one file of a diff: its names, what git says before the first hunk, and the hunks.
func (v view) diffFile(lines []string) file {
	f, name := file{Counted: true}, ""
	if m := bothName.FindStringSubmatch(lines[0]); m != nil {
		name = m[1]
	}
	begun := false
	for _, line := range lines[1:] {
		word, rest, _ := strings.Cut(line, " ")
		switch begun = begun || word == "@@"; {
		case word == "@@":
			f.add("hunk", line)
		case strings.HasPrefix(line, `\`), strings.HasPrefix(line, "[..."):
			f.add("note", line)
		case begun && strings.HasPrefix(line, "+"):
			f.Added++
			f.add("add", line)
		case begun && strings.HasPrefix(line, "-"):
			f.Deleted++
			f.add("del", line)
		case begun:
			f.add("same", line)
		case (word == "---" || word == "+++") && rest != "/dev/null":
			_, name, _ = strings.Cut(unquoted(rest), "/")
		case word == "rename" && strings.HasPrefix(rest, "to "):
			name = unquoted(strings.TrimPrefix(rest, "to "))
		case word == "rename":
			f.noted("was " + v.brief(unquoted(strings.TrimPrefix(rest, "from ")), 150))
		case word == "new" && strings.HasPrefix(rest, "file mode"):
			f.noted("new")
		case word == "deleted":
			f.noted("deleted")
		case word == "Binary":
			f.noted("binary")
			f.Counted = false
		}
	}
	f.Name, f.Risk = v.brief(name, 200), wording.WhyRisky(name)
	return f
}

func (f *file) noted(what string) { f.Note = wording.JoinedBy(", ", f.Note, what) }

// add puts a line behind those of its kind.
func (f *file) add(kind, line string) {
	f.size++
	line = wording.LongLines(safetext.Revealed(line), lineRunes)
	if n := len(f.Lines); n > 0 && f.Lines[n-1].Kind == kind {
		f.Lines[n-1].Text += "\n" + line
		return
	}
	f.Lines = append(f.Lines, run{kind, line})
}

// unquoted is a name as git quotes it when there is anything in it that a terminal might act upon.
func unquoted(name string) string {
	name = strings.TrimSuffix(name, "\t") // behind a name with spaces
	if plain, err := strconv.Unquote(name); err == nil && strings.HasPrefix(name, `"`) {
		return plain
	}
	return name
}

// listed is a changed file of which there is no diff.
func (v view) listed(f loop.FileChange) file {
	h := file{Name: v.brief(f.Path, 200), Added: f.Added, Deleted: f.Deleted, Counted: f.Added >= 0,
		Risk: wording.WhyRisky(f.Path)}
	if f.Added < 0 {
		h.Note = "binary"
	}
	return h
}
