package failure

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

const mostGauged = 300 // lines with numbers that are examined, from the beginning and from the end of an output each

// Measure is what of a failure can be counted: findings, failing tests, the numbers that its lines hold against a bound
// or count what is wrong by, and the first place. check is the check's name, with why it is a failure where that is not
// the output's own; found are the findings that are kept of it, failing is how many tests the runner says have failed, 0
// when it does not say, and source are lines of files, trimmed, which tell nothing where the output shows them. nil:
// nothing can be counted.
func (o Output) Measure(check string, found []loop.Finding, failing int, source map[string]bool) *loop.Measure {
	var m loop.Measure
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
	if places == loop.MaxFindings { // no more are kept
		places = max(places, o.places())
	}
	m.Quantities = appendCount(m.Quantities, loop.Findings, places)
	if len(found) == 0 {
		m.Quantities = appendCount(m.Quantities, loop.Places, o.places())
	}
	g := newGauges()
	g.read(o.events)
	m.Quantities = append(m.Quantities, g.all...)
	m.Quantities = m.Quantities[:min(len(m.Quantities), loop.MaxQuantities)]
	kind := g.masked(o.told())
	switch {
	case kind != nil:
	case len(found) > 0:
		for _, f := range found {
			kind = append(kind, strings.Join([]string{f.Test, f.File, f.Rule, normalize(f.Message, nil)}, "\x00"))
			if f.Test != "" { // it may be named by several places
				kind[len(kind)-1] = f.Test + "\x00" + normalize(f.Message, nil)
			}
		}
		slices.Sort(kind)
		kind = slices.Compact(kind)
	case len(source) > 0:
		if lines := without(o.lines, func(line string) bool { return source[strings.TrimSpace(shownAs.ReplaceAllString(line, ""))] }); len(lines) < len(o.lines) {
			kind = distinctiveLines(lines)
		}
	}
	if kind != nil {
		sum := sha256.Sum256([]byte(check + "\n" + strings.Join(kind, "\n")))
		m.Kind = hex.EncodeToString(sum[:4])
	}
	if m.Kind == "" && m.Line == 0 && len(m.Quantities) == 0 {
		return nil
	}
	return &m
}

// shownAs matches what a tool puts before a line of source that it shows.
var shownAs = lazy(`^\s*(?:>|->|=>)?\s*\d*\s*[|│┃:]?`)

// atLine matches a line that names a line of a file in a way of its own.
var atLine = lazy(`(?i)\blines? \d+\b|^\s+\d+(?::\d+)?\s+(?:\| )?(?:error|warning|notice|info)\b|^L:\s+\d+ `)

// places counts the lines that name a place, of a tool whose findings no one can read: the same message in two places
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

// measurements are the numbers that lines name, each name once.
type measurements struct {
	all    []loop.Quantity
	counts []loop.Quantity
	others map[string]bool // the names of lines that have the second number of a bound
}

func newGauges() *measurements { return &measurements{others: map[string]bool{}} }

// add keeps a quantity. What is counted in several places adds up; of other numbers the first stands.
func (g *measurements) add(q loop.Quantity) {
	i := slices.IndexFunc(g.all, func(known loop.Quantity) bool { return known.Name == q.Name })
	switch {
	case i < 0 && len(g.all) < loop.MaxQuantities:
		g.all = append(g.all, q)
	case i >= 0 && q.Goal == nil && !q.More && !q.Timed:
		g.all[i].Value += q.Value
	}
}

// read reads the lines of an output: bounds come first, which say more than counts.
func (g *measurements) read(lines []string) {
	var at []int
	wrong := 0
	for i, line := range lines {
		if measurable(line) {
			at = append(at, i)
		} else if line = strings.TrimSpace(line); dots.MatchString(line) {
			wrong += len(wrongMarks.FindAllString(line, -1))
		}
	}
	if n := len(at); n > 2*mostGauged {
		at = slices.Delete(at, mostGauged, n-mostGauged)
	}
	for _, i := range at {
		line := noPlaces(lines[i])
		nums := numbersOf(line)
		b, ok := boundOf(line, nums)
		if !ok && len(nums) == 1 {
			b, ok = paired(line, nums[0], lines[i+1:])
		}
		if ok {
			g.add(b.quantity)
		}
		if b.other != "" {
			g.others[named(line)], g.others[named(b.other)] = true, true
		}
		if !ok && len(nums) > 0 {
			found, _ := countsOf(line)
			g.counts = append(g.counts, found...)
		}
	}
	bounds := len(g.all)
	for _, q := range appendCount(g.counts, "marked items", wrong) {
		g.add(q)
	}
	g.counts = g.all[bounds:]
}

// named is a line with "…" for all its numbers.
func named(line string) string { return name(line, numbersOf(line)) }

// measurable reports whether a line may name a number that measures: it has one, and is no shown source.
func measurable(line string) bool {
	return len(line) <= 400 && strings.ContainsAny(line, "0123456789") && !shownSource.MatchString(line)
}

// shownSource matches a line of source that a tool shows with its number.
var shownSource = lazy(`^\s*>?\s*\d*\s*\|`)

// masked are lines without the numbers that are measured or say how much of something there is; nil when there are
// none.
func (g *measurements) masked(lines []string) []string {
	out, any := slices.Clone(lines), false
	for i, line := range out {
		if line != "" && dots.MatchString(line) {
			out[i], any = "", true
		} else if text := g.mask(line); measurable(line) && text != "" {
			out[i], any = text, true
		}
	}
	if !any {
		return nil
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(line string) bool { return line == "" })
}

func (g *measurements) has(name string) bool {
	return slices.ContainsFunc(g.all, func(q loop.Quantity) bool { return q.Name == name })
}

// mask is a line without such numbers; empty: it has none.
func (g *measurements) mask(line string) string {
	nums := numbersOf(line)
	if len(nums) == 0 {
		return ""
	}
	if b, ok := boundOf(line, nums); ok && g.has(b.quantity.Name) { // else the line has lost what is measured
		return name(line, b.in)
	}
	if g.others[named(line)] {
		return named(line)
	}
	_, at := countsOf(line)
	at = append(at, tallies(line)...)
	switch {
	case asserts.MatchString(line):
		return ""
	case len(at) > 0:
		return name(line, at)
	case len(g.all) > len(g.counts) && detail.MatchString(line): // what a bound says in all
		return named(line)
	}
	return ""
}
