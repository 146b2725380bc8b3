package check

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// command is a hard check of a shell line in an empty directory.
func command(t *testing.T, line string) *Command {
	t.Helper()
	return &Command{
		Title: "check", Line: line, Hard: true,
		Timeout: time.Minute, OnFailure: OnFailure{TruncateChars: 5000}, Place: placeIn(t.TempDir()),
	}
}

func outcomeOf(t *testing.T, c *Command) loop.Verdict {
	t.Helper()
	v, err := c.Run(context.Background(), Input{Iteration: loop.Iteration{N: 1}})
	noError(t, err)
	return v
}

// TestExpect has a row for each expectation, held and not; the reason of the first that does not hold is told.
func TestExpect(t *testing.T) {
	const noTests = "echo '?   \tm\t[no test files]'; "
	const failedAbove = "printf '=== 1 failed in 0.1s ===\\n=== 3 passed in 0.1s ===\\n'"
	tests := []struct {
		name   string
		line   string
		expect Expect
		want   string // the reason; empty: it passes
	}{
		{"nothing expected: exit 1", "exit 1", Expect{}, "it exited with code 1"},
		{"another exit", "exit 3", Expect{Exit: new(3)}, ""},
		{"another exit, and 0", "true", Expect{Exit: new(3)}, "it exited with code 0, and 3 is expected"},
		{"another exit, and a third", "echo bad luck; exit 4", Expect{Exit: new(3)},
			"it exited with code 4, and 3 is expected: bad luck"},
		{"the runner's own word is not the cause", "echo ok; echo no daemon is running; echo 'make: *** [Makefile:2: test] Error 1'; " +
			"exit 2", Expect{}, "it exited with code 2: no daemon is running"},
		{"the first place is told", `printf -- '--- FAIL: TestF (0.00s)\n    a_test.go:3: want 3, got 4\nFAIL\nFAIL\tm\t0.1s\n'; exit 1`,
			Expect{}, "it exited with code 1: a_test.go:3: want 3, got 4"},
		{"a summary above the last one", failedAbove, Expect{}, ""},
		{"a summary above the last one, where the line hides exit codes", failedAbove, Expect{HidesExit: true},
			"it exited with code 0, and its output says that a test failed (pytest); make it exit with the exit code of its tests"},
		{"a missing tool is no expected failure", "no-such-tool", Expect{Exit: new(1)},
			"a program of the command was not found (exit code 127); install it before ralph runs, or change the check"},
		{"a missing tool, asked for exactly", "no-such-tool", Expect{Exit: new(127)}, ""},
		{"a program that is none", ". /; exit 126", Expect{Exit: new(1)}, "the command cannot be executed (exit code 126)"},
		{"ended by a signal", "kill -TERM $$", Expect{Exit: new(143)}, "it was ended by SIGTERM"},

		{"contains", "echo all good", Expect{Contains: []string{"good", "all"}}, ""},
		{"contains, on stderr", "echo good >&2", Expect{Contains: []string{"good"}}, ""},
		{"contains, and lacks it", "echo all", Expect{Contains: []string{"all", "good"}},
			`its output does not contain "good", which is expected`},
		{"contains is exact", "echo GOOD", Expect{Contains: []string{"good"}},
			`its output does not contain "good", which is expected`},
		{"contains not, and does", "echo 1 warning", Expect{NotContains: []string{"error", "warning"}},
			`its output contains "warning", which it must not`},
		{"the exit comes first", "echo warning; exit 2", Expect{NotContains: []string{"warning"}},
			"it exited with code 2: warning"},
		{"what it contains comes before what not", "echo warning",
			Expect{Contains: []string{"good"}, NotContains: []string{"warning"}},
			`its output does not contain "good", which is expected`},

		{"no test", noTests, Expect{}, "it passed without running a single test (go test: no test files), which proves " +
			"nothing; run the tests, or set expect.minTests to 0 if it is to run none"},
		{"no test, and none is needed", noTests, Expect{MinTests: new(0)}, ""},
		{"no test, and some are", noTests, Expect{MinTests: new(1)},
			"no test ran (go test: no test files), and at least 1 must"},
		{"enough tests", "echo 'Tests:       3 passed, 3 total'", Expect{MinTests: new(3)}, ""},
		{"too few tests", "echo 'Tests:       2 skipped, 3 passed, 5 total'", Expect{MinTests: new(4)},
			"only 3 tests ran (jest), and at least 4 must"},
		{"a line of a change log", "echo 'Tests:       1 failed, 3 passed, 4 total'; exit 0", Expect{}, ""},
		{"a wrapper eats the exit code",
			"echo 'Test Suites: 1 failed, 1 total'; echo 'Tests:       1 failed, 3 passed, 4 total'; exit 0", Expect{},
			"it exited with code 0, and its output says that a test failed (jest); make it exit with the exit code of its tests"},
		{"a wrapper eats the exit code, and nobody counts tests",
			"echo 'Test Suites: 1 failed, 1 total'; echo 'Tests:       1 failed, 3 passed, 4 total'; exit 0",
			Expect{MinTests: new(0)}, ""},
		{"who knows how many", "echo fine", Expect{MinTests: new(1)}, "how many tests ran cannot be read from the output; " +
			"at least 1 must, so let the command print its runner's summary or name its JUnit report"},
		{"at least one", "echo 'ok  \tm\t0.1s'", Expect{MinTests: new(1)}, ""},
		{"at least one, and two must", "echo 'ok  \tm\t0.1s'", Expect{MinTests: new(2)},
			"how many tests ran cannot be read from the output, only that at least 1 did; at least 2 must, so let go test " +
				"list them (go test: -v) or name its JUnit report"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := command(t, tt.line)
			c.Expect = tt.expect
			v := outcomeOf(t, c)
			if tt.want == "" {
				if !v.Pass || v.Hash != "" || v.PromptText != "" {
					t.Errorf("it should pass: %+v", v)
				}
				return
			}
			if v.Pass || v.Reason != tt.want {
				t.Errorf("pass %v, reason: %s\nwant: %s", v.Pass, v.Reason, tt.want)
			}
			if len(v.Hash) != 8 || v.PromptText == "" {
				t.Errorf("hash %q, tell %q", v.Hash, v.PromptText)
			}
		})
	}
}

