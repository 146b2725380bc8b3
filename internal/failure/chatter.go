package failure

import (
	"strings"
)

// isChatter reports whether a settled line is what a program says while it works: it speaks of the clock, of a place or
// of a thing made for this run, or of how far it is, and not of anything that went wrong. What else it says is mostly
// as new as that.
func isChatter(line string) bool {
	return (isWork(line) || isProgress(line) || ofRun.MatchString(line)) &&
		!saysWrong(line)
}

var ofRun = lazy(`<(?:time|uuid|hash|id|tmp|dir|port|duration|rate|size|host|n)>`)

var (
	percent = lazy(`^(?:<\w> )?(?:\[[\w.-]+\] )?\d{1,3}%(?: |$)`)
	ofSize  = lazy(`\b` + size)
	goesOn  = lazy(`^\w+ing\b.*(?:\.\.\.|…)$`)
)

// isProgress reports whether a line tells how far a tool is, what it is at, or how much it has written.
func isProgress(line string) bool {
	if strings.HasSuffix(line, "...") || strings.HasSuffix(line, "…") {
		return goesOn.MatchString(line)
	}
	return percent.MatchString(line) || ofSize.MatchString(line)
}

// isWork reports whether a line tells what a tool does, or has done, or is a record of a log that is no warning.
func isWork(line string) bool {
	first, rest, _ := strings.Cut(line, " ")
	if rest == "" || first == "" {
		return false
	}
	if first == "--" || first[0] == '#' && len(first) > 1 && isDigit(first[1]) && !strings.HasPrefix(rest, "<addr>") ||
		doing.MatchString(first) {
		return true
	}
	switch strings.ToLower(strings.Trim(first, "[]:")) {
	case "info", "debug", "trace", "verbose", "log", "notice":
		return true
	}
	return strings.Contains(line, "level=") &&
		(strings.Contains(line, "level=info") || strings.Contains(line, "level=debug") ||
			strings.Contains(line, "level=trace"))
}

// doing matches the word by which a tool begins to tell what it does, or has done.
var doing = lazy(`^(?:[A-Z][a-z]+ing|Analy[sz]ed|Built|Checked|Cleaned|Compiled|Copied|Created|Generated|Linked|Loaded|` +
	`Scanned|Started|Took|Wrote):*$`)

// wrongs matches words, and signs, of lines that tell why something failed.
var wrongs = lazy(`(?i)error|fail|exce|panic|fatal|expect|\b(?:got|want|not|no|too|never|must|should|missing|lost|bad|wrong)\b|assert|` +
	`un(?:defined|declared|able|known|resolved|supported|used|reachable)|n't|cannot|invalid|denied|refused|time|abort|crash|` +
	`kill|signal|violat|mismatch|differ|!=|actual|receive|overflow|leak|deadlock|conflict|reject|broken|corrupt|deprecat|` +
	`warn|duplicate|ambiguous|instead|without|already|left:|right:|was:|throw|threw|incorrect|malformed|[✗✕✖×❌✘⨯]`)

// saysWrong reports whether a line may tell why something failed, by its words, or by how it begins: a line of a diff,
// a bullet, one that pytest or a debugger marks.
func saysWrong(line string) bool {
	return startsAny(line, "- ", "+ ", "-<", "+<", "< ", "> ", "E ", "* ", "? ", "@@") ||
		wrongs.MatchString(ofRun.ReplaceAllString(line, ""))
}
