package failure

import (
	"slices"
	"strings"
)

// telling are the lines that tell a failure from others, each without what changes from run to run, each once, sorted.
func telling(lines []string) []string {
	kept := lines
	for _, pass := range passes {
		kept = pass(kept)
	}
	tops := topsOf(kept)
	said := settleAll(kept, tops, isNoise)
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
		told = settleAll(lines, tops, func(string) bool { return false })
	}
	return unrepeated(uncut(told))
}

// passes take out what several lines say together. Each sees what those before have left.
var passes = []func([]string) []string{
	progress, echoes, requireStacks, asides, sanitizers, drawn, wrapped, paragraphs, inspected, clauses, verdicts, goEvents, goTests, goRaces, goroutines, libtest, gtest, nodeTests, bats, pytest, threads, vitest, tracebacks,
	typeScript, warnings, boxes, excerpts, numbered, frames,
}

// settleAll normalises lines that are no noise, before or after, each different one once, and sorts them.
func settleAll(lines []string, tops map[string]bool, noise func(string) bool) []string {
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
		settled := settle(line, tops)
		if settled == "" || seen[settled] && settled != line || settled != line && noise(settled) {
			continue
		}
		seen[settled] = true
		told = append(told, settled)
	}
	slices.Sort(told)
	return slices.Compact(told)
}

// without are the lines but those that are of a kind.
func without(lines []string, kind func(string) bool) []string {
	var left []string
	for _, line := range lines {
		if !kind(line) {
			left = append(left, line)
		}
	}
	return left
}

// uncut drops a line that was cut to the width of a terminal where the whole of it is there too.
func uncut(lines []string) []string {
	all := ""
	return slices.DeleteFunc(lines, func(line string) bool {
		if number, rest, ok := strings.Cut(line, "…"); ok && len(rest) > 8 && strings.Trim(number, "0123456789 ") == "" {
			return slices.ContainsFunc(lines, func(other string) bool { return other != line && strings.Contains(other, rest) })
		}
		start := strings.TrimRight(line, ".…")
		if start == line || len(line)-len(start) < len("...") || len(start) < 8 {
			return false
		}
		if all == "" {
			all = "\n" + strings.Join(lines, "\n") + "\n"
		}
		at := strings.Index(all, start)
		for at >= 0 {
			rest := all[at+len(start):]
			if !strings.HasPrefix(rest, "...") && !strings.HasPrefix(rest, "…") {
				return true
			}
			next := strings.Index(rest, start)
			if next < 0 {
				return false
			}
			at += len(start) + next
		}
		return false
	})
}
