package agent

import (
	"bytes"
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
	errs      *partial
	redact    func(string) string // of what doing gets; nil: nothing is removed
	doing     func(what string)   // hears in one line what the agent does now; nil: no one does
}

// newConsole shows a turn whose whole output is in a log; "" in none.
func newConsole(o Display, log string, now func() time.Time) *console {
	c := &console{now: now, lines: new(batch), errs: &partial{each: func(string) {}}, redact: o.Format.Redact}
	if o.Console == nil {
		return c
	}
	c.shown = newDisplay(o.Console, log)
	c.lines.to = c.shown
	c.formatter = stream.NewFormatter(c.lines, o.Format)
	c.errs.each = func(line string) { c.formatter.Stderr(now(), line) }
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
	c.errs.flush()
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

// stderrBytes is how much of a line of standard error is kept; less of it is shown.
const stderrBytes = 4 << 10

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
	p.line = append(p.line, b[:min(len(b), stderrBytes-len(p.line))]...)
}

func (p *partial) flush() {
	if p.some {
		p.each(string(p.line))
	}
	p.line, p.some = p.line[:0], false
}

// beat makes a sign of life of any output.
type beat struct{ pulse *proc.Heartbeat }

func (b beat) Write(p []byte) (int, error) {
	b.pulse.Beat()
	return len(p), nil
}

// How much of a turn is shown: its beginning, and its end. No agent says so much on purpose.
const (
	shownBytes    = 2 << 20
	shownEndBytes = 32 << 10
)

// display shows the beginning of a turn as it comes, and its end when it has ended; one line between them says how much
// is left out. It is given whole lines.
type display struct {
	to    io.Writer
	log   string // where all of it is; empty: nowhere
	bytes int64  // of the beginning
	full  bool   // no more of it is shown
	feeds int    // ends of lines after that
	rest  *proc.Tail
}

func newDisplay(to io.Writer, log string) *display {
	return &display{to: to, log: log, rest: proc.NewTail(0, shownEndBytes)}
}

// Write implements io.Writer; it never fails: a broken terminal is not worth a turn.
func (s *display) Write(lines []byte) (int, error) {
	if s.full = s.full || s.bytes+int64(len(lines)) > shownBytes; !s.full {
		s.bytes += int64(len(lines))
		_, _ = s.to.Write(lines)
		return len(lines), nil
	}
	s.feeds += bytes.Count(lines, []byte("\n"))
	return s.rest.Write(lines)
}

// end shows the end of what was not shown, and begins again.
func (s *display) end() {
	if s.full {
		_, text, _ := s.rest.Ends()
		missing := s.rest.Len() - int64(len(text))
		if missing > 0 {
			_, text, _ = strings.Cut(text, "\n") // it begins within a line
			missing = s.rest.Len() - int64(len(text))
			what := safetext.Count(s.feeds-strings.Count(text, "\n"), "line") + " (" + safetext.Bytes(missing) + ")"
			where := ""
			if s.log != "" {
				where = "; the output is in " + filepath.Base(s.log)
			}
			text = "[... " + what + " not shown here" + where + " ...]\n" + text
		}
		_, _ = s.to.Write([]byte(text))
	}
	s.bytes, s.full, s.feeds, s.rest = 0, false, 0, proc.NewTail(0, shownEndBytes)
}
