package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
)

// How many rounds there are: in make test one, of an issue without a sandbox. A seed of its own runs that round
// alone; it settles what is run, who is killed and when, but not how far the machine comes until then.
const (
	killSeed   = "RALPH_TEST_KILL_SEED"
	killRounds = "RALPH_TEST_KILL_ROUNDS"
	everyKill  = 500
)

// seeds are those of the rounds.
func seeds() (list []uint64) {
	count, from := 1, number(os.Getenv(killSeed))
	if every && os.Getenv(killSeed) == "" {
		count = everyKill
	}
	if text := os.Getenv(killRounds); text != "" {
		count = number(text)
	}
	for i := range count {
		list = append(list, uint64(from+i))
	}
	return list
}

// restless is an agent that goes by what it finds, so that a turn may be taken again: it edits a tracked file, writes
// one that is ignored, makes a commit of its own now and then, and leaves a process in the background.
const restless = `#!/bin/sh
p=$(cat)
case "$p" in
*'Output only the message'*) echo 'Add lines'; exit;;
esac
sh -c 'until [ -e stop ]; do sleep 0.2; done' DIR &
echo working
n=$(wc -l < tracked.txt)
echo line >> tracked.txt
mkdir -p out
echo $n > out/ignored
echo $n > new-$n.txt
sleep 0.0$((n % 4))
[ $n != 1 ] || { git add -A && git -c user.name=Bot -c user.email=bot@example.com commit -qm "mine $n"; }
[ $n -lt 2 ] || echo '<response>DONE</response>'
`

// planful is one for a plan: it goes by .ralph-active.
const planful = `#!/bin/sh
p=$(cat)
sh -c 'until [ -e stop ]; do sleep 0.2; done' DIR &
mode=$(sed -n 's/.*"iterationMode": "\(.*\)".*/\1/p' .ralph-active); story=$(sed -n 's/.*"story": "\(.*\)".*/\1/p' .ralph-active)
echo working
mkdir -p out
echo $mode > out/ignored
case $mode in
implement)
	echo $story >> tracked.txt
	awk -v id="$story" '/"id": / { split($0, part, "\""); here = part[4] == id } here && /"reviewStatus"/ { sub(/null/, "\"needs_review\"") } { print }' ralph/tasks.json > .t && cat .t > ralph/tasks.json && rm .t
	[ $story != US-001 ] || { git add -A && git -c user.name=Bot -c user.email=bot@example.com commit -qm "mine $story"; };;
review)
	tree=$(printf '%s' "$p" | sed -n 's/.*"tree": *"\([0-9a-f]*\)".*/\1/p' | head -1)
	printf '{"verdict":"approve","tree":"%s","summary":"It is good.","issues":[]}\n' "$tree";;
esac
`

// victim is a run that is killed again and again.
type victim struct {
	*work
	kind    string
	attempt int    // of the job, from 0
	temp    string // what it has for temporary files
	// commits are those that some branch had after a kill.
	commits map[string]bool
	users   string // what was there before the first start and is none of the run's business
	status  string // of the clone, as git said it then
}

// kinds are what is killed, each with how it is asked for.
var kinds = []struct {
	name string
	args []string
}{
	{"an issue", []string{"run", "--issue", "issue.md", "--skip-review", "--max-iterations", "30"}},
	{"a job", []string{"action"}},
	{"a plan", []string{"plan", "run"}},
	{"a prompt", []string{"run", "-p", "Add lines.", "--commit", "--max-iterations", "30"}},
	{"a list of tasks", []string{"run", "--tasks", "todo", "--skip-review", "--max-iterations", "30"}},
}

// busy is an agent for tasks, each with a file of its own.
const busy = `#!/bin/sh
name=$(sed -n 's/.*Make \([a-z]\).*/\1/p' | head -1)
sh -c 'until [ -e stop ]; do sleep 0.2; done' DIR &
echo line >> $name.txt
mkdir -p out
echo $name > out/ignored
sleep 0.02
[ $(wc -l < $name.txt) -lt 2 ] || echo '<response>DONE</response>'
`

