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
	shown     *display          // where what it makes goes
	groups    Groups
	now       func() time.Time
	errs      *stream.Decoder     // of standard error, a line at a time
	redact    func(string) string // of what doing gets; nil: nothing is removed
	doing     func(what string)   // hears in one line what the agent does now; nil: no one does
}

// newConsole shows a turn whose whole output is in a log; "" in none.
func newConsole(o Display, log string, now func() time.Time) *console {
	c := &console{now: now, shown: &display{to: o.Console, log: log}, redact: o.Format.Redact}
	c.errs = stream.NewPlain(now, func(e stream.Event) {
		if e.Kind == stream.Noise && c.formatter != nil {
			c.formatter.Stderr(e.At, e.Text)
		}
	})
	if o.Console == nil {
		return c
	}
	c.formatter = stream.NewFormatter(c.shown, o.Format)
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
func (c *console) stdout(reader io.Writer) io.Writer { return promptly{reader, c.shown} }

// stderr shows what the agent prints on standard error.
func (c *console) stderr() io.Writer { return promptly{c.errs, c.shown} }

// close shows what has no end of line, and ends the group.
func (c *console) close() {
	_ = c.errs.Close()
	if c.formatter != nil {
		c.formatter.Flush()
	}
	c.shown.flush()
	c.shown.bytes, c.shown.full = 0, false // how the turn ended is shown in any case
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
	c.shown.flush()
}

// promptly shows what resulted from each piece of output before it takes the next, so nothing waits, whatever becomes of the
// agent or of us.
type promptly struct {
	io.Writer
	shown *display
}

func (p promptly) Write(piece []byte) (int, error) {
	defer p.shown.flush()
	return p.Writer.Write(piece)
}

// beat makes a sign of life of any output.
type beat struct{ pulse *proc.Heartbeat }

func (b beat) Write(p []byte) (int, error) {
	b.pulse.Beat()
	return len(p), nil
}

const (
	// shownBytes is how much of a turn is shown. No agent says so much on purpose.
	shownBytes = 2 << 20
	// batchBytes is how much of it is held before it is shown.
	batchBytes = 32 << 10
)

// display shows the beginning of a turn, and says once that the rest is left out. It is given whole lines and passes on
// many in one Write, which takes as long as one line does. It never fails: a broken terminal is not worth a turn.
type display struct {
	to    io.Writer
	log   string // where all of it is; empty: nowhere
	held  []byte
	bytes int
	full  bool // no more of it is shown
}

// Write implements io.Writer.
func (d *display) Write(lines []byte) (int, error) {
	text := lines
	if d.bytes += len(lines); d.bytes > shownBytes {
		text = nil
		if !d.full && d.log == "" {
			text = []byte("[... the rest is not shown here ...]\n")
		} else if !d.full {
			text = []byte("[... the rest is not shown here; the output is in " + filepath.Base(d.log) + " ...]\n")
		}
		d.full = true
	}
	if d.held = append(d.held, text...); len(d.held) >= batchBytes {
		d.flush()
	}
	return len(lines), nil
}

func (d *display) flush() {
	if len(d.held) > 0 {
		_, _ = d.to.Write(d.held)
	}
	d.held = d.held[:0]
}
