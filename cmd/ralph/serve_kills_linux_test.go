package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/fake/postgres"
)

// TestServersAreKilled kills servers and the processes of their jobs, at any moment and again and again, while issues
// are labelled in several repositories. Every issue becomes one pull request, and no turn is taken again but one that a
// kill has cut off.
func TestServersAreKilled(t *testing.T) {
	t.Parallel()
	kills := 3
	if every {
		kills = 100
	}
	for _, c := range []struct {
		name    string
		servers int
	}{{"sqlite", 1}, {"postgres", 2}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			k := newKilling(t, c.servers)
			for n := range kills {
				if n%2 == 0 {
					k.ask()
				}
				k.until("a turn", k.turning)
				time.Sleep(time.Duration(rand.IntN(1500)) * time.Millisecond)
				if n%3 == 0 || !k.killChild() {
					k.killServer(rand.IntN(c.servers))
				}
			}
			k.ask()
			for n := -1; n != k.ready() && n != len(k.asked); { // as long as there are more of them
				n = k.ready()
				k.until("more pull requests are ready", func() bool { return k.ready() != n || n == len(k.asked) })
			}
			k.judge()
		})
	}
}

// killing is what is killed, and what has become of it.
type killing struct {
	*serving
	servers  []*exec.Cmd
	logs     []*safeLog
	begin    []func() *exec.Cmd
	asked    []string        // "demo-1/issue 3", as the agent names them
	killed   []time.Time     // processes
	takeover []time.Duration // of servers: until the other took over, or the same was there again
}

func newKilling(t *testing.T, servers int) *killing {
	t.Helper()
	k := &killing{serving: newServing(t)}
	file := filepath.Join(k.dir, "turns")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o666); err != nil { // the agent may be another user
		t.Fatal(err)
	}
	agent := "#!/bin/sh\ntask=$(grep -o -m1 'Task-[0-9]*')\ncat >/dev/null\necho \"begin $task $(date +%s%N)\" >>" + file +
		"\nsleep 1; echo x > new.txt\necho \"end $task $(date +%s%N)\" >>" + file + "\necho '<response>DONE</response>'\n"
	if err := os.WriteFile(filepath.Join(k.dir, "agent"), []byte(agent), 0o755); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		name := fmt.Sprintf("demo-%d", n)
		if err := k.hub.AddRepo("alice", name, "main"); err != nil {
			t.Fatal(err)
		}
		if _, err := k.hub.CommitFiles("alice", name, "main", "begin", map[string]string{
			"Makefile": "test:\n\ttest -e new.txt\n", ".ralph/settings.json": `{"agent": {"command": "` +
				filepath.Join(k.dir, "agent") + `"}, "sandbox": "off", "guardrails": [{"command": "make test"}], "review": false}`,
		}); err != nil {
			t.Fatal(err)
		}
	}
	if servers > 1 {
		k.environ = append(k.environ, "DATABASE_URL="+postgres.Start(t),
			"RALPH_DATA_KEY="+base64.StdEncoding.EncodeToString(make([]byte, 32)))
	}
	for n := range servers {
		k.addServer(n)
	}
	return k
}

// addServer starts a server. GitHub delivers to the first one.
func (k *killing) addServer(n int) {
	k.Helper()
	log := &safeLog{}
	begin := func() *exec.Cmd {
		address := strings.TrimPrefix(k.url, "http://")
		if n > 0 {
			address = "127.0.0.1:0"
		}
		c := exec.Command("ralph", "serve", "--listen", address, "--data", filepath.Join(k.dir, fmt.Sprint("data", n)),
			"--slots", "3", "--log-text")
		c.Env, c.Stderr = k.environ, log
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			k.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 20)); err != nil { // it says where it is once it is ready
			k.Fatalf("%v\n%s", err, log)
		}
		return c
	}
	k.servers, k.logs, k.begin = append(k.servers, begin()), append(k.logs, log), append(k.begin, begin)
	k.Cleanup(func() { _ = k.servers[n].Process.Kill(); _ = k.servers[n].Wait() })
}

