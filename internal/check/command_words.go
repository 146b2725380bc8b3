package check

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/failure"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Bash is how bash is given a command line, so that a pipe fails when one of its commands does.
var Bash = []string{"bash", "-o", "pipefail", "-c"}

// Shell is what a command line is given to, by the operating system as Go names it.
func Shell(system string) []string {
	if system == "windows" {
		return []string{"cmd", "/c"}
	}
	return []string{"sh", "-c"}
}

// argv is the process that runs the command.
func (c *Command) argv() []string {
	if c.Bash {
		return append(slices.Clone(Bash), c.Line)
	}
	return append(Shell(runtime.GOOS), c.Line)
}

func (e Expect) exit() int {
	if e.Exit == nil {
		return 0
	}
	return *e.Exit
}

func (c *Command) logName(iteration int) string {
	name := fmt.Sprintf("guardrail_%d_%s", iteration, Slug(c.Line))
	if c.LogNth > 1 {
		name += fmt.Sprintf("_%d", c.LogNth)
	}
	if c.with != "" {
		name += "_" + c.with
	}
	if c.rerun {
		name += "_rerun"
	}
	return name + ".log"
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
	case proc.Cancelled:
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

// firstFailureLine is the first place that an output names, or else the line of it that tells.
func firstFailureLine(findings []loop.Finding, output string) string {
	if len(findings) > 0 {
		return safetext.Shorten(safetext.Inert(place(findings[0])), 120)
	}
	return telling(output)
}

// telling is the line of an output that tells what failed.
func telling(output string) string {
	lines := safetext.Map(strings.Split(output, "\n"), safetext.Inert)
	return safetext.Shorten(failure.Telling(strings.Join(lines, "\n")), 120)
}

// place is a finding in a line: "pkg/foo_test.go:12: want 3, got 4", "TestFoo: want 3, got 4".
func place(f loop.Finding) string {
	switch {
	case f.File != "" && f.Line > 0:
		return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message)
	case f.File != "":
		return f.File + ": " + f.Message
	case f.Test != "":
		return f.Test + ": " + f.Message
	}
	return f.Message
}

const cutMark = "... [truncated]"

// truncate keeps so many runes of an output, whole ones, and says so when that is not all of it.
func truncate(s string, runes int, from string) string {
	if len(s) <= runes || utf8.RuneCountInString(s) <= runes {
		return s
	}
	switch from {
	case "tail":
		return cutMark + "\n" + safetext.LastRunes(s, runes)
	case "both":
		return safetext.FirstRunes(s, runes-runes/2) + cutMark + "\n" + safetext.LastRunes(s, runes/2)
	}
	return safetext.FirstRunes(s, runes) + cutMark
}

var notSlug = lazy(`[^A-Za-z0-9]+`)

// Slug makes a command part of a file name.
func Slug(command string) string {
	s := strings.Trim(notSlug.ReplaceAllString(command, "_"), "_")
	if len(s) > 50 {
		s = strings.TrimRight(s[:50], "_")
	}
	return s
}

// naming is a command whose runners name each test, as far as a variable of theirs asks for that, and that judges nothing else.
func naming(c *Command, with string) Command {
	again := *c
	again.with, again.Lacks, again.VacuousOK, again.Expect.MinTests = with, nil, true, nil
	again.Env = slices.Clone(c.Env)
	for _, asks := range [][2]string{{"GOFLAGS", "-v"}, {"PYTEST_ADDOPTS", "-vv"}} {
		i := slices.IndexFunc(again.Env, func(v string) bool { return strings.HasPrefix(v, asks[0]+"=") })
		if i < 0 {
			again.Env = append(again.Env, asks[0]+"="+asks[1])
		} else {
			again.Env[i] += " " + asks[1]
		}
	}
	return again
}
