package agent

import "testing"

// A pattern that is written wrongly must not be found by the first who needs it.
func TestPatternsCompile(t *testing.T) {
	if len(patterns) == 0 {
		t.Fatal("there are no patterns")
	}
	for _, p := range patterns {
		p.re()
	}
}
