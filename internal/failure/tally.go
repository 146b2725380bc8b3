package failure

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Tests is what an output says about the tests that were run. A command may exit with 0 and have tested nothing: "no
// tests to run", or all of them skipped.
type Tests struct {
	Ran     int // those that really ran, well or not; a test with subtests counts as its subtests
	Skipped int // found and not run: skipped, ignored, disabled, pending
	Failed  int // of those that ran, and errors around them
	Closing int // of those, the ones in the summary at the end: what is above it may be a test's own output
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

// testOutcome is what one test counts, by how it ended: 'p', 'f' or 's'.
func testOutcome(how byte) runnerCounts {
	switch how {
	case 's':
		return runnerCounts{known: true, skipped: 1}
	case 'f':
		return runnerCounts{known: true, ran: 1, failed: 1}
	}
	return runnerCounts{known: true, ran: 1}
}

// sumLine is a line that reports a run by itself. Its pattern's groups say what they count: "total" (the skipped ones
// among them), "passed", "failed", "errors" (around the tests), "skipped", each with digits behind it when there are
// several, or "counts" for a list of numbers with their words. A word in the place of a number is one.
type sumLine struct {
	pattern *pattern
	said    string // why none ran; empty: the numbers tell
}

// sum is a line with {total} and the like in the places of numbers.
func sum(text string) sumLine { return none(text, "") }

// none is a line that reports that no test ran.
func none(text, said string) sumLine {
	for _, name := range strings.Fields("total total2 passed failed failed2 errors skipped skipped2") {
		text = strings.ReplaceAll(text, "{"+name+"}", `(?<`+name+`>\d{1,9})`)
	}
	return sumLine{lazy(text), said}
}

// countWords are by the words of runners what they count.
var countWords = map[string]string{
	"passed": "passed", "xfailed": "passed", "xpassed": "passed", "expected": "passed",
	"failed": "failed", "failures": "failed", "error": "errors", "errors": "errors",
	"skipped": "skipped", "todo": "skipped", "pending": "skipped", "incomplete": "skipped", "excluded": "skipped",
	"invalid": "skipped", "deselected": "deselected",
}

var countPair = lazy(`(\d{1,9}) ([a-z]+)|([A-Za-z][A-Za-z ]*)[:=] ?(\d{1,9})`)

// read reads a line; ok is false when it is another one.
func (l sumLine) read(line string) (t runnerCounts, ok bool) {
	m := l.pattern.FindStringSubmatch(line)
	if m == nil {
		return t, false
	}
	n, whole := map[string]int{}, false
	groups := l.pattern.Regexp().SubexpNames()
	t.known = !slices.ContainsFunc(groups, func(group string) bool { return group != "" })
	for i, group := range groups {
		if group == "counts" {
			for _, pair := range countPair.FindAllStringSubmatch(m[i], -1) {
				n[countWords[strings.ToLower(pair[2]+pair[3])]] += number(pair[1] + pair[4])
			}
		} else if group = strings.TrimRight(group, "123"); m[i] != "" && strings.Trim(m[i], "0123456789") != "" {
			n[group]++
		} else {
			n[group] += number(m[i])
		}
		whole = whole || group == "total"
		t.known = t.known || m[i] != "" && group != "" && group != "skipped"
	}
	t.skipped, t.failed, t.said = n["skipped"], n["failed"]+n["errors"], l.said
	if t.ran = n["passed"] + n["failed"]; whole {
		t.ran = n["total"] - n["skipped"]
	}
	if n["deselected"] > 0 {
		t.said = strconv.Itoa(n["deselected"]) + " deselected"
	}
	return t, true
}

// testRunner reads the lines of one kind of test runner.
type testRunner interface {
	// line reads one line, without its end and colors, and reports whether it was this runner's.
	line(s string) bool
	// tally may be asked at any time; what is not finished counts as it is.
	tally() runnerCounts
}
