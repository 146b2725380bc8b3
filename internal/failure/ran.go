package failure

import (
	"bytes"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

// maxTestLine is how much of a line is examined. Summaries are short.
const maxTestLine = 8 << 10

// TestCounter reads an output of any size as it comes, in bounded memory, and never fails.
type TestCounter struct {
	runners []testRunner
	namer   testNames
	part    []byte // of the line that is not ended
	end     closing
}

// NewTestCounter has read nothing.
func NewTestCounter() *TestCounter {
	c := &TestCounter{}
	for _, r := range runners {
		if r.reads != nil {
			c.runners = append(c.runners, r.reads())
		} else {
			c.runners = append(c.runners, &sumReader{sums: r.sums})
		}
	}
	return c
}

// Write implements io.Writer. A carriage return ends a line too, since a progress bar writes over itself.
func (c *TestCounter) Write(p []byte) (int, error) {
	feed, back := indexFrom(p, 0, '\n'), indexFrom(p, 0, '\r')
	for begin := 0; begin < len(p); {
		end := min(feed, back)
		if end == len(p) {
			c.keep(p[begin:])
			break
		}
		line := p[begin:end]
		if len(c.part) > 0 {
			c.keep(line)
			line = c.part
		}
		c.line(line[:min(len(line), maxTestLine)])
		c.part = c.part[:0]
		begin = end + 1
		if end == feed {
			feed = indexFrom(p, begin, '\n')
		} else {
			back = indexFrom(p, begin, '\r')
		}
	}
	return len(p), nil
}

// indexFrom is where the sign is in a text, from a place on; the text's length, when it does not.
func indexFrom(p []byte, from int, sign byte) int {
	if i := bytes.IndexByte(p[from:], sign); i >= 0 {
		return from + i
	}
	return len(p)
}

// keep keeps what there is of a line that has not ended.
func (c *TestCounter) keep(part []byte) {
	c.part = append(c.part, part[:min(len(part), maxTestLine-len(c.part))]...)
}

// line gives the line to the runner that knows it. A colored line, or one with a prefix, is known by what is left of it.
func (c *TestCounter) line(s []byte) {
	line := strings.TrimRight(colour.ReplaceAllString(string(s), ""), " \t")
	if line == "" {
		return
	}
	c.end.add(line)
	if len(line) <= 4*mostMessage || line[0] == '{' {
		c.namer.line(line)
	}
	if c.known(line) {
		return
	}
	if before := packagePrefix.FindString(line); before != "" && before != line {
		c.known(line[len(before):])
	}
}

func (c *TestCounter) known(s string) bool {
	sums := anySum().MatchString(s)
	return slices.ContainsFunc(c.runners, func(r testRunner) bool {
		_, onlySums := r.(*sumReader)
		return (sums || !onlySums) && r.line(s)
	})
}

// Tests is what has been said so far; the last line need not have ended.
func (c *TestCounter) Tests() Tests {
	c.line(c.part)
	c.part = c.part[:0]
	var all runnerCounts
	var names, why []string
	for i, r := range c.runners {
		t := r.tally()
		if runners[i].name == proveName && slices.Contains(names, "TAP") { // it has shown what it sums up
			continue
		}
		t.ran, t.skipped = max(t.ran, 0), max(t.skipped, 0)
		all.add(t)
		if t.known {
			names, why = append(names, runners[i].name), append(why, runners[i].name+": "+t.why())
		}
	}
	if !all.known || all.ran == 0 && all.unsure {
		return Tests{}
	}
	tests := Tests{
		Ran: all.ran, Skipped: all.skipped, Failed: all.failed, AtLeast: all.atLeast || all.unsure, Known: true,
		Runner: strings.Join(names, ", "), Closing: c.end.failed(all.failed),
	}
	if tests.Ran == 0 {
		tests.Said = strings.Join(why, "; ")
	}
	return tests
}

// Names are the tests that were named so far, with how they ended; nil when none were.
func (c *TestCounter) Names() *loop.TestNames {
	c.line(c.part)
	c.part = c.part[:0]
	return c.namer.names()
}