// newVictim makes what one round works on.
func newVictim(t *testing.T, kind int, sandbox string) *victim {
	t.Helper()
	k := kinds[kind]
	v := &victim{kind: k.name, temp: t.TempDir(), commits: map[string]bool{}}
	v.work = begin(t, k.args...)
	if k.name == "a job" {
		v.inJob()
		v.write("agent", strings.ReplaceAll(restless, "DIR", v.dir))
		if _, err := v.hub.CommitFiles("alice", "demo", "main", "files", map[string]string{
			"Makefile": "test:\n\t@test $$(wc -l < tracked.txt) -ge 3\n", "tracked.txt": "",
			".gitignore": "/out\n"}); err != nil {
			t.Fatal(err)
		}
		v.env = append(v.env, "INPUT_MAX_ITERATIONS=30")
		if err := os.Chmod(v.temp, 0o777); err != nil {
			t.Fatal(err)
		}
	} else {
		agent, text, test := filepath.Join(v.home, "agent"), restless, "@test $$(wc -l < tracked.txt) -ge 3"
		switch k.name {
		case "a plan":
			text, test = planful, "@true"
		case "a prompt":
			v.write(".ralph/settings.json", `{"guardrails": [{"command": "make test"}]}`)
		case "a list of tasks":
			text, test = busy, "@true"
			for id, needs := range map[string]string{"a": "", "b": "", "c": "a, b"} {
				v.write("todo/"+id+".yaml", "{id: "+id+", title: Make "+id+", dependencies: ["+needs+
					"], completion: {outcome: done, acceptance_criteria: [done]}}\n")
			}
		}
		// a program
		if err := errors.Join(os.Remove(filepath.Join(v.dir, "agent")),
			os.WriteFile(agent, []byte(strings.ReplaceAll(text, "DIR", v.dir)), 0o755)); err != nil {
			t.Fatal(err)
		}
		v.args = append(v.args, "--agent", agent)
		v.inClone()
		v.sh("git config user.name Alice && git config user.email alice@example.com")
		v.write(".ralph/settings.local.json", `{"sandbox": "`+sandbox+`"}`)
		v.write("tracked.txt", "")
		v.write(".gitignore", "/out\n.env\n")
		v.write("Makefile", "test:\n\t"+test+"\n")
		v.write("ralph/tasks.json",
			`{"project": "demo", "branchName": "ralph/demo", "description": "d", "verifyCommands": ["true"], "userStories": [`+
				story("US-001")+", "+story("US-002")+"]}\n")
		v.sh("echo .ralph/settings.local.json >> .git/info/exclude && git add . && git commit -qm files && git tag v1 && " +
			"git branch other")
		if k.name == "a plan" {
			v.sh("git rm -q --cached ralph/tasks.json && git commit -qm 'without the plan'")
		}
		v.write("mine.txt", "the user's\n")
		v.write(".env", "KEY=1\n")
		v.env = append(v.env, "RALPH_SANDBOX=")
		v.users, v.status = v.theirs(), v.sh("git status --porcelain")
	}
	v.env = append(v.env, "TMPDIR="+v.temp, "XDG_CACHE_HOME="+filepath.Join(v.home, "cache"),
		"XDG_STATE_HOME="+filepath.Join(v.home, "state"))
	return v
}

func story(id string) string {
	return `{
	"id": "` + id + `",
	"title": "Add a line",
	"description": "One more line.",
	"acceptanceCriteria": ["it is there"],
	"priority": 1,
	"passes": false,
	"reviewStatus": null,
	"reviewCount": 0,
	"reviewFeedback": "",
	"notes": "",
	"dependencies": []
	}`
}

// theirs is what the user has beside the run.
func (v *victim) theirs() string {
	refs := "refs/heads/other refs/heads/main refs/tags"
	if v.kind == "a prompt" { // it commits where the user is
		refs = "refs/heads/other refs/tags"
	}
	return v.sh("cat mine.txt .env; git for-each-ref " + refs + "; cat .git/config")
}

// repository asks git about what the run delivers into.
func (v *victim) repository(line string) string {
	v.Helper()
	if v.hub != nil {
		return v.sh("cd '" + v.hub.GitDir("alice", "demo") + "' && " + line)
	}
	return v.sh(line)
}

