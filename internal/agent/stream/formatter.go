package stream

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
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

// block is a part of what is shown. An empty line surrounds lists, and precedes a text that follows a tool.
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
	answerLines = 3       // how much of a tool's answer is shown, empty lines not counted
	answerRunes = 400
)

// NewFormatter shows events on to; nil shows nothing.
func NewFormatter(to io.Writer, o FormatOptions) *Formatter {
	if to == nil {
		to = io.Discard
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
		f.Flush()
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
		f.line(noColor, e.Text)
	}
}

// Stderr shows a line of the agent's standard error.
func (f *Formatter) Stderr(at time.Time, line string) {
	f.Flush()
	f.at = at
	f.beside()
	f.line(faint, "stderr: "+line)
}

func (f *Formatter) todo(e Event) {
	if len(e.Todos) == 0 {
		return
	}
	f.begin(listBlock)
	in := under(e.Nested)
	f.line(bold, in+f.marks.todo+"Todo List")
	done := 0
	for i, item := range e.Todos {
		mark, after, c := f.marks.todoOpen, "", noColor
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
	f.line(noColor, fmt.Sprintf("%s  %sProgress: %d/%d (%.0f%%)", in, f.marks.chart, done, len(e.Todos),
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
	f.Flush()
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
		f.line(noColor, "  "+f.marks.excerpt+"  "+t.Reason)
	}
}

// beside says that the next line is not the agent's doing. It may stand among tools.
func (f *Formatter) beside() {
	if f.shown != toolBlock {
		f.begin(wordsBlock)
	}
	f.latest = ""
}

// begin says what the next lines are of, and parts them from those before.
func (f *Formatter) begin(b block) {
	apart := b == listBlock || f.shown == listBlock || f.shown == toolBlock && b == wordsBlock
	if apart && f.shown != noBlock && !f.options.ShowTimestamp {
		f.line(noColor, "")
	}
	f.shown, f.latest = b, ""
}

// line shows one line.
func (f *Formatter) line(c color, s string) {
	s = strings.TrimRight(safetext.Inert(clip(f.redacted(s), lineBytes, f.marks.more)), " \t")
	if f.options.UseColor && c != noColor && s != "" {
		s = "\x1b[" + string(c) + "m" + s + "\x1b[0m"
	}
	if f.options.ShowTimestamp {
		zone := f.options.Zone
		if zone == nil {
			zone = time.Local
		}
		s = strings.TrimRight(f.at.In(zone).Format("[15:04:05] ")+s, " ")
	}
	_, _ = io.WriteString(f.to, s+"\n")
}

func (f *Formatter) redacted(s string) string {
	if f.options.Redact == nil {
		return s
	}
	return f.options.Redact(s)
}

// indent puts what a helper of the agent does under what the agent does.
func under(nested bool) string {
	if nested {
		return "  "
	}
	return ""
}

// clip keeps the beginning of a line.
func clip(s string, most int, more string) string {
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + " " + more
	}
	return s
}

// speech is what the agent is saying, of which the last line has no end yet.
type speech struct {
	message string // whose it is
	nested  bool
	line    []byte // at most lineBytes+slack
	over    bool   // the line was too long and has been shown; the rest of it is dropped
	space   bool   // empty lines came, which are shown as one once something follows
}

// say shows the agent's own words: each line as soon as it is whole.
func (f *Formatter) say(e Event) {
	if e.Told {
		return
	}
	if !e.Delta || e.Message != f.text.message || e.Nested != f.text.nested {
		f.Flush()
		f.text.message, f.text.nested = strings.Clone(e.Message), e.Nested
	}
	f.at = e.At
	for rest, more := e.Text, true; more; {
		var piece string
		piece, rest, more = strings.Cut(rest, "\n")
		f.add(piece)
		if more {
			f.whole()
		}
	}
	if !e.Delta {
		f.Flush()
	}
}

// add adds to the line. One that is too long is shown at once.
func (f *Formatter) add(piece string) {
	t := &f.text
	t.line = append(t.line, piece[:min(len(piece), lineBytes+slack-len(t.line))]...)
	if len(t.line) == lineBytes+slack && !t.over {
		f.sentence(string(t.line))
		t.over = true
	}
}

// whole shows the line, which has ended.
func (f *Formatter) whole() {
	if !f.text.over {
		f.sentence(string(f.text.line))
	}
	f.text.line, f.text.over = f.text.line[:0], false
}

func (f *Formatter) sentence(line string) {
	if strings.TrimSpace(line) == "" {
		f.text.space = f.shown == wordsBlock
		return
	}
	f.begin(wordsBlock)
	if f.text.space && !f.options.ShowTimestamp {
		f.line(noColor, "")
	}
	f.text.space, f.spoke = false, true
	f.line(noColor, under(f.text.nested)+line)
}

// Flush shows a line whose end has not come.
func (f *Formatter) Flush() {
	if len(bytes.TrimSpace(f.text.line)) > 0 {
		f.whole()
	}
	f.text = speech{line: f.text.line[:0]}
}

// started is a tool that has not answered yet.
type started struct {
	name, input string
	quiet       bool // it writes the list of things to do, which is shown itself
}

func (f *Formatter) start(e Event) {
	t := e.Tool
	s := started{name: strings.Clone(clip(t.Name, 100, f.marks.more)), input: strings.Clone(t.Input),
		quiet: writesTodos(t.Name)}
	if t.ID != "" && len(t.ID) < 256 {
		if len(f.tools) >= mostStarted { // none of them will answer
			clear(f.tools)
		}
		f.tools[strings.Clone(t.ID)] = s
	}
	if s.quiet {
		return
	}
	f.begin(toolBlock)
	f.line(cyan, under(e.Nested)+f.marks.tool+s.String())
	f.latest = t.ID
}

// writesTodos reports whether a tool's whole use is the list of things to do, which has an event of its own.
func writesTodos(name string) bool {
	return slices.Contains([]string{"todowrite", "writetodos"}, strings.ToLower(strings.ReplaceAll(name, "_", "")))
}

func (s started) String() string {
	if s.input == "" {
		return s.name
	}
	return s.name + "(" + s.input + ")"
}

// end shows a tool's answer. One that does not follow its tool at once says which use of it that was.
func (f *Formatter) end(e Event) {
	t := e.Tool
	s := f.tools[t.ID]
	delete(f.tools, t.ID)
	s.name = cmp.Or(s.name, "tool")
	if s.quiet && !t.Failed {
		return
	}
	of := s.String()
	if t.ID != "" && t.ID == f.latest {
		of = s.name
	}
	f.begin(toolBlock)
	mark, c := f.marks.ok+"Result", green
	if t.Failed {
		mark, c = f.marks.failed+"Error", red
	}
	f.line(c, fmt.Sprintf("%s%s %s %s (%s)", under(e.Nested), mark, f.marks.from, of, t.size()))
	for i, line := range f.excerpt(t.Output) {
		before := "  " + f.marks.excerpt + "  "
		if i > 0 {
			before = "     "
		}
		f.line(faint, under(e.Nested)+before+line)
	}
}

// size is how much a tool answered: "45 lines, 1234 chars".
func (t Tool) size() string {
	if t.Chars == 0 {
		return "no output"
	}
	return safetext.Count(t.Lines, "line") + ", " + safetext.Count(t.Chars, "char")
}

// excerpt is the beginning of an answer.
func (f *Formatter) excerpt(output string) []string {
	var lines []string
	left := answerRunes
	for line := range strings.SplitSeq(f.redacted(output), "\n") {
		if line = strings.TrimRight(line, " \t\r"); line == "" {
			continue
		}
		if len(lines) >= answerLines || left <= 0 {
			break
		}
		r := []rune(line)
		if len(r) > left {
			line = string(r[:left]) + f.marks.more
		}
		left -= len(r)
		lines = append(lines, line)
	}
	return lines
}
