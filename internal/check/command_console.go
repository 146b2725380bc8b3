package check

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// inert writes whole lines to a console, each made harmless.
type inert struct {
	to   *bufio.Writer
	part []byte
	cut  bool // there is more of the line than part
}

const maxConsoleLine = 4 << 10

func newInert(to io.Writer) *inert { return &inert{to: bufio.NewWriter(to)} }

func (w *inert) Write(p []byte) (int, error) {
	for _, b := range p {
		if b == '\n' {
			w.line()
			continue
		}
		if w.cut = len(w.part) == maxConsoleLine; !w.cut {
			w.part = append(w.part, b)
		}
	}
	return len(p), nil
}

func (w *inert) line() {
	line := safetext.Inert(string(w.part))
	if w.cut { // maybe within a character
		line = safetext.Inert(strings.ToValidUTF8(string(w.part), "")) + " [...]"
	}
	_, _ = fmt.Fprintf(w.to, "  │ %s\n", line)
	_ = w.to.Flush()
	w.part, w.cut = w.part[:0], false
}

func (w *inert) flush() {
	if len(w.part) > 0 {
		w.line()
	}
}
