package main

import (
	"bytes"
	"cmp"
	"database/sql"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/fake/postgres"
)

// These measure a whole server, with RALPH_TEST_EVERY_FAULT=1 and -v: docs/benchmarks.md has what they said. What must
// hold on any machine fails them, also when they are short: that nothing is lost. RALPH_BINARY names the program as it
// is shipped.

// on gives the server a database.
func (s *serving) on(database string) {
	s.Helper()
	s.ralph = cmp.Or(os.Getenv("RALPH_BINARY"), s.ralph)
	if database == "postgres" {
		s.environ = append(s.environ, "DATABASE_URL="+postgres.New(s).URL,
			"RALPH_DATA_KEY="+base64.StdEncoding.EncodeToString(make([]byte, 32)))
	}
}

// used is the processor time that the server itself has taken, without its children, and the memory that it holds.
func (s *serving) used() (processor time.Duration, memory string) {
	s.Helper()
	dir := fmt.Sprintf("/proc/%d/", s.process.Process.Pid)
	stat, err := os.ReadFile(dir + "stat")
	if err != nil {
		s.Fatal(err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	for _, field := range fields[11:13] { // user and system, in hundredths of a second
		n, err := strconv.Atoi(field)
		if err != nil {
			s.Fatal(err)
		}
		processor += time.Duration(n) * 10 * time.Millisecond
	}
	status, err := os.ReadFile(dir + "status")
	if err != nil {
		s.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmRSS") || strings.HasPrefix(line, "VmHWM") {
			memory += strings.Join(strings.Fields(line), " ") + " "
		}
	}
	return processor, memory
}

// TestServeKeepsPace: a minute of 200 deliveries a second is stored and decided, alone and with runs beside them.
func TestServeKeepsPace(t *testing.T) {
	rare(t)
	type load struct {
		database string
		runs     int
	}
	const perSecond, seconds = 200, 60
	for _, l := range []load{{"sqlite", 0}, {"sqlite", 6}, {"postgres", 0}, {"postgres", 6}} {
		t.Run(fmt.Sprintf("%s, %d runs", l.database, l.runs), func(t *testing.T) {
			s := newServing(t)
			s.on(l.database)
			s.start()
			f := newFlood(s)
			before, _ := s.used()
			begun := time.Now()
			var sent sync.WaitGroup
			for i := range perSecond * seconds {
				planned := begun.Add(time.Duration(i) * time.Second / time.Duration(perSecond))
				time.Sleep(time.Until(planned))
				sent.Go(func() { f.send(fmt.Sprintf("pace-%d", i), planned, false) })
				if l.runs > 0 && i%(10*perSecond) == perSecond {
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
				done := fmt.Sprintf("ralph_runs_total{outcome=\"done\"} %d\n", l.runs)
				return (l.runs == 0 || strings.Contains(s.get("/metrics"), done)) &&
					strings.Count(s.log(), " delivery=pace-") == perSecond*seconds
			})
		})
	}
}

// ask has alice open an issue that is labelled.
func (s *serving) ask(n int) {
	s.hub.AddIssue("alice", "demo", fake.Issue{Title: fmt.Sprintf("Add new.txt, %d", n), Author: "alice",
		Labels: []string{"ralph"}})
}

// TestServeHoldsWaitingRuns: a thousand runs that wait take little memory and next to no processor time, whether they
// wait for a time or for a place.
func TestServeHoldsWaitingRuns(t *testing.T) {
	rare(t)
	const runs, settle, long = 1000, 5 * time.Second, 30 * time.Second
	s := newServing(t)
	s.on("sqlite")
	s.begin("--role", "intake,web")
	s.until("it is there", func() bool { return strings.Contains(s.get("/healthz"), "alive") })
	for n := range runs {
		s.ask(n)
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
	measure("for a server that works")
	s.kill()
	s.due(time.Now().Add(time.Hour))
	s.begin()
	s.until("it knows them", waiting("delayed"))
	measure("for a time")
	s.kill()
	s.due(time.Time{})
	if err := os.WriteFile(filepath.Join(s.dir, "wait"), []byte("600"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.begin("--slots", "1")
	s.until("a turn", s.turning)
	measure("for the one place, but for the one that has it")
}

// due has all jobs wait until a time, in the database of a server that has ended.
func (s *serving) due(at time.Time) {
	s.Helper()
	db, err := sql.Open("sqlite", filepath.Join(s.dir, "data", "ralph.db"))
	if err != nil {
		s.Fatal(err)
	}
	defer db.Close()
	ms := int64(0)
	if !at.IsZero() {
		ms = at.UnixMilli()
	}
	if _, err := db.ExecContext(s.Context(), "UPDATE ralph_queue_jobs SET due = $1 WHERE state = 'waiting'", ms); err != nil {
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
		s.on("sqlite")
		s.begin("--slots", slots)
		s.until("it is there", func() bool { return strings.Contains(s.get("/healthz"), "alive") })
		begun := time.Now()
		for n := range runs {
			s.ask(n)
		}
		s.patient = 10 * time.Minute
		s.until("all are done", func() bool {
			return strings.Contains(s.get("/metrics"), fmt.Sprintf("ralph_runs_total{outcome=\"done\"} %d\n", runs))
		})
		wall := time.Since(begun)
		if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := s.process.Wait(); err != nil {
			t.Errorf("%v\n%s", err, s.log())
		}
		all := s.process.ProcessState
		took[slots] = (all.UserTime() + all.SystemTime()) / time.Duration(runs)
		t.Logf("%d runs, %s at once: %s of processor time each with all that the server starts, all within %s", runs, slots,
			took[slots].Round(time.Millisecond), wall.Round(time.Millisecond))
		for _, problem := range s.hub.Problems() {
			t.Errorf("GitHub: %s", problem)
		}
	}
	t.Logf("at once against one after the other: %.2f", float64(took[fmt.Sprint(runs)])/float64(took["1"]))
}
