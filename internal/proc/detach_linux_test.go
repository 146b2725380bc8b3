package proc_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
)

// supervisor starts two children that go on, each with one of its own, and a stray.
const supervisor = `
for n in 1 2; do
	setsid sh -c 'sh -c "echo \$\$ > below'$n'; exec sleep 600" & echo $$ > child'$n'; while :; do sleep 0.02; echo x; echo >> goes'$n'; done' &
done
sh -c 'echo $$ > stray; exec sleep 600' &
for f in below1 child1 below2 child2 stray; do while ! [ -s $f ]; do sleep 0.01; done; done
`

// living asserts which of a run's processes live.
func living(t *testing.T, dir string, want map[string]bool) {
	t.Helper()
	for file, want := range want {
		if alive(t, filepath.Join(dir, file)) != want {
			t.Errorf("%s: alive is %v", file, !want)
		}
	}
}

func TestRunSparesAndEnds(t *testing.T) {
	s := script(t, supervisor+"exit 0")
	s.Stdout = io.Discard
	s.Spare = func() []int { return ids(t, s.Dir, "child1", "child2") }
	if r := run(t, s); r.Class != proc.Exited || r.Exit != 0 {
		t.Errorf("result = %+v", r)
	}
	living(t, s.Dir, map[string]bool{"child1": true, "below1": true, "child2": true, "below2": true, "stray": false})

	other := script(t, daemon) // a later run, which neither takes them for its own nor lets anything of its own escape
	run(t, other)
	living(t, other.Dir, map[string]bool{"daemon": false})
	for _, file := range []string{"goes1", "goes2"} { // the reader of their output is gone, and they do not break
		_ = os.Remove(filepath.Join(s.Dir, file)) // it may not have come to be yet
		waitFor(t, filepath.Join(s.Dir, file))
	}
	living(t, s.Dir, map[string]bool{"child1": true, "below1": true, "child2": true, "below2": true})

	proc.End(ids(t, s.Dir, "child1"), time.Second)
	living(t, s.Dir, map[string]bool{"child1": false, "below1": false, "child2": true, "below2": true})
	proc.End(ids(t, s.Dir, "child1", "child2"), time.Second)
	living(t, s.Dir, map[string]bool{"child2": false, "below2": false})
}

// A process that is named and dead is not spared, nor is what it left: nobody would ever end that.
func TestRunDoesNotSpareTheDead(t *testing.T) {
	s := script(t,
		`setsid sh -c 'sh -c "echo \$\$ > left; exec sleep 600" & echo $$ > child; while ! [ -s left ]; do sleep 0.01; done
		kill -KILL $$' & setsid sh -c 'echo $$ > lives; exec sleep 600' & while ! [ -s lives ] || ! [ -s left ]; do sleep 0.01; done
		while grep -qs ") [^Z]" /proc/$(cat child)/stat; do sleep 0.01; done`)
	s.Spare = func() []int { return ids(t, s.Dir, "child", "lives") }
	run(t, s)
	living(t, s.Dir, map[string]bool{"left": false, "lives": true})
	proc.End(ids(t, s.Dir, "lives"), time.Second)
	living(t, s.Dir, map[string]bool{"lives": false})
}

// End ends what never was in a tree of ours too: a child of somebody who died is named to us, and does not listen. It
// may be below us, or not.
func TestEndEndsWhatOthersStarted(t *testing.T) {
	self := must(os.Executable())
	for name, end := range map[string]func(pid int){
		"a child": func(pid int) { proc.End([]int{pid}, 50*time.Millisecond) },
		"not even a child": func(pid int) {
			other := exec.Command(self)
			other.Env = append(os.Environ(), "ACT_AS_ENDER="+strconv.Itoa(pid))
			if err := other.Run(); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cmd := exec.Command("sh", "-c",
				`trap "" TERM; sh -c 'trap "" TERM; echo $$ > below; while :; do sleep 0.05; done' & echo $$ > other; while :; do sleep 0.05; done`)
			cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Setsid: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			waitFor(t, filepath.Join(dir, "other"))
			waitFor(t, filepath.Join(dir, "below"))
			end(cmd.Process.Pid)
			living(t, dir, map[string]bool{"other": false, "below": false})
			_ = cmd.Process.Kill()
			<-ended
			if n := zombies(t); n > 0 && name == "a child" {
				t.Errorf("%d dead orphans are left", n)
			}
			for pid := 1; pid > 0; { // what another process has ended came to us, while we had nothing to do
				pid, _ = syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			}
		})
	}
}

