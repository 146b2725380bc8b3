//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkIssueIteration is an iteration of a run of an issue, in a repository of a few files and in one of 50,000: an
// instant agent that changes a tracked file, the commit of that, and one check that says true. What agent and check
// take when a shell starts them is taken off.
func BenchmarkIssueIteration(b *testing.B) {
	const perRun = 20
	const changing = "#!/bin/sh\ncat > /dev/null\necho x >> d0/f0\necho working\n"
	for _, files := range []int{20, 50_000} {
		b.Run(fmt.Sprintf("files=%d", files), func(b *testing.B) {
			w := newBench(b, changing, oneTrue)
			w.fill(files)
			issue := []string{"run", "--issue", "issue.md", "--skip-review", "--sandbox", "off", "--fresh", "-m"}
			var took []time.Duration
			var bare time.Duration
			for b.Loop() {
				w.run(1, w.ralph, append(issue, strconv.Itoa(perRun))...)
				took = append(took, w.gaps()...)
				w.run(0, "git", "checkout", "-q", "main")
				bare += w.run(0, "sh", "-c", fmt.Sprintf(bareLoop, perRun)).wall
				w.run(0, "git", "checkout", "-q", "-f", "main")
			}
			slices.Sort(took)
			own := took[len(took)/2] - bare/time.Duration(b.N*perRun)
			b.ReportMetric(own.Seconds()*1000, "own-wall-ms/iteration")
			disk := filepath.Join(b.TempDir(), "disk") // of all that lies beside the tree that the check runs in, too
			w.write(".ralph/settings.json", strings.Replace(oneTrue, "true", "du -sk .. > "+disk, 1), 0o644)
			w.run(0, "git", "commit", "-q", "-a", "-m", "how much disk")
			w.run(1, w.ralph, append(issue, "1")...)
			text, _ := os.ReadFile(disk)
			kilobytes, _, _ := strings.Cut(string(text), "\t")
			b.ReportMetric(float64(number(kilobytes))/1024, "judging-tree-MB")
		})
	}
}

// fill makes the directory a repository of some files, in one pack, with an issue.
func (w bench) fill(files int) {
	w.Helper()
	w.Setenv("HOME", w.TempDir())
	w.Setenv("XDG_CACHE_HOME", "")
	w.Setenv("XDG_STATE_HOME", "")
	for i := range files {
		w.write(fmt.Sprintf("d%d/f%d", i/100, i), strings.Repeat(fmt.Sprintf("line %d\n", i), 40), 0o644)
	}
	w.write("issue.md", "# Change it\n\nAgain and again.\n", 0o644)
	for _, args := range [][]string{
		{"config", "--global", "user.name", "Alice"},
		{"config", "--global", "user.email", "alice@example.com"},
		{"init", "-q", "-b", "main"},
		{"add", "."},
		{"commit", "-q", "-m", "seed"},
		{"repack", "-a", "-d", "-q"},
	} {
		w.run(0, "git", args...)
	}
}

// gaps is how long each iteration of the newest run took after its first, from the end of the one before.
func (w bench) gaps() (took []time.Duration) {
	at := w.judged()
	for i := 1; i < len(at); i++ {
		took = append(took, at[i].Sub(at[i-1]))
	}
	return took
}
