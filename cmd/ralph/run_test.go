package main

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"
)

// TestAgentAbove: a program above the clone is the same one in another tree.
func TestAgentAbove(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "clone")
	for given, want := range map[string]string{
		"../agent": filepath.Join(filepath.Dir(dir), "agent"), "x/../../agent": filepath.Join(filepath.Dir(dir), "agent"),
		"claude": "claude", "./agent": "./agent", "..agent": "..agent", "/opt/agent": "/opt/agent", "": "",
	} {
		f := agentFlags{Agent: &given}
		if f.fromHere(process{dir: dir}); *f.Agent != want {
			t.Errorf("%q: %q, want %q", given, *f.Agent, want)
		}
	}
}

// TestStamped: however lines are parted into writes, each begins with the time once.
func TestStamped(t *testing.T) {
	text, want := "a\nbc\n\nd", "15:04:05 a\n15:04:05 bc\n15:04:05 \n15:04:05 d"
	for size := 1; size <= len(text); size++ {
		var out bytes.Buffer
		s := &stamped{to: &out, clock: func() time.Time { return time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC) }}
		for at := 0; at < len(text); at += size {
			if _, err := s.Write([]byte(text[at:min(at+size, len(text))])); err != nil {
				t.Fatal(err)
			}
		}
		if out.String() != want {
			t.Errorf("in writes of %d: %q, want %q", size, out.String(), want)
		}
	}
}
