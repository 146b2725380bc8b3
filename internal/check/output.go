package check

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

const (
	logBytes  = 64 << 20         // of one check's log file
	keptBytes = 64 << 10         // of an output's beginning, and as many of its end, which are read and shown
	silence   = 30 * time.Second // after which a command may be one that waits for changes of files
	shellExit = 126              // from here on, a shell says that it could not run the command: 126 not executable, 127 not found
)

const (
	// redactionMargin is so much more is kept where an output is cut, and left out once secrets have been taken out: of one that is
	// cut in two, what is left is not known as a secret. The largest are private keys.
	redactionMargin = 16 << 10
	// longLine is how far the end of a line is searched for, to cut there.
	longLine = 4 << 10
)

// kept is what is kept of an output: its beginning and its end. It is read without secrets.
type kept struct {
	*proc.Tail
	redact func(string) string
}

// newKept keeps so many bytes of either end.
func newKept(most int, redact func(string) string) kept {
	return kept{proc.NewTail(most+redactionMargin, most+redactionMargin), redact}
}

// String is the output, with a line that says so where something is missing.
func (k kept) String() string {
	head, end, missing := k.ends()
	if missing == 0 {
		return head
	}
	return proc.Joined(head, end, missing)
}

// ends are the beginning and the end, in whole lines where lines are not too long, and how many bytes are missing
// between them. When none are, the first is all there was.
func (k kept) ends() (head, end string, missing int64) {
	head, end, missing = k.Ends()
	if missing == 0 {
		return k.redact(head + end), "", 0
	}
	head, end = k.redact(head), k.redact(end) // each by itself: what lay between them belongs to neither
	both := len(head) + len(end)
	head, end = firstLines(head[:max(0, len(head)-redactionMargin)]), lastLines(end, min(len(end), redactionMargin))
	return head, end, missing + int64(both-len(head)-len(end))
}

// firstLines is a text up to the end of its last line that has one.
func firstLines(text string) string {
	if i := strings.LastIndexByte(text, '\n'); i >= 0 && len(text)-i <= longLine {
		return text[:i+1]
	}
	return safetext.WholeEnd(text)
}

// lastLines is a text from a place on, from the beginning of its first line that has one.
func lastLines(text string, from int) string {
	if i := strings.IndexByte(text[max(0, from-1):], '\n'); i >= 0 && i < longLine {
		return text[max(0, from-1)+i+1:]
	}
	return safetext.WholeStart(text[from:])
}

// beginning shows a person the first whole lines of an output as they come; a last line says where all of a longer one
// is.
type beginning struct {
	lines *safeWriter
	log   string // where all of it is
	left  int    // bytes that are still shown
}

func newEcho(to io.Writer, log string) *beginning {
	return &beginning{lines: newInert(to), log: log, left: keptBytes}
}

// Write implements io.Writer; it never fails.
func (b *beginning) Write(p []byte) (int, error) {
	shown := p[:min(len(p), b.left)]
	_, _ = b.lines.Write(shown)
	if b.left -= len(shown); len(shown) < len(p) && b.log != "" {
		b.lines.part, b.lines.cut = b.lines.part[:0], false // it may end within a secret
		_, _ = b.lines.Write([]byte("[... more is in " + b.log + " ...]\n"))
		b.log = ""
	}
	return len(p), nil
}

// safeWriter writes whole lines to a console, each made harmless.
type safeWriter struct {
	to   *bufio.Writer
	part []byte
	cut  bool // there is more of the line than part
}

const maxConsoleLine = 4 << 10

func newInert(to io.Writer) *safeWriter { return &safeWriter{to: bufio.NewWriter(to)} }

func (w *safeWriter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		text := p
		if end >= 0 {
			text = p[:end]
		}
		room := min(len(text), maxConsoleLine-len(w.part))
		w.part = append(w.part, text[:room]...)
		w.cut = w.cut || room < len(text)
		if end < 0 {
			break
		}
		w.line()
		p = p[end+1:]
	}
	return n, nil
}

func (w *safeWriter) line() {
	line := safetext.Inert(string(w.part))
	if w.cut { // maybe within a character
		line = safetext.Inert(strings.ToValidUTF8(string(w.part), "")) + " [...]"
	}
	_, _ = fmt.Fprintf(w.to, "  │ %s\n", line)
	_ = w.to.Flush()
	w.part, w.cut = w.part[:0], false
}

func (w *safeWriter) flush() {
	if len(w.part) > 0 {
		w.line()
	}
}
