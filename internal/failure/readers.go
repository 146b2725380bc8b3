package failure

import (
	"strings"
)

// goTest reads "go test", also with -v and -json, and gotestsum.
type goTest struct {
	sum  runnerCounts
	here runnerCounts // of the package whose tests are being named
	says bool         // its tests are named, all of them (-v)
	last string       // the test named last, and what it was wordCount as
	was  runnerCounts
	done *runnerCounts // gotestsum's own sum, which stands for everything before it
	// parents are tests that have subtests and have not ended, with their packages (-json).
	parents map[[2]string]bool
}

// maxParents bounds what a forged stream can make us keep; beyond it, parents count as tests.
const maxParents = 10_000

var (
	goOK      = lazy(`^ok  \t\S+\t(?:\(cached\)|[\d.]+s)`)
	goFail    = lazy(`^FAIL\t\S+(?:\t[\d.]+s| \[(?:build|setup) failed\])`)
	goNoFiles = lazy(`^\?   \t\S+\t\[no test files\]`)
	goBare    = lazy(`^\t\S+\t\tcoverage: 0\.0% of statements`) // no test files, with -cover
)

// goDone is gotestsum's last line.
var goDone = sum(`^DONE (?:\d+ runs, )?{total} tests?(?:, {skipped} skipped)?(?:, {failed} failures?)?(?:, {errors} errors?)? in [\d.]+s$`)

func (g *goTest) tally() runnerCounts {
	if g.done != nil {
		return *g.done
	}
	all := g.sum
	all.add(g.here) // a test binary by itself has no line for its package
	return all
}

func (g *goTest) line(s string) bool {
	switch {
	case strings.HasPrefix(s, `{"`) && strings.Contains(s, `"Action":"`):
		return g.event(s)
	case strings.HasPrefix(s, "=== RUN "):
		g.says = true
	case goEnds.MatchString(s):
		m := goEnds.FindStringSubmatch(s)
		g.result(m[1], m[2])
	case goOK.MatchString(s):
		g.packageEnds(!strings.Contains(s, "[no tests to run]"), false)
	case goFail.MatchString(s):
		g.packageEnds(!strings.HasSuffix(s, "failed]"), true)
	case goNoFiles.MatchString(s), goBare.MatchString(s):
		g.sum.add(runnerCounts{known: true, said: "no test files"})
	case s == "no packages to test":
		g.sum.add(runnerCounts{known: true, said: s})
	case strings.HasPrefix(s, "DONE "):
		return g.finish(s)
	default:
		return false
	}
	return true
}

// result counts a test. Subtests are named after their test, which then no longer counts.
func (g *goTest) result(word, test string) {
	if g.last != "" && strings.HasPrefix(test, g.last+"/") {
		g.here.ran, g.here.skipped, g.here.failed = g.here.ran-g.was.ran, g.here.skipped-g.was.skipped,
			g.here.failed-g.was.failed
	}
	g.last, g.was = test, testOutcome(outcome(word))
	g.here.add(g.was)
}

// packageEnds closes a package. Without -v some test ran, and no one says how many.
func (g *goTest) packageEnds(some, failed bool) {
	p := g.here
	p.known = true
	switch {
	case !some && failed:
		p.said = "it does not build"
	case !some:
		p.said = "no tests to run"
	case !g.says || failed: // one that panicked has no line of its own
		p.ran, p.atLeast = max(p.ran, 1), true
	}
	if failed {
		p.failed = max(p.failed, 1)
	}
	g.sum.add(p)
	g.here, g.was, g.says, g.last = runnerCounts{}, runnerCounts{}, false, ""
}

// finish reads gotestsum's last line.
func (g *goTest) finish(s string) bool {
	t, ok := goDone.read(s)
	if ok && g.done == nil {
		g.done = &runnerCounts{}
	}
	if ok {
		g.done.add(t)
	}
	return ok
}

// event reads a line of "go test -json".
func (g *goTest) event(s string) bool {
	if strings.Contains(s, `"Action":"output"`) { // most are, and they say nothing here
		return true
	}
	e, ok := readEvent(s)
	if !ok || e.Package == "" {
		return false
	}
	switch e.Action {
	case "run":
		if i := strings.LastIndexByte(e.Test, '/'); i > 0 && len(g.parents) < maxParents {
			if g.parents == nil {
				g.parents = map[[2]string]bool{}
			}
			g.parents[[2]string{e.Package, e.Test[:i]}] = true
		}
	case "pass", "fail", "skip", "bench":
		g.ended(e.Action, e.Package, e.Test, e.FailedBuild != "")
	}
	return true
}

func (g *goTest) ended(action, pkg, test string, unbuilt bool) {
	key := [2]string{pkg, test}
	switch {
	case test == "" && unbuilt:
		g.sum.add(runnerCounts{known: true, failed: 1})
	case test == "":
		g.sum.add(runnerCounts{known: true, said: "no tests to run"})
	case g.parents[key]:
		delete(g.parents, key)
	default:
		g.sum.add(testOutcome(outcome(action)))
	}
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
		t.plan(number(m[1]))
	case 'o', 'n':
		m := tapPoint.FindStringSubmatch(s)
		if m == nil {
			return false
		}
		t.points.add(testOutcome(pointOutcome(m[1], m[2])))
	case '#', "ℹ"[0]:
		m := tapSummary.FindStringSubmatch(s)
		return m != nil && t.summary(m[1], number(m[2]))
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

// gradle names its tasks, and the tests only where a build asks for it or one failed. A test task without other output
// has run, or was up to date, and its number of tests is unknown.
type gradle struct {
	sum  runnerCounts
	task *runnerCounts // of the test task that runs; nil: none does
}

var (
	gradleTask = lazy(
		`^(?:> Task )?:(?:[\w.:-]+:)?(?:test|\w*Test)(?: (NO-SOURCE|SKIPPED|UP-TO-DATE|FROM-CACHE|FAILED))?$`)
	gradleTest      = lazy(`^\S.* > .* (PASS|FAIL|SKIP)(?:P?ED)$`)
	gradleCompleted = sum(`^{total} tests? completed(?:, {failed} failed)?(?:, {skipped} skipped)?$`)
)

func (g *gradle) tally() runnerCounts {
	all := g.sum
	if g.task != nil {
		all.add(*g.task)
	}
	return all
}

func (g *gradle) line(s string) bool {
	m := gradleTask.FindStringSubmatch(s)
	if m != nil && s[0] == ':' && m[1] == "" { // an old gradle's bare ":test" is known only by the word after it
		return false
	}
	if m != nil || strings.HasPrefix(s, "> Task ") || g.task != nil && strings.HasPrefix(s, "BUILD ") {
		g.sum, g.task = g.tally(), nil
		switch {
		case m == nil: // another task
		case m[1] == "NO-SOURCE":
			g.sum.add(runnerCounts{known: true, said: "no test sources"})
		case m[1] == "SKIPPED":
			g.sum.add(runnerCounts{known: true, said: "the test task was skipped"})
		default:
			g.task = &runnerCounts{unsure: true}
		}
		return true
	}
	if g.task == nil {
		return false
	}
	if t, ok := gradleCompleted.read(s); ok {
		*g.task = t
		return true
	}
	if m = gradleTest.FindStringSubmatch(s); m == nil {
		return false
	}
	if one := testOutcome(outcome(m[1])); one.ran > 0 || g.task.known {
		g.task.add(one)
		g.task.unsure, g.task.atLeast = false, g.task.ran == g.task.failed // only failures and skips are logged, and more have run
	} else {
		g.task.skipped++
	}
	return true
}
