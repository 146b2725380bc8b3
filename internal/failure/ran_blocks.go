package failure

import (
	"strings"
)

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
