package check

import (
	"bytes"
	"cmp"
	"fmt"
	"runtime"
	"strings"

	"github.com/ralph-loop/ralph/internal/failure"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// unmet is the first expectation that does not hold, in the order in which they are examined; empty: all hold.
func (c *Command) unmet(o ending) string {
	return cmp.Or(c.exit(o), c.printed(o), c.reported(o), c.tested(o))
}

func (c *Command) exit(o ending) string {
	if o.Class == proc.Exited && o.Exit == c.Expect.exit() {
		return ""
	}
	if o.Class == proc.Idle {
		return "it waits for changes of files and never ends, so it was stopped; " + o.once
	}
	return c.reason(o.Result)
}

func (c *Command) printed(o ending) string {
	for _, s := range c.Expect.Contains {
		if !o.seen.has(s) {
			return fmt.Sprintf("its output does not contain %q, which is expected", safetext.Shorten(s, 120))
		}
	}
	for _, s := range c.Expect.NotContains {
		if o.seen.has(s) {
			return fmt.Sprintf("its output contains %q, which it must not", safetext.Shorten(s, 120))
		}
	}
	return ""
}

// reported says no to failures that a report names though the command's exit code does not.
func (c *Command) reported(o ending) string {
	switch {
	case o.report.bad != "":
		return o.report.bad
	case o.report.failures == 0:
		return ""
	}
	return fmt.Sprintf("its exit code is as expected, but its report %s names a failure: %s", c.Expect.Report,
		safetext.Shorten(safetext.Inert(place(*o.report.worst)), 120))
}

// tested says no to a pass that tested nothing.
func (c *Command) tested(o ending) string {
	t := o.tests
	// a pipe, a wrapper or a crash ate the exit code; what is above the summary at the end may be a test's own output
	failed := t.Closing
	if c.Expect.HidesExit {
		failed = t.Failed
	}
	if t.Known && failed > 0 && o.Exit == 0 && !c.Expect.VacuousOK && (c.Expect.MinTests == nil || *c.Expect.MinTests > 0) {
		return fmt.Sprintf("it exited with code 0, and its output says that %s (%s); make it exit with the exit code of its "+
			"tests", safetext.Plural(failed, "a test failed", fmt.Sprintf("%d tests failed", failed)), t.Runner)
	}
	if c.Expect.MinTests == nil {
		if c.Expect.VacuousOK || !vacuous(t) || asksForNone.MatchString(c.Line) {
			return ""
		}
		return "it passed without running a single test (" + t.Said +
			"), which proves nothing; run the tests, or set expect.minTests to 0 if it is to run none"
	}
	least := *c.Expect.MinTests
	switch {
	case least <= 0 || t.Known && t.Ran >= least:
		return ""
	case !t.Known:
		return fmt.Sprintf("how many tests ran cannot be read from the output; at least %d must, so let the command print "+
			"its runner's summary or name its JUnit report", least)
	case t.Ran == 0:
		return fmt.Sprintf("no test ran (%s), and at least %d must", t.Said, least)
	case t.AtLeast:
		return fmt.Sprintf("how many tests ran cannot be read from the output, only that at least %d did; at least %d "+
			"must, so let %s list them (go test: -v) or name its JUnit report", t.Ran, least, t.Runner)
	}
	return fmt.Sprintf("only %d tests ran (%s), and at least %d must", t.Ran, t.Runner, least)
}

func vacuous(t failure.Tests) bool { return t.Known && t.Ran == 0 }

// asksForNone matches a command that says itself that it is to run no test: it builds, or collects.
var asksForNone = lazy(
	`\s(?:-DskipTests(?:=true)?|-Dmaven\.test\.skip(?:=true)?|--collect-only|--co|-run[= ](?:\^\$|'\^\$'|"\^\$"))(?:[\s;&|]|$)`)

// remark is what a reader should know of a command that passed.
func (c *Command) remark(o ending) string {
	switch {
	case vacuous(o.tests):
		return "it passed without running a single test (" + o.tests.Said + ")"
	case c.Expect.Report != "" && o.report.files == 0:
		return "it passed without writing its report " + c.Expect.Report
	}
	return ""
}

// sought is everything that is expected, or expected not to be there.
func (e Expect) sought() *streamSearch {
	f := &streamSearch{missing: map[string]bool{}}
	for _, list := range [][]string{e.Contains, e.NotContains} {
		for _, s := range list {
			if s != "" { // is in everything
				f.missing[s] = true
				f.longest = max(f.longest, len(s))
			}
		}
	}
	return f
}

// Write implements io.Writer; it never fails.
func (f *streamSearch) Write(p []byte) (int, error) {
	if len(f.missing) == 0 {
		return len(p), nil
	}
	border := append(f.end, p[:min(len(p), f.longest-1)]...)
	for s := range f.missing {
		if bytes.Contains(border, []byte(s)) || bytes.Contains(p, []byte(s)) {
			delete(f.missing, s)
		}
	}
	if len(p) < f.longest {
		f.end = border[max(0, len(border)-f.longest+1):]
	} else {
		f.end = append(border[:0], p[len(p)-f.longest+1:]...)
	}
	return len(p), nil
}

func (f *streamSearch) has(s string) bool { return !f.missing[s] }

// failureText is the message for the next prompt. The command is there as it was written, so that the agent can
// run it.
func (c *Command) failureText(o ending, no, log string) string {
	var b strings.Builder
	switch {
	case o.Class == proc.TimedOut:
		fmt.Fprintf(&b, "Guardrail \"%s\" was stopped after %s.\n", c.Line, safetext.Duration(c.Timeout))
	case o.Class == proc.Exited && c.exit(o) != "" && c.Expect.exit() == 0:
		fmt.Fprintf(&b, "Guardrail \"%s\" failed with exit code %d.\n", c.Line, o.Exit)
	default:
		fmt.Fprintf(&b, "Guardrail \"%s\" failed: %s.\n", c.Line, no)
	}
	if c.Hint != "" {
		fmt.Fprintf(&b, "Hint: %s\n", c.Hint)
	}
	fmt.Fprintf(&b, "Output file: %s\n", log)
	b.WriteString("Output (truncated):\n" + truncate(o.output, c.TruncateChars, c.TruncateFrom))
	return b.String()
}

// reason says how a command ended that did not end as it should.
func (c *Command) reason(r proc.Result) string {
	switch r.Class {
	case proc.TimedOut:
		return fmt.Sprintf("it was stopped after its time limit of %s", safetext.Duration(c.Timeout))
	case proc.Limited:
		return "it " + r.Why
	case proc.Signalled:
		return "it was ended by " + r.Signal
	case proc.Canceled:
		return "it was stopped with the run"
	case proc.NotFound, proc.NotExecutable:
		if c.Bash {
			return `it asks for bash ("shell": "bash"), and bash is not on PATH: install it, or leave the setting out`
		}
		return fmt.Sprintf("there is no shell to run it (%s)", Shell(runtime.GOOS)[0])
	}
	switch r.Exit {
	case shellExit:
		return "the command cannot be executed (exit code 126)"
	case shellExit + 1:
		return "a program of the command was not found (exit code 127); install it before ralph runs, or change the check"
	}
	if want := c.Expect.exit(); want != 0 {
		return fmt.Sprintf("it exited with code %d, and %d is expected", r.Exit, want)
	}
	return fmt.Sprintf("it exited with code %d", r.Exit)
}