// ask labels a new issue in each repository.
func (k *killing) ask() {
	for n := range 3 {
		name := fmt.Sprintf("demo-%d", n)
		task := fmt.Sprintf("Task-%d", len(k.asked)+1)
		issue := k.hub.AddIssue("alice", name, fake.Issue{Title: "Add new.txt for " + task, Body: "It is missing.",
			Author: "alice"})
		k.hub.Label("alice", name, issue, "ralph", "alice")
		k.asked = append(k.asked, task)
	}
}

// turning reports whether any agent works; also when all is done already.
func (k *killing) turning() bool { return k.serving.turning() || k.ready() == len(k.asked) }

func (k *killing) killServer(n int) {
	k.Helper()
	if err := k.servers[n].Process.Kill(); err != nil {
		k.Fatal(err)
	}
	at := time.Now()
	_ = k.servers[n].Wait()
	k.killed = append(k.killed, at)
	k.servers[n] = k.begin[n]()
	k.takeover = append(k.takeover, time.Since(at))
}

// killChild kills the process of a job, if there is one.
func (k *killing) killChild() bool {
	var jobs []int
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		parent, _ := strconv.Atoi(fields[1])
		if slices.ContainsFunc(k.servers, func(c *exec.Cmd) bool { return c.Process.Pid == parent }) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			jobs = append(jobs, pid)
		}
	}
	if len(jobs) == 0 {
		return false
	}
	if syscall.Kill(jobs[rand.IntN(len(jobs))], syscall.SIGKILL) != nil {
		return false
	}
	k.killed = append(k.killed, time.Now())
	return true
}

// ready is how many pull requests are ready.
func (k *killing) ready() (n int) {
	for r := range 3 {
		for _, p := range k.hub.Pulls("alice", fmt.Sprintf("demo-%d", r)) {
			if !p.Draft {
				n++
			}
		}
	}
	return n
}

// judge holds the turns against the kills.
func (k *killing) judge() {
	k.Helper()
	text, err := os.ReadFile(filepath.Join(k.dir, "turns"))
	if err != nil {
		k.Fatal(err)
	}
	last, ended := map[string]time.Time{}, map[string]time.Time{}
	again, whole, longest, oldest := 0, 0, time.Duration(0), time.Duration(0)
	for line := range strings.Lines(string(text)) {
		var what, task string
		var ns int64
		if _, err := fmt.Sscan(line, &what, &task, &ns); err != nil {
			continue
		}
		at := time.Unix(0, ns)
		if what == "end" {
			ended[task] = at
			continue
		}
		if before, taken := last[task]; taken {
			again++
			i := slices.IndexFunc(k.killed, func(kill time.Time) bool { return kill.After(before) && kill.Before(at) })
			if i < 0 {
				k.Errorf("%s has another turn at %s, %s after the one before, and nothing was killed between", task,
					at.Format(time.TimeOnly), at.Sub(before))
				continue
			}
			longest = max(longest, at.Sub(k.killed[i]))
			if end := ended[task]; end.After(before) && end.Before(k.killed[i]) { // its commit was not pushed yet
				whole, oldest = whole+1, max(oldest, k.killed[i].Sub(end))
			}
		}
		last[task] = at
	}
	if len(last) != len(k.asked) {
		k.Errorf("%d tasks had a turn, of %d", len(last), len(k.asked))
	}
	pulls := 0
	for r := range 3 {
		pulls += len(k.hub.Pulls("alice", fmt.Sprintf("demo-%d", r)))
	}
	if pulls != len(k.asked) {
		k.Errorf("%d pull requests for %d issues", pulls, len(k.asked))
	}
	for _, problem := range k.hub.Problems() {
		k.Errorf("GitHub: %s", problem)
	}
	if longest > time.Minute {
		k.Errorf("a run went on only %s after a kill", longest)
	}
	k.Logf("%d kills, %d issues, %d turns again, the latest %s after a kill; %d of them had ended, at most %s before it; "+
		"servers were there again within %s", len(k.killed), len(k.asked), again, longest.Round(time.Millisecond), whole,
		oldest.Round(time.Millisecond), slices.Max(append(k.takeover, 0)).Round(time.Millisecond))
	if k.Failed() {
		k.Logf("the first server says\n%s", k.logs[0])
	}
}
