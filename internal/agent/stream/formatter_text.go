package stream

import (
	"bytes"
	"strings"
)

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
		f.flush()
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
		f.flush()
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
		f.line(noColour, "")
	}
	f.text.space, f.spoke = false, true
	f.line(noColour, under(f.text.nested)+line)
}

// flush shows what has no end yet, because something else follows.
func (f *Formatter) flush() {
	if len(bytes.TrimSpace(f.text.line)) > 0 {
		f.whole()
	}
	f.text = speech{line: f.text.line[:0]}
}
