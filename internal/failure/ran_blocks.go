package failure

import (
	"strings"
)

// unittest tells first how many ran, skipped ones among them, and then how that went.
type unittest struct {
	sum  runnerCounts
	open bool // the line that tells how it went is to come
}

var unittestRan = lazy(`^Ran (\d{1,9}) tests? in [\d.]+s$`)

func (u *unittest) tally() runnerCounts { return u.sum }

func (u *unittest) line(s string) bool {
	if strings.HasPrefix(s, "Ran ") {
		m := unittestRan.FindStringSubmatch(s)
		if m == nil {
			return false
		}
		u.sum.add(runnerCounts{known: true, ran: countOf(m[1])})
		u.open = true
		return true
	}
	if !u.open || !strings.HasPrefix(s, "OK") && !strings.HasPrefix(s, "FAILED") && s != "NO TESTS RAN" {
		return false
	}
	u.open = false
	n := equalCounts(s)
	u.sum.add(runnerCounts{ran: -n["skipped"], skipped: n["skipped"], failed: n["failures"] + n["errors"]})
	return true
}

var equalCount = lazy(`([a-z]+)=(\d{1,9})`)

// equalCounts reads "failures=1, skipped=2"; of "expected failures=1" nothing.
func equalCounts(s string) map[string]int {
	found := map[string]int{}
	for _, m := range equalCount.FindAllStringSubmatch(strings.ReplaceAll(s, "expected failures", "expected"), -1) {
		found[m[1]] = countOf(m[2])
	}
	return found
}

// mocha tells passing, pending and failing in lines that follow each other.
type mocha struct {
	sum  runnerCounts
	open bool
}

var mochaLine = lazy(`^ +(\d{1,9}) (passing \(\d+(?:ms|s|m|h|d)\)|pending|failing)$`)

func (r *mocha) tally() runnerCounts { return r.sum }

func (r *mocha) line(s string) bool {
	var m []string
	if strings.HasPrefix(s, "  ") && (strings.HasSuffix(s, "ing") || strings.HasSuffix(s, ")")) {
		m = mochaLine.FindStringSubmatch(s)
	}
	if m == nil || !r.open && !strings.HasPrefix(m[2], "passing") {
		r.open = false
		return false
	}
	switch n := countOf(m[1]); m[2] {
	case "pending":
		r.sum.add(runnerCounts{skipped: n})
	case "failing":
		r.sum.add(runnerCounts{ran: n, failed: n})
	default:
		r.open = true
		r.sum.add(runnerCounts{known: true, ran: n})
	}
	return true
}

// tap reads the Test Anything Protocol, and the summary that node's runner and others put after it in this or in its
// own form. Node counts a file without a test as one, since a file may be the test; so it is here.
type tap struct {
	sum     runnerCounts
	points  runnerCounts // since the stream began; the summary says it better
	planned bool
	open    bool // within a summary
}

var (
	tapPlan    = lazy(`^1\.\.(\d{1,9})(?:\s*#.*)?$`)
	tapPoint   = lazy(`^(not )?ok \d+\b(?:.*#\s*((?i)skip|todo)\b)?`)
	tapSummary = lazy(`^(?:#|ℹ) (tests|pass|fail|cancelled|skipped|todo) (\d{1,9})$`)
)

func (t *tap) tally() runnerCounts {
	all := t.sum
	if t.planned {
		all.add(t.points)
	}
	return all
}

func (t *tap) line(s string) bool {
	switch s[0] {
	case 'T':
		if !strings.HasPrefix(s, "TAP version ") {
			return false
		}
		t.begin()
	case '1':
		m := tapPlan.FindStringSubmatch(s)
		if m == nil {
			return false
		}
		t.plan(countOf(m[1]))
	case 'o', 'n':
		m := tapPoint.FindStringSubmatch(s)
		if m == nil {
			return false
		}
		t.point(m[1] != "", m[2] != "")
	case '#', "ℹ"[0]:
		m := tapSummary.FindStringSubmatch(s)
		return m != nil && t.summary(m[1], countOf(m[2]))
	default:
		return false
	}
	return true
}

// begin keeps what a stream before this one said.
func (t *tap) begin() {
	t.sum = t.tally()
	t.points, t.planned, t.open = runnerCounts{}, false, false
}

func (t *tap) plan(n int) {
	if t.planned && t.points.known {
		t.begin()
	}
	t.planned = true
	if n == 0 {
		t.points.add(runnerCounts{known: true, said: "the plan is 1..0"})
	}
}

func (t *tap) point(failed, skipped bool) {
	p := testOutcome("pass")
	switch {
	case skipped:
		p = testOutcome("skip")
	case failed:
		p = testOutcome("fail")
	}
	t.points.add(p)
}

func (t *tap) summary(word string, n int) bool {
	if word == "tests" {
		t.points, t.planned, t.open = runnerCounts{}, false, true
		t.sum.add(runnerCounts{known: true})
		return true
	}
	if !t.open {
		return false
	}
	switch word {
	case "pass":
		t.sum.add(runnerCounts{ran: n})
	case "fail", "cancelled":
		t.sum.add(runnerCounts{ran: n, failed: n})
	default:
		t.sum.add(runnerCounts{skipped: n})
	}
	return true
}
