package failure

import "strings"

// What runners say that tell it in one line, and that are no family of their own.
var (
	mixRules = []testRule{
		{" failure",
			lazy(`^(?:(\d{1,9}) (?:doctests?|propert(?:y|ies)), )*(\d{1,9}) tests?, (\d{1,9}) failures?((?:, \d{1,9} \w+)*)$`),
			func(m []string) runnerCounts {
				rest := wordCounts(m[4])
				out := rest["skipped"] + rest["excluded"] + rest["invalid"]
				return runnerCounts{known: true, ran: countOf(m[1]) + countOf(m[2]) - out, skipped: out, failed: countOf(m[3])}
			}},
		{"There are no tests to run", lazy(`^There are no tests to run$`), noTests("no tests to run")},
	}
	eunitRules = []testRule{
		{"passed", lazy(`^  (?:All (\d{1,9}) tests passed|Test passed)\.$`),
			func(m []string) runnerCounts { return runnerCounts{known: true, ran: max(countOf(m[1]), 1)} }},
		{"  Failed: ", lazy(`^  Failed: (\d{1,9})\.  Skipped: (\d{1,9})\.  Passed: (\d{1,9})\.$`),
			func(m []string) runnerCounts {
				return runnerCounts{known: true, ran: countOf(m[1]) + countOf(m[3]), skipped: countOf(m[2]), failed: countOf(m[1])}
			}},
		{"no tests to run", lazy(`^  There were no tests to run\.$`), noTests("no tests to run")},
	}
	bustedRules = []testRule{
		{" success", lazy(`^(\d{1,9}) success(?:es)? / (\d{1,9}) failures? / (\d{1,9}) errors? / (\d{1,9}) pending\b`),
			func(m []string) runnerCounts {
				bad := countOf(m[2]) + countOf(m[3])
				return runnerCounts{known: true, ran: countOf(m[1]) + bad, skipped: countOf(m[4]), failed: bad}
			}},
	}
	playwrightRules = []testRule{
		{"Running ", lazy(`^Running (\d{1,9}) tests? using \d+ workers?$`),
			func([]string) runnerCounts { return runnerCounts{known: true} }},
		{"  ", lazy(`^  (\d{1,9}) (passed \([\d.]+m?s\)|passed \([\d.]+m\)|flaky)$`),
			func(m []string) runnerCounts { return runnerCounts{known: true, ran: countOf(m[1])} }},
		{"  ", lazy(`^  (\d{1,9}) (?:failed|interrupted)$`),
			func(m []string) runnerCounts {
				return runnerCounts{known: true, ran: countOf(m[1]), failed: countOf(m[1])}
			}},
		{"  ", lazy(`^  (\d{1,9}) (?:skipped|did not run)$`),
			func(m []string) runnerCounts { return runnerCounts{skipped: countOf(m[1])} }},
		{"Error: No tests found", lazy(`^Error: No tests found\.?$`), noTests("no tests found")},
	}
	junitRules = []testRule{ // the console launcher, and version 4
		{" tests ", lazy(`^\[ +(\d{1,9}) tests (found|skipped|aborted|successful|failed) +\]$`), func(m []string) runnerCounts {
			switch n := countOf(m[1]); m[2] {
			case "found":
				return runnerCounts{known: true}
			case "successful":
				return runnerCounts{known: true, ran: n}
			case "failed":
				return runnerCounts{known: true, ran: n, failed: n}
			default:
				return runnerCounts{skipped: n}
			}
		}},
		{"OK (", lazy(`^OK \((\d{1,9}) tests?\)$`), func(m []string) runnerCounts { return runnerCounts{known: true, ran: countOf(m[1])} }},
		{"Tests run: ", lazy(`^Tests run: (\d{1,9}),  Failures: (\d{1,9})$`),
			func(m []string) runnerCounts {
				return runnerCounts{known: true, ran: countOf(m[1]), failed: countOf(m[2])}
			}},
	}
)

// prove sums up the points of Perl's tests; with -v they are printed as well.
type prove struct{ sum runnerCounts }

const proveName = "prove"

var proveSum = lazy(`^Files=(\d{1,9}), Tests=(\d{1,9}),`)

func (p *prove) tally() runnerCounts { return p.sum }

func (p *prove) line(s string) bool {
	switch {
	case strings.HasPrefix(s, "Files="):
		m := proveSum.FindStringSubmatch(s)
		if m == nil {
			return false
		}
		p.sum.add(runnerCounts{known: true, ran: countOf(m[2])})
		return true
	case s == "Result: NOTESTS":
		p.sum.add(runnerCounts{known: true, said: "no tests"})
		return true
	case s == "Result: FAIL":
		p.sum.failed = max(p.sum.failed, 1)
		return true
	}
	return false
}
