package main

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/fake/postgres"
)

// TestServersAreKilled kills servers and the processes of their jobs, at any moment and again and again, while issues
// are labelled in several repositories. Every issue becomes one pull request, with as many comments as one that nothing
// was killed in, and no turn is taken again but one that a kill has cut off.
func TestServersAreKilled(t *testing.T) {
	rare(t)
	t.Parallel()
	kills := 100
	if text := os.Getenv(killRounds); text != "" {
		kills, _ = strconv.Atoi(text)
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
				k.kill(killMoments[(n+rand.IntN(2))%len(killMoments)])
			}
			k.ask()
			for n := -1; n != k.ready() && n != len(k.asked); { // as long as there are more of them
				n = k.ready()
				k.until("more pull requests are ready", func() bool { return k.ready() != n || n == len(k.asked) })
			}
			k.until("no job is left", func() bool {
				got := k.get("/metrics")
				return strings.Contains(got, `ralph_jobs{state="running"} 0`) && strings.Contains(got, `ralph_jobs{state="queued"} 0`)
			})
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
	asked    []labelled
	killed   map[int]time.Time    // by the number of the process
	counts   map[string]int       // kills by their moment
	dead     map[string]time.Time // kills of servers, by their names
	takeover []time.Duration      // of servers: until the same was there again
}

// labelled is an issue that was labelled.
type labelled struct {
	repository string
	issue      int
}

