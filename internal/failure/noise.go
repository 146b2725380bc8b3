package failure

import (
	"cmp"
	"strings"
	"sync"
)

// isNoise reports whether a line says nothing about why something failed: what passed, how far it is, how long it took,
// how many there were, what was fetched and from where, and what to do next.
func isNoise(line string) bool {
	if line == "" || !strings.ContainsFunc(line, isWord) || isDots(line) {
		return true
	}
	if (isDigit(line[0]) || line[0] == '<' || line[0] == '=') && counted.MatchString(line) {
		return true
	}
	return strings.HasSuffix(line, "ok") && hasPassed(line) || matches(noise(), line)
}

// hasPassed reports whether a line that ends with "ok" names a test that passed, "adds ... ok".
func hasPassed(line string) bool {
	return strings.HasSuffix(strings.TrimRight(line[:len(line)-len("ok")], " "), "...")
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

// counted matches how many of something there were.
var counted = lazy(
	`^(?:=+ )?[\d<]\S* (?:passed|failed|errors?|warnings?|skipped|deselected|xfailed|xpassed|rerun|passing|failing|pending|problems?|examples?|tests?|assertions?|failures?|subtests?|issues?|files?|offenses?|hidden|fix|workers?|fixable|actionable|Warning\(s\)|Error\(s\)|out of)(?:\b.*)?$`)

// words are beginnings of noise, each up to what may follow.
var words = []string{
	// What passed, and what was left out.
	`(?:✓|✔|√|ℹ|\[✓\]).*`, `(?:\[\.\.\.|\.\.\.) ?\[?\d+ (?:lines|bytes|chars|characters|more|hidden|common).*`,
	`\[truncated\].*`, `\.\.\.Full output truncated.*`, `\.\.\. \(.*\)`,
	`1\.\.\d+`, `# (?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms|Subtest)\b.*`, `-test\.shuffle .*`,
	`\[(?:INFO|WARN|WARNING|DEBUG)\].*`, `\[\*\] \d+ fixable.*`, `\[Previous line repeated.*`, `\[ERROR\]`,
	`\[ERROR\] *(?:-> \[Help|To see the full|Re-run Maven|For more information|Please refer|See .* for|\[Help \d|After correcting|mvn <|Tests run:|Failures: *$|Errors: *$|See dump|There was a timeout|ExecutionException|Command was|\[ERROR\]).*`,
	`> \S+@\S+ \S+.*`, `> .* (?:test|build|lint|check)\b.*@.*`, `@(?:reproduce_failure|seed)\(.*`, `-- Docs: https?:.*`,
	`PASS(?:ED)?\b.*`, `OK`, `ok\b.*`, `test \S.* \.\.\. (?:ok|ignored).*`, `Use -v+ to .*`,
	`E  ?(?:Use -v+ to|\.\.\.Full output truncated|\.\.\. ?\(?\d+ (?:lines|more)).*`,
	// How many and how long.
	`(?:Test Suites|Test Files|Tests|Snapshots|Type Errors): .*`,
	`(?:Test Files|Tests|Errors|Assertions|Ran|JS|Memory|Warnings|Files)\b:?  *[\d<~].*`,
	`(?:Time|Finished at|Finished in|Total time|Start at|Duration|Elapsed|Peak memory|Wall time)\b.*`,
	`Ran all test suites.*`, `Ran \d+ tests?\b.*`, `Tests run:.*`, `Results?:`,
	`Found \S+ (?:errors?|warnings?|problems?|issues?|diagnostics?|data race).*`,
	`FAILED \((?:failures|errors|skipped|unexpected|expected).*`, `test result: .*`, `FAILURES!`, `ERRORS!`,
	`There (?:was|were) \d+ (?:failure|error|warning|test|notice|deprecation|risky).*`,
	`running \d+ tests?`, `collected \d+ items?.*`, `collecting .*`, `duration_ms: .*`,
	`(?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms|type|location|exitcode):? [\d<'].*`,
	`coverage: .*`, `(?:real|user|sys) +\d.*`,
	`(?:error|warning): (?:aborting due to|could not compile|build failed, waiting|.* generated \d+ warning|\d+ targets? failed|test failed, to rerun|doctest failed, to rerun).*`,
	`For more information about .*`, `For more information:`, `Some errors have detailed.*`, `Failed examples:`,
	`Randomized with .*`,
	// How it goes, what is fetched and what is run.
	`go: (?:downloading|finding|extracting|upgraded|added|found).*`, `fuzz: (?:elapsed|minimizing).*`,
	`(?:Compiling|Checking|Building|Downloading|Downloaded|Finished|Running|Blocking|Updating|Fresh|Locking|Adding|Doc-tests|Installing|Installed|Fetching|Resolving|Packaging|Documenting|Dirty|Created|Removed|Progress|Receiving|Unpacking|Resolved|Transforming|Using|Collecting|Requirement already|Successfully|Preparing|Determining|Waiting|Bringing|bringing up|scheduling|RUNS|RUN|Picked up|NOTE: Picked)\b.*`,
	`(?:<\w> )?\[[\w.-]+\] \d{1,3}%(?: .*)?`,
	`created: \d.*`, `Download(?:ing|ed) from .*`, `npm (?:notice|http|info|timing|verb|sill|warn|WARN).*`,
	`(?:gmake|make)(?:\[\d+\])?: Target .* not remade.*`,
	`(?:/\S*/)?(?:cc|c\+\+|gcc|g\+\+|clang|clang\+\+|ar|ranlib|ld|rm|mkdir|install|cp|mv|javac|rustc|tsc|shellcheck) -.*`,
	`cc1(?:plus)?: all warnings being.*`,
	`Files=\d+, Tests=.*`, `ninja: (?:no work to do|Entering directory).*`, `perl: warning: .*`,
	`(?:LANG|LANGUAGE|LC_\w+) = .*`, `are supported and installed on your system\.`,
	`(?:ba|da|z)?sh: warning: setlocale: .*`,
	`Your code has been rated at .*`, `TAP version \d+`, `@@`,
	// Where it runs.
	`(?:platform|rootdir|configfile|plugins|cachedir|testpaths|asyncio|hypothesis profile|Using --randomly-seed|Test session|Node\.js v\d+|Python \d|Using seed|Seed|Runtime|Configuration|Run options|Random Seed)\b.*`,
	`PHPUnit \d.*`, `gw\d+ .*`, `Test order.*`,
	`(?:gmake|make|ninja)(?:\[\d+\])?: (?:Entering|Leaving|Waiting|Nothing to be done|'.*' is up to date|\*\*\* Waiting).*`,
	`> Task \S+(?: UP-TO-DATE| FROM-CACHE| NO-SOURCE| SKIPPED)?`, `Starting a Gradle.*`, `Daemon will be.*`,
	`BUILD (?:FAILED|SUCCESSFUL) in\b.*`, `Build FAILED.*`, `Deprecated Gradle.*`, `To honour the JVM.*`,
	`Restored .*`, `All projects are up-to-date.*`, `Nothing to do.*`,
	`(?:=>)?0x[0-9a-f]+:[\[\] 0-9a-f]+`, `The latest test that might've caused.*`,
	// What to do next.
	`\(Use .*`,
	`\* Try:`, `> (?:Run with|Get more help|Review the|Use) .*`,
	`note: (?:run with|Some details|this error originates|the following trait).*`, `help: (?:run with|use RUST).*`,
	`to rerun .*`, `You can (?:reproduce|add).*`, `(?:Hint|hint): (?:re-?run|run|use -v|retry).*`,
	`Run with .*--.*`, `Rerun .*`, `Use .*--\S+ (?:to|for) .*`, `Docs: https?:.*`, `https://www\.shellcheck\.net/.*`,
	`see https?:.*`, `No fixes available.*`, `rspec \./\S+.*`, `rspec '.*`,
	// Headings.
	`(?:stdout|stderr|failures|failing tests|short test summary info|FAILURES|ERRORS|Failed Tests.*|Failed Suites.*|Summary of all failing tests|warnings summary|slowest.*|Snapshot Summary|stack backtrace|Stack trace|Call log|Error Output|Failures):?`,
	`Note: (?:Some input|Recompile).*`,
}

// beginsWith is a pattern for whole lines that begin in a certain way.
type beginsWith struct {
	begins string
	whole  *pattern
}

// sieve are patterns by the byte that they begin with: most lines are asked nothing more.
type sieve [256][]beginsWith

var (
	noise     = sync.OnceValue(func() *sieve { return newSieve(words) })
	weakNoise = sync.OnceValue(func() *sieve { return newSieve(weak) })
)

func newSieve(patterns []string) *sieve {
	all := &sieve{}
	for _, pattern := range patterns {
		for _, one := range expand(pattern) {
			begins := literal(one)
			b := beginsWith{begins, lazily(`^(?:` + one + `)$`)}
			for first := range all {
				if begins == "" || begins[0] == byte(first) {
					all[first] = append(all[first], b)
				}
			}
		}
	}
	return all
}

// literal is what a pattern's matches begin with, as far as no sign in it means something.
func literal(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		if c == '\\' && i+1 < len(pattern) && !isLetter(pattern[i+1]) && !isDigit(pattern[i+1]) {
			i++
			c = pattern[i]
		} else if strings.IndexByte(`\.+*?()[]{}|^$`, c) >= 0 {
			break
		}
		if i+1 < len(pattern) && strings.IndexByte("*?{", pattern[i+1]) >= 0 {
			break
		}
		b.WriteByte(c)
	}
	return b.String()
}

