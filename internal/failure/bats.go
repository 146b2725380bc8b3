package failure

import (
	"slices"
	"strings"
)

var (
	batsPlace  = lazy(`^(?:# |   )\((?:in test file|from function|in file|in setup|in teardown).*, line \d+`)
	batsFailed = lazy(`^(?:not ok \d+| [✗✘]) (.*)$`)
	batsOther  = lazy(`^(?:ok \d+ .*| [✓✔-] .*|\S+\.bats|1\.\.\d+)$`)
)

// bats makes one of its two reports: TAP into a pipe, "not ok 2 name" and comments, and " ✗ name" with indented lines
// on a terminal.
func bats(lines []string) []string {
	if !slices.ContainsFunc(lines,
		func(line string) bool { return strings.Contains(line, ", line ") && batsPlace.MatchString(line) }) {
		return lines
	}
	var kept []string
	failed := false
	for _, line := range lines {
		if m := batsFailed.FindStringSubmatch(line); m != nil {
			failed = true
			kept = append(kept, "not ok "+m[1])
			continue
		}
		if batsOther.MatchString(line) {
			failed = false
			continue
		}
		if failed {
			line = strings.TrimPrefix(line, "# ")
		}
		kept = append(kept, line)
	}
	return kept
}
