package sample

import (
	"testing"
)

func TestDiff(t *testing.T) {
	if got := Diff("a\nb\nc", "a\nx\ny\nc"); got != "-b\n+x\n+y\n" {
		t.Errorf("diff: %q", got)
	}
	if got := Diff("a", "a"); got != "" {
		t.Errorf("diff of equal texts: %q", got)
	}
}
