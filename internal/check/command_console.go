package check

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// headTail shows a person the beginning of an output as it comes, and its end when it has ended; one line between them says
// how much is left out.
type headTail struct {
	lines *safeWriter
	log   string // where all of it is
	shown int64  // bytes, from the first on
	full  bool   // the beginning has been shown
	whole bool   // and ends with a line
	feeds int    // ends of lines that have not been shown
}

func newEcho(to io.Writer, log string) *headTail { return &headTail{lines: newInert(to), log: log} }

// Write implements io.Writer; it never fails.
func (e *headTail) Write(p []byte) (int, error) {
	n := len(p)
	if !e.full {
		part := e.begin(p)
		_, _ = e.lines.Write(p[:part])
		e.shown += int64(part)
		p = p[part:]
		e.whole = len(e.lines.part) == 0
		if e.full = e.shown >= keptBytes && (e.whole || e.lines.cut); e.full {
			e.lines.flush()
		}
	}
	e.feeds += bytes.Count(p, []byte("\n"))
	return n, nil
}

// begin is how much of a chunk belongs to the beginning: it ends with the line in which it is full, or where so much
// of that line has been shown as is of any.
func (e *headTail) begin(p []byte) int {
	left := int(max(0, keptBytes-1-e.shown))
	if left >= len(p) {
		return len(p)
	}
	rest := p[left:min(len(p), left+maxConsoleLine+1)]
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		return left + i + 1
	}
	return left + len(rest)
}

// end shows the end of an output that has ended.
func (e *headTail) end(kept kept) {
	if !e.full {
		e.lines.flush()
		return
	}
	text, missing := kept.after(e.shown, e.whole)
	if all := len(text); all > keptBytes {
		text = lastLines(text, all-keptBytes)
		missing += int64(all - len(text))
	}
	if missing > 0 {
		what := safetext.Count(int(missing), "byte")
		if lines := e.feeds - strings.Count(text, "\n"); lines > 0 {
			what = safetext.Count(lines, "line") + " (" + what + ")"
		}
		_, _ = e.lines.Write([]byte("[... " + what + " not shown here; the output is in " + e.log + " ...]\n"))
	}
	_, _ = e.lines.Write([]byte(text))
	e.lines.flush()
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
