package failure

import (
	"sync"

	"github.com/ralph-loop/ralph/internal/regex"
)

// runner is a tool that runs tests, by the lines in which it sums up what it did.
type runner struct {
	name  string
	sums  []sumLine
	reads func() testRunner // reads it where a single line is not enough; nil: sums
	ends  []sumLine         // lines with which it ends, besides sums
	near  int               // how many lines may follow; 0: its end is not known
	proof *pattern          // a line that stands near its end; nil: the end is proof enough
	// session is a line of the same run, wherever it stands, by which the summary counts against another runner's.
	session *pattern
}

const (
	fewLines  = 25 // that may follow a summary: a wrapper's and make's own
	proofNear = 8
)

// runners are asked in this order; a line belongs to the first that knows it.
var runners = []runner{
	{name: "go test", reads: func() testRunner { return &goTest{} }, near: fewLines,
		ends: []sumLine{
			sum(`^(?<failed>FAIL)(?:\t\S+(?:\t[\d.]+s| \[(?:build|setup) failed\]))?$`), {goOK, ""}, sum(`^PASS$`), goDone,
		},
		proof: lazy(`^(?:(?:FAIL|ok  )\t\S+|--- (?:FAIL|PASS): \S+ \([\d.]+s\)|PASS|DONE )`)},
	{name: "pytest", sums: []sumLine{
		none(`^=*\s*(?:no tests|\d{1,9}(?:/\d{1,9})? tests?) collected\b.* in [\d.]+s\b[^=]*=*$`, "tests were only collected"),
		none(`^=*\s*no tests ran in [\d.]+s\b[^=]*=*$`, "no tests ran"),
		sum(`^=+ (?<counts>(?:[1-9]\d{0,8} (?:passed|failed|skipped|deselected|xfailed|xpassed|errors?|warnings?|rerun|` +
			`subtests passed|subtests failed)(?:, )?)+) in [\d.]+s\b[^=]*=+$`),
		// With -q there is no border. Other tools count errors and warnings too, and name those that are 0.
		sum(`^(?<counts>[1-9]\d{0,8} (?:passed|failed|skipped|deselected|xfailed|xpassed)\b(?:, [1-9]\d{0,8} [a-z]+(?: [a-z]+)?)*)` +
			` in [\d.]+s(?: \([\d:]+\))?$`),
	}, near: fewLines, session: lazy(`^=+ (?:test session starts|FAILURES|ERRORS|short test summary info) =+$`)},
	{name: "unittest", sums: []sumLine{
		sum(`^Ran {total} tests? in [\d.]+s$`),
		sum(`^(?<total>)(?:OK|FAILED) \((?<counts>[a-z][a-z ]*=\d{1,9}(?:, [a-z][a-z ]*=\d{1,9})*)\)$`),
	}, near: fewLines, proof: lazy(`^Ran \d+ tests? in [\d.]+s$`),
		ends: []sumLine{sum(`^OK$`)}},
	{name: "jest", sums: []sumLine{
		sum(`^\s*Tests:\s+(?<counts>(?:\d{1,9} (?:failed|skipped|todo|pending|passed), )*)\d{1,9} total$`),
		none(`^No tests found(?:, exiting with code \d+|\s+related to files changed .*)?$`, "No tests found"),
	}, near: fewLines, proof: lazy(`^\s*Test Suites: .* total$`)},
	{name: "vitest", sums: []sumLine{
		sum(`^\s*Tests\s+(?<counts>(?:\d{1,9} (?:failed|passed|skipped|todo|expected fail)(?: \| )?)+) \(\d+\)$`),
		none(`^\s*Tests\s+no tests$`, "no tests"),
		none(`^No test files found(?:, exiting with code \d+)?$`, "No test files found"),
	}, near: fewLines, proof: lazy(`^\s*Test Files  .*\(\d+\)$`)},
	{name: "mocha", sums: []sumLine{
		sum(`^ +{passed} passing \(\d+(?:ms|s|m|h|d)\)$`), sum(`^ +{skipped} pending$`), sum(`^ +{failed} failing$`),
	}, near: closingLines, proof: lazy(`^ +\d+ passing \(`)},
	{name: "TAP", reads: func() testRunner { return &tap{} }, near: fewLines, ends: []sumLine{
		sum(`^Result: (?<failed>FAIL)$`), sum(`^Result: PASS$`), sum(`^(?:#|ℹ) fail {failed}$`),
		sum(`^\d{1,9} tests?, {failed} failures?(?:, \d+ [a-z ]+)*$`),
	}},
	{name: "cargo test", sums: []sumLine{
		sum(`^test result: (?:ok|FAILED)\. {passed} passed; {failed} failed; {skipped} ignored; \d{1,9} measured;`),
		sum(`^\s*Summary \[\s*[\d.]+s\]\s+\d{1,9}(?:/\d+)? tests? run: (?<counts>.*)$`),
	}, near: fewLines, ends: []sumLine{sum(`^(?<failed>error): (?:test failed, to rerun pass|\d{1,9} targets? failed:)`)}},
	{name: "maven", sums: []sumLine{
		sum(`^(?:\[[A-Z]+\] )?Tests run: *{total}, Failures: *{failed}, Errors: *{errors}, Skipped: *{skipped}(?:, Flakes: *\d+)?$`),
		none(`^(?:\[INFO\] )?No tests to run\.$`, "No tests to run"),
		none(`^(?:\[INFO\] )?Tests are skipped\.$`, "Tests are skipped"),
		none(`^(?:\[INFO\] )?--- (?:maven-)?(?:surefire|failsafe)(?:-plugin)?:[\w.-]+:(?:test|integration-test) `,
			"the test goal found no tests"),
	}, near: closingLines, proof: lazy(`^(?:\[[A-Z]+\] )?(?:Results:|Tests run: .*)$`)},
	{name: "gradle", reads: func() testRunner { return &gradle{} }, near: closingLines, ends: []sumLine{gradleCompleted}},
	{name: "rspec", sums: []sumLine{
		sum(`^{total} examples?, {failed} failures?(?:, {skipped} pending)?(?:, {errors} errors? occurred outside of examples)?$`),
	}, near: closingLines, proof: lazy(`^Finished in .* \(files took`)},
	{name: "minitest", sums: []sumLine{
		sum(`^{total} (?:runs|tests), \d{1,9} assertions, {failed} failures, {errors} errors, ` +
			`(?:{skipped} skips|{skipped2} pendings, (?<skipped3>\d{1,9}) omissions, \d+ notifications)$`),
	}, near: fewLines},
	{name: "phpunit", sums: []sumLine{
		sum(`^OK \({total} tests?, \d+ assertions?\)$`),
		sum(`^Tests: {total}, Assertions: \d+(?<counts>(?:, (?:[A-Z][A-Za-z ]*): \d{1,9})*)\.$`),
		sum(`^(?<total>)No tests found in (?<skipped>class) `), // which PHPUnit counts as a test before version 10
		none(`^No tests executed!$`, "No tests executed!"),
	}, near: fewLines, proof: lazy(`^(?:FAILURES!|ERRORS!|WARNINGS!|OK.*|Time: .*)$`)},
	{name: "dotnet test", sums: []sumLine{ // for each assembly, a summary in more words, and the terminal logger's for all
		sum(`^\s*(?:Passed|Failed|Skipped)!\s+- Failed:\s+{failed}, Passed:\s+{passed}, Skipped:\s+{skipped}, Total:\s+\d{1,9}`),
		sum(`^Test summary: total: \d{1,9}, failed: {failed}, succeeded: {passed}, skipped: {skipped}`),
		sum(`^Total tests: {total}$`), sum(`^(?<total>) +Skipped: {skipped}$`), sum(`^(?<total>) +Failed: {failed}$`),
		none(`^No test is available in `, "no test is available"),
		none(`^No test matches the given testcase filter`, "no test matches the filter"),
		none(`^(?:Test run summary: )?Zero tests ran`, "zero tests ran"),
	}, near: fewLines},
	{name: "ctest", sums: []sumLine{ // counts a skipped test among those that passed, and lists it afterwards
		sum(`^\d+% tests passed, {failed} tests failed out of {total}$`),
		sum(`^\s+\d+ - \S.* (?<total>)\((?<skipped>Skipped)\)$`), sum(`^\s+\d+ - \S.* \((?<skipped>Disabled)\)$`),
		none(`^No tests were found!!!$`, "No tests were found"),
	}, near: closingLines},
	{name: "mix", sums: []sumLine{
		sum(`^(?:{total2} (?:doctests?|propert(?:y|ies)), )*{total} tests?, {failed} failures?(?<counts>(?:, \d{1,9} \w+)*)$`),
		none(`^There are no tests to run$`, "no tests to run"),
	}},
	{name: "eunit", sums: []sumLine{
		sum(`^  (?:All {passed} tests|(?<passed2>Test)) passed\.$`),
		sum(`^  Failed: {failed}\.  Skipped: {skipped}\.  Passed: {passed}\.$`),
		none(`^  There were no tests to run\.$`, "no tests to run"),
	}},
	{name: "busted", sums: []sumLine{
		sum(`^{passed} success(?:es)? / {failed} failures? / {failed2} errors? / {skipped} pending\b`),
	}},
	{name: "playwright", sums: []sumLine{
		sum(`^Running \d{1,9} tests? using \d+ workers?$`),
		sum(`^  {passed} (?:passed \([\d.]+m?s?\)|flaky)$`), sum(`^  {failed} (?:failed|interrupted)$`),
		sum(`^  {skipped} (?:skipped|did not run)$`),
		none(`^Error: No tests found\.?$`, "no tests found"),
	}},
	{name: "junit", sums: []sumLine{ // the console launcher, and version 4
		sum(`^\[ +\d{1,9} tests found +\]$`), sum(`^\[ +{skipped} tests (?:skipped|aborted) +\]$`),
		sum(`^\[ +{passed} tests successful +\]$`), sum(`^\[ +{failed} tests failed +\]$`),
		sum(`^OK \({total} tests?\)$`), sum(`^Tests run: {total},  Failures: {failed}$`),
	}},
	{name: proveName, sums: []sumLine{
		sum(`^Files=\d{1,9}, Tests={total},`), none(`^Result: NOTESTS$`, "no tests"),
		sum(`^(?<total>)Result: (?<failed>FAIL)$`),
	}},
}

// anySum are the lines by which all of them sum up what they did.
var anySum = sync.OnceValue(func() *regex.Set {
	var all []*pattern
	for _, r := range runners {
		for _, sum := range r.sums {
			all = append(all, sum.pattern)
		}
	}
	return regex.SetOf(all...)
})

// proveName is the runner that sums up the points of Perl's tests; with -v they are printed as well.
const proveName = "prove"

// sumReader reads a runner whose summary lines are independent of each other.
type sumReader struct {
	sums []sumLine
	sum  runnerCounts
}

func (r *sumReader) tally() runnerCounts { return r.sum }

func (r *sumReader) line(s string) bool {
	for _, l := range r.sums {
		if t, ok := l.read(s); ok {
			r.sum.add(t)
			return true
		}
	}
	return false
}

// closingLines is how many lines are kept: a runner that lists its failures after its summary may need many.
const (
	closingLines = 200
	closingBytes = 512 // of each line
)
