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

func (c *closing) add(s string) {
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

// byPrefix are the lines of each of several outputs that a runner of packages has put together, without their prefixes;
// the lines without a prefix are one of them.
func byPrefix(lines []string) map[string][]string {
	own := map[string][]string{"": lines}
	for _, s := range lines {
		if before := packagePrefix.FindString(s); before != "" {
			own[before] = append(own[before], s[len(before):])
		}
	}
	return own
}

// summary is how many failed, as the summary says that stands nearest to the end. A line that nothing proves to be one
// does not stand against another runner's that reports a pass: what a test prints may come after what its runner says.
func summary(lines []string) int {
	failed, who := 0, -1
	for i := len(lines) - 1; i >= 0; i-- {
		for n, one := range runners {
			if one.near == 0 || len(lines)-1-i > one.near || n == who {
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
func (r runner) at(lines []string, i int) (runnerCounts, bool) {
	for _, end := range slices.Concat(r.ends, r.sums) {
		if t, ok := end.read(lines[i]); ok {
			near := lines[max(0, i-proofNear):min(len(lines), i+proofNear+1)]
			return t, t.known && (r.proof == nil || hasLine(near, r.proof))
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

var (
	colour = lazy(`\x1b\[[0-9;?]*[A-Za-z]`)
	// packagePrefix is what a runner of several packages puts before each line: "web:test: ", "[1] ", "packages/a test: ",
	// "web-1  | ".
	packagePrefix = lazy(`^(?:[@\w./-]+(?:[: ][\w:.-]+)?: |\[[\w@/:.-]+\] |[@\w./:-]+ +[|│] )`)
)
