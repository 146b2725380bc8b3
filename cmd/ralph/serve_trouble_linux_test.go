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
	begin func(s *troubled) (end func())
	ready string // what /readyz says meanwhile; empty: that all is well
	again int    // turns that may be taken again
}

// troubled is a server with trouble.
type troubled struct{ *serving }

// troubles are those that a server has to live through.
var troubles = []trouble{
	{"github", 5 * time.Minute, func(s *troubled) func() {
		s.hub.Fail(fake.Fault{Status: 502, Times: -1})
		return s.hub.ClearFaults
	}, "", 0},
	{"disk", 30 * time.Second, (*troubled).fill, `"name":"disk","ok":false`, 1},
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
			if err := os.WriteFile(filepath.Join(s.dir, "wait"), []byte("0"), 0o644); err != nil {
				t.Fatal(err)
			}
			s.label("Add another")
			if c.ready != "" {
				s.until("/readyz says so", func() bool { return strings.Contains(s.get("/readyz"), c.ready) })
			}
			time.Sleep(time.Until(begun.Add(c.long)))
			end()
			ended := time.Now()
			s.until("two pull requests that are ready", func() bool { return s.ready() == 2 })
			t.Logf("all is done %s after it was right again", time.Since(ended).Round(time.Millisecond))
			if n := s.turns(); n < 2 || n > 2+c.again {
				t.Errorf("%d turns for two issues", n)
			}
			s.until("it is ready", func() bool { return strings.Contains(s.get("/readyz"), `"ready":true`) })
			for _, problem := range s.hub.Problems() {
				t.Errorf("GitHub: %s", problem)
			}
		})
	}
}

// newTroubled makes a server whose agent takes a few seconds for its first turn, and counts its turns.
func newTroubled(t *testing.T, name string) *troubled {
	t.Helper()
	s := &troubled{newServing(t)}
	file := filepath.Join(s.dir, "turns")
	agent := "#!/bin/sh\ncat >/dev/null; echo x >>" + file + "; sleep \"$(cat " + s.dir + "/wait)\"; echo x > new.txt\n" +
		"echo '<response>DONE</response>'\n"
	for name, text := range map[string]string{"agent": agent, "turns": "", "wait": "3"} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(file, 0o666); err != nil { // the agent may be another user
		t.Fatal(err)
	}
	switch {
	case name == "disk":
		s.disk()
	case strings.HasPrefix(name, "clock"):
		s.environ = append(s.environ, clockFile+"="+filepath.Join(s.dir, "clock"))
	}
	return s
}

// disk gives the data a small file system of its own.
func (s *troubled) disk() {
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
func (s *troubled) fill() func() {
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
func jump(by time.Duration) func(*troubled) func() {
	return func(s *troubled) func() {
		file := filepath.Join(s.dir, "clock")
		if err := os.WriteFile(file, []byte(by.String()), 0o644); err != nil {
			s.Fatal(err)
		}
		return func() { _ = os.Remove(file) }
	}
}

// ready is how many pull requests are ready.
func (s *troubled) ready() (n int) {
	for _, p := range s.hub.Pulls("alice", "demo") {
		if !p.Draft {
			n++
		}
	}
	return n
}

// turns is how many turns the agent has begun.
func (s *troubled) turns() int {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "turns"))
	if err != nil {
		s.Fatal(err)
	}
	return strings.Count(string(text), "x")
}
