// Package failure reads what failing tools print: the places and tests that it names, what it says is missing, and the
// signature by which the same failure is known again.
package failure

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/loop"
)

// Read cleans an output.
func Read(output string) Output {
	lines := clean(output)
	told := sync.OnceValue(func() []string { return distinctiveLines(lines) })
	return Output{lines: lines, events: goEvents(lines), told: told}
}

// Findings are the places and tests that an output names, in its order, each once, at most loop.MaxFindings: first what
// readers of a known tool's own format find, then whatever else looks like "file:line: message". An absolute path, or one that leads up and out of the directory,
// keeps only its last name: a caller that knows the directory removes it first.
func (o Output) Findings() []loop.Finding {
	found := newFindings()
	for _, read := range readers {
		read(o.events, found)
	}
	readPlaces(o.events, found)
	return found.all
}

// MissingNames are what a failure says is missing, as it says it: modules, symbols and files; at most five, each once,
// in the order of the output. It is empty for a failure that names none: an ordinary assertion.
func (o Output) MissingNames() []string { return missingNames(o.events) }

// Explain is the text that Signature hashes: the lines that tell this failure from others.
func (o Output) Explain() string { return strings.Join(o.told(), "\n") }

// Signature is the hash of a failure, eight hexadecimal digits: of the check that failed and of what Explain keeps of
// its output. The same failure hashes the same wherever and whenever it happens; another one differs.
func (o Output) Signature(check string) string {
	sum := sha256.Sum256([]byte(check + "\n" + o.Explain()))
	return hex.EncodeToString(sum[:4])
}

// Signature is that of an output of which nothing else is asked.
func Signature(check, output string) string { return Read(output).Signature(check) }

// readers read what one tool prints.
var readers = []func([]string, *findings){
	readGoTest, readPytest, readTraceback, readJavaScriptTests, readMocha, readTAP, readCargo, readTools,
}

// Output is what a failed tool has printed, read once: all its methods need the same cleaned lines, and cleaning is
// much of the work.
type Output struct {
	lines  []string // cleaned
	events []string // the same, with the text of go test's JSON events in the place of these
	told   func() []string
}

// distinctiveLines are the lines that tell a failure from others, each without what changes from run to run, each once, sorted.
func distinctiveLines(lines []string) []string {
	kept := lines
	for _, pass := range passes {
		kept = pass(kept)
	}
	tops := topsOf(kept)
	said := normalizeAll(kept, tops, isNoise)
	told := without(said, func(line string) bool { return isWeak(line) || isChatter(line) })
	for _, less := range []func(string) bool{isChatter, isWeak} {
		if len(told) == 0 {
			told = without(said, less)
		}
	}
	if len(told) == 0 {
		told = said
	}
	if len(told) == 0 { // nothing but what usually says nothing: then it is all there is
		told = normalizeAll(lines, tops, func(string) bool { return false })
	}
	return told
}

// passes take out what several lines say together. Each sees what those before have left.
var passes = []func([]string) []string{
	hunks, asides, sanitizers, wrapped, verdicts, goEvents, bats, pytest, vitest,
	typeScript, warnings, excerpts, numbered, frames,
}

// normalizeAll normalizes lines that are no noise, before or after, each different one once, and sorts them.
func normalizeAll(lines []string, tops map[string]bool, noise func(string) bool) []string {
	seen := make(map[string]bool, len(lines))
	var told []string
	for _, line := range lines {
		line = unglued(strings.TrimSpace(line))
		if seen[line] {
			continue
		}
		seen[line] = true
		if noise(line) {
			continue
		}
		settled := normalize(line, tops)
		if settled == "" || seen[settled] && settled != line || settled != line && noise(settled) {
			continue
		}
		seen[settled] = true
		told = append(told, settled)
	}
	slices.Sort(told)
	return slices.Compact(told)
}
