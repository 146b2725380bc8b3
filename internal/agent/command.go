package agent

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/stream"
)

// command is any program: the prompt on standard input, text out. The one who names it decides what it needs, so it
// gets every credential that the harness was given for agents.
var command = dialect{
	name:        "the agent",
	keys:        []string{"*"},
	arguments:   func(*turnInput) []string { return nil },
	environment: func(Options) []string { return nil },
	gateway:     &gatewayConfig{commandCarry, commandReach, nil},
	decode:      stream.NewPlain,
}

// withoutEcho cuts the prompt out of an output, wherever it stands in it word for word. When the beginning of the
// output is missing, it may begin within the prompt.
func withoutEcho(said, prompt string, beheaded bool) string {
	said, prompt = strings.ReplaceAll(said, "\r\n", "\n"), strings.TrimSpace(strings.ReplaceAll(prompt, "\r\n", "\n"))
	// no tag in it could be taken for a claim, and a short one is a part of many words
	if !strings.Contains(prompt, "</") {
		return said
	}
	if beheaded {
		said = said[overlap(prompt, said):]
	}
	return strings.ReplaceAll(said, prompt, "")
}

// overlap is the length of the longest beginning of b that is an end of a. It takes time in proportion to their lengths
// (Knuth, Morris and Pratt), since both may be large and repetitive.
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
