package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/internal/fake"
)

// killMoment is a moment in a run at which something is killed.
type killMoment struct {
	name string
	// wait waits for it and then calls do once, at once.
	wait func(k *killing, do func())
}

// killMoments are those that are tried in turn. What a fault names is done, and nobody has heard of it yet.
var killMoments = []killMoment{
	{"turn", func(k *killing, do func()) {
		k.until("a turn", k.turning)
		time.Sleep(time.Duration(rand.IntN(1200)) * time.Millisecond)
		do()
	}},
	{"push", onCall(fake.Fault{Match: "POST /.../git-receive-pack"}, 3)},
	{"delivery", func(k *killing, do func()) {
		k.ask()
		time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
		do()
	}},
	{"telling", onCall(fake.Fault{Match: "/repos/...", Write: true}, 6)},
	{"check", func(k *killing, do func()) {
		k.until("a check", func() bool { return k.works("test -e new.txt") || k.done() })
		time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond)
		do()
	}},
	{"any time", func(_ *killing, do func()) {
		time.Sleep(time.Duration(rand.IntN(3000)) * time.Millisecond)
		do()
	}},
}

// onCall waits for one of the next calls to GitHub that match.
func onCall(f fake.Fault, most int) func(*killing, func()) {
	return func(k *killing, do func()) {
		happened := make(chan struct{})
		f := f
		f.Nth = 1 + rand.IntN(most)
		f.Then = func() { do(); close(happened) }
		k.hub.Fail(f)
		k.until("a call of "+f.Match, func() bool {
			select {
			case <-happened:
				return true
			default:
				if k.done() {
					k.ask()
				}
				return false
			}
		})
		k.hub.ClearFaults()
	}
}

// kill kills at a moment: the server, or the process of a job where there is one. The server is started again.
func (k *killing) kill(at killMoment) {
	k.Helper()
	server := false
	var pid int
	var when time.Time
	at.wait(k, func() {
		pid = k.aChild()
		if pid == 0 || rand.IntN(2) == 0 {
			server, pid = true, k.process.Process.Pid
		}
		when = time.Now()
		_ = syscall.Kill(pid, syscall.SIGKILL)
	})
	k.killed[pid] = when
	if server {
		_ = k.process.Wait()
		k.startAgain()
	}
}

// aChild is the process of one of the jobs that run now; 0 where there is none.
func (k *killing) aChild() int {
	var jobs []int
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		parent, _ := strconv.Atoi(fields[1])
		if k.process.Process.Pid == parent && fields[0] != "Z" {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			jobs = append(jobs, pid)
		}
	}
	if len(jobs) == 0 {
		return 0
	}
	slices.Sort(jobs)
	return jobs[rand.IntN(len(jobs))]
}

// turning reports whether any agent works; also when all is done already.
func (k *killing) turning() bool { return k.serving.turning() || k.done() }

// done reports whether nothing is left to be done.
func (k *killing) done() bool { return k.allReady() == len(k.asked) }
