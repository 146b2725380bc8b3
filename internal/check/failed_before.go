package check

import (
	"path"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// failedBefore is what earlier verdicts say of tests that failed.
type failedBefore struct {
	tests []string        // names, as tools write them
	files map[string]bool // of findings that name no test
	lines []string        // of outputs, that tell of a failure
}

var (
	tellsFailure = lazy(`(?i)\bfail(?:ed|ure|s)?\b|\berror\b|not ok\b|panicked|[✕✗✖×●]`)
	tellsSuccess = lazy(`\bPASS(?:ED)?\b|--- SKIP|^\s*ok\b|[✓✔√]`)
)

// failures gathers the tests that failed on the base commit and earlier in this run.
func failures(at Input) failedBefore {
	f := failedBefore{files: map[string]bool{}}
	for _, v := range earlier(at) {
		if v.Pass || v.Skipped != "" || v.Check == WeakenedCheck || v.Check == baseTestsCheck ||
			v.Check == UnfinishedCheck {
			continue
		}
		for _, found := range v.Findings {
			if found.Test != "" {
				f.tests = append(f.tests, found.Test)
			} else if found.File != "" {
				f.files[path.Clean(found.File)] = true
			}
		}
		for text := range strings.Lines(v.Output) {
			text = clipped(safetext.Inert(text))
			if tellsFailure.MatchString(text) && !tellsSuccess.MatchString(text) {
				f.lines = append(f.lines, text)
			}
		}
	}
	return f
}

// has reports whether a test that was weakened is one of those that failed.
func (f failedBefore) has(file, test string) bool {
	if f.files[file] {
		return true
	}
	names := []string{test, strings.ReplaceAll(test, " ", "_")} // as go test writes a case
	for _, name := range names {
		for _, said := range f.tests {
			if holdsWord(said, name) {
				return true
			}
		}
		for _, said := range f.lines {
			if holdsWord(said, name) {
				return true
			}
		}
	}
	return false
}

const clippedBytes = 4 << 10

// clipped shortens a line that is looked at; nobody writes longer ones.
func clipped(text string) string { return text[:min(len(text), clippedBytes)] }

// holdsWord reports whether a name stands in a text, not as a part of a longer one. A name of two letters or less is no
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
