package proc_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
)

// strays leave the group in every way there is, hold standard output open, and write down who they are.
const strays = `
sh -c 'echo $$ > child; exec sleep 600' &
setsid sh -c 'echo $$ > session; exec sleep 600' &
setsid sh -c 'sh -c "echo \$\$ > daemon; exec sleep 600" & exit 0' &
setsid sh -c 'trap "" TERM HUP INT; echo $$ > deaf; while :; do sleep 0.05; done' &
for f in child session daemon deaf; do while ! [ -s $f ]; do sleep 0.01; done; done
echo ready
`

func TestRunLeavesNoStrays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		after   string
		timeout time.Duration
		class   proc.Class
	}{
		"after a good end":   {"exit 0", 0, proc.Exited},
		"after a bad end":    {"exit 3", 0, proc.Exited},
		"after a time-out":   {"sleep 600", 2 * time.Second, proc.TimedOut},
		"after being killed": {"kill -KILL $$", 0, proc.Signalled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			s := script(t, strays+c.after)
			s.Stdout, s.Timeout, s.Grace = &out, c.timeout, 300*time.Millisecond
			r := run(t, s)
			if r.Class != c.class || out.String() != "ready\n" || r.Duration > patience {
				t.Errorf("result = %+v, out = %q", r, out.String())
			}
			for _, f := range []string{"child", "session", "daemon", "deaf"} {
				if alive(t, filepath.Join(s.Dir, f)) {
					t.Errorf("%s is still alive", f)
				}
			}
		})
	}
}

// A child that hides its environment is found as a child, as long as its parent lives.
func TestRunFindsChildrenWithoutEnvironment(t *testing.T) {
	t.Parallel()
	s := script(t,
		`env -i PATH="$PATH" setsid sh -c 'echo $$ > bare; exec sleep 600' & while ! [ -s bare ]; do sleep 0.01; done; sleep 600`)
	s.Timeout, s.Grace = 2*time.Second, 100*time.Millisecond
	run(t, s)
	if alive(t, filepath.Join(s.Dir, "bare")) {
		t.Error("it is still alive")
	}
}

// A stray that is just becoming another program when its parent ends, and so has no environment for a moment, is found.
func TestRunFindsStraysInTheMiddleOfExec(t *testing.T) {
	t.Parallel()
	for range 60 {
		s := script(t, `setsid sleep 4242 & exit 0`)
		s.Env = append(s.Env, "STRAY="+s.Dir)
		run(t, s)
		if left := carrying(t, "STRAY="+s.Dir); len(left) > 0 {
			t.Fatalf("%v are still alive", left)
		}
	}
}

// carrying lists the processes with an entry in their environment, and ends them.
func carrying(t *testing.T, entry string) (left []int) {
	t.Helper()
	time.Sleep(5 * time.Millisecond) // it is done with exec by now
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if raw, err := os.ReadFile(file); err == nil && bytes.Contains(raw, []byte(entry+"\x00")) {
			pid, _ := strconv.Atoi(strings.Split(file, "/")[2])
			_ = syscall.Kill(pid, syscall.SIGKILL)
			left = append(left, pid)
		}
	}
	return left
}
