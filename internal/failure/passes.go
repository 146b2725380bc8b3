package failure

import (
	"slices"
	"strconv"
	"strings"
)

// asides drops what a tool remarks below a finding, a paragraph behind the letter i: how to put it right.
func asides(lines []string) []string {
	var kept []string
	for i, line := range lines {
		text := strings.TrimLeft(line, " ")
		if len(line)-len(text) >= 2 && startsAny(text, "i ", "ℹ ") && i > 0 && strings.TrimSpace(lines[i-1]) == "" {
			continue
		}
		kept = append(kept, line)
	}
	return kept
}

// sanitizers drops, where a sanitizer has ended a program, the lines without a word that it had printed: those are
// lost where they do not go to a terminal.
func sanitizers(lines []string) []string {
	if !slices.ContainsFunc(lines, func(line string) bool {
		return strings.HasPrefix(line, "==") && strings.Contains(line, "Sanitizer: ")
	}) {
		return lines
	}
	return without(lines, func(line string) bool { return !strings.ContainsFunc(line, isLetterRune) })
}

func isLetterRune(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= 0xc0 }

// wrapIndent is how far compilers indent what they wrap of a message at the width of the terminal.
const wrapIndent = "      "

var message = lazy(`^\S+: (?:fatal )?(?:error|warning|note): `)

// wrapped joins a compiler's message that continues in the next lines. What is above carets is source.
func wrapped(lines []string) []string {
	var kept []string
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if message.MatchString(line) {
			for i+1 < len(lines) && goesOnBelow(lines[i+1:]) {
				i++
				line += " " + strings.TrimSpace(lines[i])
			}
		}
		kept = append(kept, line)
	}
	return kept
}

// goesOnBelow reports whether the first line is the rest of a message.
func goesOnBelow(lines []string) bool {
	line := lines[0]
	return strings.HasPrefix(line, wrapIndent) && len(line) > len(wrapIndent) && line[len(wrapIndent)] != ' ' &&
		!strings.Contains(line, "|") && !isCarets(line) && (len(lines) == 1 || !marksAbove(lines[1]))
}

// marksAbove reports whether a line marks source in the one above it.
func marksAbove(line string) bool {
	return strings.Trim(line, " \t^~") == "" && strings.ContainsAny(line, "^~")
}

var verdict = lazy(`^(\S.*) \.\.\. (FAIL|ERROR)$`)

// verdicts drops what unittest says of a test that failed while it runs, where it tells why below: it says so with -v.
func verdicts(lines []string) []string {
	told := map[string]bool{}
	for _, line := range lines {
		if strings.HasPrefix(line, "FAIL: ") || strings.HasPrefix(line, "ERROR: ") {
			told[line] = true
		}
	}
	if len(told) == 0 {
		return lines
	}
	return without(lines, func(line string) bool {
		m := verdict.FindStringSubmatch(line)
		return m != nil && told[m[2]+": "+m[1]]
	})
}

var (
	batsPlace  = lazy(`^(?:# |   )\((?:in test file|from function|in file|in setup|in teardown).*, line \d+`)
	batsFailed = lazy(`^(?:not ok \d+| [✗✘]) (.*)$`)
	batsOther  = lazy(`^(?:ok \d+ .*| [✓✔-] .*|\S+\.bats|1\.\.\d+)$`)
)

