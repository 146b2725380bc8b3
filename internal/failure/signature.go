package failure

import (
	"slices"
	"strings"
)

// distinctiveLines are the lines that tell a failure from others, each without what changes from run to run, each once, sorted.
func distinctiveLines(lines []string) []string {
	kept := lines
	for _, pass := range passes {
		kept = pass(kept)
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

// passes take out what several lines say together. Each sees what those before have left.
var passes = []func([]string) []string{
	hunks, asides, sanitizers, wrapped, verdicts, goEvents, bats, pytest, vitest,
	typeScript, warnings, excerpts, numbered, frames,
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
