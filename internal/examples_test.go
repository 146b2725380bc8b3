package internal_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/detect"
	"github.com/ralph-loop/ralph/internal/task"
)

// ecosystem is a repository below examples, and one change by which a scripted agent does the work of its issue.
type ecosystem struct {
	dir      string
	needs    []string // programs
	registry string   // what the build has to reach, where nothing is brought along
	file     string   // what the agent changes
	from, to string
}

var ecosystems = []ecosystem{
	{"go", []string{"go"}, "", "greet.go", "\treturn \"Hello", "\tif name == \"\" {\n\t\tname = \"world\"\n\t}\n\treturn \"Hello"},
	{"node-pnpm", []string{"pnpm"}, "https://registry.npmjs.org/ms", "src/greet.js", "${name}", "${name || 'world'}"},
	{"python-uv", []string{"uv"}, "", "greet.py", "{name}", "{name or 'world'}"},
	{"rust", []string{"cargo"}, "", "src/lib.rs", "    format!",
		"    let name = if name.is_empty() { \"world\" } else { name };\n    format!"},
	{"java", []string{"mvn", "javac"}, "https://repo.maven.apache.org/maven2/", "src/main/java/com/example/Greet.java", "+ name +",
		"+ (name.isEmpty() ? \"world\" : name) +"},
	{"dotnet", []string{"dotnet"}, "https://api.nuget.org/v3/index.json", "src/Greet/Greeter.cs", "{name}",
		"{(name == \"\" ? \"world\" : name)}"},
	{"php", []string{"php", "composer"}, "", "src/Greet.php", "        return",
		"        $name = $name === '' ? 'world' : $name;\n\n        return"},
	{"ruby", []string{"ruby", "bundle"}, "https://rubygems.org/", "lib/greet.rb", "#{name}", "#{name.empty? ? 'world' : name}"},
	{"cpp", []string{"cmake", "g++"}, "", "src/greet.cpp", "+ name +", "+ (name.empty() ? \"world\" : name) +"},
	{"cpp-make", []string{"make", "g++"}, "", "src/greet.cpp", "+ name +", "+ (name.empty() ? \"world\" : name) +"},
	{"monorepo", []string{"go", "npm"}, "", "web/greet.js", "${name}", "${name || 'world'}"},
	{"docs-only", []string{"sh"}, "", "docs/greet.md", "the name.", "the name; without one, say \"world\"."},
}

// TestExamplesAreFound: what ralph finds in each of examples is what examples/README.md says, its settings and its issue
// are understood, and its workflow is one that GitHub takes.
func TestExamplesAreFound(t *testing.T) {
	rows := table(t, document(t, "../examples/README.md"), "directory", "the checks", "installed before")
	if len(rows) != len(ecosystems) {
		t.Errorf("examples/README.md has %d rows for %d examples", len(rows), len(ecosystems))
	}
	for i, e := range ecosystems {
		dir := filepath.Join("..", "examples", e.dir)
		checks, named, setup := e.commands(t)
		shown := inCodes(checks)
		if shown == "" {
			shown = "named in its settings: " + inCodes(named)
		}
		want := []string{"[" + e.dir + "](" + e.dir + ")", shown, cmp.Or(inCodes(setup), "–")}
		if !slices.Equal(rows[i], want) || len(checks) > 0 && len(named) > 0 {
			t.Errorf("examples/README.md has the row %q, want %q", rows[i], want)
		}
		issue, err := task.FromFile("issue.md", document(t, dir+"/issue.md"))
		if err != nil || issue.Completion == nil || len(issue.Completion.Acceptance) == 0 {
			t.Errorf("%s: the issue says %+v, %v", e.dir, issue, err)
		}
		workflow := localActions.ReplaceAllString(document(t, dir+"/.github/workflows/ralph.yml"), "./$1")
		lintWorkflow(t, workflow)
		if wrong, err := faults(workflow); err != nil || len(wrong) > 0 {
			t.Errorf("%s: %q %v", e.dir, wrong, err)
		}
	}
}

func inCodes(commands []string) string {
	if len(commands) == 0 {
		return ""
	}
	return "`" + strings.Join(commands, "`, `") + "`"
}

// commands are the checks and the setup that ralph finds, and the checks that the settings name.
func (e ecosystem) commands(t *testing.T) (checks, named, setup []string) {
	t.Helper()
	found := topOf(t, filepath.Join("..", "examples", e.dir))
	if len(found.Notes) > 0 {
		t.Errorf("%s: notes %q", e.dir, found.Notes)
	}
	for _, c := range found.Checks {
		checks = append(checks, c.Command)
	}
	for _, s := range found.Setup {
		setup = append(setup, s.Command)
	}
	settings, err := config.Load(config.Layer{Name: e.dir,
		JSON: []byte(document(t, filepath.Join("..", "examples", e.dir, ".ralph", "settings.json")))})
	if err != nil {
		t.Fatalf("%s: %v", e.dir, err)
	}
	for _, g := range settings.Guardrails {
		named = append(named, g.Command)
	}
	return checks, named, setup
}

