package main

import (
	"bytes"
	"testing"
	"time"
)

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
