package main

import (
	"cmp"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
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

// TestServeHoldsWaitingRuns: a thousand runs that wait take little memory and next to no processor time, whether they
// wait for a time or for a place.
func TestServeHoldsWaitingRuns(t *testing.T) {
	rare(t)
	const runs, settle, long = 1000, 5 * time.Second, 30 * time.Second
	s := newServing(t)
	s.shipped()
	s.write("wait", "600", 0o644)
	s.begin("--slots", "1")
	s.until("it is there", func() bool { return strings.Contains(s.get("/healthz"), "alive") })
	for n := range runs + 1 {
		s.label(fmt.Sprintf("Add new.txt, %d", n))
	}
	waiting := func(state string) func() bool {
		return func() bool {
			return strings.Contains(s.get("/metrics"), fmt.Sprintf("ralph_jobs{state=%q} %d\n", state, runs))
		}
	}
	s.until("all wait", waiting("queued"))
	measure := func(how string) {
		s.Helper()
		s.get("/readyz") // and it has begun
		time.Sleep(settle)
		before, _ := s.used()
		time.Sleep(long)
		after, memory := s.used()
		t.Logf("%d runs that wait %s: %.1f %% of a core, %s", runs, how, 100*float64(after-before)/float64(long), memory)
	}
	measure("for the one place")
	s.kill()
	s.due(time.Now().Add(time.Hour))
	s.begin()
	s.until("it knows them", waiting("delayed"))
	measure("for a time")
}

// due has all runs that wait for a place wait until a time, in the database of a server that has ended.
func (s *serving) due(at time.Time) {
	s.Helper()
	db, err := sql.Open("sqlite", filepath.Join(s.dir, "data", "ralph.db"))
	if err != nil {
		s.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(s.Context(), "UPDATE ralph_runs SET state = 'waiting', resume = ? WHERE state = 'queued'",
		at.UnixMicro()); err != nil {
		s.Fatal(err)
	}
}

// TestServeWorksAtOnce: twenty runs at once take about as much processor time each as one after the other.
func TestServeWorksAtOnce(t *testing.T) {
	rare(t)
	const runs = 20
	took := map[string]time.Duration{}
	for _, slots := range []string{"1", fmt.Sprint(runs)} {
		s := newServing(t)
		s.shipped()
		s.begin("--slots", slots)
		s.until("it is there", func() bool { return strings.Contains(s.get("/healthz"), "alive") })
		begun := time.Now()
		for n := range runs {
			s.label(fmt.Sprintf("Add new.txt, %d", n))
		}
		s.patient = 10 * time.Minute
		s.until("all are done", func() bool {
			return strings.Contains(s.get("/metrics"), fmt.Sprintf("ralph_runs_total{outcome=\"done\"} %d\n", runs))
		})
		wall := time.Since(begun)
		s.stop()
		all := s.process.ProcessState
		took[slots] = (all.UserTime() + all.SystemTime()) / time.Duration(runs)
		t.Logf("%d runs, %s at once: %s of processor time each with all that the server starts, all within %s", runs, slots,
			took[slots].Round(time.Millisecond), wall.Round(time.Millisecond))
		s.understood()
	}
	t.Logf("at once against one after the other: %.2f", float64(took[fmt.Sprint(runs)])/float64(took["1"]))
}
