package failure

import (
	"fmt"
	"strconv"
)

// Tests is what an output says about the tests that were run. A command may exit with 0 and have tested nothing: "no
// tests to run", or all of them skipped.
type Tests struct {
	Ran     int // those that really ran, well or not; a test with subtests counts as its subtests
	Skipped int // found and not run: skipped, ignored, disabled, pending
	Failed  int // of those that ran, and errors around them
	Closing int // of those, what the summary at the end tells of: what is above it may be a test's own output
	// AtLeast says that more may have run than Ran: "go test" without -v names packages only.
	AtLeast bool
	// Known is false when no runner that is known here has spoken, or none that tells whether any test ran. Everything
	// else is then 0.
	Known  bool
	Runner string // who spoke: "go test", "go test, jest"
	// Said is why none ran, in a few words of ours: "go test: no test files; jest: all 3 skipped". Empty when some ran.
	Said string
}

// runnerCounts is what one runner has said so far.
type runnerCounts struct {
	ran, skipped, failed int
	atLeast              bool
	known                bool   // it said how many tests ran, or that some or none did
	unsure               bool   // tests may have run that it said nothing about
	said                 string // why none ran; empty: the numbers tell
}

func (t *runnerCounts) add(o runnerCounts) {
	t.ran, t.skipped, t.failed = t.ran+o.ran, t.skipped+o.skipped, t.failed+o.failed
	t.atLeast, t.known, t.unsure = t.atLeast || o.atLeast, t.known || o.known, t.unsure || o.unsure
	if o.said != "" {
		t.said = o.said
	}
}

func (t runnerCounts) why() string {
	switch {
	case t.skipped == 1:
		return "the only one is skipped"
	case t.skipped > 1:
		return fmt.Sprintf("all %d skipped", t.skipped)
	case t.said != "":
		return t.said
	}
	return "0 tests"
}

// countOf reads digits; none is 0.
func countOf(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}
