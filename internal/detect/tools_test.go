package detect

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/archive"
)

// TestOutputs: what the output of a failed check says: the cases of testdata/outputs.txtar, each with the check's command,
// the tool that is missing, whether the output alone says so, whatever the exit code is, whether dependencies are not
// installed, and what a manager of versions lacks.
func TestOutputs(t *testing.T) {
	for _, c := range archive.Cases(t, "testdata/outputs.txtar") {
		command, want, _ := strings.Cut(c.Files["what"], "\n")
		got := "missing " + cmp.Or(MissingTool(command, c.Text), "nothing") + "\n"
		if Lacking(c.Text) {
			got += "lacking\n"
		}
		if Uninstalled(c.Text) {
			got += "uninstalled\n"
		}
		if _, advice := unchosen(c.Text); advice != "" {
			got += strings.TrimSuffix(advice, " that it can run here: install one before ralph or in the setting setup") + "\n"
		}
		if got != want {
			t.Errorf("%s: %q says %q\n%swant\n%s", c.Name, command, c.Text, got, want)
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
		{"golangci-lint", Site{Here: true}, "golangci-lint is not installed: " +
			"`go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@latest` installs it"},
		{"ruff", Site{Here: true, Setup: "npm ci"}, "ruff is not installed: `python3 -m pip install ruff` installs it"},
		{"make", Site{Here: true}, "make is not installed" + orHere},
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
