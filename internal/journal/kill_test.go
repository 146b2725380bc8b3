//go:build unix

package journal

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// writeForEver goes on with a run until it is killed, and tells of each record that is written.
func writeForEver(dir string) (func(), error) {
	unlock, err := quietLock(dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	j, err := OpenSealed(filepath.Join(dir, "runs", "r"), filepath.Join(dir, "seals", "r"))
	if err != nil {
		return nil, err
	}
	for n := j.State().Records; ; n++ {
		r := turning(n)
		if n == 0 {
			r = start("r")
		}
		if _, err := j.Append(r); err != nil {
			return nil, err
		}
		fmt.Println(n + 1)
		switch rand.IntN(20) {
		case 0:
			err = j.Sync()
		case 1, 2:
			j.SyncSoon(time.Duration(n%2) * time.Millisecond)
		}
		if err != nil {
			return nil, err
		}
	}
}

// TestKilledWhileWriting: a process that is killed has written what it has told of, and the next one goes on at once.
func TestKilledWhileWriting(t *testing.T) {
	dir := t.TempDir()
	told := 0
	for round := range 40 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "TEST_CHILD_OF="+dir, "TEST_CHILD_DOES=write")
		out, err := cmd.StdoutPipe()
		noError(t, err)
		noError(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for begun := false; lines.Scan(); {
			n := 0
			if _, err := fmt.Sscan(lines.Text(), &n); err != nil {
				t.Fatalf("round %d: %s", round, lines.Text())
			}
			if !begun {
				begun = true
				if n <= told {
					t.Fatalf("round %d goes on with record %d, and %d was written", round, n, told)
				}
				time.AfterFunc(time.Duration(rand.IntN(15))*time.Millisecond, func() { _ = cmd.Process.Kill() })
			}
			told = n
		}
		_ = cmd.Wait()
		s, ok, err := FindSealed(filepath.Join(dir, "runs", "r"), filepath.Join(dir, "seals", "r"), "issue-1")
		if !ok || err != nil || s.Records < told || s.Records > told+1000 {
			t.Fatalf("round %d: %d records, %d were told; %v", round, s.Records, told, err)
		}
	}
}
