package detect

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestMissingTool(t *testing.T) {
	for _, c := range []struct {
		command, output, want string
		lacking               bool // the output alone says so, whatever the exit code is
	}{
		{"pnpm run test", "sh: 1: pnpm: not found\n", "pnpm", false},
		{"pnpm run test", "bash: line 1: pnpm: command not found\n", "pnpm", false},
		{"pnpm run test", "sh: pnpm: not found\n", "pnpm", false},
		{"npm run test", "\n> test\n> vitest\n\nsh: 1: vitest: not found\n", "vitest", false},
		{"make test", "uv run pytest\nmake: uv: No such file or directory\nmake: *** [Makefile:2: test] Error 127\n", "uv",
			true},
		{"make test", "/bin/sh: 1: ruff: not found\nmake: *** [Makefile:2: lint] Error 127\n", "ruff", true},
		{"make test", "make: *** [Makefile:2: test] Error 1\n", "make", false},
		{"make test", "make: *** No rule to make target 'test'.  Stop.\n", "make", false},
		{"task test", "\"x\": executable file not found in $PATH\ntask: Failed to run task \"test\": exit status 127\n", "x",
			true},
		{"sh ci.sh", "ci.sh: 3: jq: not found\n", "jq", false},
		{"sh ./gradlew check", "env: ‘java’: No such file or directory\n", "java", false},
		{"python3 -m pytest", "/usr/bin/python3: No module named pytest\n", "pytest", true},
		{".venv-ralph/bin/python -m pytest", "sh: 1: .venv-ralph/bin/python: not found\n", "python3", false},
		{"python3 -m pytest", "E   ModuleNotFoundError: No module named 'flask'\n", "python3", false},
		{"uv run pytest", "error: Failed to spawn: `pytest`\n", "pytest", true},
		{"poetry run pytest", "Command not found: pytest\n", "pytest", true},
		{"bundle exec rspec", "bundler: command not found: rspec\n", "rspec", true},
		{"cargo clippy", "error: no such command: `clippy`\n", "cargo-clippy", true},
		{"cargo fmt", "error: 'cargo-fmt' is not installed for the toolchain 'stable'\n", "cargo-fmt", true},
		{"x", "'x' is not recognized as an internal or external command,\n", "x", false},
		{"CI=true npm run test", "", "npm", false},
		{"$(x) y", "", "", false},
		{"x", "sh: 1: " + strings.Repeat("y", 100) + ": not found\n", "x", false},
		{"x", "sh: 1: a b`c: not found\n", "x", false},
		{"go test ./...", "--- FAIL: TestShell\n    exit status 127\nFAIL\n", "go", false},
	} {
		if got := MissingTool(c.command, c.output); got != c.want {
			t.Errorf("%q says %q: missing is %q, want %q", c.command, c.output, got, c.want)
		}
		if got := Lacking(c.output); got != c.lacking {
			t.Errorf("%q: lacking is %v, want %v", c.output, got, c.lacking)
		}
	}
}

// TestInstallAdvice: in a job a step brings a tool; dependencies are installed before a tool of theirs.
func TestInstallAdvice(t *testing.T) {
	const orHere, orJob = ": install it, or change the check",
		": install it in a step before ralph or in the setting setup, or change the check"
	for _, c := range []struct {
		tool string
		at   Site
		want string
	}{
		{"pnpm", Site{}, "pnpm is not installed: add `- uses: pnpm/action-setup@v4` before ralph, or install it in the setting " +
			"setup; ralph's container has only git, make, node and claude, so take the action in host/ for it"},
		{"node", Site{Setup: "npm ci"}, "node is not installed: add `- uses: actions/setup-node@v6` before ralph"},
		{"vitest", Site{Setup: "npm ci"},
			"vitest is not installed, maybe because the dependencies are not: put `npm ci` into the setting setup"},
		{"vitest", Site{}, "vitest is not installed" + orJob},
		{"", Site{Setup: "npm ci"}, "a program of the check is not installed" + orJob},
		{"cargo", Site{Here: true, Setup: "npm ci"}, "cargo is not installed" + orHere},
		{"vitest", Site{Here: true, NoSetup: true, Setup: "npm ci"},
			"vitest is not installed, maybe because the dependencies are not: run `npm ci`"},
		{"", Site{Here: true}, "a program of the check is not installed" + orHere},
	} {
		if got := InstallAdvice(c.tool, c.at); got != c.want {
			t.Errorf("%q: %q, want %q", c.tool, got, c.want)
		}
	}
}

