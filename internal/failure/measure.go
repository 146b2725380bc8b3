package failure

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

const mostCounted = 5000 // findings that are counted, however few are kept

// Measure is what of a failure can be counted: findings, failing tests, the numbers that its lines hold against a bound
// or count what is wrong by, and the first place. check is the check's name, with why it is a failure where that is not
// the output's own; found are the findings that are kept of it, and failing is how many tests the runner says have
// failed, 0 when it does not say. nil: nothing can be counted.
func (o Output) Measure(check string, found []loop.Finding, failing int) *loop.Measure {
	var m loop.Measure
	if len(found) >= loop.MaxFindings {
		if all := o.findings(check, mostCounted); len(all) > len(found) {
			found = all
		}
	}
	tests, places := map[string]bool{}, 0
	for _, f := range found {
		if f.Test != "" {
			tests[f.Test] = true
		} else {
			places++
		}
		if f.Line > 0 && f.File != "" && (m.File == "" || f.File < m.File || f.File == m.File && f.Line < m.Line) {
			m.File, m.Line = f.File, f.Line
		}
	}
	m.Quantities = appendCount(m.Quantities, loop.FailingTests, max(failing, len(tests)))
	m.Quantities = appendCount(m.Quantities, loop.Findings, places)
	if len(found) == 0 {
		m.Quantities = appendCount(m.Quantities, loop.Places, o.places())
	}
	g := newGauges()
	g.read(o.events)
	m.Quantities = append(m.Quantities, g.all...)
	m.Quantities = m.Quantities[:min(len(m.Quantities), loop.MaxQuantities)]
	if masked := g.masked(o.lines); masked != nil {
		sum := sha256.Sum256([]byte(check + "\n" + strings.Join(telling(masked), "\n")))
		m.Kind = hex.EncodeToString(sum[:4])
	}
	if m.Kind == "" && m.Line == 0 && len(m.Quantities) == 0 {
		return nil
	}
	return &m
}

// atLine matches a line that names a line of a file in a way of its own.
var atLine = lazy(`(?i)\blines? \d+\b|^\s+\d+(?::\d+)?\s+(?:\| )?(?:error|warning|notice|info)\b|^L:\s+\d+ `)

// places counts the lines that name a place, of a tool whose findings nobody can read: the same message in two places
// is two faults and one line of a signature.
func (o Output) places() (n int) {
	for _, line := range o.events {
		named := strings.ContainsAny(line, "0123456789") && (noPlaces(line) != line || atLine.MatchString(line))
		if named && !isNoise(line) && !isWeak(line) {
			n++
		}
	}
	return n
}

func appendCount(to []loop.Quantity, name string, n int) []loop.Quantity {
	if n == 0 {
		return to
	}
	return append(to, loop.Quantity{Name: name, Value: float64(n)})
}

// gauges are the numbers that lines name, each name once.
type gauges struct {
	all []loop.Quantity
	// lines that say how much of something there is, and nothing else that would tell one failure from another
	bare map[string]bool
}

func newGauges() *gauges { return &gauges{bare: map[string]bool{}} }

// add keeps a quantity. What is counted in several places adds up; of other numbers the first stands.
func (g *gauges) add(q loop.Quantity) {
	i := slices.IndexFunc(g.all, func(known loop.Quantity) bool { return known.Name == q.Name })
	switch {
	case i < 0 && len(g.all) < loop.MaxQuantities:
		g.all = append(g.all, q)
	case i >= 0 && q.Goal == nil && !q.More && !q.Timed:
		g.all[i].Value += q.Value
	}
}

// read reads the lines of an output: first the bounds, which say more, then the counts.
func (g *gauges) read(lines []string) {
	var counts []loop.Quantity
	for i, line := range lines {
		if !measurable(line) {
			continue
		}
		line = noPlaces(line)
		nums := numbersOf(line)
		if len(nums) == 0 {
			continue
		}
		q, ok := bounded(line, nums)
		other := ""
		if !ok && len(nums) == 1 {
			q, other, ok = paired(line, nums[0], lines[i+1:])
		}
		if ok {
			g.add(q)
			g.bare[lines[i]], g.bare[other] = true, other != ""
			continue
		}
		found := countsOf(line)
		counts = append(counts, found...)
		if len(found) > 0 || tallied.MatchString(line) {
			g.bare[lines[i]] = g.bare[lines[i]] || !asserts.MatchString(line)
		}
	}
	for _, q := range counts {
		g.add(q)
	}
}

// measurable reports whether a line may name a number that measures: it has one, and is no shown source.
func measurable(line string) bool {
	return len(line) <= 400 && strings.ContainsAny(line, "0123456789") && !shownSource.MatchString(line)
}

// shownSource matches a line of source that a tool shows with its number.
var shownSource = lazy(`^\s*>?\s*\d*\s*\|`)

// masked are the lines with "#" for the numbers of those that tell a number; nil when there are none.
func (g *gauges) masked(lines []string) []string {
	if len(g.bare) == 0 {
		return nil
	}
	out, any := slices.Clone(lines), false
	for i, line := range out {
		switch {
		case g.bare[line]:
			out[i], any = name(line, numbersOf(line)), true
		case line != "" && dots.MatchString(line):
			out[i] = ""
		}
	}
	if !any {
		return nil
	}
	return out
}
