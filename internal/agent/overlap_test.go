package agent

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestOverlap(t *testing.T) {
	slow := func(a, b string) int {
		for n := min(len(a), len(b)); ; n-- {
			if strings.HasSuffix(a, b[:n]) {
				return n
			}
		}
	}
	letters := func() string {
		b := make([]byte, rand.IntN(12))
		for i := range b {
			b[i] = byte('a' + rand.IntN(2))
		}
		return string(b)
	}
	for range 20_000 {
		if a, b := letters(), letters(); overlap(a, b) != slow(a, b) {
			t.Fatalf("%q, %q: %d, want %d", a, b, overlap(a, b), slow(a, b))
		}
	}
}
