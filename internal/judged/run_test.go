//go:build unix

package judged

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
)

// A form is how the work is reviewed.
type form string

const (
	byName   form = "by-name" // a reviewer that approves and accepts by name what it is told
	unnamed  form = "unnamed" // one that approves and names nothing
	noReview form = "none"    // --skip-review
)

// ending is what came of a run.
type ending struct {
	outcome loop.Outcome
	reason  string
	told    string   // all that people are told by checks that said no, and what there is to accept
	names   []string // the checks that said no
	open    []string // names of what there is to accept
	log     string   // what the program printed
}

// how says it in a word: silent, told, waiting, blocked.
func (e ending) how() string {
	switch {
	case e.outcome == loop.Done && len(e.names) == 0:
		return "silent"
	case e.outcome == loop.Done:
		return "told"
	case e.outcome == loop.Waiting:
		return "waiting"
	}
	return "blocked"
}

// lacks names what should have been told and was not.
func (e ending) lacks(names []string) (missing []string) {
	for _, name := range names {
		if !strings.Contains(strings.ToLower(e.told), strings.ToLower(name)) {
			missing = append(missing, name)
		}
	}
	return missing
}

var binary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("RALPH_BINARY"); path != "" {
		return filepath.Abs(path)
	}
	path := filepath.Join(shared, "ralph")
	out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", path,
		"../../cmd/ralph").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building ralph: %w\n%s", err, out)
	}
	return path, nil
})

// shared is a directory of the whole test process: the program, and a PATH of real programs in the place of shims.
var shared string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "judged")
	if err != nil {
		panic(err)
	}
	shared = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// programs is a directory with the stand-ins for test runners that a machine seldom has, and with python3 as it is
// behind a version manager's shim, which takes longer than a whole run.
var programs = sync.OnceValue(func() string {
	dir := filepath.Join(shared, "bin")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "standins"))); err != nil {
		panic(err)
	}
	if !everything() { // nothing needs it, and a shim of it takes longer than a whole run
		return dir
	}
	if out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output(); err == nil {
		_ = os.Symlink(strings.TrimSpace(string(out)), filepath.Join(dir, "python3"))
	}
	return dir
})

// surroundings are the environment of a run whose home is home.
var surroundings = sync.OnceValue(func() []string {
	home, _ := os.UserHomeDir()
	or := func(name, value string) string {
		if set := os.Getenv(name); set != "" {
			value = set
		}
		return name + "=" + value
	}
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOPATH").Output()
	places := strings.Split(string(out), "\n")
	if err != nil || len(places) < 3 {
		panic(fmt.Sprintf("go env: %v: %s", err, out))
	}
	return []string{
		"GOCACHE=" + places[0], "GOMODCACHE=" + places[1], "GOPATH=" + places[2], "GOTOOLCHAIN=local", "GOPROXY=off", "GOFLAGS=",
		or("CARGO_HOME", filepath.Join(home, ".cargo")), or("RUSTUP_HOME", filepath.Join(home, ".rustup")),
		"CARGO_NET_OFFLINE=true", "PYTHONDONTWRITEBYTECODE=1", "GIT_CONFIG_NOSYSTEM=1", "RALPH_SANDBOX=off",
		"PATH=" + programs() + string(os.PathListSeparator) + os.Getenv("PATH"), "LANG=C.UTF-8",
	}
})

// play makes the piece's repository, and runs the program in a copy of it for each form.
func (p piece) play(t *testing.T, forms ...form) map[form]ending {
	t.Helper()
	ralph, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p.repository(t, filepath.Join(dir, "base"))
	for name, content := range p.change {
		write(t, filepath.Join(dir, "change", name), content)
	}
	ends := map[form]ending{}
	for _, f := range forms {
		at := filepath.Join(dir, string(f))
		if err := os.CopyFS(at, os.DirFS(filepath.Join(dir, "base"))); err != nil {
			t.Fatal(err)
		}
		ends[f] = p.run(t, ralph, dir, at, f)
	}
	return ends
}

// repository commits the base.
func (p piece) repository(t *testing.T, dir string) {
	t.Helper()
	if _, own := p.base[".ralph/settings.json"]; !own {
		p.base[".ralph/settings.json"] = settings(p.checks)
	}
	for name, content := range p.base {
		write(t, filepath.Join(dir, name), content)
	}
	must(t, dir, "sh", "-ec", `git init -q --template= -b main
printf '[user]\n\tname = Alice\n\temail = alice@example.com\n' >>.git/config
git add -A -f
git commit -qm Begin`)
}

