package agent

import (
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Groups folds what is shown until EndGroup under a title, as the runner does with the log of a job.
type Groups interface {
	Group(title string)
	EndGroup()
}

// Display is what a person sees of a turn as it happens.
type Display struct {
	// Console gets whole lines a Write, free of the agent's terminal sequences and workflow commands; nil: no one looks.
	// Format is how they are shown. With Groups, all but the last lines are folded under Title.
	Console io.Writer
	Format  stream.FormatOptions
	Groups  Groups
	Title   string
}

// console shows a turn to a person, as far as there is one.
type console struct {
	formatter *stream.Formatter // nil: no one looks
	lines     *batch            // what the formatter has made and no one has seen
	shown     *display          // where that goes; nil: no one looks
	groups    Groups
	now       func() time.Time
	errs      *stream.Decoder     // of standard error, a line at a time
	redact    func(string) string // of what doing gets; nil: nothing is removed
	doing     func(what string)   // hears in one line what the agent does now; nil: no one does
}

// newConsole shows a turn whose whole output is in a log; "" in none.
func newConsole(o Display, log string, now func() time.Time) *console {
	c := &console{now: now, lines: new(batch), redact: o.Format.Redact}
	c.errs = stream.NewPlain(now, func(e stream.Event) {
		if e.Kind == stream.Noise && c.formatter != nil {
			c.formatter.Stderr(e.At, e.Text)
		}
	})
	if o.Console == nil {
		return c
	}
	c.shown = &display{to: o.Console, log: log}
	c.lines.to = c.shown
	c.formatter = stream.NewFormatter(c.lines, o.Format)
	if o.Groups != nil {
		c.groups = o.Groups
		c.groups.Group(o.Title)
	}
	return c
}

func (c *console) event(e stream.Event) {
	c.tell(e)
	if c.formatter != nil {
		c.formatter.Event(e)
	}
}

// doingRunes is how much of what the agent does is passed on.
const doingRunes = 200

// tell says in one line what the agent does now.
func (c *console) tell(e stream.Event) {
	if c.doing == nil {
		return
	}
	what := ""
	switch e.Kind {
	case stream.ToolStart:
		what = e.Tool.Name + " " + safetext.FirstRunes(e.Tool.Input, 5*doingRunes)
	case stream.Noise, stream.Text:
		what = safetext.FirstRunes(safetext.FirstLine(strings.TrimSpace(e.Text)), 5*doingRunes)
	case stream.Retry:
		what = "waits for its model, which did not answer"
	}
	if what = safetext.OneLine(what); what == "" || e.Delta && e.Kind == stream.Text {
		return
	}
	if c.redact != nil {
		what = c.redact(what)
	}
	c.doing(safetext.Shorten(safetext.Inert(what), doingRunes))
}

// stdout passes on what the agent prints to who reads it, and shows what resulted from that at once.
func (c *console) stdout(reader io.Writer) io.Writer { return promptly{reader, c.lines} }

// stderr shows what the agent prints on standard error.
func (c *console) stderr() io.Writer { return promptly{c.errs, c.lines} }

// close shows what has no end of line, and ends the group.
func (c *console) close() {
	_ = c.errs.Close()
	if c.formatter != nil {
		c.formatter.Flush()
	}
	c.lines.flush()
	if c.shown != nil {
		c.shown.end()
	}
	if c.groups != nil {
		c.groups.EndGroup()
		c.groups = nil
	}
}

// done shows how the turn ended, after its group, so that it can be read when that is folded.
func (c *console) done(t loop.Turn) {
	c.close()
	if c.formatter != nil {
		c.formatter.Done(c.now(), t)
	}
	c.lines.flush()
}

// batchBytes is how many bytes of formatted output are held before they are shown.
const batchBytes = 32 << 10

// batch holds lines and passes on many in one Write, which takes as long as one line does.
type batch struct {
	to   io.Writer
	held []byte
}

// Write takes whole lines.
func (b *batch) Write(lines []byte) (int, error) {
	if b.held = append(b.held, lines...); len(b.held) >= batchBytes {
		b.flush()
	}
	return len(lines), nil
}

func (b *batch) flush() {
	if len(b.held) > 0 {
		_, _ = b.to.Write(b.held) // a broken terminal is not worth a turn
	}
	b.held = b.held[:0]
}

// promptly shows what resulted from each piece of output before it takes the next, so nothing waits, whatever becomes of the
// agent or of us.
type promptly struct {
	io.Writer
	lines *batch
}

func (p promptly) Write(piece []byte) (int, error) {
	defer p.lines.flush()
	return p.Writer.Write(piece)
}

// beat makes a sign of life of any output.
type beat struct{ pulse *proc.Heartbeat }

func (b beat) Write(p []byte) (int, error) {
	b.pulse.Beat()
	return len(p), nil
}

// shownBytes is how much of a turn is shown. No agent says so much on purpose.
const shownBytes = 2 << 20

// display shows the beginning of a turn, and says once that the rest is left out. It is given whole lines.
type display struct {
	to    io.Writer
	log   string // where all of it is; empty: nowhere
	bytes int
	full  bool // no more of it is shown
}

// Write implements io.Writer; it never fails: a broken terminal is not worth a turn.
func (s *display) Write(lines []byte) (int, error) {
	if s.full {
		return len(lines), nil
	}
	text := lines
	if s.bytes += len(lines); s.bytes > shownBytes {
		s.full, text = true, []byte("[... the rest is not shown here ...]\n")
		if s.log != "" {
			text = []byte("[... the rest is not shown here; the output is in " + filepath.Base(s.log) + " ...]\n")
		}
	}
	_, _ = s.to.Write(text)
	return len(lines), nil
}

// end begins again: how a turn ended is shown in any case.
func (s *display) end() { s.bytes, s.full = 0, false }
