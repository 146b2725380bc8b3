package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// asks starts ralph at a terminal, with git alone on PATH.
func (w *work) asks() {
	w.Helper()
	bin := w.TempDir()
	git, err := exec.LookPath("git")
	if err == nil {
		err = os.Symlink(git, filepath.Join(bin, "git"))
	}
	if err != nil {
		w.Fatal(err)
	}
	w.env = append(w.env, "PATH="+bin)
	w.run(true, "ralph", w.args...)
}

// sees waits until the screen ends with a text.
func (w *work) sees(text string) {
	w.Helper()
	w.waitFor("the screen ends with "+text, func() bool { return strings.HasSuffix(w.stderr.String(), text) })
}

func (w *work) file(name string) string {
	content, _ := os.ReadFile(filepath.Join(w.dir, name))
	return string(content)
}

// exampleFlow is the dialogue of S1 as it stands there, with the answers behind the questions.
const exampleFlow = `
Agent command (e.g., claude, codex, amp, or other LLM CLI): claude
Agent flags (comma-separated, optional): --model,opus
Maximum iterations [10]: 
Completion response [DONE]: 
Add guardrail command (leave blank to finish): make lint
  Fail action (APPEND|PREPEND|REPLACE): APPEND
  Hint (optional, guidance for agent on failure): Fix lint errors only. Do not change behavior.
Add guardrail command (leave blank to finish): make test
  Fail action (APPEND|PREPEND|REPLACE): APPEND
  Hint (optional, guidance for agent on failure): 
Add guardrail command (leave blank to finish): 
Configure SCM? (y/N): y
  SCM command (e.g., git): git
  SCM tasks (comma-separated, e.g., commit,push): commit

Settings written to .ralph/settings.json
`

func TestInitOnATerminal(t *testing.T) { // S1-44
	t.Parallel()
	p := begin(t, "init")
	p.asks()
	for line := range strings.Lines(exampleFlow) {
		if question, answer, found := strings.Cut(line, ": "); found {
			p.sees(question + ": ")
			p.types(answer)
		}
	}
	p.ends(0)
	if p.stderr.String() != exampleFlow {
		t.Errorf("the screen is:\n%s", p.stderr.String())
	}
	for _, want := range []string{`"--model"`, `"Fix lint errors only. Do not change behavior."`,
		`"outputTruncateChars": 5000`, `"maximumIterations": 10`} {
		if !strings.Contains(p.file(".ralph/settings.json"), want) {
			t.Errorf("%s is not in %s", want, p.file(".ralph/settings.json"))
		}
	}

	before := p.file(".ralph/settings.json")
	p.asks()
	p.sees("Loaded from .ralph/settings.json\nOverwrite? (y/N): ")
	p.types("\n")
	if p.ends(0); p.file(".ralph/settings.json") != before {
		t.Errorf("the screen is:\n%s", p.stderr.String())
	}
}

// TestInitBelowTheTop: the settings go to where a run looks for them, and only they go into git.
func TestInitBelowTheTop(t *testing.T) {
	t.Parallel()
	p := begin(t, "init")
	p.sh("git init -q; mkdir below")
	p.dir = filepath.Join(p.dir, "below")
	p.sh("rm ../agent")
	p.asks()
	p.types("codex\n--sandbox, workspace-write\n\n\nmake test\nreplace\n\n\nn\n")
	p.sees("\nSettings written to ../.ralph/settings.json\n")
	p.ends(0)
	p.env = append(p.env, "PATH="+os.Getenv("PATH"))
	got := p.sh("ralph settings show")
	for _, line := range []string{`agent.command: "codex" (.ralph/settings.json)`,
		`agent.flags: ["--sandbox","workspace-write"] (.ralph/settings.json)`, `reviewer.command: "codex" (as agent.command)`,
		`guardrails: [{"name":"make test","command":"make test","failAction":"REPLACE","severity":"hard","timeout":"10m"}] (.ralph/settings.json)`,
		`completionResponse: "DONE" (.ralph/settings.json)`, `scm: not set (nothing runs)`} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("settings have no line %s:\n%s", line, got)
		}
	}
	p.sh("touch ../.ralph/settings.local.json ../.ralph/guardrail_1_make_test.log")
	if got := p.sh("git add .. && git status --short"); got != "A  ../.ralph/.gitignore\nA  ../.ralph/settings.json\n" {
		t.Errorf("git would take:\n%s", got)
	}
}
