package failure

import (
	"regexp"
	"strings"
)

// isNoise reports whether a line says nothing about why something failed: what passed, how far it is, how long it took, how many there
// were, what was fetched and from where, and what to do next.
func isNoise(line string) bool {
	if line == "" || !strings.ContainsFunc(line, isWord) {
		return true
	}
	return noise.MatchString(line)
}

// isWord reports whether a line that holds the character says something.
func isWord(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r > 0x2fff || r >= 0xc0 && r < 0x2000
}

var noise = regexp.MustCompile(`^(?:` + strings.Join([]string{
	// What passed, and what was cut.
	`(?:✓|✔|√|PASS(?:ED)?\b|OK$|ok\b|test \S.* \.\.\. (?:ok|ignored)).*`,
	`\[?\.\.\. ?\[?\d+ (?:lines|bytes|chars|characters|more|hidden).*`,
	`\[truncated\].*|.*\btruncated \.\.\.\]$|\.\.\.Full output truncated.*|Use -v+ to .*`,
	`[.FEsxXPpSRrI]+ *(?:\[ *\d+%\])?|[.FE,SRW]+ *\d* / \d+ .*`,
	// How many and how long.
	`(?:Test Suites|Test Files|Tests|Snapshots|Time|Duration|Start at|Type Errors|Errors|Finished|Elapsed|Total time|Memory|Ran all|Ran|JS|ℹ|Assertions)\b:?  *[\d<~].*`,
	`(?:Time|Finished at|Total time|Start at|Duration|Elapsed|Peak memory)\b.*[:<].*`,
	`(?:Test Suites|Test Files|Tests|Snapshots|Type Errors): .*`,
	`Ran all test suites.*|Ran \d+ tests?\b.*|Tests? run: ?\d+.*|Tests: \d+.*|Results?:$`,
	`(?:=+ )?(?:[\d<]\S* (?:passed|failed|errors?|warnings?|skipped|deselected|xfailed|xpassed|rerun|passing|failing|pending|problems?|examples?|tests?|assertions?|failures?|warnings? generated|errors? generated|tests? completed|subtests?|issues?|files?|offenses?)\b,? ?.*)`,
	`Found \S+ (?:errors?|warnings?|problems?|issues?|diagnostics?|data race).*|FAILED \((?:failures|errors|skipped|unexpected).*|test result: .*`,
	`running \d+ tests?|collected \d+ items?.*|collecting .*|\d+\.\.\d+|# (?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms|Subtest).*`,
	`(?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms|type) [\d<'].*|duration_ms: .*|ℹ .*`,
	`coverage: .*|(?:real|user|sys) +\d.*|.*\d(?:user|system|elapsed) .*|\d+\.\d+user.*`,
	`(?:error|warning)(?:: .*)?: (?:aborting due to|could not compile|build failed, waiting).*|(?:error|warning): (?:aborting|could not compile|build failed|.* generated \d+ warning).*|For more information about .*|Some errors have detailed.*`,
	`\d+ (?:warnings?|errors?)(?: and \d+ (?:errors?|warnings?))?(?: generated| emitted)?\.?`,
	// How it goes, and what is fetched.
	`go: (?:downloading|finding|extracting|upgraded|added|found).*|fuzz: (?:elapsed|minimizing).*`,
	`(?:Compiling|Checking|Building|Downloading|Downloaded|Finished|Running|Blocking|Updating|Fresh|Locking|Adding|Doc-tests|Installing|Installed|Fetching|Resolving|Packaging|Documenting|Dirty|Created|Removed|Progress|Receiving|Unpacking|Resolved|Transforming|Using|Collecting|Requirement already|Successfully|Preparing|Determining|Waiting|Bringing|bringing up|created: |scheduling|RUNS|RUN)\b.*`,
	`\[(?:INFO|WARN|WARNING|DEBUG)\].*|Download(?:ing|ed) from .*|npm (?:notice|http|info|timing|verb|sill|warn|WARN).*`,
	`npm (?:error|ERR!) (?:A complete log|Lifecycle script|path |workspace |location |.*-debug-\d+\.log|.*_logs.*).*|npm (?:error|ERR!)$`,
	`\[ERROR\] *(?:-> \[Help|To see the full|Re-run Maven|For more information|Please refer|See .* for|\[Help \d|After correcting|mvn <|Tests run:|Failures: *$|Errors: *$|See dump|\[ERROR\]).*`,
	`\[ERROR\] (?:There was a timeout|ExecutionException|Command was).*`,
	`[A-Za-z]+:? *\[[#=>. -]*\].*|\d+%.*\|.*|.*\b\d+/\d+ +\[.*\].*|[|/\\-] .*\d+%.*`,
	`-test\.shuffle .*|make: Target .* not remade.*|\.\.\. \(.*\)`,
	`(?:\S*/)?(?:cc|c\+\+|gcc|g\+\+|clang|clang\+\+|ar|ranlib|ld|rm|mkdir|install|cp|mv|javac|rustc|tsc|shellcheck) -.*`,
	// Where it runs.
	`(?:platform|rootdir|configfile|plugins|cachedir|testpaths|asyncio|hypothesis profile|Using --randomly-seed|Test session|\S+ workers? \[|Node\.js v|Python \d|Using seed|Randomized with|Seed:|gw\d+ |Test order|Runtime:|Configuration:|PHPUnit |GNU |Picked up |Run options|NOTE: Picked).*`,
	`(?:g?make|ninja): (?:Entering|Leaving) directory.*|make: \*\*\* Waiting.*|> .* (?:test|build|lint|check)\b.*@.*|> \S+@\S+ \S+.*`,
	// What to do next.
	`note: (?:run with|Some details|this error originates|the following trait).*|help: (?:run with|use RUST).*|error: test failed, to rerun.*|error: doctest failed, to rerun.*|error: \d+ targets? failed.*|to rerun .*|You can (?:reproduce|add).*|@(?:reproduce_failure|seed)\(.*|.*--hypothesis-seed=.*|Run with .*--.*|Rerun .*|(?:Hint|hint): (?:re-?run|run|use -v|retry).*|Use .*--\S+ (?:to|for) .*|(?:-- )?Docs: https?:.*|https://www\.shellcheck\.net/.*|see https?:.*|\[\*\] \d+ fixable.*|No fixes available.*|\d+ (?:hidden )?fix.*`,
	`(?:stdout|stderr|failures|failing tests|short test summary info|FAILURES|ERRORS|Failed Tests.*|Failed Suites.*|Summary of all failing tests|warnings summary|slowest.*|Snapshot Summary|stack backtrace|Stack trace|Call log|Error Output|Failures):?$`,
	`\.\.\. \d+ (?:more|common frames).*|\[Previous line repeated.*|Note: (?:Some input|Recompile).*`,
}, "|") + `)$`)

// weak matches what a program says when another has failed: of use only when the other said nothing.
var weak = regexp.MustCompile(`^(?:g?make: \*\*\* .*|exit status \d+|FAIL|npm (?:error|ERR!) .*|error: [Rr]ecipe .*|error Command failed.*|ELIFECYCLE.*|collect2: error: .*|compilation terminated\.|ninja: build stopped.*|Error: Process completed.*)$`)
