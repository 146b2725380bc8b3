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
	directs = lazy(`(?i)>=|<=|[≥≤]|(?:^|[^-=<>])[<>]\s*-?\d|\s[<>]=?\s|\(\d+/\d+\)|\b(?:` + bounds +
		`|(?:less|greater|more|fewer|lower|higher|larger|smaller|longer|slower) than|(?:under|over|within) \d` +
		`|not (?:met|reached))\b`)
	// isGoal matches what stands before the number that another is held against, isValue what stands before that other.
	isGoal = lazy(`(?i)[<>≥≤]|^/$|\b(?:` + bounds +
		`|under|over|within|than|min|max|required|allowed|expected|want(?:ed)?|target)\b`)
	isValue = lazy(`(?i)\b(?:got|received|actual|found|was|is|total|measured)\b:?\s*$`)
	// less and more match what is wrong with a number that stands alone.
	less = lazy(`(?i)\b(?:too (?:high|slow|large|long|big|many|deep|complex)|exceed(?:s|ed)?|slower|regress(?:ed|ion)` +
		`|over (?:the )?(?:limit|budget))\b`)
	more = lazy(`(?i)\btoo (?:low|few|small|short)\b|\bbelow\b|\binsufficient\b|\bnot enough\b`)
	// limits matches a number that is the bound itself.
	limits = lazy(`(?i)\b(?:timeout|time ?limit|deadline|timed out)\b`)
	// labelled matches a line that is a name and a value.
	labelled = lazy(`^\s*([A-Za-z][\w %-]{0,30}):\s*[<>=≥≤~]*\s*-?\d`)
	// asserts matches a line whose numbers tell one failure from another.
	asserts = lazy(`(?i)\b(?:expect(?:ed)?|want(?:ed)?|got|actual|received|assert\w*|left|right)\b`)
)

// bounded is the number of a line that is held against another one of it, or of which the line says what is wrong.
func bounded(line string, nums []num) (q loop.Quantity, ok bool) {
	if len(nums) == 1 {
		toLess, toMore := less.MatchString(line), more.MatchString(line)
		if toLess == toMore || limits.MatchString(line) {
			return q, false
		}
		return quantityOf(line, nums, nums[0], nil, toMore), true
	}
	if !directs.MatchString(line) {
		return q, false
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
		return q, false
	case goal > 0 && comparable(nums[goal-1], nums[goal]):
		return quantityOf(line, nums, nums[goal-1], &nums[goal], false), true
	case goal+1 < len(nums) && comparable(nums[goal+1], nums[goal]):
		return quantityOf(line, nums, nums[goal+1], &nums[goal], false), true
	}
	return q, false
}

// comparable reports whether two numbers can be held against each other.
func comparable(a, b num) bool { return a.unit == b.unit || a.unit == "" || b.unit == "" }

// paired is the number of two labelled lines, one of which has what the other is held against: "Expected: < 500",
// "Received: 840". other is the second of them.
func paired(line string, n num, rest []string) (q loop.Quantity, other string, ok bool) {
	if !labelled.MatchString(line) {
		return q, "", false
	}
	for _, next := range rest[:min(len(rest), 2)] {
		if strings.TrimSpace(next) == "" {
			continue
		}
		others := numbersOf(next)
		if !labelled.MatchString(next) || len(others) != 1 || !comparable(n, others[0]) {
			return q, "", false
		}
		both := line + " " + next
		if !directs.MatchString(both) {
			return q, "", false
		}
		first, second := isGoal.MatchString(line[:n.begin]), isGoal.MatchString(next[:others[0].begin])
		switch {
		case first == second:
			return q, "", false
		case first:
			return quantityOf(both, numbersOf(both), others[0], &n, false), next, true
		}
		return quantityOf(both, numbersOf(both), n, &others[0], false), next, true
	}
	return q, "", false
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
	howMany = lazy(`(?i)(?:^|[\s(\[])(\d{1,9}(?:,\d{3})*)( (?:[a-z-]+ ){0,3}?(?:` + faults +
		`|findings?|diagnostics?|vulnerabilit(?:y|ies)|leaks?|leaked|lost|races?|conflicts?|mismatch(?:es)?` +
		`|regressions?|defects?|differences?|different|differ|pixels|survived))\b`)
	// named matches the same the other way round: "Failures: 3".
	named = lazy(`(?i)\b(` + faults + `)\s?[:=] ?(\d[\d,]{0,8})\b`)
	// tallied matches how many of something there are, wrong or not, how much is covered, and a rating.
	tallied = lazy(
		`(?i)\b\d+ (?:source )?(?:files?|tests?|modules?|packages?|examples?|assertions?|specs?|suites?|passed)\b` +
			`|\brated at\b|\bcover(?:age|ed)\b` +
			`|^\s*(?:total|all files|statements|branches|functions|lines)\s*[:|]?\s*[\d.]+%?(?:\s|$)` +
			`|^\s*[\w./\\-]+(?:\s*\|?\s+\d[\d.]*%?){2,}.*[%|]`)
	// dots matches a line with a sign for each file or test.
	dots = lazy(`^[.CWEFRS]+$`)
)

// countsOf are the numbers of a line that count what is wrong.
func countsOf(line string) (all []loop.Quantity) {
	line = strings.ReplaceAll(line, "(s)", "s")
	add := func(number, words string) {
		fields := strings.Fields(strings.ToLower(words))
		n, ok := numberOf(number)
		if !ok || slices.Contains(fields, "no") {
			return
		}
		last := len(fields) - 1
		fields[last] = strings.TrimSuffix(fields[last], "s")
		all = append(all, loop.Quantity{Name: "… " + strings.Join(fields, " "), Value: n.value})
	}
	for _, m := range howMany.FindAllStringSubmatch(line, -1) {
		add(m[1], m[2])
	}
	for _, m := range named.FindAllStringSubmatch(line, -1) {
		add(m[2], m[1])
	}
	return all
}