// topOf is what the top of a directory shows.
func topOf(t *testing.T, dir string) detect.Result {
	t.Helper()
	entries, err := os.ReadDir(dir)
	noError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	files, err := detect.Read(names, func(name string, _ int) ([]byte, error) {
		return os.ReadFile(filepath.Join(dir, name))
	})
	noError(t, err)
	return detect.Repository(files)
}

// TestExamplesRun: in each example whose tools are here, the checks pass on the base commit, and one run of a scripted
// agent is done. The log names those that were not run.
func TestExamplesRun(t *testing.T) {
	program, err := build()
	noError(t, err)
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	noError(t, err)
	for _, e := range ecosystems {
		if missing := e.missing(); missing != "" {
			t.Logf("not run: %s, for %s is not here", e.dir, missing)
			continue
		}
		t.Run(e.dir, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			clone := e.clone(t)
			checks, named, _ := e.commands(t)
			run := exec.Command(program, "run", "--json", "--issue", "issue.md", "--agent", e.agent(t), "--max-cost-usd", "0") //nolint:gosec // ours
			run.Dir = clone
			run.Env = append(os.Environ(), "RALPH_SANDBOX=off", "XDG_CACHE_HOME="+home, "XDG_STATE_HOME="+home,
				"GOCACHE="+strings.TrimSpace(string(cache)))
			var log strings.Builder
			run.Stderr = &log
			out, err := run.Output()
			if err != nil {
				t.Fatalf("%v\n%s\n%s", err, out, log.String())
			}
			var end struct {
				Outcome  string `json:"outcome"`
				Verified bool   `json:"verified"`
			}
			if err := json.Unmarshal(out, &end); err != nil || end.Outcome != "done" || !end.Verified {
				t.Errorf("%v\n%s\n%s", err, out, log.String())
			}
			if n := len(onBase.FindAllString(log.String(), -1)); n != len(checks)+len(named) {
				t.Errorf("the log says of %d checks that they pass on the base commit:\n%s", n, log.String())
			}
		})
	}
}

var onBase = regexp.MustCompile(`baseline .*: passed`)

// missing is a program or a registry that the example needs and that is not here; "" none.
func (e ecosystem) missing() string {
	for _, program := range e.needs {
		if _, err := exec.LookPath(program); err != nil {
			return program
		}
	}
	if e.registry == "" {
		return ""
	}
	client := http.Client{Timeout: 10 * time.Second}
	answer, err := client.Get(e.registry)
	if err != nil {
		return e.registry
	}
	_ = answer.Body.Close()
	return ""
}

// clone is a repository with what git has of the example, in one commit.
func (e ecosystem) clone(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), e.dir)
	git := func(from string, arguments ...string) []byte {
		alice := []string{"-c", "user.name=Alice", "-c", "user.email=alice@example.com"}
		c := exec.Command("git", append(alice, arguments...)...)
		c.Dir = from
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", arguments, err, out)
		}
		return out
	}
	from := filepath.Join("..", "examples", e.dir)
	for name := range strings.SplitSeq(strings.TrimRight(string(git(from, "ls-files", "-z", ".")), "\x00"), "\x00") {
		to := filepath.Join(dir, name)
		noError(t, os.MkdirAll(filepath.Dir(to), 0o750))
		noError(t, os.WriteFile(to, []byte(document(t, filepath.Join(from, name))), 0o600))
	}
	git(dir, "init", "-q", "-b", "main")
	git(dir, "add", ".")
	git(dir, "commit", "-qm", "First")
	git(dir, "config", "user.name", "Alice")
	git(dir, "config", "user.email", "alice@example.com")
	return dir
}

// agent is a program that makes the change, and approves it as the reviewer.
func (e ecosystem) agent(t *testing.T) string {
	t.Helper()
	before := document(t, filepath.Join("..", "examples", e.dir, e.file))
	after := strings.Replace(before, e.from, e.to, 1)
	if after == before {
		t.Fatalf("%s of %s has no %q", e.file, e.dir, e.from)
	}
	dir := t.TempDir()
	script := `#!/bin/sh
case "$(cat)" in
*'# Review'*)
	tree=$(git rev-parse 'HEAD^{tree}')
	echo '{"verdict":"approve","tree":"'"$tree"'","summary":"It does what the issue asks.","issues":[]}' ;;
*) cp '` + dir + "/after' '" + e.file + `'; echo '<response>DONE</response>' ;;
esac
`
	for name, text := range map[string]string{"after": after, "agent": script} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil { //nolint:gosec // it is run
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "agent")
}
