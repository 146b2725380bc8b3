package failure

import (
	"cmp"
	"strings"

	"github.com/ralph-loop/ralph/internal/regex"
)

// isNoise reports whether a line says nothing about why something failed: what passed, how far it is, how long it took,
// how many there were, what was fetched and from where, and what to do next.
func isNoise(line string) bool {
	return line == "" || !strings.ContainsFunc(line, isWord) || isDots(line) || noise.MatchString(line)
}

// isWord reports whether a line that holds the character says something.
func isWord(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= 0xc0 && r < 0x2000 || r > 0x2fff
}

// isDots reports whether a line is a row of results: "..F.s  [ 40%]".
func isDots(line string) bool {
	dots, percent, _ := strings.Cut(line, " ")
	letters := ".FEsxXPpSRrIW*,"
	if strings.Contains(dots, "·") {
		letters += "·×±°T"
	}
	return strings.Trim(dots, letters) == "" && (percent == "" || len(dots) > 0 && rowEnd.MatchString(percent))
}

var rowEnd = lazy(`^ *(?:\[ *\d+%\]|\d* ?/ ?\d+ .*)$`)

// noise matches lines that say nothing about why something failed, and are there in one run and not in another.
var noise = whole(
	// What passed, how many there were, and how long it took.
	`(?:=+ )?[\d<]\S* (?:passed|failed|errors?|warnings?|skipped|deselected|xfailed|xpassed|rerun|passing|failing|pending|problems?|examples?|tests?|assertions?|failures?|subtests?|issues?|files?|offenses?|hidden|fix|workers?|fixable|actionable|Warning\(s\)|Error\(s\)|out of)(?:\b.*)?`,
	`.*\.\.\. *ok`,
	`(?:✓|✔|√|ℹ|\[✓\]).*`, `PASS(?:ED)?\b.*`, `OK`, `ok\b.*`, `test \S.* \.\.\. (?:ok|ignored).*`, `1\.\.\d+`,
	`(?:# )?(?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms|Subtest|type|location|exitcode):? [\d<'].*`,
	`# Subtest\b.*`, `TAP version \d+`, `(?:Test Suites|Test Files|Tests|Snapshots|Type Errors|Errors|Files|Ran)\b[:=]? *[\d<~].*`,
	`(?:Time|Finished (?:at|in)|Total time|Start at|Duration|Elapsed|Peak memory|Wall time)\b.*`, `Ran all test suites.*`,
	`Found \S+ (?:errors?|warnings?|problems?|issues?|diagnostics?|data race).*`, `(?:Results?|Failures|Tests run):.*`,
	`test result: .*`, `FAILED \((?:failures|errors|skipped|unexpected|expected).*`, `FAILURES!`, `ERRORS!`, `failures:?`,
	`(?:error|warning): (?:aborting due to|could not compile|.* generated \d+ warning|\d+ targets? failed|test failed, to rerun).*`,
	`coverage: .*`, `Your code has been rated at .*`, `-test\.shuffle .*`, `(?:Test order|Randomized with) .*`,
	// How it goes, and what is fetched and run.
	`\[(?:INFO|WARN|WARNING|DEBUG)\].*`, `go: (?:downloading|finding|extracting|upgraded|added|found).*`,
	`(?:<\w> )?\[[\w.-]+\] \d{1,3}%(?: .*)?`, `(?:Downloading|Downloaded|Compiling|Finished|Running|RUN|DEV) .*`,
	`npm (?:notice|http|info|timing|verb|sill|warn|WARN).*`,
	`(?:gmake|make|ninja)(?:\[\d+\])?: (?:Entering|Leaving|Waiting|Nothing|no work|Target|'.*' is up to date|\*\*\* Waiting).*`,
	`(?:/\S*/)?(?:cc|c\+\+|gcc|g\+\+|clang|clang\+\+|ar|ranlib|ld|rm|mkdir|install|cp|mv|javac|rustc|tsc|shellcheck) -.*`,
	`> Task \S+(?: UP-TO-DATE| FROM-CACHE| NO-SOURCE| SKIPPED)?`, `(?:=>)?0x[0-9a-f]+:[\[\] 0-9a-f]+`,
	// Where it runs, and what to do next.
	`(?:platform|rootdir|plugins|cachedir|hypothesis profile|Node\.js v\d+|Python \d|Using seed|Seed|Random Seed)\b.*`,
	`(?:Run with|Rerun|Re-run|You can reproduce|note: run with|\(Use|@(?:reproduce_failure|seed)\() ?.*`,
	`npm (?:error|ERR!) A complete log .*`, `(?:E +)?(?:Use -v|\.\.\.Full output truncated|\.\.\. \d+ (?:more|lines)).*`,
)

// whole are patterns for whole lines.
func whole(texts ...string) *regex.Set {
	for i, text := range texts {
		texts[i] = `^(?:` + text + `)$`
	}
	return patterns(texts...)
}

// weak matches what a program says when another has failed: of use only when the other said nothing.
var weak = whole(
	`(?:gmake|make)(?:\[\d+\])?: (?:\*\*\* .*|\[.*\] Error .*)`, `exit status \d+`, `FAIL`, `npm (?:error|ERR!).*`,
	`\(cd \S+ && .*\)`, `\S+ \S.* \(exit \d+\)`, `\$ \w.*`, `yarn run v\d.*`,
	`::(?:error|warning|notice|group|endgroup|debug|add-matcher)\b.*`,
	`error: (?:R|r)ecipe .*`, `error Command failed.*`, `ELIFECYCLE.*`,
	`error: script ".*" exited .*`, `task: Failed to run task .*`, `\[ERROR\] Failed to execute goal .*`, `rake aborted!`,
	`collect2: error: .*`, `compilation terminated\.`, `ninja: build stopped.*`, `Error: Process completed.*`,
)

var (
	fails = lazy(`(?i)\b(fail(ed|ure|s)?|errors?|panic|exception|fatal)\b|✕|✗|✖`)
	lacks = lazy(`(?i)\b(cannot|can't|could not|couldn't|unable|refused|denied|not found|no such|missing|invalid|undefined|` +
		`mismatch|timed out|out of memory)\b`)
)

// Telling is the first line of an output that tells what failed, or else the last that says anything: never the word of
// the program that only ran what failed, unless that is all there is.
func Telling(output string) string {
	var first, last, any string
	for line := range strings.Lines(output) {
		switch line = strings.TrimSpace(line); {
		case line == "":
		case isWeak(line):
			any = line
		case fails.MatchString(line):
			return line
		default:
			if last = line; first == "" && lacks.MatchString(line) {
				first = line
			}
		}
	}
	return cmp.Or(first, last, any)
}

// isWeak reports whether a line only says that something failed.
func isWeak(line string) bool { return weak.MatchString(line) }

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

// isProgress reports whether a line shows a tool's progress, its current item, or how much it has written.
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
