package failure

import (
	"slices"
	"strings"
)

// distinctiveLines are the lines that tell a failure from others, each without what changes from run to run, each once, sorted.
func distinctiveLines(lines []string) []string {
	kept := lines
	text := strings.Join(lines, "\n")
	for _, p := range passes {
		if !p.may(text) {
			continue
		}
		if kept = p.run(kept); p.decodes {
			text = strings.Join(kept, "\n")
		}
	}
	tops := topsOf(kept)
	said := normalizeAll(kept, tops, isNoise)
	told := without(said, func(line string) bool { return isWeak(line) || isChatter(line) })
	for _, less := range []func(string) bool{isChatter, isWeak} {
		if len(told) == 0 {
			told = without(said, less)
		}
	}
	if len(told) == 0 {
		told = said
	}
	if len(told) == 0 { // nothing but what usually says nothing: then it is all there is
		told = normalizeAll(lines, tops, func(string) bool { return false })
	}
	return told
}

// pass takes out what several lines say together. Each sees what those before have left.
type pass struct {
	run     func([]string) []string
	needs   []string // texts one of which must be in the output, or the pass changes nothing; none: that is not known
	decodes bool     // what it leaves was not in the output as it leaves it
}

// may reports whether the pass can change anything of a text.
func (p pass) may(text string) bool {
	return len(p.needs) == 0 ||
		slices.ContainsFunc(p.needs, func(need string) bool { return strings.Contains(text, need) })
}

var passes = []pass{
	{run: hunks, needs: []string{"@@ -"}},
	{run: asides, needs: []string{" i ", " ℹ "}},
	{run: sanitizers, needs: []string{"Sanitizer: "}},
	{run: wrapped, needs: []string{"error: ", "warning: ", "note: "}},
	{run: verdicts, needs: []string{" ... FAIL", " ... ERROR"}},
	{run: goEvents, needs: []string{`"Action":"`}, decodes: true},
	{run: goTests, needs: []string{"--- ", "=== ", "FAIL\t", "ok  \t"}},
	{run: goroutines, needs: []string{"goroutine ", "runtime stack:"}},
	{run: bats, needs: []string{", line "}},
	{run: pytest, needs: []string{"= test session starts =", "= FAILURES =", "= ERRORS =", "= short test summary info ="}},
	{run: vitest, needs: []string{"RUN ", "DEV "}},
	{run: tracebacks, needs: []string{`File "`}},
	{run: typeScript, needs: []string{"error TS"}},
	{run: warnings, needs: []string{"error"}},
	{run: excerpts, needs: []string{"|", "│", "┃", "╎", "^", "~"}},
	{run: numbered},
	{run: frames, needs: []string{"at ", "#", "stack backtrace:", "thread '"}},
}

// normalizeAll normalizes lines that are no noise, before or after, each different one once, and sorts them.
func normalizeAll(lines []string, tops map[string]bool, noise func(string) bool) []string {
	seen := make(map[string]bool, len(lines))
	var told []string
	for _, line := range lines {
		line = unglued(strings.TrimSpace(line))
		if seen[line] {
			continue
		}
		seen[line] = true
		if noise(line) {
			continue
		}
		settled := normalize(line, tops)
		if settled == "" || seen[settled] && settled != line || settled != line && noise(settled) {
			continue
		}
		seen[settled] = true
		told = append(told, settled)
	}
	slices.Sort(told)
	return slices.Compact(told)
}
