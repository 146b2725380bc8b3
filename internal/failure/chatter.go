package failure

import "strings"

// isChatter reports whether a settled line is what a program says while it works: it speaks of the clock, of a place or of a thing made
// for this run, or of how far it is, and not of anything that went wrong. What else it says is mostly as new as that.
func isChatter(line string) bool {
	return (ofWork.MatchString(line) || strings.IndexByte(line, '<') >= 0 && ofRun.MatchString(line)) && !saysWrong(line)
}

var (
	ofRun  = lazy(`<(?:time|uuid|hash|id|tmp|dir|port|duration|rate|size|host)>`)
	ofWork = lazy(`^(?:-- |#\d+ |(?i:\[?(?:info|debug|trace|verbose|log|notice)\]?[: ])|(?:Test(?:ing|s)? )?(?:` + doing + `) )|\blevel=(?:info|debug|trace)\b`)
)

// doing are the words by which tools begin to tell what they do.
const doing = `Analy[sz]ing|Archiving|Bundling|Caching|Cleaning|Cloning|Collecting|Compressing|Configuring|Connecting|Copying|Counting|Creating|Deleting|` +
	`Detecting|Discovering|Entering|Enumerating|Evaluating|Executing|Extracting|Formatting|Generating|Indexing|Initiali[sz]ing|Leaving|Linking|` +
	`Linting|Loading|Optimi[sz]ing|Packing|Parsing|Precompiling|Processing|Pulling|Pushing|Reading|Rebuilding|Registering|Removing|Rendering|` +
	`Resolving|Restoring|Retrieving|Scanning|Setting up|Starting|Stopping|Switching|Synchroni[sz]ing|Testing|Typechecking|Uploading|Validating|` +
	`Verifying|Watching|Writing|Transpiling|Instrumenting|Fetching|Built target|Scanned|Loaded|Started|Checked|Analy[sz]ed|Generated|Compiled|Created|Wrote|Copied|Cleaned|Linked`

// wrongs are words, and signs, of lines that tell why something failed.
var wrongs = strings.Fields(`error fail exception panic fatal expect got want assert unexpect undefined undeclared cannot can't couldn't can&#39;t could·not
	unable no·such not· missing invalid unknown denied refused timed timeout abort crash segmentation segv killed signal violat mismatch differ != actual receive
	unresolved unsupported illegal bad· wrong overflow leak deadlock conflict reject broken corrupt deprecat warn must should duplicate unused redefin
	ambiguous too· never instead doesn't does·not isn't is·no no· without already in·use left: right: was: but· mutant raise throw threw caught lost
	exceed incorrect malformed unterminated unreachable uninitiali ✗ ✕ ✖ × ❌ ✘ ⨯`)

func init() {
	for i, word := range wrongs {
		wrongs[i] = strings.ReplaceAll(word, "·", " ")
	}
}

// saysWrong reports whether a line may tell why something failed, by its words, or by how it begins: a line of a diff, a bullet, one that
// pytest or a debugger marks.
func saysWrong(line string) bool {
	if startsAny(line, "- ", "+ ", "-<", "+<", "< ", "> ", "E ", "* ", "? ", "@@") {
		return true
	}
	lower := strings.ToLower(line)
	for _, word := range wrongs {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}
