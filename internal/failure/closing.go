package failure

import (
	"slices"
	"strings"
)

// closing keeps the last lines of an output, in which a runner sums up what it did. What stands further above may be
// what a test has printed: a sample, a runner that was itself under test.
type closing struct {
	lines [closingLines][]byte // the last ones that are not blank, without colours; a ring
	n     int                  // how many there have been
}

// closingLines is how many lines are kept: a runner that lists its failures after its summary may need many.
const (
	closingLines = 200
	closingBytes = 512 // of each line
)

func (c *closing) add(s []byte) {
	at := c.n % closingLines
	c.lines[at] = append(c.lines[at][:0], s[:min(len(s), closingBytes)]...)
	c.n++
}

func (c *closing) last() []string {
	out := make([]string, 0, min(c.n, closingLines))
	for i := max(0, c.n-closingLines); i < c.n; i++ {
		out = append(out, string(c.lines[i%closingLines]))
	}
	return out
}

// endDetector knows the lines with which a runner ends.
type endDetector struct {
	rules []testRule
	near  int      // how many lines may follow
	proof *pattern // a line that stands near such a line; nil: the line is proof enough
	// session is a line of the same run, wherever it stands, by which the summary counts against another runner's.
	session *pattern
}

const (
	fewLines  = 25 // that may follow a summary: a wrapper's and make's own
	proofNear = 8
)

var closers = []endDetector{
	{rules: goClosing, near: fewLines,
		proof: lazy(`^(?:(?:FAIL|ok  )\t\S+|--- (?:FAIL|PASS): \S+ \([\d.]+s\)|PASS|DONE )`)},
	{rules: pytestRules, near: fewLines,
		session: lazy(`^=+ (?:test session starts|FAILURES|ERRORS|short test summary info) =+$`)},
	{rules: unittestClosing, near: fewLines, proof: lazy(`^Ran \d+ tests? in [\d.]+s$`)},
	{rules: jestRules, near: fewLines, proof: lazy(`^\s*Test Suites: .* total$`)},
	{rules: vitestRules, near: fewLines, proof: lazy(`^\s*Test Files  .*\(\d+\)$`)},
	{rules: mochaClosing, near: closingLines, proof: lazy(`^ +\d+ passing \(`)},
	{rules: tapClosing, near: fewLines},
	{rules: append(cargoClosing, cargoRules...), near: fewLines},
	{rules: mavenClosing, near: closingLines, proof: lazy(`^(?:\[[A-Z]+\] )?(?:Results:|Tests run: .*)$`)},
	{rules: gradleClosing, near: closingLines},
	{rules: rspecRules, near: closingLines, proof: lazy(`^Finished in .* \(files took`)},
	{rules: minitestRules, near: fewLines},
	{rules: phpunitRules, near: fewLines, proof: lazy(`^(?:FAILURES!|ERRORS!|WARNINGS!|OK.*|Time: .*)$`)},
	{rules: dotnetRules, near: fewLines},
	{rules: ctestRules, near: closingLines},
}

var closesBadly = func([]string) runnerCounts { return runnerCounts{known: true, ran: 1, failed: 1} }

var closesWell = func([]string) runnerCounts { return runnerCounts{known: true, ran: 1} }

var goClosing = []testRule{
	{"FAIL", lazy(`^FAIL(?:\t\S+(?:\t[\d.]+s| \[(?:build|setup) failed\]))?$`), closesBadly},
	{"ok  \t", goOK, closesWell},
	{"PASS", lazy(`^PASS$`), closesWell},
	{"DONE ", goSum, func(m []string) runnerCounts {
		return runnerCounts{known: true, failed: countOf(m[3]) + countOf(m[4])}
	}},
}

var unittestClosing = []testRule{
	{"FAILED (", lazy(`^FAILED \([a-z]+.*=\d+\)$`), func(m []string) runnerCounts {
		n := equalCounts(m[0])
		return runnerCounts{known: true, failed: n["failures"] + n["errors"]}
	}},
	{"OK", lazy(`^OK(?: \([a-z]+.*=\d+\))?$`), closesWell},
}

var mochaClosing = []testRule{
	{" failing", lazy(`^ +(\d{1,9}) failing$`),
		func(m []string) runnerCounts { return runnerCounts{known: true, failed: countOf(m[1])} }},
	{" passing", lazy(`^ +\d{1,9} passing \(`), closesWell},
}

