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

var (
	hunkHead = regex.Lazy(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)
	bothName = regex.Lazy(`^diff --git (?:"?a/.*?"? )"?b/(.*?)"?$`)
)

// diffReader reads a unified diff of git's line by line. It counts the lines of each hunk, so that a removed line "--
// a/x" is no header.
type diffReader struct {
	view     view
	files    []file
	old, new int // lines that the hunk still has
}

// diffFiles are the files of a diff, and one sentence on what is cut off.
func (v view) diffFiles(text string) (files []file, note string) {
	text = WithoutSecrets(text, v.Redacted)
	if len(text) > DiffBytes {
		text = text[:strings.LastIndexByte(text[:DiffBytes], '\n')+1]
		note = fmt.Sprintf("The diff is cut after %d KiB; the commit has all of it.", (len(text)+512)>>10)
	}
	r := diffReader{view: v}
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		r.take(line)
	}
	for i := range r.files {
		f := &r.files[i]
		f.Open = f.size <= openLines && len(r.files) <= openFiles
	}
	return r.files, note
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

func (r *diffReader) take(line string) {
	switch {
	case strings.HasPrefix(line, "diff --git "):
		name := ""
		if m := bothName.FindStringSubmatch(line); m != nil {
			name = m[1]
		}
		r.old, r.new = 0, 0
		r.files = append(r.files, file{Counted: true})
		r.name(name)
	case len(r.files) == 0:
	case r.old > 0 || r.new > 0:
		r.content(line)
	default:
		r.header(line)
	}
}

// content is a line of a hunk.
func (r *diffReader) content(line string) {
	f := &r.files[len(r.files)-1]
	switch {
	case strings.HasPrefix(line, "+"):
		r.new--
		f.Added++
		r.add("add", line)
	case strings.HasPrefix(line, "-"):
		r.old--
		f.Deleted++
		r.add("del", line)
	case strings.HasPrefix(line, `\`), strings.HasPrefix(line, "[..."):
		r.add("note", line)
	default:
		r.old--
		r.new--
		r.add("same", line)
	}
}

// header is a line before a file's hunks, or between two of them.
func (r *diffReader) header(line string) {
	f := &r.files[len(r.files)-1]
	word, rest, _ := strings.Cut(line, " ")
	switch {
	case hunkHead.MatchString(line):
		m := hunkHead.FindStringSubmatch(line)
		r.old, r.new = lineCount(m[1]), lineCount(m[2])
		r.add("hunk", line)
	case word == "---" && rest != "/dev/null":
		r.name(strings.TrimPrefix(unquoted(rest), "a/"))
	case word == "+++" && rest != "/dev/null":
		r.name(strings.TrimPrefix(unquoted(rest), "b/"))
	case word == "new":
		f.Note = wording.JoinedBy(", ", f.Note, ifWord(strings.HasPrefix(rest, "file mode"), "new"))
	case word == "deleted":
		f.Note = wording.JoinedBy(", ", f.Note, "deleted")
	case word == "rename" && strings.HasPrefix(rest, "from "):
		f.Note = wording.JoinedBy(", ", f.Note, "was "+r.view.brief(unquoted(strings.TrimPrefix(rest, "from ")), 150))
	case word == "rename":
		r.name(unquoted(strings.TrimPrefix(rest, "to ")))
	case word == "Binary":
		f.Note, f.Counted = wording.JoinedBy(", ", f.Note, "binary"), false
	case strings.HasPrefix(line, `\`), strings.HasPrefix(line, "[..."):
		r.add("note", line)
	}
}

func ifWord(so bool, word string) string {
	if so {
		return word
	}
	return ""
}

// name gives the present file its name, and why to look at it.
func (r *diffReader) name(name string) {
	f := &r.files[len(r.files)-1]
	f.Name = r.view.brief(name, 200)
	f.Risk = wording.WhyRisky(name)
}

// add puts a line behind those of its kind.
func (r *diffReader) add(kind, line string) {
	f := &r.files[len(r.files)-1]
	f.size++
	line = wording.LongLines(safetext.Revealed(line), lineRunes)
	if n := len(f.Lines); n > 0 && f.Lines[n-1].Kind == kind {
		f.Lines[n-1].Text += "\n" + line
		return
	}
	f.Lines = append(f.Lines, run{kind, line})
}

// lineCount is a hunk's number of lines, which git leaves out when it is 1.
func lineCount(s string) int {
	if s == "" {
		return 1
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 1 << 30
	}
	return n
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
