//go:build unix

package launch

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

// BenchmarkJob is a whole job whose agent takes no time, from its start to its end, one after the other. spent is the
// processor time of the process and of all that it started; the stand-in for GitHub is not in it.
func BenchmarkJob(b *testing.B) {
	w := newWorld(b)
	w.by.Mirrors = w.mirrors(1 << 30)
	for n := 0; b.Loop(); n++ {
		b.StopTimer()
		if n > 0 {
			w.issue = w.addIssue()
		}
		job := w.labelled(fmt.Sprintf("5f1e-%d", n), 1)
		before := children(b)
		b.StartTimer()
		w.must(w.start(job), loop.Done)
		b.ReportMetric((children(b)-before).Seconds()*1000, "spent-ms/op")
	}
}

// children is the processor time of the processes of ours that have ended.
func children(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
