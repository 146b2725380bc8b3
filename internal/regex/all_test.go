package regex_test

import (
	"testing"

	_ "github.com/ralph-loop/ralph/internal/agenthook"
	_ "github.com/ralph-loop/ralph/internal/bot" // these bring all rooms that have patterns
	_ "github.com/ralph-loop/ralph/internal/doctor"
	_ "github.com/ralph-loop/ralph/internal/local"
	"github.com/ralph-loop/ralph/internal/regex"
	_ "github.com/ralph-loop/ralph/internal/supervise"
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
