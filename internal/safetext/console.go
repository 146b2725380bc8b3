package safetext

import (
	"io"
	"strings"
	"sync"
	"unicode"
)

// Console makes every text inert on its way to a terminal or a log, as Inert does with a line, however the text is
// parted into writes. It is the one place that all which is printed goes through, so that no one who prints a title, a
// finding or a commit's message has to think of it. It is safe for concurrent use.
type Console struct {
	stand  *lineState
	colors bool
}

// lineState is what a console has written of the line that it is in.
type lineState struct {
	mu   sync.Mutex
	to   io.Writer
	also io.Writer // gets the same; nil: no one does
	part string    // the beginning of a character
	last string    // what a command of the runner could begin with: of the line, its last two characters that are no marks
}

// NewConsole makes one that writes to to.
func NewConsole(to io.Writer) *Console { return &Console{stand: &lineState{to: to}} }

// Raw is what a console writes to, and any other writer as it is: for those who draw on a terminal, or speak to a
// runner, and print no one else's text.
func Raw(w io.Writer) io.Writer {
	if c, ok := w.(*Console); ok {
		c.stand.mu.Lock()
		defer c.stand.mu.Unlock()
		return c.stand.to
	}
	return w
}

// Colored is the same console for lines that were made inert and then colored: colors pass it, and nothing else that
// another console stops.
func Colored(w io.Writer) io.Writer {
	if c, ok := w.(*Console); ok {
		return &Console{stand: c.stand, colors: true}
	}
	return w
}

var color = lazy(`\x1b\[[0-9]{1,2}m`)

// Write implements io.Writer.
func (c *Console) Write(p []byte) (int, error) {
	s := c.stand
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.part + string(p)
	whole := WholeEnd(text)
	s.part = text[len(whole):]
	var out strings.Builder
	for line := range strings.Lines(whole) {
		words, ended := strings.CutSuffix(line, "\n")
		c.line(&out, words)
		if ended {
			out.WriteByte('\n')
			s.last = ""
		}
	}
	if s.also != nil {
		_, _ = io.WriteString(s.also, out.String()) // what is printed does not depend on who else reads it
	}
	if _, err := io.WriteString(s.to, out.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Also has everything that a console prints from here on written to another writer, too. It reports whether w is a
// console; nothing happens with any other.
func Also(w, to io.Writer) bool {
	c, ok := w.(*Console)
	if !ok {
		return false
	}
	c.stand.mu.Lock()
	defer c.stand.mu.Unlock()
	c.stand.also = to
	return true
}

// Redirect has a console, and every other that was made of it, write to another writer from here on. back undoes that.
// With any writer that is no console nothing happens.
func Redirect(w, to io.Writer) (back func()) {
	c, ok := w.(*Console)
	if !ok {
		return func() {}
	}
	set := func(to io.Writer) (before io.Writer) {
		c.stand.mu.Lock()
		defer c.stand.mu.Unlock()
		before, c.stand.to = c.stand.to, to
		return before
	}
	before := set(to)
	return func() { set(before) }
}

// Break says that what is written next begins a line.
func (c *Console) Break() {
	c.stand.mu.Lock()
	defer c.stand.mu.Unlock()
	c.stand.last = ""
}

// line writes a part of one line.
func (c *Console) line(out *strings.Builder, text string) {
	for c.colors {
		at := color.FindStringIndex(text)
		if at == nil {
			break
		}
		c.stand.words(out, text[:at[0]])
		out.WriteString(text[at[0]:at[1]])
		text = text[at[1]:]
	}
	c.stand.words(out, text)
}

// words writes words as Inert does, which sees them behind what their line has already.
func (s *lineState) words(out *strings.Builder, text string) {
	line := strings.TrimPrefix(Inert(s.last+text), s.last)
	out.WriteString(line)
	s.last = lastOf(s.last + line)
}

// lastOf is the end of a line as far as it may become a command: nothing while the line is blank, a colon when it is
// all that there is, and otherwise two characters behind one that keeps them from beginning the line.
func lastOf(line string) string {
	seen := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.M, r) {
			return -1
		}
		return r
	}, line)
	seen = strings.TrimLeftFunc(seen, unicode.IsSpace)
	if seen == "" || seen == ":" {
		return seen
	}
	return "x" + LastRunes(strings.TrimPrefix(seen, "x"), 2)
}