// TestVacuous: commands that pass and test nothing.
func TestVacuous(t *testing.T) {
	tests := []struct {
		name, line string
		ok         bool
		pass       bool
		reason     string // its beginning
		ran        int
	}{
		{"none", "echo '===== no tests ran in 0.01s ====='", false, false,
			"it passed without running a single test (pytest: no tests ran)", 0},
		{"none, where exit codes decide", "echo '===== no tests ran in 0.01s ====='", true, true,
			"it passed without running a single test (pytest: no tests ran)", 0},
		{"none of one runner, some of another", "echo 'Tests:       3 skipped, 3 total'; echo 'ok  \tm\t0.1s'", false, true,
			"", 1},
		{"it is asked to run none", "mvn() { echo 'Tests are skipped.'; }; mvn -DskipTests package", false, true,
			"it passed without running a single test (maven: Tests are skipped)", 0},
		{"it is asked to run them", "mvn() { echo 'Tests are skipped.'; }; mvn -DskipTests=false package", false, false,
			"it passed without running a single test", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := command(t, tt.line)
			c.Expect.VacuousOK = tt.ok
			v := outcomeOf(t, c)
			if v.Pass != tt.pass || !strings.HasPrefix(v.Reason, tt.reason) || tt.reason == "" && v.Reason != "" {
				t.Errorf("pass %v, reason %q", v.Pass, v.Reason)
			}
			if v.Ran == nil || *v.Ran != tt.ran {
				t.Errorf("ran %v, want %d", v.Ran, tt.ran)
			}
		})
	}
}

// TestAllOfTheOutputIsSearched: also what is kept nowhere, since it is in the middle of megabytes.
func TestAllOfTheOutputIsSearched(t *testing.T) {
	c := command(t, "yes 'a line of no interest' | head -n 40000; echo needle; echo 'Tests:       3 skipped, 3 total'; "+
		"yes 'a line of no interest' | head -n 40000")
	c.Expect.Contains = []string{"needle"}
	if v := outcomeOf(t, c); v.Pass || !strings.Contains(v.Reason, "jest: all 3 skipped") {
		t.Errorf("verdict = %+v", v)
	}
}

// TestBash: a pipe does not hide a failure from bash, and a machine without it says so in a sentence.
func TestBash(t *testing.T) {
	c := command(t, "false | cat")
	if v := outcomeOf(t, c); !v.Pass {
		t.Errorf("sh: %+v", v)
	}
	if c.Bash = true; outcomeOf(t, c).Pass {
		t.Error("bash: the pipe passes")
	}
	c.start = func(context.Context, proc.Spec) (proc.Result, error) {
		return proc.Result{Class: proc.NotFound, Exit: 127}, nil
	}
	want := `it asks for bash ("shell": "bash"), and bash is not on PATH: install it, or leave the setting out`
	if v := outcomeOf(t, c); v.Reason != want || !v.Missing {
		t.Errorf("%+v", v)
	}
}
