package failure

import (
	"strconv"
	"strings"
)

// testRule reads a line that tells the outcome of a run by itself.
type testRule struct {
	has  string // in every such line; looked for first, since most lines are something else
	re   *pattern
	read func(m []string) runnerCounts
}

// oneLiners is a runner whose every line of interest stands for itself.
type oneLiners struct {
	rules []testRule
	sum   runnerCounts
}

func (l *oneLiners) tally() runnerCounts { return l.sum }

func (l *oneLiners) line(s string) bool {
	for _, r := range l.rules {
		if !strings.Contains(s, r.has) {
			continue
		}
		if m := r.re.FindStringSubmatch(s); m != nil {
			l.sum.add(r.read(m))
			return true
		}
	}
	return false
}

// countOf reads digits; none is 0. The patterns allow nine of them at most.
func countOf(s string) int {
	n, _ := strconv.Atoi(strings.TrimSpace(s))
	return n
}

// noTests is what a line says that tells of no test at all.
func noTests(said string) func([]string) runnerCounts {
	return func([]string) runnerCounts { return runnerCounts{known: true, said: said} }
}

var wordCount = lazy(`(\d{1,9}) ([a-z]+)`)

// wordCounts reads "2 passed, 1 skipped" and the like: how many of each word.
func wordCounts(s string) map[string]int {
	found := map[string]int{}
	for _, m := range wordCount.FindAllStringSubmatch(s, -1) {
		found[m[2]] += countOf(m[1])
	}
	return found
}

var pytestRules = []testRule{
	{" collected", lazy(`^=*\s*(?:no tests|\d{1,9}(?:/\d{1,9})? tests?) collected\b.* in [\d.]+s\b[^=]*=*$`),
		noTests("tests were only collected")},
	{"no tests ran in ", lazy(`^=*\s*no tests ran in [\d.]+s\b[^=]*=*$`), noTests("no tests ran")},
	{" in ",
		lazy(
			`^=+ ((?:[1-9]\d{0,8} (?:passed|failed|skipped|deselected|xfailed|xpassed|errors?|warnings?|rerun|subtests passed|subtests failed)(?:, )?)+) in [\d.]+s\b[^=]*=+$`), pytestCounts},
	// With -q there is no border. Other tools count errors and warnings too, and name those that are 0.
	{" in ",
		lazy(
			`^([1-9]\d{0,8} (?:passed|failed|skipped|deselected|xfailed|xpassed)\b(?:, [1-9]\d{0,8} [a-z]+(?: [a-z]+)?)*) in [\d.]+s(?: \([\d:]+\))?$`), pytestCounts},
}

func pytestCounts(m []string) runnerCounts {
	n := wordCounts(m[1])
	t := runnerCounts{known: true, ran: n["passed"] + n["failed"] + n["xfailed"] + n["xpassed"], skipped: n["skipped"],
		failed: n["failed"] + n["error"] + n["errors"]}
	if n["deselected"] > 0 {
		t.said = strconv.Itoa(n["deselected"]) + " deselected"
	}
	return t
}

var jestRules = []testRule{
	{"Tests:", lazy(`^\s*Tests:\s+((?:\d{1,9} (?:failed|skipped|todo|pending|passed), )*)\d{1,9} total$`),
		func(m []string) runnerCounts {
			n := wordCounts(m[1])
			return runnerCounts{known: true, ran: n["passed"] + n["failed"], skipped: n["skipped"] + n["todo"] + n["pending"],
				failed: n["failed"]}
		}},
	{"No tests found", lazy(`^No tests found(?:, exiting with code \d+|\s+related to files changed .*)?$`),
		noTests("No tests found")},
}

var vitestRules = []testRule{
	{"Tests ", lazy(`^\s*Tests\s+((?:\d{1,9} (?:failed|passed|skipped|todo|expected fail)(?: \| )?)+) \(\d+\)$`),
		func(m []string) runnerCounts {
			n := wordCounts(m[1])
			return runnerCounts{known: true, ran: n["passed"] + n["failed"] + n["expected"], skipped: n["skipped"] + n["todo"],
				failed: n["failed"]}
		}},
	{"no tests", lazy(`^\s*Tests\s+no tests$`), noTests("no tests")},
	{"No test files found", lazy(`^No test files found(?:, exiting with code \d+)?$`), noTests("No test files found")},
}

// cargoRules are for libtest, once for each binary, and cargo-nextest. What a filter leaves out is not skipped but not
// asked for.
var cargoRules = []testRule{
	{"test result: ",
		lazy(`^test result: (?:ok|FAILED)\. (\d{1,9}) passed; (\d{1,9}) failed; (\d{1,9}) ignored; (\d{1,9}) measured;`),
		func(m []string) runnerCounts {
			return runnerCounts{known: true, ran: countOf(m[1]) + countOf(m[2]) + countOf(m[4]), skipped: countOf(m[3]),
				failed: countOf(m[2])}
		}},
	{"Summary [", lazy(`^\s*Summary \[\s*[\d.]+s\]\s+(\d{1,9})(?:/\d+)? tests? run: (.*)$`), func(m []string) runnerCounts {
		n := wordCounts(m[2])
		return runnerCounts{known: true, ran: countOf(m[1]), skipped: n["skipped"], failed: n["failed"]}
	}},
}

