//go:build e2e

// Package e2e_test runs ralph as its users do: the action through a runner, and the image in a container.
package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake"
)

// token is the workflow's; nothing but ralph itself may see it.
const token = "ghs_stand-in-token-of-the-workflow"

// approves begins the script of an agent: as a reviewer it approves, and does nothing else.
const approves = `#!/bin/sh
prompt=$(cat)
tree=$(printf '%s\n' "$prompt" | sed -n 's/^From .* to the tree \([0-9a-f]*\):$/\1/p')
if [ -n "$tree" ]; then
	printf '{"verdict": "approve", "tree": "%s", "summary": "It says hello.", "issues": []}\n' "$tree"
	exit 0
fi
`

// agent is a coding agent as a script. Its first try is wrong, its second right. Everything it could see of secrets it
// writes into the work, where the test looks for it.
const agent = approves + `if [ -f hello.txt ]; then echo hello >hello.txt; else echo good bye >hello.txt; fi
{ id -un; env; cat /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n'; } | grep -E '^INPUT_GITHUB_TOKEN|^[a-z-]+$' | sort -u >seen.txt
echo '::error::an agent must not be obeyed'
echo '<response>DONE</response>'
`

// scene is a stand-in for GitHub with an issue that somebody has just labeled, and an agent that works on it.
type scene struct {
	hub *fake.GitHub
	dir string // readable for all: agent, event.json
}

func newScene(t *testing.T) scene {
	t.Helper()
	hub, err := fake.New(fake.Options{})
	noError(t, err)
	t.Cleanup(hub.Close)
	noError(t, hub.AddRepo("alice", "demo", "main"))
	files := map[string]string{"README.md": "# demo\n", "Makefile": "test:\n\tgrep -qx hello hello.txt\n"}
	if _, err := hub.CommitFiles("alice", "demo", "main", "begin", files); err != nil {
		t.Fatal(err)
	}
	hub.AddToken(token, "", fake.Actions)
	number := hub.AddIssue("alice", "demo", fake.Issue{Title: "Say hello", Body: "A file hello.txt that says hello."})
	hub.Label("alice", "demo", number, "ralph", "alice")
	s := scene{hub: hub, dir: openDir(t)}
	s.write(t, "agent", agent)
	s.write(t, "event.json", string(hub.LabeledPayload("alice", "demo", number, "ralph", "alice")))
	return s
}

// openDir is a temporary directory that the agent's user may pass, which t.TempDir's parent does not let him.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ralph-e2e-")
	noError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	noError(t, os.Chmod(dir, 0o755))
	return dir
}

func (s scene) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(s.dir, name)
	noError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	noError(t, os.WriteFile(path, []byte(text), 0o755))
}

// github are the variables that tell where GitHub is, as NAME=value.
func (s scene) github() []string {
	return []string{
		"GITHUB_SERVER_URL=" + s.hub.URL(), "GITHUB_API_URL=" + s.hub.APIURL(), "GITHUB_GRAPHQL_URL=" + s.hub.GraphQLURL(),
		"GITHUB_REPOSITORY=alice/demo", "GITHUB_REPOSITORY_OWNER=alice",
	}
}

// understood fails if GitHub would not have understood a request.
func (s scene) understood(t *testing.T) {
	t.Helper()
	for _, problem := range s.hub.Problems() {
		t.Error("GitHub would not have understood:", problem)
	}
}

// commit commits files of the repository.
func (s scene) commit(t *testing.T, repository, message string, files map[string]string) {
	t.Helper()
	_, err := s.hub.CommitFiles("alice", repository, "main", message, files)
	noError(t, err)
}

// takesTurns makes every run of the repository take turner as its agent.
func (s scene) takesTurns(t *testing.T) {
	t.Helper()
	s.write(t, "agent", turner)
	s.commit(t, "demo", "name the agent",
		map[string]string{".ralph/settings.json": `{"agent": {"command": "` + filepath.Join(s.dir, "agent") + `"}}`})
}

// check holds what is on GitHub now against what the issue asked for.
func (s scene) check(t *testing.T) {
	t.Helper()
	s.understood(t)
	pulls := s.hub.Pulls("alice", "demo")
	if len(pulls) != 1 {
		t.Fatalf("%d pull requests, want one", len(pulls))
	}
	p := pulls[0]
	if p.Head != "ralph/issue-1" || p.Base != "main" || p.Draft || !strings.Contains(p.Body, "Closes #1") {
		t.Errorf("the pull request is not as it should be: %+v", p)
	}
	if got := s.git(t, "show", p.Head+":hello.txt"); got != "hello\n" {
		t.Errorf("hello.txt says %q", got)
	}
	if seen := s.git(t, "show", p.Head+":seen.txt"); strings.Contains(seen, "TOKEN") {
		t.Errorf("the agent has seen the token:\n%s", strings.ReplaceAll(seen, token, "..."))
	}
	if subjects := strings.Fields(s.git(t, "log", "--format=%h", "main.."+p.Head)); len(subjects) != 2 {
		t.Errorf("%d commits, want one for each of two iterations", len(subjects))
	}
	if labels := s.hub.Issue("alice", "demo", 1).Labels; slices.Contains(labels, "ralph") {
		t.Errorf("the trigger label is still on: %v", labels)
	}
}

func (s scene) git(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("git",
		append([]string{"--git-dir", s.hub.GitDir("alice", "demo")}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// compiledRalph is ralph as a program, which is compiled once.
func compiledRalph(t *testing.T) string {
	t.Helper()
	program, err := compile()
	noError(t, err)
	return program
}

var compile = sync.OnceValues(func() (string, error) {
	program := filepath.Join(programs, "ralph")
	out, err := exec.Command("go", "build", "-o", program, "../../cmd/ralph").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building ralph: %w\n%s", err, out)
	}
	return program, nil
})

// programs is where it is built.
var programs string

func TestMain(m *testing.M) {
	var err error
	if programs, err = os.MkdirTemp("", "ralph-e2e-program-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(programs)
	os.Exit(code)
}

// run runs a program and fails the test with its output when it does not end with the code.
func run(t *testing.T, cmd *exec.Cmd, code int) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatalf("%s: %v", cmd, err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Fatalf("%s: exit code %d, want %d\n%s", strings.Join(cmd.Args, " "), got, code, out)
	}
	if strings.Contains(string(out), token) {
		t.Errorf("%s printed the token", cmd.Args[0])
	}
	return string(out)
}

func putFile(t *testing.T, name, text string) {
	t.Helper()
	noError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	noError(t, os.WriteFile(name, []byte(text), 0o600))
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
