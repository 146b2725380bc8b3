package failure

import (
	"slices"
	"strings"
)

// asides drops what a tool remarks below a finding, a paragraph behind the letter i: how to put it right.
func asides(lines []string) []string {
	var kept []string
	for i, line := range lines {
		text := strings.TrimLeft(line, " ")
		if len(line)-len(text) >= 2 && startsAny(text, "i ", "ℹ ") && i > 0 && strings.TrimSpace(lines[i-1]) == "" {
			continue
		}
		kept = append(kept, line)
	}
	return kept
}

// sanitizers drops, where a sanitizer has ended a program, the lines without a word that it had printed: those are
// lost where they do not go to a terminal.
func sanitizers(lines []string) []string {
	if !slices.ContainsFunc(lines, func(line string) bool {
		return strings.HasPrefix(line, "==") && strings.Contains(line, "Sanitizer: ")
	}) {
		return lines
	}
	return without(lines, func(line string) bool { return !strings.ContainsFunc(line, isLetterRune) })
}

func isLetterRune(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= 0xc0 }

// wrapIndent is how far compilers indent what they wrap of a message at the width of the terminal.
const wrapIndent = "      "

var message = lazy(`^\S+: (?:fatal )?(?:error|warning|note): `)

// wrapped joins a compiler's message that continues in the next lines. What is above carets is source.
func wrapped(lines []string) []string {
	var kept []string
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if message.MatchString(line) {
			for i+1 < len(lines) && goesOnBelow(lines[i+1:]) {
				i++
				line += " " + strings.TrimSpace(lines[i])
			}
		}
		kept = append(kept, line)
	}
	return kept
}

// goesOnBelow reports whether the first line is the rest of a message.
func goesOnBelow(lines []string) bool {
	line := lines[0]
	return strings.HasPrefix(line, wrapIndent) && len(line) > len(wrapIndent) && line[len(wrapIndent)] != ' ' &&
		!strings.Contains(line, "|") && !isCarets(line) && (len(lines) == 1 || !marksAbove(lines[1]))
}

// marksAbove reports whether a line marks source in the one above it.
func marksAbove(line string) bool {
	return strings.Trim(line, " \t^~") == "" && strings.ContainsAny(line, "^~")
}

var verdict = lazy(`^(\S.*) \.\.\. (FAIL|ERROR)$`)

// verdicts drops what unittest says of a test that failed while it runs, where it tells why below: it says so with -v.
func verdicts(lines []string) []string {
	told := map[string]bool{}
	for _, line := range lines {
		if strings.HasPrefix(line, "FAIL: ") || strings.HasPrefix(line, "ERROR: ") {
			told[line] = true
		}
	}
	if len(told) == 0 {
		return lines
	}
	return without(lines, func(line string) bool {
		m := verdict.FindStringSubmatch(line)
		return m != nil && told[m[2]+": "+m[1]]
	})
}

var (
	batsPlace  = lazy(`^(?:# |   )\((?:in test file|from function|in file|in setup|in teardown).*, line \d+`)
	batsFailed = lazy(`^(?:not ok \d+| [✗✘]) (.*)$`)
	batsOther  = lazy(`^(?:ok \d+ .*| [✓✔-] .*|\S+\.bats|1\.\.\d+)$`)
)

// bats makes one of its two reports: TAP into a pipe, "not ok 2 name" and comments, and " ✗ name" with indented lines
// on a terminal.
func bats(lines []string) []string {
	if !slices.ContainsFunc(lines, batsPlace.MatchString) {
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

// hunks drops of a unified diff what is the same on both sides: it changes while someone works on something else.
func hunks(lines []string) []string {
	inside := false
	return without(lines, func(line string) bool {
		if strings.HasPrefix(line, "@@ -") {
			inside = true
			return false
		}
		inside = inside && (line == "" || strings.IndexByte(" +-\\", line[0]) >= 0)
		return inside && strings.HasPrefix(line, " ")
	})
}
