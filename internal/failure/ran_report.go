package failure

import (
	"bytes"

	"github.com/ralph-loop/ralph/internal/loop"
)

// RanReport tells how many tests a report says were run. Only JUnit XML and the events of go test -json tell; of
// anything else, nothing is known. Of XML that is broken off, what was read counts.
func RanReport(content []byte) Tests {
	if bytes.HasPrefix(bytes.TrimSpace(content), []byte("{")) {
		return Ran(string(content))
	}
	var sum runnerCounts
	begun, _ := testCases(content, func(_ loop.Finding, how byte, _ []loop.Finding) {
		sum.add(testOutcome(map[byte]string{'s': "skip", 'f': "fail"}[how]))
	})
	if !begun {
		return Tests{}
	}
	tests := Tests{Runner: "JUnit report", Known: true, Ran: sum.ran, Skipped: sum.skipped, Failed: sum.failed}
	if tests.Ran == 0 {
		tests.Said = "JUnit report: " + sum.why()
	}
	return tests
}

// NamesOfReport are the tests that a report of JUnit XML names; nil when there are none.
func NamesOfReport(content []byte) *loop.TestNames {
	var n testNames
	_, _ = testCases(content, func(test loop.Finding, how byte, _ []loop.Finding) { n.add(test.Test, how) })
	return n.names()
}
