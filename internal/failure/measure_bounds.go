package failure

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

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

func holdsAny(line string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(line, word) })
}

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
