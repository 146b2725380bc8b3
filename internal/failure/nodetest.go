package failure

import (
	"slices"
	"strings"
)

// nodeTests brings the two reports of node --test to the same facts: TAP, which it writes into a pipe, and "spec", on a
// terminal. What the tests printed stays, and so do other programs' lines.
func nodeTests(lines []string) []string {
	switch {
	case slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, "failureType: '") }):
		return nodeTAP(lines)
	case slices.Contains(lines, "✖ failing tests:"):
		return nodeSpec(lines)
	}
	return lines
}
