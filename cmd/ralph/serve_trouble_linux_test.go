package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/fake/need"
)

// trouble is something that goes wrong around a server for a while.
type trouble struct {
	name  string
	long  time.Duration
	begin func(s *serving) (end func())
	ready string // what /readyz says meanwhile; empty: that all is well
	again int    // turns that may be taken again
}

// troubles are those that a server has to live through.
var troubles = []trouble{
	{"github", 5 * time.Minute, func(s *serving) func() {
		s.hub.Fail(fake.Fault{Status: 502, Times: -1})
		return s.hub.ClearFaults
	}, "", 0},
	{"disk", 30 * time.Second, (*serving).fill, `"name":"disk","ok":false`, 1},
	{"clock ahead", 30 * time.Second, jump(time.Hour), `"name":"clock","ok":false`, 0},
	{"clock behind", 30 * time.Second, jump(-time.Hour), `"name":"clock","ok":false`, 0},
}

// TestServeMeetsTrouble: a run in its turn, and one that is asked for while something is wrong, come to their pull
// requests by themselves once it is right again, each with one turn; and somebody who looks is told what is wrong.
func TestServeMeetsTrouble(t *testing.T) {
	rare(t)
	t.Parallel()
	for _, c := range troubles {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newTroubled(t, c.name)
			s.patient = 2*time.Minute + c.long
			s.start()
			s.label("Add new.txt")
			s.until("a turn", s.turning)
			begun := time.Now()
			end := c.begin(s)
			s.write("wait", "0", 0o644)
			s.label("Add another")
			if c.ready != "" {
				s.until("/readyz says so", func() bool { return strings.Contains(s.get("/readyz"), c.ready) })
			}
			time.Sleep(time.Until(begun.Add(c.long)))
			end()
			ended := time.Now()
			s.until("two pull requests that are ready", func() bool { return s.ready("demo") == 2 })
			t.Logf("all is done %s after it was right again", time.Since(ended).Round(time.Millisecond))
			if n := s.turns(); n < 2 || n > 2+c.again {
				t.Errorf("%d turns for two issues", n)
			}
			s.until("it is ready", func() bool { return strings.Contains(s.get("/readyz"), `"ready":true`) })
			s.understood()
		})
	}
}

// newTroubled makes a server whose agent takes a few seconds for its first turn, and counts its turns.
func newTroubled(t *testing.T, name string) *serving {
	t.Helper()
	s := newServing(t)
	s.write("wait", "3", 0o644)
	switch {
	case name == "disk":
		s.disk()
	case strings.HasPrefix(name, "clock"):
		s.environ = append(s.environ, clockFile+"="+filepath.Join(s.dir, "clock"))
	}
	return s
}

// disk gives the data a small file system of its own.
func (s *serving) disk() {
	s.Helper()
	data := filepath.Join(s.dir, "data")
	if err := os.Mkdir(data, 0o711); err != nil {
		s.Fatal(err)
	}
	err := syscall.Mount("none", data, "tmpfs", 0, "size=700m,mode=711")
	need.That(s, "root", err == nil)
	s.Cleanup(func() { _ = syscall.Unmount(data, syscall.MNT_DETACH) })
}

// fill leaves no room where the data lies.
func (s *serving) fill() func() {
	s.Helper()
	file := filepath.Join(s.dir, "data", "rest")
	f, err := os.Create(file)
	if err != nil {
		s.Fatal(err)
	}
	defer f.Close()
	at := int64(0)
	for step := int64(64 << 20); step >= 4096; step /= 2 {
		for syscall.Fallocate(int(f.Fd()), 0, at, step) == nil {
			at += step
		}
	}
	return func() { _ = os.Remove(file) }
}

// jump sets the server's clock.
func jump(by time.Duration) func(*serving) func() {
	return func(s *serving) func() {
		file := s.write("clock", by.String(), 0o644)
		return func() { _ = os.Remove(file) }
	}
}
