package proc_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake/need"
	"github.com/ralph-loop/ralph/internal/proc"
)

// daemon gets away from everything that could tell where it came from: environment, session, parent. It keeps standard
// output, writes its id into the file daemon, and is told by nothing but KILL to end.
const daemon = `
env -i PATH="$PATH" setsid sh -c 'sh -c "trap \"\" TERM INT HUP; echo \$\$ > daemon; while :; do sleep 0.05; done" & exit 0'
while ! [ -s daemon ]; do sleep 0.01; done
`

// Whatever its end, a run leaves nothing behind. Standard output in a daemon's hands is not waited for.
func TestRunEndsDaemons(t *testing.T) { // alone: see the rule at tree
	for name, c := range map[string]struct {
		after string
		class proc.Class
	}{
		"after a good end":  {"exit 0", proc.Exited},
		"after a time-out":  {"sleep 600", proc.TimedOut},
		"a deaf root":       {"trap '' TERM; while :; do sleep 0.05; done", proc.TimedOut},
		"a stopped root":    {"kill -STOP $$; sleep 600", proc.TimedOut},
		"a root that kills": {"kill -KILL $$", proc.Signalled},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			s := script(t, strays+daemon+"echo ready; "+c.after)
			s.Stdout, s.Grace = &out, 200*time.Millisecond
			if c.class == proc.TimedOut {
				s.Timeout = 2 * time.Second
			}
			r := run(t, s)
			if r.Class != c.class || out.String() != "ready\n" || r.Duration > patience {
				t.Errorf("result = %+v, out = %q", r, out.String())
			}
			living(t, s.Dir, map[string]bool{"child": false, "session": false, "left": false, "deaf": false, "daemon": false})
		})
	}
}

// Of two trees that are active, nobody knows whose an orphan without a trace is: it goes with the last of them.
func TestRunsEndDaemonsTogether(t *testing.T) {
	long := script(t, `echo > begun; sleep 600`)
	long.Grace = 200 * time.Millisecond // the daemon is deaf
	end := beside(t, long)
	short := script(t,
		daemon+
			`setsid sh -c 'sh -c "echo \$\$ > marked; exec sleep 600" & exit 0'; while ! [ -s marked ]; do sleep 0.01; done`)
	run(t, short)
	if alive(t, filepath.Join(short.Dir, "marked")) {
		t.Error("a daemon with the mark outlived its own run")
	}
	if !alive(t, filepath.Join(short.Dir, "daemon")) {
		t.Error("a daemon that could have been another run's was ended")
	}
	end()
	if alive(t, filepath.Join(short.Dir, "daemon")) {
		t.Error("a daemon outlived every run")
	}
}

// A tree that goes on making itself a daemon while it is cut is cut to the end.
func TestRunEndsWhatFlees(t *testing.T) {
	const mercy = "$n++ > 2000" // for the machine's sake, should it get away: a process is a quarter of a millisecond
	for name, c := range map[string]struct{ program, text string }{
		"one": {"perl", `use POSIX; $SIG{TERM} = "IGNORE"; for (;;) { exit if ` + mercy +
			`; exit if fork; POSIX::setsid() }`},
		"a crowd": {"perl", `use POSIX; $SIG{TERM} = "IGNORE"; fork for 1 .. 3; for (;;) { exit if ` + mercy +
			`; exit if fork; POSIX::setsid() }`},
		"by shell": {"sh", `trap "" TERM; exec env N=$((N + 1)) setsid sh -c '[ $N -lt 500 ] && sh ./flee & exit 0'`},
	} {
		t.Run(name, func(t *testing.T) {
			need.Program(t, c.program)
			s := script(t, `env -i PATH="$PATH" `+c.program+` ./flee & sleep 0.05; exit 0`)
			if err := os.WriteFile(filepath.Join(s.Dir, "flee"), []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			r := run(t, s)
			time.Sleep(20 * time.Millisecond) // what got away is at work by now
			if left := standing(t, s.Dir); r.Exit != 0 || len(left) > 0 {
				t.Errorf("result = %+v; %v are still alive", r, left)
			}
		})
	}
}

// A process can make its children its siblings.
func TestRunEndsSiblings(t *testing.T) {
	clone := map[string]string{"amd64": "56", "arm64": "220"}[runtime.GOARCH]
	need.Program(t, "perl")
	need.That(t, "amd64 or arm64", clone != "")
	const parents = "0x8000 | 17" // CLONE_PARENT, SIGCHLD
	s := script(t, `exec env -i PATH="$PATH" perl -e 'use POSIX;
		if (!syscall(`+clone+`, `+parents+`, 0, 0, 0, 0)) { POSIX::setsid(); open F, ">", "sibling"; print F POSIX::getpid(); close F; sleep 600 }
		until (-s "sibling") { select undef, undef, undef, 0.01 }'`)
	run(t, s)
	living(t, s.Dir, map[string]bool{"sibling": false})
}

// standing lists the living processes that run in a directory.
func standing(t *testing.T, dir string) (left []string) {
	t.Helper()
	for _, link := range must(filepath.Glob("/proc/[0-9]*/cwd")) {
		if at, err := os.Readlink(link); err == nil && strings.TrimSuffix(at, " (deleted)") == dir {
			left = append(left, link)
		}
	}
	return left
}

func zombies(t *testing.T) (n int) {
	t.Helper()
	for _, file := range must(filepath.Glob("/proc/[0-9]*/stat")) {
		raw, _ := os.ReadFile(file)
		if strings.Contains(string(raw), ") Z "+strconv.Itoa(os.Getpid())+" ") {
			n++
		}
	}
	return n
}

// What others in this process start through os/exec is theirs to wait for and to end.
func TestRunLeavesOtherChildrenAlone(t *testing.T) {
	for range 20 {
		long, short := exec.Command("sleep", "600"), exec.Command("true")
		for _, cmd := range []*exec.Cmd{long, short} {
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
		}
		run(t, script(t, `(sleep 600 &); exit 0`))
		if err := short.Wait(); err != nil {
			t.Errorf("waiting for another's child: %v", err)
		}
		if err := long.Process.Kill(); err != nil {
			t.Errorf("another's child is gone: %v", err)
		}
		if err := long.Wait(); err == nil || err.Error() != "signal: killed" {
			t.Errorf("waiting for another's child: %v", err)
		}
	}
}

// So is what they start in sessions of their own, from whatever thread they do.
func TestRunLeavesOthersSessionsAlone(t *testing.T) {
	defer beside(t, script(t, `echo > begun; sleep 600`))()
	var others sync.WaitGroup
	for range 200 {
		others.Go(func() {
			cmd := exec.Command("true")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			if err := cmd.Start(); err != nil {
				t.Error(err)
				return
			}
			time.Sleep(600 * time.Millisecond) // dead meanwhile, and looked at by who reaps orphans
			if err := cmd.Wait(); err != nil {
				t.Errorf("waiting for another's child: %v", err)
			}
		})
	}
	others.Wait()
}

// Nobody but the main goroutine runs on the first thread: here are more threads at a time than ever lie idle.
func TestFirstThreadIsKept(t *testing.T) {
	var begun, over sync.WaitGroup
	begun.Add(200)
	for range 200 {
		over.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			if syscall.Gettid() == os.Getpid() {
				t.Error("a goroutine runs there")
			}
			begun.Done()
			begun.Wait() // each keeps its thread until all have one
		})
	}
	over.Wait()
}