func newKilling(t *testing.T, servers int) *killing {
	t.Helper()
	k := &killing{serving: newServing(t), killed: map[int]time.Time{}, dead: map[string]time.Time{},
		counts: map[string]int{}}
	k.patient = 12 * time.Minute // a delivery that met nobody is asked for again every ten minutes
	file := filepath.Join(k.dir, "turns")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o666); err != nil { // the agent may be another user
		t.Fatal(err)
	}
	agent := strings.ReplaceAll(countingAgent, "FILE", file)
	if err := os.WriteFile(filepath.Join(k.dir, "agent"), []byte(agent), 0o755); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		name := fmt.Sprintf("demo-%d", n)
		if err := k.hub.AddRepo("alice", name, "main"); err != nil {
			t.Fatal(err)
		}
		if _, err := k.hub.CommitFiles("alice", name, "main", "begin", map[string]string{
			"Makefile": "test:\n\tsleep 0.4; test -e new.txt\n", ".ralph/settings.json": `{"agent": {"command": "` +
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
	k.Cleanup(func() {
		if k.Failed() {
			k.Logf("%d of %d are ready, %s", k.ready(), len(k.asked), k.get("/metrics"))
			for _, d := range k.hub.Deliveries(7) {
				k.Logf("%+v", d)
			}
			for n, log := range k.logs {
				k.Logf("server %d says\n%s", n, log)
			}
		}
	})
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
		title := fmt.Sprintf("Add new.txt for Task-%d", len(k.asked))
		issue := k.hub.AddIssue("alice", name, fake.Issue{Title: title, Body: "It is missing.", Author: "alice"})
		k.hub.Label("alice", name, issue, "ralph", "alice")
		k.asked = append(k.asked, labelled{name, issue})
	}
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

// countingAgent writes down when a turn begins, below which processes, and when it ends. A turn takes a second.
const countingAgent = `#!/bin/sh
task=$(grep -o -m1 'Task-[0-9]*'); cat >/dev/null
p=$$; above=
while [ "${p:-0}" -gt 1 ]; do above="$above,$p"; read -r _ _ _ p _ </proc/$p/stat || break; done
echo "begin $task $(date +%s%N) ${above#,}" >>FILE
sleep 1; echo x >new.txt
echo "end $task $(date +%s%N) 0" >>FILE
echo '<response>DONE</response>'
`

// aTurn is what the agent wrote down of one.
type aTurn struct {
	begun, ended time.Time // ended is zero where it was cut off
	above        []int     // processes
}

// turns are those of each task.
func (k *killing) turns() map[string][]aTurn {
	k.Helper()
	text, err := os.ReadFile(filepath.Join(k.dir, "turns"))
	if err != nil {
		k.Fatal(err)
	}
	all := map[string][]aTurn{}
	for line := range strings.Lines(string(text)) {
		var what, task, above string
		var ns int64
		if _, err := fmt.Sscan(line, &what, &task, &ns, &above); err != nil {
			continue
		}
		list := all[task]
		if what == "end" {
			list[len(list)-1].ended = time.Unix(0, ns)
			continue
		}
		t := aTurn{begun: time.Unix(0, ns)}
		for word := range strings.SplitSeq(above, ",") {
			pid, _ := strconv.Atoi(word)
			t.above = append(t.above, pid)
		}
		all[task] = append(list, t)
	}
	return all
}

// cutOff is when something was killed that a turn was below of, before another turn began.
func (k *killing) cutOff(t, next aTurn) (at time.Time, was bool) {
	for _, pid := range t.above {
		if kill, was := k.killed[pid]; was && kill.After(t.begun) && kill.Before(next.begun) {
			return kill, true
		}
	}
	return at, false
}

// judge holds what came of it against the kills.
func (k *killing) judge() {
	k.Helper()
	again, whole, longest, oldest := 0, 0, time.Duration(0), time.Duration(0)
	all := k.turns()
	for name, turns := range all {
		for i, next := range turns[1:] {
			again++
			kill, was := k.cutOff(turns[i], next)
			if !was {
				k.Errorf("%s has another turn at %s, %s after the one before, and nothing above that one was killed", name,
					next.begun.Format(time.TimeOnly), next.begun.Sub(turns[i].begun))
				continue
			}
			longest = max(longest, next.begun.Sub(kill))
			if end := turns[i].ended; !end.IsZero() && end.Before(kill) { // its commit was not pushed yet
				whole, oldest = whole+1, max(oldest, kill.Sub(end))
			}
		}
	}
	if len(all) != len(k.asked) {
		k.Errorf("%d tasks had a turn, of %d", len(all), len(k.asked))
	}
	k.judgeTalk()
	takenOver := k.takenOver()
	if takenOver > time.Minute {
		k.Errorf("the jobs of a server were taken over only %s after its kill", takenOver)
	}
	k.Logf("%d kills %v, %d issues; jobs were taken over within %s of a server's kill", len(k.killed), k.counts,
		len(k.asked), takenOver.Round(time.Millisecond))
	k.Logf("%d turns again, the latest %s after the kill that cut it off, with the kills between; %d of them had ended, "+
		"at most %s before it", again, longest.Round(time.Millisecond), whole, oldest.Round(time.Millisecond))
	k.Logf("servers were there again within %s", slices.Max(append(k.takeover, 0)).Round(time.Millisecond))
}

// What a server says when it begins, and when it takes over the jobs of others.
var (
	itsName    = regexp.MustCompile(`msg="this process takes jobs" process=(\S+)`)
	overtaking = regexp.MustCompile(`(?m)^time=(\S+) .*msg="took over the jobs [^"]*" processes="?\[([^\]]*)`)
)

// name is what the server that runs now is called in the queue.
func (k *killing) name(server int) string {
	k.Helper()
	all := itsName.FindAllStringSubmatch(k.logs[server].String(), -1)
	if len(all) == 0 {
		k.Fatalf("server %d does not say its name", server)
	}
	return all[len(all)-1][1]
}

// takenOver is how long after the kill of a server its jobs were taken over by another process, at most. When a job
// then has a turn is another matter: it may have to wait for a place or be killed again, and one that was killed several
// times in a row has a respite.
func (k *killing) takenOver() (longest time.Duration) {
	k.Helper()
	said := 0
	for _, log := range k.logs {
		for _, m := range overtaking.FindAllStringSubmatch(log.String(), -1) {
			at, err := time.Parse(time.RFC3339Nano, m[1])
			if err != nil {
				k.Fatal(err)
			}
			for name := range strings.FieldsSeq(m[2]) {
				if kill, was := k.dead[name]; was {
					said++
					longest = max(longest, at.Sub(kill))
				}
			}
		}
	}
	if said < len(k.dead)*9/10 { // one that is killed while it takes over has not said so
		k.Errorf("%d of %d killed servers were taken over", said, len(k.dead))
	}
	return longest
}

// judgeTalk holds what people see on GitHub: one pull request of each issue, whose comments are that of the state and one
// that it has ended, and a single comment on the issue.
func (k *killing) judgeTalk() {
	k.Helper()
	pulls := 0
	for r := range 3 {
		name := fmt.Sprintf("demo-%d", r)
		for _, p := range k.hub.Pulls("alice", name) {
			pulls++
			k.judgeComments(name, p.Number, 2)
		}
	}
	if pulls != len(k.asked) {
		k.Errorf("%d pull requests for %d issues", pulls, len(k.asked))
	}
	for _, issue := range k.asked {
		k.judgeComments(issue.repository, issue.issue, 1)
	}
	for _, problem := range k.hub.Problems() {
		k.Errorf("GitHub: %s", problem)
	}
}

// judgeComments wants that many comments, each of its own kind.
func (k *killing) judgeComments(repository string, number, want int) {
	k.Helper()
	said, kinds := k.hub.Comments("alice", repository, number), map[bool]bool{}
	for _, c := range said {
		marker, _, _ := strings.Cut(c.Body, "\n")
		kinds[strings.Contains(marker, ".ended.")] = true
	}
	if len(said) != want || len(kinds) != want {
		k.Errorf("%s #%d has %d comments: %+v", repository, number, len(said), said)
	}
}