// What is ended has the grace to tidy up.
func TestEndGivesGrace(t *testing.T) {
	s := script(t,
		`setsid sh -c 'trap "echo tidy > tidied; exit 0" TERM; echo $$ > child; while :; do sleep 0.01; done' & while ! [ -s child ]; do sleep 0.01; done`)
	s.Spare = func() []int { return ids(t, s.Dir, "child") }
	run(t, s)
	proc.End(s.Spare(), patience)
	waitFor(t, filepath.Join(s.Dir, "tidied"))
	living(t, s.Dir, map[string]bool{"child": false})
}

// End also buries the dead: after it, nobody would.
func TestEndBuriesTheDead(t *testing.T) {
	for range 20 {
		s := script(t,
			`for n in 1 2 3 4; do setsid sh -c 'trap "" TERM; echo $$ > child'$n'; while :; do sleep 0.001; done' & done
			for n in 1 2 3 4; do while ! [ -s child$n ]; do sleep 0.01; done; done`)
		s.Spare = func() []int { return ids(t, s.Dir, "child1", "child2", "child3", "child4") }
		run(t, s)
		proc.End(s.Spare(), time.Millisecond)
		if n := zombies(t); n > 0 {
			t.Fatalf("%d dead orphans are left", n)
		}
	}
}

// What a spared process starts later is ended with it, also what leaves it, and what does not listen.
func TestEndFindsWhatCameLater(t *testing.T) {
	s := script(t, `setsid sh -c 'trap "" TERM; echo $$ > child
		while ! [ -e go ]; do sleep 0.01; done
		setsid sh -c "sh -c \"echo \\\$\\\$ > later; exec sleep 600\" & exit 0"
		`+strings.ReplaceAll(strings.ReplaceAll(daemon, `'`, `'\''`), "\n", "\n\t\t")+`
		echo > made; while :; do sleep 0.02; done' &
		while ! [ -s child ]; do sleep 0.01; done`)
	s.Spare = func() []int { return ids(t, s.Dir, "child") }
	run(t, s)
	if err := os.WriteFile(filepath.Join(s.Dir, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"made", "later", "daemon"} {
		waitFor(t, filepath.Join(s.Dir, file))
	}
	proc.End(ids(t, s.Dir, "child"), 200*time.Millisecond)
	living(t, s.Dir, map[string]bool{"child": false, "later": false, "daemon": false})
}

// Spare is not asked when the process was ended by us: then nothing is left.
func TestRunStoppedSparesNothing(t *testing.T) {
	s := script(t, supervisor+"sleep 600")
	s.Timeout, s.Grace = time.Second, 200*time.Millisecond
	s.Spare = func() []int { return ids(t, s.Dir, "child1", "child2") }
	if r := run(t, s); r.Class != proc.TimedOut {
		t.Errorf("result = %+v", r)
	}
	living(t, s.Dir, map[string]bool{"child1": false, "below1": false, "child2": false, "below2": false, "stray": false})
}

// slow is a writer that lets the pipe fill.
type slow struct{ bytes.Buffer }

func (s *slow) Write(p []byte) (int, error) {
	time.Sleep(20 * time.Millisecond)
	return s.Buffer.Write(p)
}

// Standard output in a spared child's hands is not waited for, and nothing is lost that the root wrote, however slowly
// it is read.
func TestRunLosesNothingWithSpared(t *testing.T) {
	var out slow
	const size = 1 << 20
	s := script(t, `setsid sh -c 'echo $$ > child; exec sleep 600' & while ! [ -s child ]; do sleep 0.01; done
		head -c `+strconv.Itoa(size)+` /dev/zero; echo; echo last`)
	s.Stdout = &out
	s.Spare = func() []int { return ids(t, s.Dir, "child") }
	r := run(t, s)
	if r.Duration > patience || out.Len() != size+len("\nlast\n") || !strings.HasSuffix(out.String(), "\nlast\n") {
		t.Errorf("result = %+v, %d bytes", r, out.Len())
	}
	living(t, s.Dir, map[string]bool{"child": true})
	proc.End(ids(t, s.Dir, "child"), time.Second)
	living(t, s.Dir, map[string]bool{"child": false})
}
