package check

import (
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

// String is the beginning and the end, in whole lines where lines are not too long, with a line that says so where
// something is missing between them.
func (k kept) String() string {
	head, end, missing := k.Ends()
	if missing == 0 {
		return k.redact(head + end)
	}
	head, end = k.redact(head), k.redact(end) // each by itself: what lay between them belongs to neither
	both := len(head) + len(end)
	head, end = firstLines(head[:max(0, len(head)-redactionMargin)]), lastLines(end, min(len(end), redactionMargin))
	return proc.Joined(head, end, missing+int64(both-len(head)-len(end)))
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

// console shows a person the first whole lines of an output as they come, each made harmless; a last line says where all
// of a longer one is.
type console struct {
	to   io.Writer
	log  string // where all of it is
	left int    // bytes that are still shown
	part []byte // of a line that has not ended
	cut  bool   // there is more of the line than part
}

const maxConsoleLine = 4 << 10

// Write implements io.Writer; it never fails.
func (c *console) Write(p []byte) (int, error) {
	shown := p[:min(len(p), c.left)]
	c.show(shown)
	if c.left -= len(shown); len(shown) < len(p) && c.log != "" {
		c.part, c.cut = c.part[:0], false // it may end within a secret
		c.show([]byte("[... more is in " + c.log + " ...]\n"))
		c.log = ""
	}
	return len(p), nil
}

func (c *console) show(text []byte) {
	for part := range bytes.Lines(text) {
		part, whole := bytes.CutSuffix(part, []byte("\n"))
		room := min(len(part), maxConsoleLine-len(c.part))
		c.part = append(c.part, part[:room]...)
		if c.cut = c.cut || room < len(part); whole {
			c.line()
		}
	}
}

func (c *console) line() {
	line := safetext.Inert(string(c.part))
	if c.cut { // maybe within a character
		line = safetext.Inert(strings.ToValidUTF8(string(c.part), "")) + " [...]"
	}
	_, _ = fmt.Fprintf(c.to, "  │ %s\n", line)
	c.part, c.cut = c.part[:0], false
}

// end shows a line that has not ended.
func (c *console) end() {
	if len(c.part) > 0 {
		c.line()
	}
}
