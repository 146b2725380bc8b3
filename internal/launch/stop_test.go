//go:build unix

package launch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/work"
)

// turns counts the turns that an agent of the function slow has begun.
func (w *world) turns(file string) int { return strings.Count(w.file(file), "x") }

// process is the number of the job's process: the child of ours whose arguments say so, and whose workspace is that of
// the world.
func (w *world) process() int {
	found, _ := filepath.Glob("/proc/[0-9]*/task/*/children")
	for _, file := range found {
		if !strings.HasPrefix(file, "/proc/"+strconv.Itoa(os.Getpid())+"/") {
			continue
		}
		text, _ := os.ReadFile(file)
		for _, field := range strings.Fields(string(text)) {
			line, _ := os.ReadFile("/proc/" + field + "/cmdline")
			environ, _ := os.ReadFile("/proc/" + field + "/environ")
			if strings.HasSuffix(string(line), "\x00work\x00") && strings.Contains(string(environ), "HOME="+w.dir+"\x00") {
				pid, _ := strconv.Atoi(field)
				return pid
			}
		}
	}
	return 0
}

// begins starts a job, up to its first turn.
func (w *world) begins(id string) *Running {
	w.t.Helper()
	w.agent = w.script("agent", slow(w.shared("begun")))
	r := w.start(w.labeled(id, 1))
	w.await("the first turn", func() bool { return w.turns("begun") == 1 })
	return r
}

// TestStop: whoever stops a run is named, its work is kept, and nothing of it goes on.
func TestStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.begins("5f1e-5")
	w.say(work.Word{Stop: &work.Stop{By: "alice", Why: "asked to stop"}})
	end := w.must(r, loop.Interrupted)
	if end.Reason != "asked to stop by alice" || end.HandedOn || w.git("show", "ralph/issue-1:half.txt") != "half\n" ||
		w.git("for-each-ref", "refs/ralph/leases") != "" {
		t.Errorf("%+v; leases: %s", end, w.git("for-each-ref", "refs/ralph/leases"))
	}
}

// TestHandOn: a server that ends takes nothing away from a run: the next process of the job goes on with it.
func TestHandOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.begins("5f1e-6")
	r.HandOn()
	if end := w.must(r, loop.Interrupted); !end.HandedOn || w.git("for-each-ref", "refs/ralph/leases") != "" ||
		w.git("show", "ralph/issue-1:half.txt") != "half\n" {
		t.Errorf("%+v; leases: %s", end, w.git("for-each-ref", "refs/ralph/leases"))
	}
	w.must(w.start(w.labeled("5f1e-6", 2)), loop.Done)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.begun) != 2 || w.begun[0].Run != w.begun[1].Run || w.begun[1].Records == 0 ||
		slices.Contains(w.types[:len(w.types)-1], loop.Ended) && w.turns("begun") > 2 {
		t.Errorf("%+v, %d turns, %v", w.begun, w.turns("begun"), w.types)
	}
}

// TestHint: what somebody says while a run goes on, the next turn is told.
func TestHint(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	said := w.shared("said")
	w.agent = w.script("agent", works(`*"the moon is full"*) echo yes > `+said+`; printf 'add() { echo $(($1 + $2)); }\n' > add.sh; echo "fixed. <response>DONE</response>";;
*) while [ ! -e `+filepath.Join(w.dir, "go")+` ]; do sleep 0.05; done; date +%N >> tried.txt; echo "tried. <response>DONE</response>";;
`))
	w.away = 3 // what is told while the database is away is told again, and heard once
	r := w.start(w.labeled("5f1e-7", 1))
	for range 2 {
		w.say(work.Word{Hint: &loop.Hint{ID: "word-1", By: owner, Text: "the moon is full"}})
	}
	w.await("the hints", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.after == 2
	})
	noError(t, os.WriteFile(filepath.Join(w.dir, "go"), nil, 0o600))
	w.must(r, loop.Done)
	if w.file("said") != "yes\n" {
		t.Error("no turn was told")
	}
	w.shows()
	w.mu.Lock()
	heard := 0
	for _, r := range w.records {
		if r.Hint != nil && r.Hint.By == owner {
			heard++
		}
	}
	w.mu.Unlock()
	if heard != 1 {
		t.Errorf("the hint was taken in %d times", heard)
	}
}

// TestKilled: a job whose process is killed takes nothing away from another one, and nothing is left of it; another process
// of the job goes on at once, and nothing but the turn that was cut off is taken again.
func TestKilled(t *testing.T) {
	t.Parallel()
	one, two := newWorld(t), newWorld(t)
	one.agent = one.script("agent", "cat >/dev/null; echo x >> "+one.shared("begun")+"; (setsid sleep 313 &) ; sleep 300")
	two.agent = two.script("agent", "case \"$(pwd)\" in *) echo x >> "+two.shared("begun")+";; esac; "+
		"while [ ! -e "+filepath.Join(two.dir, "go")+" ]; do sleep 0.05; done\n"+fixer)
	first, second := one.start(one.labeled("5f1e-a", 1)), two.start(two.labeled("5f1e-b", 1))
	one.await("the first turns", func() bool { return one.turns("begun") == 1 && two.turns("begun") >= 1 })
	one.await("the job's process", func() bool { return one.process() != 0 })
	noError(t, syscall.Kill(one.process(), syscall.SIGKILL))
	end, err := first.Wait()
	var died *DiedError
	if !errors.As(err, &died) || !strings.Contains(died.How, "SIGKILL") || one.made != 1 || len(one.open) != 0 {
		t.Fatalf("%+v, %v; tokens left: %v", end, err, one.open)
	}
	if one.git("for-each-ref", "refs/ralph/leases") == "" {
		t.Fatal("nobody holds the run after the kill")
	}
	noError(t, os.WriteFile(filepath.Join(two.dir, "go"), nil, 0o600))
	two.must(second, loop.Done)
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range all {
		if line, _ := os.ReadFile(file); string(line) == "sleep\x00313\x00" {
			t.Errorf("%s is left of the killed job", file)
		}
	}
	one.agent = one.script("agent", fixer)
	one.must(one.start(one.labeled("5f1e-a", 2)), loop.Done)
	one.mu.Lock()
	defer one.mu.Unlock()
	if len(one.begun) != 2 || one.begun[0].Run != one.begun[1].Run {
		t.Errorf("%+v", one.begun)
	}
	for n := range one.records {
		if n > len(one.records) {
			t.Errorf("record %d of %d", n, len(one.records))
		}
	}
}

// shows holds what the run has shown besides its records: the prompt of each turn, and what it changed.
func (w *world) shows() {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	prompts, diffs := map[int]string{}, map[int]string{}
	for _, s := range w.shown {
		if s.Diff != nil {
			diffs[s.Iteration] = s.Diff.Text
			continue
		}
		prompts[s.Iteration] = s.Prompt
	}
	switch {
	case strings.Contains(prompts[1], "the moon is full") || !strings.Contains(prompts[2], "the moon is full"):
		w.t.Errorf("prompts: %s", fmt.Sprint(prompts))
	case !strings.Contains(diffs[1], "+++ b/tried.txt") || !strings.Contains(diffs[2], "+++ b/add.sh") ||
		strings.Contains(diffs[2], "tried.txt"):
		w.t.Errorf("diffs: %s", fmt.Sprint(diffs))
	}
}
