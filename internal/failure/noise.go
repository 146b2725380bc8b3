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
