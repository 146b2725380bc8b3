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
)

// strays leave the group in every way there is, hold standard output open, and write down who they are.
const strays = `
sh -c 'echo $$ > child; exec sleep 600' &
setsid sh -c 'echo $$ > session; exec sleep 600' &
setsid sh -c 'sh -c "echo \$\$ > left; exec sleep 600" & exit 0' &
setsid sh -c 'trap "" TERM HUP INT; echo $$ > deaf; while :; do sleep 0.05; done' &
for f in child session left deaf; do while ! [ -s $f ]; do sleep 0.01; done; done
`

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
	for _, file := range must(filepath.Glob("/proc/[0-9]*/environ")) {
		if raw, err := os.ReadFile(file); err == nil && bytes.Contains(raw, []byte(entry+"\x00")) {
			pid, _ := strconv.Atoi(strings.Split(file, "/")[2])
			_ = syscall.Kill(pid, syscall.SIGKILL)
			left = append(left, pid)
		}
	}
	return left
}
