package regex_test

import (
	"testing"

	_ "github.com/ralph-loop/ralph/internal/app" // which brings all rooms that have patterns
	"github.com/ralph-loop/ralph/internal/regex"
)

// TestPatternsCompile: one that is written wrongly must not be found by the first who needs it.
func TestPatternsCompile(t *testing.T) {
	if n := len(regex.All()); n < 100 {
		t.Fatalf("there are only %d patterns", n)
	}
	for _, p := range regex.All() {
		p.Regexp()
	}
}