// When we are killed ourselves, a root does not live on.
func TestRootEndsWithUs(t *testing.T) {
	us := exec.Command(must(os.Executable()))
	us.Dir, us.Env = t.TempDir(), append(os.Environ(), "ACT_AS_RUNNER=1")
	if err := us.Start(); err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(us.Dir, "root")
	waitFor(t, root)
	_ = us.Process.Kill()
	_ = us.Wait()
	for end := time.Now().Add(patience); alive(t, root); time.Sleep(5 * time.Millisecond) { // the system tells it
		if time.Now().After(end) {
			_ = syscall.Kill(ids(t, us.Dir, "root")[0], syscall.SIGKILL)
			t.Fatal("it lives on")
		}
	}
	_, _ = syscall.Wait4(ids(t, us.Dir, "root")[0], nil, syscall.WNOHANG, nil) // it may have become ours
}

// actAsHeadless ends the first thread of this process, which looks dead then, and goes on with the others.
func actAsHeadless(file string) {
	go func() {
		for raw := []byte(nil); !strings.Contains(string(raw), ") Z "); time.Sleep(time.Millisecond) {
			raw, _ = os.ReadFile("/proc/self/stat")
		}
		_ = os.WriteFile(file, []byte(strconv.Itoa(os.Getpid())), 0o644)
		select {}
	}()
	_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0)
}

// A process whose first thread has ended looks dead and is not.
func TestRunEndsTheHeadless(t *testing.T) {
	s := script(t, `env ACT_AS_HEADLESS=$PWD/pid setsid `+must(os.Executable())+` & while ! [ -s pid ]; do sleep 0.01; done`)
	run(t, s)
	if err := syscall.Kill(ids(t, s.Dir, "pid")[0], 0); err == nil {
		t.Error("it is still alive")
	}
}

// What cannot be ended does not keep Run for ever: here a frozen process, which is not even ended by KILL.
func TestRunGivesUpOnTheFrozen(t *testing.T) {
	t.Parallel()
	group, err := os.MkdirTemp("/sys/fs/cgroup/freezer", "proc-test")
	need.That(t, "cgroup1", err == nil)
	t.Cleanup(func() {
		for end := time.Now().Add(patience); os.Remove(group) != nil && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond)
		}
	})
	state := filepath.Join(group, "freezer.state")
	defer func() { _ = os.WriteFile(state, []byte("THAWED"), 0) }()
	s := script(t, `echo $$ > `+group+
		`/cgroup.procs; sh -c 'echo $$ > child; exec sleep 600' & while ! [ -s child ]; do sleep 0.01; done
		echo $$ > root; while :; do sleep 0.02; done`)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		waitFor(t, filepath.Join(s.Dir, "root"))
		if err := os.WriteFile(state, []byte("FROZEN"), 0); err != nil {
			t.Error(err)
		}
		cancel()
	}()
	s.Grace = 100 * time.Millisecond
	r, err := proc.Run(ctx, s)
	if err == nil || !strings.Contains(err.Error(), "does not react") || r.Class != proc.Canceled || r.Exit != -1 ||
		r.Duration > patience {
		t.Errorf("result = %+v, %v", r, err)
	}
}
