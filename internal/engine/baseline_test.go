package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/loop"
)

// uninstalled is a run in a directory with a package of node, in which nothing is installed.
func uninstalled(t *testing.T, settings config.Settings) (*Run, *[]string) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"package.json": `{"scripts":{"test":"vitest run"}}`,
		"package-lock.json": "{}"} {
		noError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	said := &[]string{}
	run := &Run{Spec: &Spec{
		Rules: Rules{Settings: settings}, Place: Place{Workspace: Directory(dir)},
		Output: Output{Log: func(format string, args ...any) { *said = append(*said, fmt.Sprintf(format, args...)) }},
	}}
	return run, said
}

// TestExplain: a check that cannot run says what it lacks, and what brings it.
func TestExplain(t *testing.T) {
	named := config.Settings{
		Guardrails: []config.Guardrail{{Name: "unit", Command: "pnpm run test"}}, GuardrailsFrom: "the test",
	}
	prepared := named
	prepared.Setup = "npm ci"
	const job, here = true, false
	for _, c := range []struct {
		name     string
		settings config.Settings
		inJob    bool
		verdict  loop.Verdict
		want     string // what the reason holds
		missing  bool
	}{
		{"a tool of the table", named, job, loop.Verdict{Exit: 127, Missing: true, Output: "sh: 1: pnpm: not found\n"},
			"add `- uses: pnpm/action-setup@v4` before ralph", true},
		{"the same on one's own machine", named, here,
			loop.Verdict{Exit: 127, Missing: true, Output: "sh: 1: pnpm: not found\n"},
			"pnpm is not installed: install it, or change the check", true},
		{"a tool by the command alone", named, job, loop.Verdict{Exit: 127, Missing: true}, "pnpm is not installed", true},
		{"a tool of make's", named, job, loop.Verdict{Exit: 2,
			Output: "make: uv: No such file or directory\nmake: *** [Makefile:2: test] Error 127\n"}, "setup-uv", true},
		{"a dependency that is a program", named, job,
			loop.Verdict{Exit: 127, Missing: true, Output: "sh: 1: vitest: not found\n"}, "put `npm ci` into the setting setup",
			true},
		{"the same after a setup", prepared, job,
			loop.Verdict{Exit: 127, Missing: true, Output: "sh: 1: vitest: not found\n"},
			"vitest is not installed: install it in a step before ralph", true},
		{"a dependency that is a module", named, here,
			loop.Verdict{Exit: 1, Reason: "it exited with code 1", Output: "Error: Cannot find module 'express'\n"},
			"it exited with code 1; maybe its dependencies are not installed: put `npm ci` into", false},
		{"a module of its own", named, here,
			loop.Verdict{Exit: 1, Reason: "as it was", Output: "Error: Cannot find module './x'\n"}, "as it was", false},
		{"a module after a setup", prepared, here,
			loop.Verdict{Exit: 1, Reason: "as it was", Output: "Error: Cannot find module 'express'\n"}, "as it was", false},
		{"a check that passes", named, here,
			loop.Verdict{Pass: true, Reason: "as it was", Output: "make: *** [x] Error 127\nsh: 1: x: not found\n"}, "as it was",
			false},
	} {
		t.Run(c.name, func(t *testing.T) {
			run, _ := uninstalled(t, c.settings)
			run.InJob = c.inJob
			c.verdict.Check, c.verdict.Severity = "unit", loop.Soft
			verdicts := []loop.Verdict{c.verdict}
			noError(t, run.Explain(context.Background(), verdicts))
			v := verdicts[0]
			if !strings.Contains(v.Reason, c.want) || c.want == "as it was" && v.Reason != c.want ||
				v.Missing != c.missing ||
				v.Skipped != "" {
				t.Errorf("%+v, want %q", v, c.want)
			}
		})
	}
}