// goes starts ralph and waits for its end, or kills it after a time: alone, or with all of its process group.
func (v *victim) goes(killAfter time.Duration, group bool) (code int, said string) {
	v.Helper()
	var out heard
	v.command = exec.Command("ralph", v.args...)
	v.command.Dir, v.command.Env, v.command.Stdout, v.command.Stderr = v.dir, v.env, &out, &out
	v.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	v.command.WaitDelay = 10 * time.Second
	if err := v.command.Start(); err != nil {
		v.Fatal(err)
	}
	pid, limit := v.command.Process.Pid, 2*time.Minute
	if killAfter > 0 {
		limit = killAfter
	}
	killed := time.AfterFunc(limit, func() {
		if group {
			pid = -pid
		}
		_ = syscall.Kill(pid, syscall.SIGKILL)
	})
	_ = v.command.Wait() // the state says it
	killed.Stop()
	return v.command.ProcessState.ExitCode(), out.String()
}

// afterKill remembers what must not be lost from now on.
func (v *victim) afterKill() {
	v.Helper()
	for _, commit := range strings.Fields(v.repository("git rev-list --branches")) {
		v.commits[commit] = true
	}
	v.remember()
	if v.hub != nil { // as if the five minutes of the lease were over
		v.repository("git for-each-ref --format='delete %(refname)' refs/ralph/leases | git update-ref --stdin")
		v.attempt++
		v.env = append(v.env, "GITHUB_RUN_ATTEMPT="+strconv.Itoa(v.attempt+1))
	}
}

// remember adds the commits of the runs that a clone knows of.
func (v *victim) remember() {
	v.Helper()
	files, _ := filepath.Glob(filepath.Join(v.dir, ".ralph", "runs", "*", journal.File))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			v.Fatal(err)
		}
		records, _, err := journal.Read(bytes.NewReader(text))
		if err != nil {
			v.Errorf("%s: %v", file, err)
		}
		for _, it := range loop.Fold(records).Iterations {
			if it.Commit != nil && it.Commit.SHA != "" {
				v.commits[it.Commit.SHA] = true
			}
		}
	}
}

// leftovers are what must not be there when the run is over.
func (v *victim) leftovers() (found []string) {
	v.Helper()
	entries, _ := os.ReadDir(v.temp)
	for _, e := range entries {
		found = append(found, "temporary: "+e.Name())
	}
	for _, pid := range v.survivors() { // whatever ralph has started ended before it did
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		found = append(found, fmt.Sprintf("process %d: %.80q", pid, line))
	}
	for _, root := range []string{v.dir, v.home} {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && leftName.MatchString(d.Name()) && filepath.Base(filepath.Dir(path)) != "objects" {
				found = append(found, strings.TrimPrefix(path, filepath.Dir(root)))
			}
			return nil
		})
	}
	if v.hub != nil {
		entries, _ := os.ReadDir(filepath.Join(v.dir, "ralph"))
		for _, e := range entries {
			found = append(found, "workspace: "+e.Name())
		}
	}
	return found
}

// leftName is the name of what is removed or renamed where nobody is killed.
var leftName = regexp.MustCompile(
	`\.lock$|\.ralph-new$|\.new$|^(adopt|carry|correct|nested|review|judge|ralph)-[0-9A-Z]+$`)

// files are what lies in the clone and beside it, without what names a run or an object.
func (v *victim) files() (names []string) {
	v.Helper()
	for _, root := range []string{v.dir, filepath.Join(v.home, "cache"), filepath.Join(v.home, "state")} {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			name := strings.TrimPrefix(path, root)
			switch {
			case err != nil:
				return nil
			case d.Name() == "open": // says that a process has died there, to the next that works there
				return nil
			case strings.HasPrefix(name, "/.git/objects/") || strings.HasPrefix(name, "/.git/logs/") ||
				strings.HasPrefix(name, "/.ralph/") || strings.HasPrefix(name, "/.git/refs/heads/wip") ||
				strings.HasPrefix(name, "/ralph/seals/") || strings.Contains(name+"/", "/caches/") ||
				strings.Contains(name, "/new-"):
				return nil
			}
			names = append(names, hashes.ReplaceAllString(name, "HASH"))
			return nil
		})
	}
	slices.Sort(names)
	return slices.Compact(names)
}