var rspecRules = []testRule{
	{" example",
		lazy(
			`^(\d{1,9}) examples?, (\d{1,9}) failures?(?:, (\d{1,9}) pending)?(?:, (\d{1,9}) errors? occurred outside of examples)?$`), func(m []string) runnerCounts {
			return runnerCounts{known: true, ran: countOf(m[1]) - countOf(m[3]), skipped: countOf(m[3]),
				failed: countOf(m[2]) + countOf(m[4])}
		}},
}

var minitestRules = []testRule{
	{" assertions, ",
		lazy(
			`^(\d{1,9}) (?:runs|tests), \d{1,9} assertions, (\d{1,9}) failures, (\d{1,9}) errors, (?:(\d{1,9}) skips|(\d{1,9}) pendings, (\d{1,9}) omissions, \d+ notifications)$`), func(m []string) runnerCounts {
			skipped := countOf(m[4]) + countOf(m[5]) + countOf(m[6])
			return runnerCounts{known: true, ran: countOf(m[1]) - skipped, skipped: skipped, failed: countOf(m[2]) + countOf(m[3])}
		}},
}

var phpunitRules = []testRule{
	{"OK (", lazy(`^OK \((\d{1,9}) tests?, \d+ assertions?\)$`),
		func(m []string) runnerCounts { return runnerCounts{known: true, ran: countOf(m[1])} }},
	{"Tests: ", lazy(`^Tests: (\d{1,9}), Assertions: \d+(?:, (?:[A-Z][A-Za-z ]*): \d{1,9})*\.$`), func(m []string) runnerCounts {
		n := namedCounts(m[0])
		skipped := n["Skipped"] + n["Incomplete"]
		return runnerCounts{known: true, ran: countOf(m[1]) - skipped, skipped: skipped, failed: n["Failures"] + n["Errors"]}
	}},
	// Before PHPUnit 10 a class without tests is itself counted as one.
	{"No tests found in class", lazy(`^No tests found in class `),
		func([]string) runnerCounts { return runnerCounts{ran: -1, said: "no tests found in a class"} }},
	{"No tests executed!", lazy(`^No tests executed!$`), noTests("No tests executed!")},
}

var namedCount = lazy(`([A-Z][A-Za-z]*): (\d{1,9})`)

// namedCounts reads "Errors: 1, Skipped: 2".
func namedCounts(s string) map[string]int {
	found := map[string]int{}
	for _, m := range namedCount.FindAllStringSubmatch(s, -1) {
		found[m[1]] = countOf(m[2])
	}
	return found
}

// dotnetRules are for VSTest's line for each assembly, its summary in more words, and the terminal logger's for all.
var dotnetRules = []testRule{
	{"! ",
		lazy(
			`^\s*(?:Passed|Failed|Skipped)!\s+- Failed:\s+(\d{1,9}), Passed:\s+(\d{1,9}), Skipped:\s+(\d{1,9}), Total:\s+\d{1,9}`), func(m []string) runnerCounts {
			return runnerCounts{known: true, ran: countOf(m[1]) + countOf(m[2]), skipped: countOf(m[3]), failed: countOf(m[1])}
		}},
	{"Test summary: ", lazy(`^Test summary: total: \d{1,9}, failed: (\d{1,9}), succeeded: (\d{1,9}), skipped: (\d{1,9})`),
		func(m []string) runnerCounts {
			return runnerCounts{known: true, ran: countOf(m[1]) + countOf(m[2]), skipped: countOf(m[3]), failed: countOf(m[1])}
		}},
	{"Total tests: ", lazy(`^Total tests: (\d{1,9})$`),
		func(m []string) runnerCounts { return runnerCounts{known: true, ran: countOf(m[1])} }},
	{"  Skipped: ", lazy(`^ +Skipped: (\d{1,9})$`),
		func(m []string) runnerCounts { return runnerCounts{ran: -countOf(m[1]), skipped: countOf(m[1])} }},
	{"  Failed: ", lazy(`^ +Failed: (\d{1,9})$`), func(m []string) runnerCounts { return runnerCounts{failed: countOf(m[1])} }},
	{"No test ", lazy(`^No test is available in `), noTests("no test is available")},
	{"No test ", lazy(`^No test matches the given testcase filter`), noTests("no test matches the filter")},
	{"Zero tests ran", lazy(`^(?:Test run summary: )?Zero tests ran`), noTests("zero tests ran")},
}

// ctestRules: ctest counts a skipped test among those that passed, and lists it afterwards.
var ctestRules = []testRule{
	{" tests failed out of ", lazy(`^\d+% tests passed, (\d{1,9}) tests failed out of (\d{1,9})$`),
		func(m []string) runnerCounts {
			return runnerCounts{known: true, ran: countOf(m[2]), failed: countOf(m[1])}
		}},
	{" (Skipped)", lazy(`^\s+\d+ - \S.* \(Skipped\)$`), func([]string) runnerCounts { return runnerCounts{ran: -1, skipped: 1} }},
	{" (Disabled)", lazy(`^\s+\d+ - \S.* \(Disabled\)$`), func([]string) runnerCounts { return runnerCounts{skipped: 1} }},
	{"No tests were found!!!", lazy(`^No tests were found!!!$`), noTests("No tests were found")},
}