// bats makes one of its two reports: TAP into a pipe, "not ok 2 name" and comments, and " ✗ name" with indented lines
// on a terminal.
func bats(lines []string) []string {
	if !slices.ContainsFunc(lines, batsPlace.MatchString) {
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

// hunks drops of a unified diff what is the same on both sides: it changes while someone works on something else.
func hunks(lines []string) []string {
	inside := false
	return without(lines, func(line string) bool {
		if strings.HasPrefix(line, "@@ -") {
			inside = true
			return false
		}
		inside = inside && (line == "" || strings.IndexByte(" +-\\", line[0]) >= 0)
		return inside && strings.HasPrefix(line, " ")
	})
}

var (
	typeScriptSays = lazy(`^(.*?)(?:\(\d+,\d+\): |:\d+:\d+ - )?(error TS\d+: .*)$`)
	typeScriptSums = lazy(`^(?:Errors  Files|\s*\d+  \S+:\d+)$`) // a table at the end
)

// typeScript keeps the TypeScript compiler's errors with their chains of reasons: with a terminal it shows the code and
// more beside them, and writes the place in another way.
func typeScript(lines []string) []string {
	var kept []string
	inside, chain, seen := false, false, false
	for _, line := range lines {
		m := typeScriptSays.FindStringSubmatch(line)
		seen = seen || m != nil
		switch {
		case seen && typeScriptSums.MatchString(line):
		case m != nil && m[1] != "" && !strings.ContainsAny(m[1], " \t"):
			kept = append(kept, m[1]+": "+m[2])
			inside, chain = true, true
		case m != nil:
			kept = append(kept, line)
			inside, chain = true, true
		case chain && strings.HasPrefix(line, "  "):
			kept = append(kept, line)
		case inside && (line == "" || line[0] == ' ' || line[0] >= '0' && line[0] <= '9'):
			chain = false
		case inside && strings.HasPrefix(line, "Found "):
			inside = false
		default:
			inside, chain = false, false
			kept = append(kept, line)
		}
	}
	return kept
}

var (
	anError  = lazy(`^(?:.*: )?(?:fatal )?error(?:\[\w+\])?: `)
	aWarning = lazy(`^(?:\S+:\d+(?::\d+)?: )?warning(?:\[\w+\])?: `)
)

// warnings drops a compiler's warnings, with the code they show, where there are errors: what is up to date is not
// compiled again, and its warnings do not come again.
func warnings(lines []string) []string {
	failed := false
	for _, line := range lines {
		failed = failed || anError.MatchString(line)
	}
	if !failed {
		return lines
	}
	var kept []string
	inside := false
	for _, line := range lines {
		switch {
		case aWarning.MatchString(line):
			inside = true
		case inside && line != "" && (line[0] == ' ' || line[0] >= '0' && line[0] <= '9' ||
			strings.Contains(line, ": note: ")):
		default:
			inside = false
			kept = append(kept, line)
		}
	}
	return kept
}

var (
	javaFrame   = lazy(`^\s*at (?:[\w.-]+(?:@[\w.-]+)?/+)*([\w$.<>/]+)\([^)]*\)`)
	rustFrame   = lazy(`^\s+\d+: (?:0x[0-9a-f]+ - )?\S`)
	rustPlace   = lazy(`^\s+at \S+:\d+(?::\d+)?$`)
	rustThread  = lazy(`^thread '[^']*'(?: \(\d+\))? panicked at`) // with one thread only, its name is not the test's
	nativeFrame = lazy(`^\s*#\d+ +0x[0-9a-f]+ `)
	foreignJava = lazy(
		`^(?:java|javax|jdk|sun|com\.sun|kotlin|kotlinx|scala|groovy|worker\.org\.gradle|org\.(?:junit|gradle|apache\.maven|opentest4j|testng|mockito|hamcrest|assertj|codehaus|springframework))\.`)
)

// frames drops from stack traces what is not the project's own: the frames of runtimes, libraries and test runners.
func frames(lines []string) []string {
	var kept []string
	rust := false
	for _, line := range lines {
		trimmed := strings.TrimSpace(line)
		if trimmed == "stack backtrace:" {
			rust = true
			continue
		}
		if strings.HasPrefix(line, "thread '") {
			line = rustThread.ReplaceAllString(line, "panicked at")
		}
		rust = rust && (rustFrame.MatchString(line) || rustPlace.MatchString(line))
		if !rust && !isForeignFrame(line, trimmed) {
			kept = append(kept, line)
		}
	}
	return kept
}

func isForeignFrame(line, trimmed string) bool {
	if !strings.HasPrefix(trimmed, "at ") {
		return nativeFrame.MatchString(line) &&
			(!strings.Contains(line, " in ") || strings.Contains(line, " in _"))
	}
	if isNodeFrame(trimmed) {
		return true
	}
	if !strings.Contains(line, "(") {
		return false
	}
	m := javaFrame.FindStringSubmatch(line)
	return m != nil && foreignJava.MatchString(m[1])
}

// isNodeFrame reports whether a frame is one of node's, of a library's, or of no file.
func isNodeFrame(frame string) bool {
	bare := strings.TrimSuffix(frame, ")")
	return strings.Contains(frame, "node:") || strings.Contains(frame, "node_modules/") ||
		strings.Contains(frame, "internal/") || strings.HasSuffix(bare, "<anonymous>") ||
		strings.HasSuffix(bare, "native") || strings.Contains(frame, "async Promise.")
}

var (
	gutter = lazy(`^(?:\[\w+\] |%)?\s*(>?)\s*(\d*)(?:\s+(\d+))?\s*[|│┃╎]\s?(.*)$`)
	carets = lazy(`^[\s^~\-|│_+]*[\^~][\s^~\-|│_+]*`)
)

// excerpts keeps of shown source code the lines that are marked, by an arrow before them or by carets below, without
// their numbers: those around them change while someone works on something else.
func excerpts(lines []string) []string {
	var kept []string
	for i := 0; i < len(lines); {
		n := 0
		for i+n < len(lines) && isExcerpt(lines[i+n], n > 0) {
			n++
		}
		if n == 0 {
			line := lines[i]
			under := i > 0 && isCarets(line) && numberedLine.MatchString(lines[i-1])
			if strings.ContainsAny(line, "^~") && !under {
				line = carets.ReplaceAllString(line, "")
			}
			kept = append(kept, line)
			i++
			continue
		}
		kept = append(kept, marked(lines[i:i+n])...)
		i += n
	}
	return kept
}

// isExcerpt reports whether a line shows source, or belongs to what does.
func isExcerpt(line string, within bool) bool {
	m := gutter.FindStringSubmatch(line)
	return m != nil && (within || m[2] != "" || m[1] != "" || strings.TrimSpace(m[4]) == "" || carets.MatchString(m[4]))
}

func marked(lines []string) []string {
	var kept []string
	source := ""  // the last line of it, until it is known to be marked
	diff := false // what was and what shall be are numbered each
	for _, line := range lines {
		m := gutter.FindStringSubmatch(line)
		arrow, number, text := m[1] != "", m[2] != "", m[4]
		diff = diff || m[2] != "" && m[3] != ""
		switch {
		case diff && startsAny(text, "- ", "+ "):
			kept = append(kept, beginning(text))
		case arrow && number:
			kept = append(kept, beginning(text))
			source = ""
		case number:
			source = text
		case carets.MatchString(text):
			kept = append(kept, underlined(source, text)...)
			source = ""
			kept = append(kept, strings.TrimSpace(carets.ReplaceAllString(text, "")))
		default:
			kept = append(kept, strings.TrimLeft(text, " |│"))
		}
	}
	return kept
}

var (
	marks    = lazy(`[\^~]+`)
	wordHere = lazy(`^[\w$.]+`)
	lastWord = lazy(`[\w$.)\]}"']+\s*$`)
)

// underlined is what marks stand under in a line of source. The rest of it depends on the width of the terminal: long
// lines are cut, on either side.
func underlined(source, below string) []string {
	var words []string
	for _, at := range marks.FindAllStringIndex(below, 8) {
		if at[0] >= len(source) {
			words = append(words, lastWord.FindString(source))
			continue
		}
		word := source[at[0]:min(at[1], len(source))]
		if at[1]-at[0] == 1 {
			word = wordHere.FindString(source[at[0]:])
		}
		if strings.TrimSpace(word) == "" {
			word = lastWord.FindString(source[:at[0]])
		}
		words = append(words, "at "+strings.ToValidUTF8(strings.TrimSpace(word), ""))
	}
	return words
}

// beginning is so much of a line of source as a narrow terminal shows too.
func beginning(source string) string {
	const most = 30
	if r := []rune(source); len(r) > most {
		return string(r[:most])
	}
	return strings.TrimRight(source, ".…")
}

var numberedLine = lazy(`^\s*(>?)\s*(\d+)(?::|  )\s?(.*)$`)

// numbered keeps of shown source code whose lines only have numbers, "3: code", those that an arrow marks, or the
// beginnings of all.
func numbered(lines []string) []string {
	var kept []string
	for i := 0; i < len(lines); {
		n, texts := numberedBlock(lines[i:])
		if n < 2 {
			kept = append(kept, lines[i])
			i++
			continue
		}
		kept = append(kept, texts...)
		i += n
	}
	return kept
}

// numberedBlock is how many lines of source with numbers are at the beginning, and what is kept of them.
func numberedBlock(lines []string) (n int, texts []string) {
	arrows, last, text := 0, 0, ""
	for ; n < len(lines); n++ {
		m := numberedLine.FindStringSubmatch(lines[n])
		if m == nil && n > 0 && isCarets(lines[n]) { // marks the line above
			texts, arrows = []string{text}, 1
			continue
		}
		if m == nil {
			break
		}
		number, _ := strconv.Atoi(m[2])
		if n > 0 && number != last+1 {
			break
		}
		last, text = number, beginning(m[3])
		switch {
		case m[1] != "" && arrows == 0:
			texts, arrows = []string{text}, 1
		case (m[1] != "") == (arrows > 0):
			texts = append(texts, text)
		}
	}
	return n, texts
}

// isCarets reports whether a line does nothing but mark the one above it.
func isCarets(line string) bool {
	return strings.Contains(line, "^") && strings.Trim(line, " \t^~-") == ""
}

var (
	pytestHead    = lazy(`^(?:=+|_+|-+|!+) (.*?) (?:=+|_+|-+|!+)$`)
	pytestPlace   = lazy(`^\S.*\.py:\d+: `)
	pytestShort   = lazy(`^((?:FAILED|ERROR) \S+?\.py(?:::.*?)?)(?: - (.*))?$`)
	firstWord     = lazy(`^[A-Za-z_][\w.]*(?:[:\s]|$)`)
	pytestCounted = lazy(`^\d+ (?:failed|passed|errors?|deselected|skipped).* in [\d.]+`)
	pytestRound   = lazy(
		`^(?:\[gw\d+\] .*|.*::.* (?:PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b.*|.*\.py [.FEsxXR]+.*|gw\d+ .*|Test order randomi.*)$`)
)

// pytest keeps of a report the failing tests, the marked lines and what was captured: not how the run went, not the
// code around.
func pytest(lines []string) []string {
	if !isPytest(lines) {
		return lines
	}
	told := false // some line carries a message of its own
	for _, line := range lines {
		told = told || strings.HasPrefix(line, "E  ")
	}
	var kept []string
	part := ""
	for _, line := range lines {
		if m := pytestHead.FindStringSubmatch(line); m != nil {
			part = pytestPart(part, m[1], line[0])
			if part == "test" {
				kept = append(kept, m[1])
			}
			continue
		}
		if m := pytestShort.FindStringSubmatch(line); m != nil {
			line = m[1]
			if word := firstWord.FindString(m[2]); !told && word != "" {
				line += " - " + word // the rest is cut to the width of the terminal
			}
			kept = append(kept, line)
			continue
		}
		if pytestKeeps(part, line) {
			kept = append(kept, line)
		}
	}
	return kept
}

func isPytest(lines []string) bool {
	for _, line := range lines {
		if strings.Contains(line, "= test session starts =") || strings.HasPrefix(line, "=") &&
			(strings.Contains(line, "= FAILURES =") || strings.Contains(line, "= ERRORS =") ||
				strings.Contains(line, "= short test summary info =")) {
			return true
		}
	}
	return false
}

// pytestPart is the part of a report that a heading begins: start, failures, test, captured, other or after; empty is
// before it.
func pytestPart(part, heading string, sign byte) string {
	switch {
	case sign == '=' && (heading == "FAILURES" || heading == "ERRORS"):
		return "failures"
	case sign == '=' && heading == "test session starts":
		return "start"
	case sign == '=':
		if pytestCounted.MatchString(heading) {
			return "after"
		}
		return "other"
	case sign == '-' && strings.HasPrefix(heading, "Captured"):
		return "captured"
	case sign == '_' && part != "start" && part != "other" && part != "":
		return "test"
	}
	return part
}

func pytestKeeps(part, line string) bool {
	switch part {
	case "start":
		return strings.HasPrefix(line, "ERROR") || strings.HasPrefix(line, "INTERNALERROR") || strings.HasPrefix(line, "E ")
	case "":
		return !pytestRound.MatchString(line)
	case "test":
		return line == "E" || strings.HasPrefix(line, "E ") || strings.HasPrefix(line, ">") ||
			pytestPlace.MatchString(line)
	case "other":
		return strings.HasPrefix(line, "INTERNALERROR") || strings.HasPrefix(line, "E ")
	}
	return true
}

// pythonFrame matches a frame of a traceback: its file and its line.
var pythonFrame = lazy(`^\s*(?:\| )*File "([^"]*)", line (\d+)(?:, in .*)?$`)

func isForeignPython(file string) bool {
	return strings.Contains(file, "site-packages") || strings.Contains(file, "dist-packages") ||
		strings.Contains(file, "/lib/python") || strings.HasPrefix(file, "<frozen")
}

// vitest drops the list of tests that vitest draws while it runs: in a terminal it is another one. The report of what
// failed follows.
func vitest(lines []string) []string {
	begin := -1
	var kept []string
	for _, line := range lines {
		switch text := strings.TrimSpace(line); {
		case strings.HasPrefix(text, "RUN  v"), strings.HasPrefix(text, "DEV  v"), strings.HasPrefix(text, "RUN v"):
			begin = len(kept)
		case begin >= 0 && strings.Contains(text, "⎯⎯"):
			kept = kept[:begin]
			begin = -1
		}
		kept = append(kept, line)
	}
	return kept
}
