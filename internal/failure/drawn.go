package failure

import (
	"slices"
	"strings"
)

// What draws a message below source, once quotes are all of one kind: it begins with "╭─[a.js:3:5]" and ends with
// "╰──", or, in letters that every terminal has, with ",-[a.js:3:5]" and "'--".
var (
	drawnHead   = lazy(`^\s*(?:╭─+|,-+)\s*(\[.*\])$`)
	drawnSource = lazy(`^\s*\d+\s*[|│]\s?(.*)$`)
	plainMark   = lazy(`^ {2}[x!⚠] ([A-Za-z'"].*)$`)
)

// drawn keeps of source with messages drawn below it the place, what is said, and the lines that something is said of,
// however it is drawn: that depends on the terminal, and on CI.
func drawn(lines []string) []string {
	var kept []string
	for i := 0; i < len(lines); i++ {
		m := headOfDrawing(lines[i])
		if m == nil {
			kept = append(kept, lines[i])
			continue
		}
		if n := len(kept); n > 0 {
			kept[n-1] = plainMark.ReplaceAllString(kept[n-1], "$1")
		}
		kept = append(kept, m[1])
		source := ""
		for i+1 < len(lines) && !endsDrawing(lines[i+1]) && headOfDrawing(lines[i+1]) == nil {
			i++
			if m := drawnSource.FindStringSubmatch(lines[i]); m != nil {
				source = beginning(m[1])
				continue
			}
			trimmed := strings.TrimSpace(lines[i])
			if trimmed == "" || !startsAny(trimmed, ":", "·", "│", "|") {
				i--
				break
			}
			if source != "" {
				kept, source = append(kept, source), ""
			}
			kept = append(kept, strings.TrimLeft(trimmed, " :·|│┬╰─╭╮'^-"))
		}
	}
	return kept
}

func headOfDrawing(line string) []string {
	if !strings.Contains(line, "╭") && !strings.Contains(line, ",-") {
		return nil
	}
	return drawnHead.FindStringSubmatch(line)
}

// endsDrawing reports whether a line closes what headOfDrawing opens.
func endsDrawing(line string) bool {
	trimmed := strings.TrimSpace(line)
	return startsAny(trimmed, "╰──", "'--", "───╯", "──╯") && !strings.Contains(trimmed, " ")
}

var gtestSays = lazy(`^\[ *(RUN|OK|FAILED) *\] (\S+?)[,.]?(?: .*)?$`)

// gtest drops what GoogleTest says of tests that passed, and that a test begins, unless it never ended.
func gtest(lines []string) []string {
	ended := map[string]string{}
	for _, line := range lines {
		if m := matchAfter(gtestSays, line, "["); m != nil && m[1] != "RUN" {
			ended[m[2]] = m[1]
		}
	}
	if len(ended) == 0 {
		return lines
	}
	var kept []string
	for _, line := range lines {
		m := matchAfter(gtestSays, line, "[")
		if m == nil || m[1] == "FAILED" || m[1] == "RUN" && ended[m[2]] == "" {
			kept = append(kept, line)
		}
	}
	return kept
}

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
