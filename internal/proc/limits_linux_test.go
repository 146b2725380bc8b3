package proc

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestLimits(t *testing.T) {
	const mib = 1 << 20
	for name, test := range map[string]struct {
		script string
		limits Limits
		limit  Limit
		why    string
	}{
		"output without end":         {"yes", Limits{Output: mib}, LimitOutput, "it printed more than 1 MiB"},
		"output that had ended":      {"head -c 1100000 /dev/zero", Limits{Output: mib}, LimitOutput, "more than 1 MiB"},
		"output, as much as allowed": {"head -c 1048576 /dev/zero", Limits{Output: mib}, "", ""},
		"processes": {"i=0; while [ $i -lt 120 ]; do sleep 300 & i=$((i+1)); done; wait", Limits{Processes: 100},
			LimitProcesses, "it had more than 100 processes and threads"},
		"memory": {"{ head -c 200000000 /dev/zero; sleep 300; } | tail", Limits{Memory: 100 * mib}, LimitMemory,
			"it took more than 100 MiB of memory"},
		"one file": {"cat /dev/zero > file", Limits{Disk: 30 * mib}, LimitDisk, "it wrote "},
		"many files": {"i=0; while :; do i=$((i+1)); head -c 8000000 /dev/zero > f$i || exit; done", Limits{Disk: 60 * mib},
			LimitDisk, "it wrote more than 60 MiB to the disk of "},
		"little of each":  {"echo done", Limits{Processes: 100, Memory: 1 << 30, Disk: 1 << 30, Output: mib}, "", ""},
		"its own failure": {"kill -9 $$", Limits{Processes: 100, Memory: 1 << 30, Disk: 1 << 30, Output: mib}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir, out := t.TempDir(), NewTail(0, 1<<10)
			r, err := Run(context.Background(), Spec{Argv: []string{"sh", "-c", test.script}, Dir: dir, Env: os.Environ(),
				Stdout: out, Stderr: out, Timeout: time.Minute, Limits: test.limits})
			if err != nil || (r.Class == Limited) != (test.limit != "") || r.Limit != test.limit ||
				!strings.Contains(r.Why, test.why) {
				t.Fatalf("%+v, %v, %s", r, err, out)
			}
			if most := test.limits.Output; most > 0 && out.Len() > most {
				t.Errorf("%d bytes were passed on", out.Len())
			}
			for _, s := range living() {
				if worksIn(s.pid, []string{dir}) {
					t.Errorf("process %d is left", s.pid)
				}
			}
		})
	}
}

func TestSystemEndsLimitedFirst(t *testing.T) {
	r, err := Run(context.Background(), Spec{
		Argv:    []string{"sh", "-c", "until read now < /proc/$$/oom_score_adj && [ $now = 500 ]; do :; done"},
		Env:     os.Environ(),
		Timeout: 20 * time.Second, Limits: Limits{Memory: 1 << 40},
	})
	if err != nil || r.Class != Exited || r.Exit != 0 {
		t.Fatal(r, err)
	}
}

func TestFilesOfOthersAreNoneOfIts(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	d := disksOf([]string{dir})[0]
	counted := &usage{limits: Limits{Disk: 1 << 20}, disks: []*disk{d}}
	if err := os.WriteFile(filepath.Join(other, "file"), make([]byte, 8<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	d.used -= 8 << 20 // a file system may say so only later
	if e, ok := counted.full(); ok {
		t.Errorf("what another has written counts: %v", e)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), make([]byte, 8<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	d.used -= 8 << 20
	if e, ok := counted.full(); !ok || e.limit != LimitDisk {
		t.Errorf("what it has written does not count: %v", e)
	}
}
