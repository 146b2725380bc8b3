package main

import (
	"strings"
	"testing"
)

// A text is drawn over the one before it, in one write, and never higher than the terminal. A block below it is whole.
func TestScreen(t *testing.T) {
	var writes []string
	s := &screen{out: writer(func(p []byte) { writes = append(writes, string(p)) }), size: func() (int, int) { return 80, 4 }}
	for _, text := range []string{"a\nb\n", "c\n", "1\n2\n3\n4\n5\n", "z\n", "block\n1\n2\n"} {
		var block func(int) []string
		if strings.HasPrefix(text, "block") {
			block = func(width int) []string { return []string{"x", "y"}[:width/40] }
		}
		if err := s.draw(text, block); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"a\x1b[K\nb\x1b[K\n", "\x1b[2A\rc\x1b[K\n", "\x1b[1A\r1\x1b[K\n2\x1b[K\n3\x1b[K\n",
		"\x1b[3A\rz\x1b[K\n", "\x1b[1A\rblock\x1b[K\nx\x1b[K\ny\x1b[K\n"}
	if len(writes) != len(want) {
		t.Fatalf("%d writes: %q", len(writes), writes)
	}
	for i, got := range writes {
		got = strings.TrimSuffix(strings.TrimPrefix(got, "\x1b[?7l"), "\x1b[J\x1b[?7h")
		if got != want[i] {
			t.Errorf("draw %d wrote %q, want %q", i, got, want[i])
		}
	}
}

type writer func([]byte)

func (w writer) Write(p []byte) (int, error) { w(p); return len(p), nil }
