package failure

import "strings"

// gradle names its tasks, and the tests only where a build asks for it or one failed. A test task that says nothing
// else has run, or was up to date, and no one can tell how many tests it has.
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
	if one := testOutcome(m[1]); one.ran > 0 || g.task.known {
		g.task.add(one)
		g.task.unsure, g.task.atLeast = false, g.task.ran == g.task.failed // only failures and skips are logged, and more have run
	} else {
		g.task.skipped++
	}
	return true
}
