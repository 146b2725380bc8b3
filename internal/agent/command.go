package agent

import (
	"fmt"
	"io"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// command is any program: the prompt on standard input, text out. The one who names it decides what it needs, so it gets every
// credential that the harness was given for agents.
var command = dialect{
	keys:        []string{"*"},
	arguments:   func(Options) []string { return nil },
	environment: func(Options) []string { return nil },
	read: func(t *talk) reader {
		r := &commandReader{talk: t, tail: proc.NewTail(0, messageBytes)}
		r.Writer = io.MultiWriter(r.tail, beat{t.pulse}, t.console.stdout())
		return r
	},
}

// messageBytes is how much of a command's output is its message.
const messageBytes = 1 << 20

type commandReader struct {
	io.Writer
	talk *talk
	tail *proc.Tail
}

func (r *commandReader) settled() bool { return false }

func (r *commandReader) turn(end proc.Result, stderr string) loop.Turn {
	said := withoutEcho(r.tail.String(), r.talk.prompt, r.tail.Len() > messageBytes)
	t := loop.Turn{Class: loop.OK, Text: strings.TrimSpace(said)}
	t.Claim, _ = loop.ReadClaim(said, r.talk.Completion)
	switch {
	case end.Exit != 0:
		last := lastLine(stderr)
		if last == "" {
			last = lastLine(said)
		}
		t.Class = loop.Broke
		t.Reason = because(fmt.Sprintf("the agent ended with exit code %d: see its log", end.Exit), last)
	case t.Text == "":
		t.Class = loop.Empty
		t.Reason = "the agent said nothing: see that it reads its prompt from standard input and answers on standard output"
	}
	return t
}

// withoutEcho cuts the prompt out of an output, wherever it stands in it word for word. When the beginning of the output is missing,
// it may begin within the prompt.
func withoutEcho(said, prompt string, beheaded bool) string {
	said, prompt = strings.ReplaceAll(said, "\r\n", "\n"), strings.TrimSpace(strings.ReplaceAll(prompt, "\r\n", "\n"))
	if prompt == "" {
		return said
	}
	if beheaded {
		_, said, _ = strings.Cut(said, "truncated ...]\n")
		said = said[overlap(prompt, said):]
	}
	return strings.ReplaceAll(said, prompt, "")
}

// overlap is the length of the longest beginning of b that is an end of a. It takes time in proportion to their lengths (Knuth, Morris
// and Pratt), since both may be large and repetitive.
func overlap(a, b string) int {
	b = b[:min(len(a), len(b))]
	back := make([]int32, len(b)+1) // back[i]: the longest beginning of b[:i], shorter than it, that is its end
	step := func(matched int, c byte) int {
		for matched > 0 && (matched == len(b) || b[matched] != c) {
			matched = int(back[matched])
		}
		if matched < len(b) && b[matched] == c {
			matched++
		}
		return matched
	}
	for i, matched := 1, 0; i < len(b); i++ {
		matched = step(matched, b[i])
		back[i+1] = int32(matched)
	}
	matched := 0
	for i := range len(a) {
		matched = step(matched, a[i])
	}
	return matched
}
