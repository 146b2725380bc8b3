package check

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

const clippedBytes = 4 << 10

// clipped shortens a line that is examined; no one writes longer ones.
func clipped(text string) string { return text[:min(len(text), clippedBytes)] }

// holdsWord reports whether a name is in a text, not as a part of a longer one. A name of two letters or less is no
// evidence.
func holdsWord(text, name string) bool {
	if len(name) < 3 {
		return text == name
	}
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		begin := from + i
		end := begin + len(name)
		if (begin == 0 || !wordByte(text[begin-1])) && (end == len(text) || !wordByte(text[end])) {
			return true
		}
		from = begin + 1
	}
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// earlier are the verdicts of the base commit and of all iterations but this one.
func earlier(at Input) (verdicts []loop.Verdict) {
	verdicts = append(verdicts, at.State.Baseline...)
	for _, it := range at.State.Iterations {
		if it.N != at.Iteration.N {
			verdicts = append(verdicts, it.Verdicts...)
		}
	}
	return verdicts
}
