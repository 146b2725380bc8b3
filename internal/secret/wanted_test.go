package secret

import (
	"slices"
	"testing"
)

// TestWanted: each text is found as it is, wherever a write ends, and when it is a part of another or begins like it.
func TestWanted(t *testing.T) {
	texts := []string{"abcdefgh", "abcdefghij", "bcdefghij", "zabcdefgh", "short", "missing-one", "abcdefghij"}
	for size := range 40 {
		w := Want(texts)
		in := "---- zabcdefgh abcdefghij short"
		for len(in) > 0 {
			n := min(size+1, len(in))
			if _, err := w.Write([]byte(in[:n])); err != nil {
				t.Fatal(err)
			}
			in = in[n:]
		}
		var found []string
		for _, text := range texts {
			if w.Found(text) {
				found = append(found, text)
			}
		}
		want := []string{"abcdefgh", "abcdefghij", "bcdefghij", "zabcdefgh", "abcdefghij"}
		if !slices.Equal(found, want) || w.All() || w.Found("never asked for") {
			t.Errorf("in writes of %d bytes: %q", size+1, found)
		}
	}
	w := Want([]string{"abcdefghij"})
	for _, part := range []string{"abcdef", "ghij"} {
		_, _ = w.Write([]byte(part))
		w.Break()
	}
	if w.All() {
		t.Error("found across a break")
	}
}
