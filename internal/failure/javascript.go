package failure

import "strings"

// vitest drops the list of tests that vitest draws while it runs: in a terminal it is another one. The report of what
// failed follows.
func vitest(lines []string) []string {
	begin := -1
	var kept []string
	for _, line := range lines {
		switch text := strings.TrimSpace(line); {
		case strings.HasPrefix(text, "RUN  v"), strings.HasPrefix(text, "DEV  v"), strings.HasPrefix(text, "RUN v"):
			begin = len(kept)
		case begin >= 0 && strings.Contains(text, "⎯⎯"):
			kept = kept[:begin]
			begin = -1
		}
		kept = append(kept, line)
	}
	return kept
}