func settings(checks []string) string {
	var guards []map[string]string
	for _, c := range checks {
		guards = append(guards, map[string]string{"command": c})
	}
	text, _ := json.Marshal(map[string]any{"guardrails": guards}) // of texts alone
	return string(text) + "\n"
}

// run lets the agent work on the task, once or for as many turns as the head says.
func (p piece) run(t *testing.T, ralph, dir, at string, f form) ending {
	t.Helper()
	home := filepath.Join(dir, "home-"+string(f))
	write(t, filepath.Join(home, "task.md"), "# "+p.title+"\n\n"+p.text+"\n")
	agent := filepath.Join(home, "agent")
	write(t, agent, strings.NewReplacer("@form@", string(f), "@home@", home, "@change@", filepath.Join(dir, "change")).
		Replace(agentScript))
	write(t, filepath.Join(home, "change.sh"), p.script)
	args := []string{"run", "--issue", filepath.Join(home, "task.md"), "--agent", agent, "-m", cmp.Or(p.head["turns"], "1")}
	if f == noReview {
		args = append(args, "--skip-review")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, ralph, args...)
	cmd.Dir, cmd.Env = at, append(slices.Clone(surroundings()), "HOME="+home)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run() // its outcome is in the journal
	if said, err := os.ReadFile(filepath.Join(home, "failed")); err == nil {
		t.Fatalf("the agent's change could not be made:\n%s", said)
	}
	return read(t, at, out.String())
}

// agentScript makes the change, or reviews it: @form@, @home@ and @change@ are put in. The file "asked" keeps what a
// reviewer was told.
const agentScript = `#!/bin/sh
[ "$1" != --version ] || exit 0
p=$(cat)
case "$p" in
"# Review"*)
	printf '%s\n' "$p" > @home@/asked
	tree=$(sed -n 's/.*to the tree \([0-9a-f]*\):.*/\1/p' @home@/asked | head -1)
	accepts=
	if [ @form@ = by-name ]; then
		accepts=$(awk '` + namesOf + `' @home@/asked)
	fi
	printf '{"verdict":"approve","tree":"%s","summary":"looks right","issues":[]%s}\n' \
		"$tree" "${accepts:+,\"accepts\":[$accepts]}"
	;;
*)
	[ ! -d @change@ ] || cp -a @change@/. .
	sh -e @home@/change.sh > @home@/said 2>&1 || mv @home@/said @home@/failed
	echo 'All of it is done. <response>DONE</response>'
	;;
esac
`

// namesOf is the awk program that prints what a reviewer's prompt names, as items of a JSON list.
const namesOf = `/^## / { on = $0 == "## To Be Accepted By Name" }
	on && sub(/^- name: /, "") {
		gsub(/\\/, "\\\\")
		printf "%s{\"name\":\"%s\",\"reason\":\"wanted\"}", comma, $0
		comma = ","
	}`

// read reads the journal of the one run of a directory.
func read(t *testing.T, at, log string) ending {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(at, ".ralph", "runs", "*", journal.File))
	if err != nil || len(files) != 1 {
		t.Fatalf("%d journals, %v\n%s", len(files), err, log)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	records, _, err := journal.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	s := loop.Fold(records)
	if s.End == nil {
		t.Fatalf("the run has no end\n%s", log)
	}
	e := ending{outcome: s.End.Outcome, reason: s.End.Reason, log: log}
	last := s.Last()
	if last == nil {
		return e
	}
	var told strings.Builder
	for _, v := range last.Verdicts {
		if v.Pass || v.Skipped != "" {
			continue
		}
		e.names = append(e.names, v.Check)
		fmt.Fprintln(&told, v.Check, v.Reason, v.Output)
		for _, f := range v.Findings {
			fmt.Fprintln(&told, f.File, f.Test, f.Message)
		}
		for _, c := range v.Concerns {
			e.open = append(e.open, c.Name)
			fmt.Fprintln(&told, c.Name, c.Message, c.Detail)
		}
	}
	e.told = told.String()
	return e
}

func write(t *testing.T, path, content string) {
	t.Helper()
	mode := os.FileMode(0o644)
	if strings.HasPrefix(content, "#!") {
		mode = 0o755
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}