// TestEveryDetectedToolHasAStep: whatever a detected command begins with, somebody is told how to get it.
func TestEveryDetectedToolHasAStep(t *testing.T) {
	have := map[string]bool{"sh": true}
	for _, row := range toolSteps {
		for tool := range strings.FieldsSeq(row.tools) {
			if have[tool] {
				t.Errorf("%s is there twice", tool)
			}
			have[tool] = true
		}
	}
	for _, row := range detectRows(t) {
		found := Repository(row.contents())
		for _, d := range found.Checks {
			for part := range strings.SplitSeq(d.Command, " && ") {
				if tool := MissingTool(part, ""); !have[tool] {
					t.Errorf("%s: no step brings %s", d.Command, tool)
				}
			}
		}
		for _, s := range found.Setup {
			if tool := MissingTool(s.Command, ""); !have[tool] {
				t.Errorf("%s: no step brings %s", s.Command, tool)
			}
		}
	}
}

func TestUninstalled(t *testing.T) {
	for output, want := range map[string]bool{
		"Error: Cannot find module 'express'\nRequire stack:\n":                   true,
		"Error: Cannot find module '@scope/x'\n":                                  true,
		"Error: Cannot find module './lib/x'\n":                                   false,
		"Error: Cannot find module '/home/x/lib'\n":                               false,
		"Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'left-pad' imported":   true,
		"sh: 1: vitest: not found\n":                                              true,
		"Local package.json exists, but node_modules missing, did you mean":       true,
		"src/a.ts(1,1): error TS2307: Cannot find module 'zod' or its":            true,
		"E   ModuleNotFoundError: No module named 'flask'\n":                      true,
		"Could not find rake-13.0 in any of the sources (Bundler::GemNotFound)\n": true,
		"require(vendor/autoload.php): Failed to open stream\n":                   true,
		"Could not open input file: vendor/bin/phpunit\n":                         true,
		"Unchecked dependencies for environment test:\n":                          true,
		"--- FAIL: TestX\n    x_test.go:3: page not found\n":                      false,
		"": false,
	} {
		if Uninstalled(output) != want {
			t.Errorf("%q: %v", output, !want)
		}
	}
}

// FuzzMissingTool: whatever a program prints, the name of a tool is plain.
func FuzzMissingTool(f *testing.F) {
	f.Add("pnpm run test", "sh: 1: pnpm: not found\n")
	f.Add("`x`", "env: 'a': No such file or directory\n")
	f.Fuzz(func(t *testing.T, command, output string) {
		if tool := MissingTool(command, output); strings.ContainsAny(tool, " `'\"$;&|<>()\n\x1b@#") ||
			len(tool) > maxTool+len("cargo-") {
			t.Errorf("%q", tool)
		}
	})
}

// TestToolsAreDocumented: the rows of docs/internals/detection.md are the code's.
func TestToolsAreDocumented(t *testing.T) {
	var table strings.Builder
	for _, row := range toolSteps {
		fmt.Fprintf(&table, "| `%s` | `%s` |\n", strings.ReplaceAll(row.tools, " ", "`, `"), row.step)
	}
	documentedAs(t, "| tool | what brings it to a job |\n|---|---|\n", table.String())
}

// documentedAs holds the rows of a table of docs/internals/detection.md against those of the code, or writes them.
func documentedAs(t *testing.T, head, rows string) {
	t.Helper()
	const file = "../../docs/internals/detection.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), head)
	end := strings.Index("\n"+rest, "\n\n")
	if !found || end < 0 {
		t.Fatalf("%s has no table %q with an empty line behind it", file, head)
	}
	if rest[:end] == rows {
		return
	}
	if !*update {
		t.Fatalf("%s is not what the code does; run the tests of internal/detect with -update. Want:\n%s", file, rows)
	}
	if err := os.WriteFile(file, []byte(before+head+rows+rest[end:]), 0o644); err != nil { //nolint:gosec // a document
		t.Fatal(err)
	}
}
