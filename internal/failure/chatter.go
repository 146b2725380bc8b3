package failure

import (
	"strings"
	"sync"
)

// isChatter reports whether a settled line is what a program says while it works: it speaks of the clock, of a place or
// of a thing made for this run, or of how far it is, and not of anything that went wrong. What else it says is mostly
// as new as that.
func isChatter(line string) bool {
	return (isWork(line) || isProgress(line) || strings.IndexByte(line, '<') >= 0 && ofRun.MatchString(line)) &&
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
	return strings.Contains(line, "%") && percent.MatchString(line) || hasSize(line) && ofSize.MatchString(line)
}

// hasSize reports whether a number stands before what may be a unit of size.
func hasSize(line string) bool {
	for i := 1; i < len(line); i++ {
		if c := line[i]; (c == 'B' || c == 'b' || c == 'k' || c == 'K' || c == 'M' || c == 'G') &&
			(isDigit(line[i-1]) || line[i-1] == ' ' && i > 1 && isDigit(line[i-2])) {
			return true
		}
	}
	return false
}

// isWork reports whether a line tells what a tool does, or has done, or is a record of a log that is no warning.
func isWork(line string) bool {
	first, rest, _ := strings.Cut(line, " ")
	if rest == "" || first == "" {
		return false
	}
	if first == "--" || first[0] == '#' && len(first) > 1 && isDigit(first[1]) && !strings.HasPrefix(rest, "<addr>") ||
		doing()[strings.TrimRight(first, ":")] {
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

// doing are the words by which tools begin to tell what they do.
var doing = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(
		`Analysing Analyzing Archiving Bundling Caching Cleaning Cloning Collecting Compressing Configuring Connecting
		Copying Counting Creating Deleting Detecting Discovering Entering Enumerating Evaluating Executing Extracting Fetching Formatting Generating
		Indexing Initialising Initializing Instrumenting Leaving Linking Linting Loading Optimising Optimizing Packing Parsing Precompiling
		Processing Pulling Pushing Reading Rebuilding Registering Removing Rendering Resolving Restoring Retrieving Scanning Setting Starting
		Stopping Switching Synchronising Synchronizing Testing Transpiling Typechecking Uploading Validating Verifying Watching Writing
		Analysed Analyzed Built Checked Cleaned Compiled Copied Created Generated Linked Loaded Scanned Started Took Wrote`) {
		words[word] = true
	}
	return words
})

// wrongs are words, and signs, of lines that tell why something failed.
var wrongs = strings.Fields(
	`error fail exception panic fatal expect got want assert unexpect undefined undeclared cannot can't couldn't can&#39;t could·not
	unable no·such not· missing invalid unknown denied refused timed timeout abort crash segmentation segv killed signal violat mismatch differ != actual receive
	unresolved unsupported illegal bad· wrong overflow leak deadlock conflict reject broken corrupt deprecat warn must should duplicate unused redefin
	ambiguous too· never instead doesn't does·not isn't is·no no· without already in·use left: right: was: but· mutant raise throw threw caught lost
	exceed incorrect malformed unterminated unreachable uninitiali ✗ ✕ ✖ × ❌ ✘ ⨯`)

// wrongsBy are the words by the two signs that they begin with.
var wrongsBy = func() map[[2]byte][]string {
	by := map[[2]byte][]string{}
	for _, word := range wrongs {
		word = strings.ReplaceAll(word, "·", " ")
		begins := [2]byte{word[0], word[1]}
		by[begins] = append(by[begins], word)
	}
	return by
}()

// wrongPairs are the numbers of the pairs of signs that words begin with.
var wrongPairs = func() (pairs [512]bool) {
	for begins := range wrongsBy {
		pairs[pair(begins[0], begins[1])] = true
	}
	return pairs
}()

// saysWrong reports whether a line may tell why something failed, by its words, or by how it begins: a line of a diff,
// a bullet, one that pytest or a debugger marks.
func saysWrong(line string) bool {
	if startsAny(line, "- ", "+ ", "-<", "+<", "< ", "> ", "E ", "* ", "? ", "@@") {
		return true
	}
	lower := strings.ToLower(line)
	for i := 1; i < len(lower); i++ {
		if a, b := lower[i-1], lower[i]; wrongPairs[pair(a, b)] {
			for _, word := range wrongsBy[[2]byte{a, b}] {
				if strings.HasPrefix(lower[i-1:], word) {
					return true
				}
			}
		}
	}
	return false
}
