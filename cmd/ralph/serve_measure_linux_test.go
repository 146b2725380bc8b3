package main

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// These measure a whole server, with RALPH_TEST_EVERY_FAULT=1 and -v: docs/internals/benchmarks.md has what they said. What must
// hold on any machine fails them, also when they are short: that nothing is lost. RALPH_BINARY names the program as it
// is shipped.

// shipped takes the program as it is shipped, where that is named.
func (s *serving) shipped() { s.ralph = cmp.Or(os.Getenv("RALPH_BINARY"), s.ralph) }

// used is the processor time that the server itself has taken, without its children, and the memory that it holds.
func (s *serving) used() (processor time.Duration, memory string) {
	pid := s.process.Process.Pid
	return ticks(pid), fmt.Sprintf("%.0f MB, at most %.0f MB", megabytes(pid, "VmRSS"), megabytes(pid, "VmHWM"))
}

// TestServeKeepsPace: a minute of 200 deliveries a second is stored and decided, alone and with runs beside them.
func TestServeKeepsPace(t *testing.T) {
	rare(t)
	const perSecond, seconds = 200, 60
	for _, runs := range []int{0, 6} {
		t.Run(fmt.Sprintf("%d runs", runs), func(t *testing.T) {
			s := newServing(t)
			s.shipped()
			s.start()
			f := newFlood(s)
			before, _ := s.used()
			begun := time.Now()
			var sent sync.WaitGroup
			for i := range perSecond * seconds {
				planned := begun.Add(time.Duration(i) * time.Second / time.Duration(perSecond))
				time.Sleep(time.Until(planned))
				sent.Go(func() { f.send(fmt.Sprintf("pace-%d", i), planned, false) })
				if runs > 0 && i%(10*perSecond) == perSecond {
					s.label(fmt.Sprintf("Add new.txt for Task-%d", i))
				}
			}
			sent.Wait()
			after, memory := s.used()
			t.Logf("until 202: half %s, 99%% %s, 99.9%% %s, the slowest %s; the server took %s of processor time, %s",
				f.share(0.5), f.share(0.99), f.share(0.999), f.share(1), after-before, memory)
			if f.got[202] != perSecond*seconds {
				t.Errorf("answers are %v", f.got)
			}
			s.until("all are decided, and the runs beside them are done", func() bool {
				done := fmt.Sprintf("ralph_runs_total{outcome=\"done\"} %d\n", runs)
				return (runs == 0 || strings.Contains(s.get("/metrics"), done)) &&
					strings.Count(s.log(), " delivery=pace-") == perSecond*seconds
			})
		})
	}
}
