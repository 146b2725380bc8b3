package failure

import (
	"strings"
)

// maven reads surefire and failsafe: the sum of each module, not the lines of each class.
type maven struct {
	sum  runnerCounts
	open bool // a goal that runs tests has begun and told nothing yet
}

var (
	mavenGoal = lazy(`^(?:\[INFO\] )?--- (?:maven-)?(?:surefire|failsafe)(?:-plugin)?:[\w.-]+:(?:test|integration-test) `)
	mavenSum  = lazy(
		`^(?:\[[A-Z]+\] )?Tests run: *(\d{1,9}), Failures: *(\d{1,9}), Errors: *(\d{1,9}), Skipped: *(\d{1,9})(?:, Flakes: *\d+)?$`)
)

func (r *maven) tally() runnerCounts { return r.sum }

func (r *maven) line(s string) bool {
	bare := strings.TrimPrefix(s, "[INFO] ")
	switch {
	case strings.HasPrefix(bare, "--- "):
		r.silent()
		r.open = mavenGoal.MatchString(s)
		return r.open
	case bare == "BUILD SUCCESS":
		r.silent()
	case bare == "BUILD FAILURE":
		r.open = false
	case r.open && strings.HasSuffix(bare, "T E S T S"):
		r.open = false
	case bare == "No tests to run.", bare == "Tests are skipped.":
		r.open = false
		r.sum.add(runnerCounts{known: true, said: strings.TrimSuffix(bare, ".")})
	default:
		if !strings.Contains(s, "Tests run:") {
			return false
		}
		m := mavenSum.FindStringSubmatch(s)
		if m == nil {
			return false
		}
		skipped := countOf(m[4])
		r.sum.add(runnerCounts{known: true, ran: countOf(m[1]) - skipped, skipped: skipped, failed: countOf(m[2]) + countOf(m[3])})
	}
	return true
}

// silent counts a goal that found no test: surefire says nothing then.
func (r *maven) silent() {
	if r.open {
		r.sum.add(runnerCounts{known: true, said: "the test goal found no tests"})
	}
	r.open = false
}

// gradle names its tasks, and the tests only where a build asks for it or one failed. A test task that says nothing
// else has run, or was up to date, and nobody can tell how many tests it has.
type gradle struct {
	sum  runnerCounts
	task *gradleTask
}

type gradleTask struct {
	passed, failed, skipped int
	completed               *runnerCounts
}

var (
	gradleTaskLine = lazy(
		`^(?:> Task )?:(?:[\w.:-]+:)?(?:test|\w*Test)(?: (NO-SOURCE|SKIPPED|UP-TO-DATE|FROM-CACHE|FAILED))?$`)
	gradleTest      = lazy(`^\S.* > .* (PASSED|FAILED|SKIPPED)$`)
	gradleCompleted = lazy(`^(\d{1,9}) tests? completed(?:, (\d{1,9}) failed)?(?:, (\d{1,9}) skipped)?$`)
)

func (g *gradle) tally() runnerCounts {
	all := g.sum
	all.add(g.task.tally())
	return all
}

func (g *gradle) line(s string) bool {
	switch {
	case strings.HasPrefix(s, "> Task ") || strings.HasPrefix(s, ":"):
		return g.begins(s)
	case g.task == nil:
		return false
	case strings.HasPrefix(s, "BUILD "):
		g.close()
		return true
	}
	if m := gradleCompleted.FindStringSubmatch(s); m != nil {
		skipped := countOf(m[3])
		g.task.completed = &runnerCounts{known: true, ran: countOf(m[1]) - skipped, skipped: skipped, failed: countOf(m[2])}
		return true
	}
	m := gradleTest.FindStringSubmatch(s)
	if m == nil {
		return false
	}
	switch m[1] {
	case "PASSED":
		g.task.passed++
	case "FAILED":
		g.task.failed++
	default:
		g.task.skipped++
	}
	return true
}

// begins reads the line of a task. An old gradle's bare ":test" is known only by the word after it.
func (g *gradle) begins(s string) bool {
	m := gradleTaskLine.FindStringSubmatch(s)
	bare := s[0] == ':'
	if bare && (m == nil || m[1] == "") {
		return false
	}
	g.close()
	switch {
	case m == nil: // another task
	case m[1] == "NO-SOURCE":
		g.sum.add(runnerCounts{known: true, said: "no test sources"})
	case m[1] == "SKIPPED":
		g.sum.add(runnerCounts{known: true, said: "the test task was skipped"})
	default:
		g.task = &gradleTask{}
	}
	return true
}

func (g *gradle) close() {
	g.sum.add(g.task.tally())
	g.task = nil
}

// tally of a task; nil is none. Where only failures and skips are logged, more have run.
func (t *gradleTask) tally() runnerCounts {
	switch {
	case t == nil:
		return runnerCounts{}
	case t.completed != nil:
		return *t.completed
	case t.passed+t.failed > 0:
		return runnerCounts{known: true, ran: t.passed + t.failed, skipped: t.skipped, failed: t.failed, atLeast: t.passed == 0}
	}
	return runnerCounts{unsure: true, skipped: t.skipped}
}