// TestToolThatIsMissingIsLeftOut: of what was detected, on a person's own machine, as long as a test remains; in a run
// of a prompt always, and a soft check always. What somebody has named stops the run.
func TestToolThatIsMissingIsLeftOut(t *testing.T) {
	missing := func(check string) loop.Verdict {
		return loop.Verdict{Check: check, Severity: loop.Hard, Exit: 127, Missing: true, Output: "sh: 1: tool: not found\n"}
	}
	soft := missing("golangci-lint run ./...")
	soft.Severity, soft.Output = loop.Soft, "sh: 1: golangci-lint: not found\n"
	passed := loop.Verdict{Check: "npm run test", Severity: loop.Hard, Pass: true}
	failed := loop.Verdict{Check: "npm run test", Severity: loop.Hard, Exit: 1, Reason: "it exited with code 1"}
	for _, c := range []struct {
		name              string
		inJob, ofPrompt   bool
		first, second     loop.Verdict
		detected          string
		skipped, skipped2 bool
	}{
		{"a test remains", false, false, missing("npm run lint"), passed, "found", true, false},
		{"a test that fails remains", false, false, missing("npm run lint"), failed, "found", true, false},
		{"no test remains", false, false, loop.Verdict{Check: "npm run lint", Severity: loop.Hard, Pass: true},
			missing("npm run test"), "found", false, false},
		{"in a job", true, false, missing("npm run lint"), passed, "found", false, false},
		{"a soft one in a job", true, false, soft, missing("npm run test"), "found", true, false},
		{"named in the settings", false, false, missing("npm run lint"), passed, "", false, false},
		{"a command of a plan", false, false, missing("./verify.sh"), passed, "found", false, false},
		{"in a run of a prompt", false, true, missing("npm run lint"), missing("npm run test"), "found", true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			run, said := uninstalled(t, config.Settings{Guardrails: []config.Guardrail{
				{Name: c.first.Check, Command: c.first.Check}, {Name: c.second.Check, Command: c.second.Check}}})
			noError(t, os.WriteFile(filepath.Join(run.Workspace.Dir(), "package.json"),
				[]byte(`{"scripts": {"lint": "eslint .", "test": "vitest run"}}`), 0o600))
			run.InJob, run.OfPrompt, run.Detected = c.inJob, c.ofPrompt, c.detected
			verdicts := []loop.Verdict{c.first, c.second}
			noError(t, run.Explain(context.Background(), verdicts))
			if verdicts[0].Skipped != "" != c.skipped || verdicts[1].Skipped != "" != c.skipped2 {
				t.Errorf("%+v", verdicts)
			}
			if told := strings.Contains(strings.Join(*said, "\n"), "is left out: "); told != c.skipped {
				t.Errorf("the log says %q", *said)
			}
			run.skipMissing(verdicts)
			left := slices.DeleteFunc([]loop.Verdict{verdicts[0], verdicts[1]}, func(v loop.Verdict) bool { return v.Skipped != "" })
			if len(run.guardrails()) != len(left) || len(left) > 0 && run.guardrails()[0].Name != left[0].Check {
				t.Errorf("left are %+v", run.guardrails())
			}
		})
	}
}

// TestDetectInFollowsNoLink: neither out of a directory nor within it.
func TestDetectInFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	noError(t, os.WriteFile(filepath.Join(dir, "other"), []byte("test:\n\ttrue\n"), 0o600))
	if err := os.Symlink("other", filepath.Join(dir, "Makefile")); err != nil {
		if errors.Is(err, errors.ErrUnsupported) {
			return
		}
		t.Fatal(err)
	}
	if found := Detected(dir); len(found.Checks) != 0 {
		t.Errorf("%+v", found.Checks)
	}
	noError(t, os.Rename(filepath.Join(dir, "other"), filepath.Join(dir, "Makefile")))
	if found := Detected(dir); len(found.Checks) != 1 || found.Checks[0].Command != "make test" {
		t.Errorf("%+v", found.Checks)
	}
}
