package stream

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

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
	if s.name == "" {
		s.name = cmp.Or(clip(t.Name, 100, f.marks.more), "tool")
	}
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
	switch {
	case t.Chars == 0:
		return "no output"
	case t.Lines == 0: // of an answer that was too long to be read
		return safetext.Count(t.Chars, "char")
	}
	return safetext.Count(t.Lines, "line") + ", " + safetext.Count(t.Chars, "char")
}

// excerpt is the beginning of an answer.
func (f *Formatter) excerpt(output string) []string {
	var lines []string
	left := f.options.MaxOutputChars
	for line := range strings.SplitSeq(f.redacted(output), "\n") {
		if line = strings.TrimRight(line, " \t\r"); line == "" {
			continue
		}
		if len(lines) >= f.options.MaxOutputLines || left <= 0 {
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
