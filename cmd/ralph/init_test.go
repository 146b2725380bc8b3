package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// person sits at a terminal in which ralph runs.
type person struct {
	*testing.T
	dir      string   // where it runs
	args     []string // nil: init
	path     string   // PATH there; empty: ours
	command  *exec.Cmd
	terminal *os.File
	screen   bytes.Buffer // everything that was shown, what was typed included, with line ends as in files
}

func sitDown(t *testing.T) *person {
	t.Helper()
	p := &person{T: t, dir: t.TempDir(), path: withoutAgents(t)}
	p.start()
	return p
}

// withoutAgents is a PATH on which there is git alone, so that nothing is found.
func withoutAgents(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	git, err := exec.LookPath("git")
	if err == nil {
		err = os.Symlink(git, filepath.Join(bin, "git"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

func (p *person) start() {
	p.Helper()
	p.screen.Reset()
	if p.args == nil {
		p.args = []string{"init"}
	}
	// who waits for what does not come sees the terminal close
	ctx, cancel := context.WithTimeout(p.Context(), time.Minute)
	p.Cleanup(cancel)
	p.command = exec.CommandContext(ctx, "ralph", p.args...) // TestMain puts it on PATH
	p.command.Dir = p.dir
	p.command.Env = append(os.Environ(), "CI=", "GITHUB_ACTIONS=")
	if p.path != "" {
		p.command.Env = append(p.command.Env, "PATH="+p.path)
	}
	var err error
	if p.terminal, err = pty.Start(p.command); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { _ = p.terminal.Close() })
}

// sees waits until the screen ends with a text.
func (p *person) sees(text string) {
	p.Helper()
	for !strings.HasSuffix(p.screen.String(), text) {
		if err := p.look(); err != nil {
			p.Fatalf("waiting for %q: %v; the screen is:\n%s", text, err, p.screen.String())
		}
	}
}

func (p *person) look() error {
	some := make([]byte, 1024)
	n, err := p.terminal.Read(some)
	p.screen.WriteString(strings.ReplaceAll(string(some[:n]), "\r", ""))
	return err
}

func (p *person) types(keys string) {
	p.Helper()
	if _, err := p.terminal.WriteString(keys); err != nil {
		p.Fatal(err)
	}
}

// leaves waits for the end and returns the exit code.
func (p *person) leaves() int {
	p.Helper()
	for p.look() == nil {
	}
	var exit *exec.ExitError
	if err := p.command.Wait(); err != nil && !errors.As(err, &exit) {
		p.Fatal(err)
	}
	return p.command.ProcessState.ExitCode()
}

func (p *person) file(name string) string {
	content, _ := os.ReadFile(filepath.Join(p.dir, name))
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

// questions are the lines of the example flow, each cut into what ralph asks and what the person answers.
func questions() (lines [][2]string) {
	for line := range strings.Lines(exampleFlow) {
		question, answer, found := strings.Cut(line, ": ")
		if !found {
			continue
		}
		lines = append(lines, [2]string{question + ": ", answer})
	}
	return lines
}

func TestInitOnATerminal(t *testing.T) { // S1-44
	p := sitDown(t)
	for _, line := range questions() {
		p.sees(line[0])
		p.types(line[1])
	}
	if code := p.leaves(); code != 0 || p.screen.String() != exampleFlow {
		t.Errorf("exit code %d; the screen is:\n%s", code, p.screen.String())
	}
	for _, want := range []string{`"--model"`, `"Fix lint errors only. Do not change behavior."`,
		`"outputTruncateChars": 5000`, `"maximumIterations": 10`} {
		if !strings.Contains(p.file(".ralph/settings.json"), want) {
			t.Errorf("%s is not in %s", want, p.file(".ralph/settings.json"))
		}
	}

	p.start()
	p.sees("Loaded from .ralph/settings.json\nOverwrite? (y/N): ")
	before := p.file(".ralph/settings.json")
	p.types("\n")
	if code := p.leaves(); code != 0 || p.file(".ralph/settings.json") != before {
		t.Errorf("exit code %d; the screen is:\n%s", code, p.screen.String())
	}
}

// TestInitLeftAtAnyQuestion presses Ctrl+C and Ctrl+D at each of the questions: nothing is written, exit code 130
// (S1-28).
func TestInitLeftAtAnyQuestion(t *testing.T) {
	for key, name := range map[string]string{"\x03": "Ctrl+C", "\x04": "Ctrl+D"} {
		for n, at := range questions() {
			if !every && n != 1 {
				continue
			}
			p := sitDown(t)
			for _, line := range questions()[:n] {
				p.sees(line[0])
				p.types(line[1])
			}
			p.sees(at[0])
			p.types(key)
			code := p.leaves()
			if _, err := os.Stat(filepath.Join(p.dir, ".ralph")); code != 130 || !os.IsNotExist(err) {
				t.Errorf("%s at %q: exit code %d, %v; the screen is:\n%s", name, at[0], code, err, p.screen.String())
			}
		}
	}
}

// TestInitBelowTheTop: the settings go to where a run looks for them, and only they go into git.
func TestInitBelowTheTop(t *testing.T) {
	p := &person{T: t, dir: filepath.Join(t.TempDir(), "below"), path: withoutAgents(t)}
	if err := os.Mkdir(p.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	p.sh("git init -q ..")
	p.start()
	p.types("codex\n--sandbox, workspace-write\n\n\nmake test\nreplace\n\n\nn\n")
	p.sees("\nSettings written to ../.ralph/settings.json\n")
	if code := p.leaves(); code != 0 {
		t.Errorf("exit code %d", code)
	}
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

func (p *person) sh(line string) string {
	p.Helper()
	command := exec.Command("sh", "-c", line)
	command.Dir = p.dir
	out, err := command.CombinedOutput()
	if err != nil {
		p.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}
