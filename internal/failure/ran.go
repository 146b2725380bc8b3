package failure

import (
	"bytes"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

// Ran tells how many tests an output says were run. Several runners, and several runs of one, add up.
func Ran(output string) Tests {
	c := NewTestCounter()
	_, _ = c.Write([]byte(output))
	return c.Tests()
}

// testRunner reads the lines of one kind of test runner.
type testRunner interface {
	// line reads one line, without its end and colors, and reports whether it was this runner's.
	line(s string) bool
	// tally may be asked at any time; what is not finished counts as it stands.
	tally() runnerCounts
}

// testRunners are asked in this order; a line belongs to the first that knows it.
var testRunners = []struct {
	name string
	make func() testRunner
}{
	{"go test", func() testRunner { return &goTest{} }},
	{"pytest", func() testRunner { return &oneLiners{rules: pytestRules} }},
	{"unittest", func() testRunner { return &unittest{} }},
	{"jest", func() testRunner { return &oneLiners{rules: jestRules} }},
	{"vitest", func() testRunner { return &oneLiners{rules: vitestRules} }},
	{"mocha", func() testRunner { return &mocha{} }},
	{"TAP", func() testRunner { return &tap{} }},
	{"cargo test", func() testRunner { return &oneLiners{rules: cargoRules} }},
	{"maven", func() testRunner { return &maven{} }},
	{"gradle", func() testRunner { return &gradle{} }},
	{"rspec", func() testRunner { return &oneLiners{rules: rspecRules} }},
	{"minitest", func() testRunner { return &oneLiners{rules: minitestRules} }},
	{"phpunit", func() testRunner { return &oneLiners{rules: phpunitRules} }},
	{"dotnet test", func() testRunner { return &oneLiners{rules: dotnetRules} }},
	{"ctest", func() testRunner { return &oneLiners{rules: ctestRules} }},
	{"mix", func() testRunner { return &oneLiners{rules: mixRules} }},
	{"eunit", func() testRunner { return &oneLiners{rules: eunitRules} }},
	{"busted", func() testRunner { return &oneLiners{rules: bustedRules} }},
	{"playwright", func() testRunner { return &oneLiners{rules: playwrightRules} }},
	{"junit", func() testRunner { return &oneLiners{rules: junitRules} }},
	{proveName, func() testRunner { return &prove{} }},
}

// maxTestLine is how much of a line is looked at. Summaries are short.
const maxTestLine = 8 << 10

// TestCounter reads an output of any size as it comes, in bounded memory, and never fails.
type TestCounter struct {
	runners []testRunner
	mocha   *mocha // of the runners the one that is told of every line
	namer   testNames
	part    []byte // of the line that is not ended
	plain   []byte // a line without its colours
	end     closing
}

// NewTestCounter has read nothing.
func NewTestCounter() *TestCounter {
	c := &TestCounter{}
	for _, r := range testRunners {
		runner := r.make()
		if m, ok := runner.(*mocha); ok {
			c.mocha = m
		}
		c.runners = append(c.runners, runner)
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

// indexFrom is where the sign stands in a text, from a place on; the text's length, when it does not.
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

// line gives the line to the runner that knows it. A colored line, or one with a prefix, is known by what is left of
// it. Most lines are nobody's, and are not even handed round.
func (c *TestCounter) line(s []byte) {
	if bytes.IndexByte(s, escape) >= 0 {
		c.plain = withoutColours(c.plain[:0], s)
		s = c.plain
	}
	s = bytes.TrimRight(s, " \t")
	if len(s) == 0 {
		return
	}
	c.end.add(s)
	if mayName(s) {
		c.namer.line(string(s))
	}
	switch {
	case !mayTell(s):
		c.mocha.open = false
	case c.known(string(s)):
		return
	}
	if n := prefixLen(s); n > 0 && mayTell(s[n:]) {
		c.known(string(s[n:]))
	}
}

func (c *TestCounter) known(s string) bool {
	return slices.ContainsFunc(c.runners, func(r testRunner) bool { return r.line(s) })
}

// Tests is what has been said so far; the last line need not have ended.
func (c *TestCounter) Tests() Tests {
	c.line(c.part)
	c.part = c.part[:0]
	var all runnerCounts
	var names, why []string
	for i, r := range c.runners {
		t := r.tally()
		if testRunners[i].name == proveName && slices.Contains(names, "TAP") { // it has shown what it sums up
			continue
		}
		t.ran, t.skipped = max(t.ran, 0), max(t.skipped, 0)
		all.add(t)
		if t.known {
			names, why = append(names, testRunners[i].name), append(why, testRunners[i].name+": "+t.why())
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
