package agent

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/proc"
)

// lineBytes is how much of a line a person is shown.
const lineBytes = 2 << 10

// console shows lines to a person. What cannot be shown is lost: a broken terminal is not worth a turn.
type console struct {
	to   io.Writer
	errs *partial
}

func newConsole(to io.Writer) *console {
	c := &console{to: to}
	c.errs = &partial{each: c.line}
	return c
}

// line shows one line.
func (c *console) line(s string) {
	if c.to == nil {
		return
	}
	if len(s) > lineBytes {
		s = strings.ToValidUTF8(s[:lineBytes], "") + " […]"
	}
	_, _ = io.WriteString(c.to, proc.Inert(s)+"\n")
}

// text shows every line of a text.
func (c *console) text(s string) {
	if s = strings.TrimRight(s, "\n"); s == "" || c.to == nil {
		return
	}
	for line := range strings.SplitSeq(s, "\n") {
		c.line(line)
	}
}

// event shows what an event tells.
func (c *console) event(e stream.Event) {
	switch e.Kind {
	case stream.ToolStart:
		c.line("⏺ " + e.Tool.Name + "(" + e.Tool.Input + ")")
	case stream.Text:
		if !e.Nested && !e.Told {
			c.text(e.Text)
		}
	case stream.Retry:
		c.line(fmt.Sprintf("the model did not answer (status %d), attempt %d of %d", e.Retry.Status, e.Retry.Number, e.Retry.Most))
	case stream.Noise:
		c.line(e.Text)
	}
}

func (c *console) stderr() io.Writer { return c.errs }

// close shows what has no end of line.
func (c *console) close() {
	c.errs.flush()
}

// partial cuts what is written to it into lines, of which it keeps a little more than is shown.
type partial struct {
	each func(string)
	line []byte
	some bool // something of this line was written, even if nothing of it was kept
}

func (p *partial) Write(b []byte) (int, error) {
	n := len(b)
	for {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			p.keep(b)
			return n, nil
		}
		p.keep(b[:end])
		p.some = true
		p.flush()
		b = b[end+1:]
	}
}

func (p *partial) keep(b []byte) {
	p.some = p.some || len(b) > 0
	p.line = append(p.line, b[:min(len(b), lineBytes+1-len(p.line))]...)
}

func (p *partial) flush() {
	if p.some {
		p.each(string(p.line))
	}
	p.line, p.some = p.line[:0], false
}

// beat makes a sign of life of any output.
type beat struct{ pulse *proc.Pulse }

func (b beat) Write(p []byte) (int, error) {
	b.pulse.Beat()
	return len(p), nil
}
