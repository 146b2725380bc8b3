package failure

import "strings"

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

// result counts a test. Subtests are named after the test they are of, which then counts no more.
func (g *goTest) result(word, test string) {
	if g.last != "" && strings.HasPrefix(test, g.last+"/") {
		g.here.ran, g.here.skipped, g.here.failed = g.here.ran-g.was.ran, g.here.skipped-g.was.skipped,
			g.here.failed-g.was.failed
	}
	g.last, g.was = test, testOutcome(word)
	g.here.add(g.was)
}

func testOutcome(word string) runnerCounts {
	switch word {
	case "skip", "SKIP":
		return runnerCounts{known: true, skipped: 1}
	case "fail", "FAIL":
		return runnerCounts{known: true, ran: 1, failed: 1}
	}
	return runnerCounts{known: true, ran: 1}
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
		g.sum.add(testOutcome(action))
	}
}
