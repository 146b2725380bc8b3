package stream

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Formatter shows events to people as lines, each in one Write. What an agent says is made harmless first (proc.Inert).
// It keeps little whatever it is shown, and what cannot be written is lost: a broken terminal is not worth a turn.
type Formatter struct {
	to      io.Writer
	options FormatOptions
	marks   marks
	at      time.Time // of what is shown now
	shown   block     // what the last line was of
	spoke   bool      // words of the agent's have been shown
	latest  string    // the id of the tool whose start was the last line; "" when that was something else
	tools   map[string]started
	text    speech
}

// block is a part of what is shown. An empty line stands around lists, and before a text that follows a tool.
type block int

const (
	noBlock block = iota
	wordsBlock
	toolBlock
	listBlock
)

const (
	lineBytes   = 2 << 10 // how much of a line is shown
	slack       = 1 << 10 // how much more of it is kept, so that a secret at its end is whole when it is searched for
	mostStarted = 1 << 10 // how many tools without an answer are remembered
	mostItems   = 100     // how many things to do are shown
)

// NewFormatter shows events on to; nil shows nothing.
func NewFormatter(to io.Writer, o FormatOptions) *Formatter {
	if to == nil {
		to = io.Discard
	}
	if o.MaxOutputLines == 0 {
		o.MaxOutputLines = 3
	}
	if o.MaxOutputChars == 0 {
		o.MaxOutputChars = 400
	}
	f := &Formatter{to: to, options: o, marks: asciiMarks, tools: map[string]started{}}
	if o.UseEmoji {
		f.marks = emojiMarks
	}
	return f
}

// Event shows what an event tells. How the turn ended is for Done, since an agent's own word on that is not the last.
func (f *Formatter) Event(e Event) {
	switch e.Kind {
	case Text:
		f.say(e)
		return
	case ToolStart, ToolEnd, Todo, Retry, Noise:
		f.flush()
		f.at = e.At
	}
	switch e.Kind {
	case ToolStart:
		f.start(e)
	case ToolEnd:
		f.end(e)
	case Todo:
		f.todo(e)
	case Retry:
		f.retry(e.Retry)
	case Noise:
		f.beside()
		f.spoke = true
		f.line(noColour, e.Text)
	}
}

// Stderr shows a line of the agent's standard error.
func (f *Formatter) Stderr(at time.Time, line string) {
	f.flush()
	f.at = at
	f.beside()
	f.line(faint, "stderr: "+line)
}

// Flush shows a line whose end has not come.
func (f *Formatter) Flush() { f.flush() }

func (f *Formatter) todo(e Event) {
	if len(e.Todos) == 0 {
		return
	}
	f.begin(listBlock)
	in := under(e.Nested)
	f.line(bold, in+f.marks.todo+"Todo List")
	done := 0
	for i, item := range e.Todos {
		mark, after, c := f.marks.todoOpen, "", noColour
		switch item.Status {
		case "completed":
			mark, c = f.marks.todoDone, faint
			done++
		case "in_progress":
			mark, after, c = f.marks.todoActive, f.marks.active, yellow
		}
		if i < mostItems {
			f.line(c, in+"  "+mark+clip(safetext.OneLine(f.redacted(item.Text)), 500, f.marks.more)+after)
		}
	}
	if more := len(e.Todos) - mostItems; more > 0 {
		f.line(faint, fmt.Sprintf("%s  %s %d more", in, f.marks.more, more))
	}
	f.line(noColour, fmt.Sprintf("%s  %sProgress: %d/%d (%.0f%%)", in, f.marks.chart, done, len(e.Todos),
		100*float64(done)/float64(len(e.Todos))))
}

func (f *Formatter) retry(a Attempt) {
	f.beside()
	said := ""
	if a.Status > 0 {
		said = fmt.Sprintf(" (HTTP %d)", a.Status)
	}
	if a.Text != "" {
		said += ": " + safetext.OneLine(a.Text)
	}
	f.line(yellow, fmt.Sprintf("%sThe model did not answer, attempt %d of %d%s", f.marks.retry, a.Number, a.Most, said))
}

// Done shows how a turn ended, and what it took. Parts that are not known are left out.
func (f *Formatter) Done(at time.Time, t loop.Turn) {
	f.flush()
	f.at = at
	if !f.spoke && t.Class == loop.OK { // the formats without messages have only this
		f.say(Event{Kind: Text, At: at, Text: t.Text})
	}
	f.begin(listBlock)
	line, c, parts := f.marks.ok+"Complete", green, tally(t)
	switch t.Class {
	case loop.OK:
	case loop.Waits:
		line, c = f.marks.waiting+"Waiting", yellow
	default:
		line, c, parts = f.marks.failed+"Failed", red, append([]string{"class: " + string(t.Class)}, parts...)
	}
	if len(parts) > 0 {
		line += " (" + strings.Join(parts, ", ") + ")"
	}
	f.line(c, line)
	if t.Reason != "" {
		f.line(noColour, "  "+f.marks.excerpt+"  "+t.Reason)
	}
}

// beside says that the next line is not the agent's doing. It may stand among tools.
func (f *Formatter) beside() {
	if f.shown != toolBlock {
		f.begin(wordsBlock)
	}
	f.latest = ""
}
