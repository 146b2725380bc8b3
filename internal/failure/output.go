package failure

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/loop"
)

// Output is what a failed tool has printed, read once: whatever is asked of it needs the same cleaned lines, and
// cleaning is a great part of the work.
type Output struct {
	lines  []string // cleaned
	events []string // the same, with the text of go test's JSON events in the place of these
	told   func() []string
}

// Read cleans an output.
func Read(output string) Output {
	lines := clean(output)
	told := sync.OnceValue(func() []string { return distinctiveLines(lines) })
	return Output{lines: lines, events: goEvents(lines), told: told}
}

// Findings are the places and tests that an output names, in its order, each once, at most loop.MaxFindings: first what
// readers of a known tool's own format find, then whatever else looks like "file:line: message". check is the check's
// name; it may name the linter whose format to read. An absolute path, or one that leads up and out of the directory,
// keeps only its last name: whoever knows the directory takes it off before.
func (o Output) Findings(check string) []loop.Finding {
	found := newFindings()
	for _, read := range readers {
		read(o.events, found)
	}
	readPlaces(check, o.events, found)
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
