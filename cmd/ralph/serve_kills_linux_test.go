package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake"
)

// TestServersAreKilled kills a server and the processes of their jobs, at any moment and again and again, while issues
// are labeled in several repositories. Every issue becomes one pull request, with as many comments as one that nothing
// was killed in, and no turn is taken again but one that a kill has cut off.
func TestServersAreKilled(t *testing.T) {
	rare(t)
	t.Parallel()
	kills := 100
	if text := os.Getenv(killRounds); text != "" {
		kills, _ = strconv.Atoi(text)
	}
	k := newKilling(t)
	for n := range kills {
		if n%2 == 0 {
			k.ask()
		}
		k.kill(killMoments[(n+rand.IntN(2))%len(killMoments)])
	}
	k.ask()
	for n := -1; n != k.allReady() && n != len(k.asked); { // as long as there are more of them
		n = k.allReady()
		k.until("more pull requests are ready", func() bool { return k.allReady() != n || n == len(k.asked) })
	}
	k.until("no job is left", func() bool {
		got := k.get("/metrics")
		return strings.Contains(got, `ralph_jobs{state="running"} 0`) && strings.Contains(got, `ralph_jobs{state="queued"} 0`)
	})
	k.judge()
}

// killing is what is killed, and what has become of it.
type killing struct {
	*serving
	asked  []labeled
	killed map[int]time.Time // by the number of the process
}

// labeled is an issue that was labeled.
type labeled struct {
	repository string
	issue      int
}

func newKilling(t *testing.T) *killing {
	t.Helper()
	k := &killing{serving: newServing(t), killed: map[int]time.Time{}}
	k.patient = 12 * time.Minute // a delivery that met nobody is asked for again every ten minutes
	k.write("agent", strings.ReplaceAll(countingAgent, "FILE", filepath.Join(k.dir, "turns")), 0o755)
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
	k.startAgain()
	k.Cleanup(func() {
		if k.Failed() {
			k.Logf("%d of %d are ready, %s", k.allReady(), len(k.asked), k.get("/metrics"))
			for _, d := range k.hub.Deliveries(7) {
				k.Logf("%+v", d)
			}
			k.Logf("the server says\n%s", k.log())
		}
	})
	return k
}

// startAgain starts the server.
func (k *killing) startAgain() {
	k.Helper()
	if _, err := k.begin("--slots", "3").ReadString('\n'); err != nil { // it says where it is once it is ready
		k.Fatalf("%v\n%s", err, k.log())
	}
}

// ask labels a new issue in each repository.
func (k *killing) ask() {
	for n := range 3 {
		name := fmt.Sprintf("demo-%d", n)
		title := fmt.Sprintf("Add new.txt for Task-%d", len(k.asked))
		issue := k.hub.AddIssue("alice", name, fake.Issue{Title: title, Body: "It is missing.", Author: "alice"})
		k.hub.Label("alice", name, issue, "ralph", "alice")
		k.asked = append(k.asked, labeled{name, issue})
	}
}

// allReady is how many pull requests are ready.
func (k *killing) allReady() (n int) {
	for r := range 3 {
		n += k.ready(fmt.Sprintf("demo-%d", r))
	}
	return n
}

// countingAgent writes down when a turn begins, and below which processes. A turn takes a second.
const countingAgent = `#!/bin/sh
task=$(grep -o -m1 'Task-[0-9]*'); cat >/dev/null
p=$$; above=
while [ "${p:-0}" -gt 1 ]; do above="$above,$p"; read -r _ _ _ p _ </proc/$p/stat || break; done
echo "$task $(date +%s%N) ${above#,}" >>FILE
sleep 1; echo x >new.txt
echo '<response>DONE</response>'
`

// aTurn is what the agent wrote down of one.
type aTurn struct {
	begun time.Time
	above []int // processes
}

// taken are the turns of each task.
func (k *killing) taken() map[string][]aTurn {
	k.Helper()
	text, err := os.ReadFile(filepath.Join(k.dir, "turns"))
	if err != nil {
		k.Fatal(err)
	}
	all := map[string][]aTurn{}
	for line := range strings.Lines(string(text)) {
		var task, above string
		var ns int64
		if _, err := fmt.Sscan(line, &task, &ns, &above); err != nil {
			continue
		}
		t := aTurn{begun: time.Unix(0, ns)}
		for word := range strings.SplitSeq(above, ",") {
			pid, _ := strconv.Atoi(word)
			t.above = append(t.above, pid)
		}
		all[task] = append(all[task], t)
	}
	return all
}

// cutOff reports whether something was killed that a turn was below of, before another turn began.
func (k *killing) cutOff(t, next aTurn) bool {
	return slices.ContainsFunc(t.above, func(pid int) bool {
		kill, was := k.killed[pid]
		return was && kill.After(t.begun) && kill.Before(next.begun)
	})
}

// judge holds what came of it against the kills.
func (k *killing) judge() {
	k.Helper()
	all := k.taken()
	for name, turns := range all {
		for i, next := range turns[1:] {
			if !k.cutOff(turns[i], next) {
				k.Errorf("%s has another turn at %s, %s after the one before, and nothing above that one was killed", name,
					next.begun.Format(time.TimeOnly), next.begun.Sub(turns[i].begun))
			}
		}
	}
	if len(all) != len(k.asked) {
		k.Errorf("%d tasks had a turn, of %d", len(all), len(k.asked))
	}
	k.judgeTalk()
	k.Logf("%d kills, %d issues", len(k.killed), len(k.asked))
}

// judgeTalk holds what people see on GitHub: one pull request of each issue, and a single comment on either.
func (k *killing) judgeTalk() {
	k.Helper()
	pulls := 0
	for r := range 3 {
		name := fmt.Sprintf("demo-%d", r)
		for _, p := range k.hub.Pulls("alice", name) {
			pulls++
			k.judgeComments(name, p.Number)
		}
	}
	if pulls != len(k.asked) {
		k.Errorf("%d pull requests for %d issues", pulls, len(k.asked))
	}
	for _, issue := range k.asked {
		k.judgeComments(issue.repository, issue.issue)
	}
	k.understood()
}

// judgeComments wants one comment.
func (k *killing) judgeComments(repository string, number int) {
	k.Helper()
	if said := k.hub.Comments("alice", repository, number); len(said) != 1 {
		k.Errorf("%s #%d has %d comments: %+v", repository, number, len(said), said)
	}
}