func matches(s *sieve, line string) bool {
	if line == "" {
		return false
	}
	for _, b := range s[line[0]] {
		if strings.HasPrefix(line, b.begins) && b.whole.MatchString(line) {
			return true
		}
	}
	return false
}

// expand writes the group that a pattern begins with as so many patterns.
func expand(pattern string) []string {
	if !strings.HasPrefix(pattern, "(?:") {
		return []string{pattern}
	}
	var all []string
	depth, begin := 0, len("(?:")
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '(':
			depth++
		case '|':
			if depth == 1 {
				all = append(all, pattern[begin:i])
				begin = i + 1
			}
		case ')':
			if depth--; depth == 0 {
				all = append(all, pattern[begin:i])
				rest := pattern[i+1:]
				if strings.HasPrefix(rest, "?") { // the group may be missing
					all, rest = append(all, ""), rest[1:]
				}
				var done []string
				for _, one := range all {
					done = append(done, expand(one+rest)...)
				}
				return done
			}
		}
	}
	return []string{pattern}
}

// weak are beginnings of what a program says when another has failed: of use only when the other said nothing.
var weak = []string{
	`(?:gmake|make)(?:\[\d+\])?: (?:\*\*\* .*|\[.*\] Error .*)`, `exit status \d+`, `FAIL`, `npm (?:error|ERR!).*`,
	`\(cd \S+ && .*\)`, `\S+ \S.* \(exit \d+\)`, `\$ \w.*`, `yarn run v\d.*`,
	`::(?:error|warning|notice|group|endgroup|debug|add-matcher)\b.*`,
	`error: (?:R|r)ecipe .*`, `error Command failed.*`, `ELIFECYCLE.*`,
	`error: script ".*" exited .*`, `task: Failed to run task .*`, `\[ERROR\] Failed to execute goal .*`, `rake aborted!`,
	`collect2: error: .*`, `compilation terminated\.`, `ninja: build stopped.*`, `Error: Process completed.*`,
}

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
func isWeak(line string) bool { return matches(weakNoise(), line) }