var tapClosing = []testRule{
	{"Result: ", lazy(`^Result: FAIL$`), closesBadly},
	{"Result: ", lazy(`^Result: PASS$`), closesWell},
	{" failure", lazy(`^\d{1,9} tests?, (\d{1,9}) failures?(?:, \d+ [a-z ]+)*$`),
		func(m []string) runnerCounts { return runnerCounts{known: true, failed: countOf(m[1])} }},
	{" fail ", lazy(`^(?:#|ℹ) fail (\d{1,9})$`),
		func(m []string) runnerCounts { return runnerCounts{known: true, failed: countOf(m[1])} }},
}

var cargoClosing = []testRule{
	{"error: ", lazy(`^error: (?:test failed, to rerun pass|\d{1,9} targets? failed:)`), closesBadly},
}

var mavenClosing = []testRule{
	{"Tests run:", mavenSum, func(m []string) runnerCounts {
		return runnerCounts{known: true, failed: countOf(m[2]) + countOf(m[3])}
	}},
}

var gradleClosing = []testRule{
	{" tests completed", gradleCompleted, func(m []string) runnerCounts { return runnerCounts{known: true, failed: countOf(m[2])} }},
	{" test completed", gradleCompleted, func(m []string) runnerCounts { return runnerCounts{known: true, failed: countOf(m[2])} }},
}

// ignoredByMake is what make says of a recipe whose failure it passes over.
var ignoredByMake = lazy(`^g?make(?:\[\d+\])?: (?:\*\*\* )?\[.*\] Error \d+ \(ignored\)$`)

// failed is how many tests failed, as the summary nearest to the end says. all is how many failed in the whole output.
// It counts where the output is one that programs read, or tells itself that an exit code was passed over.
func (c *closing) failed(all int) int {
	lines := c.last()
	if all > 0 && (read(lines) || hasLine(lines, ignoredByMake)) {
		return all
	}
	failed := 0
	for _, own := range byPrefix(lines) {
		failed += summary(own)
	}
	return failed
}

// byPrefix are the lines of each of several outputs that a runner of packages has put together, without what tells them
// apart; the lines that nothing stands before are one of them.
func byPrefix(lines []string) map[string][]string {
	own := map[string][]string{"": lines}
	for _, s := range lines {
		if n := prefixLen([]byte(s)); n > 0 {
			own[s[:n]] = append(own[s[:n]], s[n:])
		}
	}
	return own
}

// summary is how many failed, as the summary says that stands nearest to the end. A line that nothing proves to be one
// does not stand against another runner's that tells of a pass: what a test prints may come after what its runner says.
func summary(lines []string) int {
	failed, who := 0, -1
	for i := len(lines) - 1; i >= 0; i-- {
		for n, one := range closers {
			if len(lines)-1-i > one.near || n == who {
				continue
			}
			t, ok := one.at(lines, i)
			switch {
			case !ok:
			case who < 0 && (t.failed == 0 || one.proof != nil || one.session != nil && hasLine(lines, one.session)):
				return t.failed
			case who < 0:
				failed, who = t.failed, n
			case t.failed == 0:
				return 0
			}
		}
	}
	return failed
}

// at reads the line as the runner's summary.
func (o endDetector) at(lines []string, i int) (runnerCounts, bool) {
	for _, r := range o.rules {
		if !strings.Contains(lines[i], r.has) {
			continue
		}
		if m := r.re.FindStringSubmatch(lines[i]); m != nil {
			t, near := r.read(m), lines[max(0, i-proofNear):min(len(lines), i+proofNear+1)]
			return t, t.known && (o.proof == nil || hasLine(near, o.proof))
		}
	}
	return runnerCounts{}, false
}

func hasLine(lines []string, p *pattern) bool {
	return slices.ContainsFunc(lines, func(s string) bool { return p.MatchString(s) })
}

var ofTAP = lazy(`^(?:(?:not )?ok \d+\b|\d+\.\.\d+|#|\s|TAP version \d)`)

// read reports whether the last lines are written for programs: events of go test -json, or TAP.
func read(lines []string) bool {
	if len(lines) == 0 {
		return false
	}
	if s := lines[len(lines)-1]; strings.HasPrefix(s, `{"`) && strings.Contains(s, `"Action":"`) {
		return true
	}
	points := false
	for _, s := range lines {
		if !ofTAP.MatchString(s) {
			return false
		}
		points = points || strings.HasPrefix(s, "ok ") || strings.HasPrefix(s, "not ok ")
	}
	return points
}