var hashes = regexp.MustCompile(`[0-9a-f]{16,}|\d{8}-\d{6}-[0-9a-f]+`)

// unkilled is how a run of a kind goes that nobody kills.
type unkilled struct {
	once  sync.Once
	took  time.Duration
	files []string
}

// goes runs it. What a sandbox takes beside it is added.
func (w *unkilled) goes(v *victim) {
	v.Helper()
	began := time.Now()
	code, said := v.goes(0, false)
	took := time.Since(began)
	if code != 0 {
		v.Fatalf("%s, which nobody kills, ends with %d:\n%s", v.kind, code, said)
	}
	if left := v.leftovers(); len(left) > 0 {
		v.Fatalf("%s, which nobody kills, leaves %q", v.kind, left)
	}
	w.took, w.files = took*5/4, v.files()
}

// TestKilledAtAnyMoment kills ralph at random moments, alone or with its process group, once or several times in a row,
// and starts it again: it comes to its end, no commit is lost, the user's own things are as they were, and nothing is
// left.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	whole := make([]unkilled, len(kinds))
	for _, seed := range seeds() {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 9))
			kind := int(seed % uint64(len(kinds)))
			sandbox := []string{"off", "landlock", "bwrap"}[r.IntN(3)]
			if !every && os.Getenv(killSeed) == "" {
				sandbox = "off"
			}
			w := &whole[kind]
			w.once.Do(func() { w.goes(newVictim(t, kind, "off")) })
			if w.took == 0 {
				t.Fatal("a run that nobody kills has failed")
			}
			v := newVictim(t, kind, sandbox)
			what, story := fmt.Sprintf("%s in %s (%s=%d)", v.kind, sandbox, killSeed, seed), ""
			for range 1 + r.IntN(3) {
				after, group := time.Duration(r.Int64N(int64(w.took)))+time.Millisecond, r.IntN(2) == 0
				code, said := v.goes(after, group)
				story += fmt.Sprintf("--- killed after %s (with its group: %v), code %d\n%s\n", after, group, code, said)
				v.afterKill()
				if code >= 0 && code != 0 {
					t.Errorf("%s: a start that was not killed ended with %d", what, code)
				}
			}
			code, said := v.goes(0, false)
			story += fmt.Sprintf("--- the last start, code %d\n%s\n", code, said)
			if code != 0 {
				t.Errorf("%s: it cannot go on", what)
			}
			v.nothingLost(what)
			if left := v.leftovers(); len(left) > 0 {
				t.Errorf("%s: left: %q", what, left)
			}
			if more := slices.DeleteFunc(v.files(),
				func(name string) bool { return slices.Contains(w.files, name) }); len(more) > 0 && v.hub == nil {
				t.Errorf("%s: files that an unkilled run does not leave: %q", what, more)
			}
			if t.Failed() {
				t.Logf("%s", story)
			}
		})
	}
}

// nothingLost looks through what the run delivers into when it is over.
func (v *victim) nothingLost(what string) {
	v.Helper()
	now := map[string]bool{}
	for _, commit := range strings.Fields(v.repository("git rev-list --branches --remotes")) {
		now[commit] = true
	}
	v.remember()
	for commit := range v.commits {
		if !now[commit] {
			v.Errorf("%s: commit %s is lost: %s", what, commit, v.repository("git log -1 --format=%s "+commit))
		}
	}
	if said := v.repository("git fsck --no-progress --no-dangling 2>&1"); strings.Contains(said, "error") ||
		strings.Contains(said, "missing") {
		v.Errorf("%s: git fsck says:\n%s", what, said)
	}
	if v.hub == nil && v.theirs() != v.users {
		v.Errorf("%s: the user has\n%s\nand had\n%s", what, v.theirs(), v.users)
	}
	if v.hub == nil && v.kind != "a prompt" {
		if status := v.sh("git status --porcelain"); status != v.status {
			v.Errorf("%s: the clone is not as it was:\n%s", what, status)
		}
	}
}
