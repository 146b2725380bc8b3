package report

import (
	"strings"
	"testing"
)

// TestForeignTextSkipsNothing: what somebody wrote keeps no workflow from running when a squash makes a commit of it.
func TestForeignTextSkipsNothing(t *testing.T) {
	for _, mark := range []string{"[skip ci]", "[CI skip]", "[no ci]", "[skip actions]", "[actions skip]", "***NO_CI***",
		"skip-checks: true"} {
		got := View{}.Clean("before\n" + mark + "\nafter")
		if strings.Contains(got, mark) || !strings.HasPrefix(got, "before\n") || !strings.HasSuffix(got, "\nafter") {
			t.Errorf("%s: %q", mark, got)
		}
	}
}
