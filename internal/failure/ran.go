package failure

import "strings"

// Ran tells how many tests an output says were run. Several runners, and several runs of one, add up.
func Ran(output string) Tests {
	c := NewTestCounter()
	_, _ = c.Write([]byte(output))
	return c.Tests()
}

// testRunner reads the lines of one kind of test runner.
type testRunner interface {
	// line reads one line, without its end and colours, and reports whether it was this runner's.
	line(s string) bool
	// tally may be asked at any time; what is not finished counts as it stands.
	tally() tally
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
}

// maxTestLine is how much of a line is looked at. Summaries are short.
const maxTestLine = 8 << 10

// TestCounter reads an output of any size as it comes, in bounded memory, and never fails.
type TestCounter struct {
	runners []testRunner
	part    []byte // of the line that is not ended
	end     closing
}

// NewTestCounter has read nothing.
func NewTestCounter() *TestCounter {
	c := &TestCounter{}
	for _, r := range testRunners {
		c.runners = append(c.runners, r.make())
	}
	return c
}

// Write implements io.Writer.
func (c *TestCounter) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		end := endOfLine(rest)
		c.part = append(c.part, rest[:min(end, maxTestLine-len(c.part))]...)
		if end == len(rest) {
			break
		}
		c.line()
		rest = rest[end+1:]
	}
	return len(p), nil
}

// endOfLine is where the line ends; a carriage return ends it too, since a progress bar writes over itself.
func endOfLine(p []byte) int {
	for i, b := range p {
		if b == '\n' || b == '\r' {
			return i
		}
	}
	return len(p)
}

var (
	testColour = lazy(`\x1b\[[0-9;?]*[A-Za-z]`)
	// testPrefix matches what a runner of several packages puts before each line: "web:test: ", "[1] ", "packages/a test:
	// ", "web-1  | ".
	testPrefix = lazy(`^(?:[@\w./-]+(?:[: ][\w:.-]+)?: |\[[\w@/:.-]+\] |[@\w./:-]+ +[|│] )`)
)

// line gives the line to the runner that knows it. A coloured, testPrefix line is known by what is left of it.
func (c *TestCounter) line() {
	if len(c.part) == 0 {
		return
	}
	s := string(c.part)
	c.part = c.part[:0]
	if strings.Contains(s, "\x1b") {
		s = testColour.ReplaceAllString(s, "")
	}
	s = strings.TrimRight(s, " \t")
	if s == "" {
		return
	}
	c.end.add(s)
	if c.known(s) {
		return
	}
	if !strings.Contains(s, ": ") && !strings.Contains(s, "] ") && !strings.Contains(s, "| ") &&
		!strings.Contains(s, "│ ") {
		return
	}
	if at := testPrefix.FindStringIndex(s); at != nil {
		c.known(s[at[1]:])
	}
}

func (c *TestCounter) known(s string) bool {
	for _, r := range c.runners {
		if r.line(s) {
			return true
		}
	}
	return false
}

// Tests is what has been said so far; the last line need not have ended.
func (c *TestCounter) Tests() Tests {
	c.line()
	var all tally
	var names, why []string
	for i, r := range c.runners {
		t := r.tally()
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
