package failure

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

const mostGauged = 300 // lines with numbers that are examined, from the beginning and from the end of an output each

// Measure returns what can be counted in a failure: findings, failing tests, the numbers that its lines hold against a
// bound or count what is wrong by, and the first place. check is the check's name, with why it is a failure where that
// is not the output's own; found are the findings that are kept of it, failing is how many tests the runner says have
// failed, 0 when it does not say, and source are lines of files, trimmed, which are ignored where the output shows
// them. nil: nothing can be counted.
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

// masked are lines without the numbers that are measured or say how much of something there is; nil without any.
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
	if b, ok := boundOf(line, nums); ok && g.has(b.quantity.Name) { // otherwise the line has lost what is measured
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

// bounds are words for what a number is held against.
const bounds = `exceed(?:s|ed|ing)?|at (?:least|most)|below|above|threshold|limit|minimum|maximum|fail[-_]under|budget`

var (
	// directs matches what says that a number is held against another one, and not that both should be equal: where they
	// should, one number tells a failure from another.
	directs = lazy(`(?i)>=|<=|[≥≤]|(?:^|[^-=<>])[<>]\s*-?\d|\s[<>]=?\s|\(\d+/\d+\)|\b(?:under|over|within|max|min):? -?\d|\b(?:` + bounds +
		`|(?:less|greater|more|fewer|lower|higher|larger|smaller|longer|slower) than` +
		`|not (?:met|reached))\b`)
	// isGoal matches what is before the number that another is held against, isValue what is before that other.
	isGoal = lazy(`(?i)[<>≥≤]|^/$|\b(?:` + bounds +
		`|under|over|within|than|min|max|required|allowed|expected|want(?:ed)?|target)\b`)
	isValue = lazy(`(?i)\b(?:got|received|actual|found|was|is|total|measured)\b:?\s*$`)
	// less and more match what is wrong with a number that stands alone.
	less = lazy(`(?i)\b(?:too (?:high|slow|large|long|big|many|deep|complex)|exceed(?:s|ed)?|slower|regress(?:ed|ion)` +
		`|over (?:the )?(?:limit|budget))\b`)
	more = lazy(`(?i)\btoo (?:low|few|small|short)\b|\bbelow\b|\binsufficient\b|\bnot enough\b`)
	// limits matches a number that is the bound itself.
	limits = lazy(`(?i)\b(?:timeout|time ?limit|deadline|timed out)\b`)
	// labeled matches a line that is a name and a value.
	labelled = lazy(`^\s*([A-Za-z][\w %-]{0,30}):\s*[<>=≥≤~]*\s*-?\d`)
	// asserts matches a line whose numbers tell one failure from another.
	asserts = lazy(`(?i)\b(?:expect(?:ed)?|want(?:ed)?|got|actual|received|assert\w*|left|right)\b`)
)

// bound is a number that is held against another one.
type bound struct {
	quantity loop.Quantity
	in       []num  // both numbers, where they are in one line
	other    string // the second line, where there are two
}

// boundOf is the number of a line that is held against another one of it, or of which the line says what is wrong.
func boundOf(line string, nums []num) (b bound, ok bool) {
	if len(nums) == 0 {
		return b, false
	}
	held := directs.MatchString(line)
	if i := slices.IndexFunc(nums, func(n num) bool { return n.each }); i >= 0 && !held { // "BenchmarkTotal-8   100   41200 ns/op"
		return bound{quantity: quantityOf(line, nums, nums[i], nil, false), in: nums}, true
	}
	if len(nums) == 1 {
		toLess, toMore := less.MatchString(line), more.MatchString(line)
		if toLess == toMore || limits.MatchString(line) {
			return b, false
		}
		return bound{quantity: quantityOf(line, nums, nums[0], nil, toMore), in: nums}, true
	}
	if !held {
		return b, false
	}
	goal := -1
	for i, n := range nums {
		from := 0
		if i > 0 {
			from = nums[i-1].end
		}
		before := line[from:n.begin]
		if isGoal.MatchString(before) && !isValue.MatchString(before) {
			goal = i
			break
		}
	}
	switch {
	case goal < 0:
		return b, false
	case goal > 0 && comparable(nums[goal-1], nums[goal]):
		return bound{quantityOf(line, nums, nums[goal-1], &nums[goal], false), nums[goal-1 : goal+1], ""}, true
	case goal+1 < len(nums) && comparable(nums[goal+1], nums[goal]):
		return bound{quantityOf(line, nums, nums[goal+1], &nums[goal], false), nums[goal : goal+2], ""}, true
	}
	return b, false
}

// comparable reports whether two numbers can be held against each other.
func comparable(a, b num) bool { return a.unit == b.unit || a.unit == "" || b.unit == "" }

// paired is the number of two labeled lines, one of which has what the other is held against: "Expected: < 500",
// "Received: 840".
func paired(line string, n num, rest []string) (b bound, ok bool) {
	if !labelled.MatchString(line) {
		return b, false
	}
	for _, next := range rest[:min(len(rest), 2)] {
		if strings.TrimSpace(next) == "" {
			continue
		}
		others, both := numbersOf(next), line+" "+next
		if !labelled.MatchString(next) || len(others) != 1 || !comparable(n, others[0]) || !directs.MatchString(both) {
			return b, false
		}
		first, second := isGoal.MatchString(line[:n.begin]), isGoal.MatchString(next[:others[0].begin])
		value, goal := n, others[0]
		if first {
			value, goal = goal, value
		}
		return bound{quantityOf(both, numbersOf(both), value, &goal, false), []num{n}, next}, first != second
	}
	return b, false
}

func quantityOf(line string, nums []num, value num, goal *num, more bool) loop.Quantity {
	q := loop.Quantity{
		Name: cut(name(line, nums)), Value: value.value, Unit: value.unit, More: more, Timed: value.timed,
	}
	if goal != nil {
		held := goal.value
		switch { // "41200 ns/op, want at most 20000"
		case goal.unit == "" && value.unit != "":
			held *= value.scale
		case goal.unit != "" && value.unit == "":
			q.Value, q.Unit = q.Value*goal.scale, goal.unit
		}
		q.Goal, q.Timed = &held, q.Timed || goal.timed
	}
	return q
}

// faults are words for what is wrong.
const faults = `errors?|failures?|failed|failing|warnings?|problems?|violations?|issues?|offen[sc]es?`

var (
	// howMany matches how many of something are wrong: "7 problems", "3 tests failed", "6 previous errors".
	howMany = lazy(`(?i)(?:^|[\s(\[])(\d{1,9}(?:,\d{3})*)(?:/\d+| (?:out )?of \d+)?( (?:[a-z-]+ +){0,3}?(?:` + faults +
		`|findings?|diagnostics?|vulnerabilit(?:y|ies)|leaks?|leaked|lost|races?|conflicts?|mismatch(?:es)?` +
		`|regressions?|defects?|differences?|different|differ|pixels|survived))\b`)
	// wrongIs matches the same the other way round: "Failures: 3".
	wrongIs = lazy(`(?i)\b(` + faults + `)\s?[:=] ?(\d[\d,]{0,8})\b`)
	// tallied matches how many of something there are, wrong or not, and a rating.
	tallied = lazy(`(?i)\b(\d+) (?:source )?(?:files?|tests?|modules?|packages?|examples?|assertions?|specs?|suites?` +
		`|passed)\b|\brated at (\S+)`)
	// detail matches a line of a table, and how much is covered of something.
	detail = lazy(`(?i)\bcover(?:age|ed)\b` +
		`|^\s*(?:total|all files|statements|branches|functions|lines)\s*[:|]?\s*[\d.]+%?(?:\s|$)` +
		`|^\s*[\w./\\-]+(?:\s*\|?\s+\d[\d.]*%?){2,}.*[%|]`)
	// dots matches a line with a sign for each file or test, wrongMarks those of what is wrong.
	dots       = lazy(`^[.·✓✔CWEFRSXx!✗✘]*[.·✓✔][.·✓✔CWEFRSXx!✗✘]*$`)
	wrongMarks = lazy(`[CWEFRXx!✗✘]`)
)

// countsOf are the numbers of a line that count what is wrong, and where they are.
func countsOf(line string) (all []loop.Quantity, at []num) {
	line = strings.ReplaceAll(line, "(s)", "s  ") // as long
	add := func(begin, end int, words string) {
		fields := strings.Fields(strings.ToLower(words))
		n, ok := numberOf(line[begin:end])
		if !ok || slices.Contains(fields, "no") {
			return
		}
		for i, word := range fields { // one and many have one name
			if !strings.HasSuffix(word, "us") && !strings.HasSuffix(word, "ss") {
				fields[i] = strings.TrimSuffix(word, "s")
			}
		}
		all = append(all, loop.Quantity{Name: "… " + strings.Join(fields, " "), Value: n.value})
		n.begin, n.end = begin, end
		at = append(at, n)
	}
	for _, m := range howMany.FindAllStringSubmatchIndex(line, -1) {
		add(m[2], m[3], line[m[4]:m[5]])
	}
	for _, m := range wrongIs.FindAllStringSubmatchIndex(line, -1) {
		add(m[4], m[5], line[m[2]:m[3]])
	}
	return all, at
}

// tallies are the numbers of a line that say how much of something there is, whatever is wrong.
func tallies(line string) (at []num) {
	for _, m := range tallied.FindAllStringSubmatchIndex(line, -1) {
		i := 2
		if m[i] < 0 {
			i = 4
		}
		at = append(at, num{begin: m[i], end: m[i+1]})
	}
	return at
}
