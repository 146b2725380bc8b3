package failure

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// mask takes out one kind of thing that differs between two runs of the same failure.
type mask struct {
	pattern *pattern
	with    string
}

const (
	// apart is what is between a name and its number.
	apart = `(?:[ _](?:id|number|no\.?|of|was|is|set to|to|used))?['"]?(?:\s*[:=#(]\s*|\s+)['"]?`
	unit  = `(?:ns|[µuμ]s|ms|msecs?|milliseconds?|secs?|seconds?|mins?|minutes?|hrs?|hours?|c?usr|c?sys|CPU|[smh])\b`
	size  = `\d+(?:\.\d+)? ?(?:bytes|B|[kKMG]i?B)\b`
	day   = `(?:\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? +)?`
	month = `(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)`
	clock = `\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?(?: ?[AaPp]\.?[Mm]\b\.?)?`
	// zone is what may follow a time: "Z", " JST", " +0900", "-03:00 -03", " GMT+0900 (Japan Standard Time)",
	// "[Europe/Berlin]", and the reading of Go's monotonic clock. A short word in capitals may be a log's WARN.
	zone = `(?: ?(?:UTC|Z|[A-Z]{2,4}T)\b| ?(?:GMT|UTC)?[+-]\d\d(?::?\d\d)?\b| ?\((?:[\w.+-]+ ){1,5}[Tt]ime\)` +
		`| ?\[?\b[A-Z][a-z]+/[A-Z][\w+-]+\]?| m=[+-]\d+(?:\.\d+)?)*`
)

// times are what a clock or a calendar says.
var times = []mask{
	{lazy(`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`), "<uuid>"},
	{lazy(`\d{4}-\d\d-\d\d(?:(?:T|[ _]| at )\d\d[:_.-]?\d\d(?:[:_.-]?\d\d(?:[.,_]\d+)?)?(?: ?[AaPp][Mm]\b)?)?` + zone), "<time>"},
	{lazy(`\b(?:\d{4}/\d\d/\d\d|\d{1,2}[/.]\d{1,2}[/.]20\d\d)\b(?:,? ` + clock + `)` + zone), "<time>"},
	{lazy(day + `(?:\b\d{1,2}[ /-]` + month + `\b(?:[ /-]\d{2,4}\b)?|\b` + month + ` +\d{1,2}\b(?:,? \d{4}\b)?)` +
		`(?:(?:,| at|:)? ?` + clock + zone + `)?(?: \d{4}\b)?`), "<time>"},
	{lazy(`\b20\d{6}(?:[T_-]?\d{6})?Z?\b`), "<time>"},
	{lazy(day + `(?:\b\d{1,2}:\d\d:\d\d(?:[.,:]\d+)?(?: ?[AaPp][Mm]\b)?|\b\d{1,2}:\d\d ?[AaPp][Mm]\b)` + zone), "<time>"},
}

// numbers are what a system or a run makes up, and what says where.
var numbers = []mask{
	{lazy(`(^|[^.\w])(?:1[4-9]\d{8}(?:\.\d+|\d{3}|\d{6}|\d{9})?|\d{12,})\b`), "$1<n>"},
	{lazy(`(\blocalhost|\b\d{1,3}(?:\.\d{1,3}){3}|\[::[\d.f:]*\]|(?:^|[\s"'(]))(:|', )\d{4,5}\b`), "$1$2<port>"},
	{lazy(`\+0x[0-9a-fA-F]+\b|\b0[xX][0-9a-fA-F]{5,}\b`), "<addr>"},
	{lazy(`@[0-9a-f]{5,16}\b`), "@<addr>"},
	{lazy(`(\.[\w()*\[\]]*)(?:\.(?:func|gowrap|deferwrap)\d+(?:\.\d+)*)+`), "$1.func"},
	{lazy(`(\{closure#|\blambda\$(?:\w+\$)?|\w\$)\d+`), "$1"},
	{lazy(`(#<[A-Z]\w*(?:::\w+)*:)\d+>`), "$1<id>>"},
	{lazy(`-?\b(?:\d+(?:\.\d+)?h ?)?(?:\d+m ?)?\d+(?:[.,]\d+)?(?:e-?\d+)? ?` + unit), "<duration>"},
	{lazy(`\b\d[\d.,]* ?\w{1,5}/s(?:ec)?\b`), "<rate>"},
	// A number behind the name of what counts it: "pid 123", "seed=-5", "attempt 2 of 5", "request id 7f3a".
	{lazy(`(?i)\b((?:\w*seed|p?pid|tid|port|goroutine|attempt|try|retry|retries|memory|duration|elapsed)` + apart +
		`)(?:0x[0-9a-f]+|-?\d[\d.]*)(?: ?(?:/|of) ?\d+)?`), "$1<n>"},
	{lazy(`(?i)\b((?:[a-z]+[ _-]id|process|thread|worker|child|commit|revision)` + apart + `)[\w-]*\d[\w-]{2,}`), "$1<n>"},
	{lazy(`^(?:==\d+==|\[\d{3,}\] |\[gw\d+\] *|\d+[:)] |\s*\d+/\d+ +)`), ""},
	{lazy(`\b(\w+)\[\d+\]:`), "$1:"},
	{lazy(`(: )\s*\d+ ((?:Segm|Abort|Kill|Term|Bus|Float|Illeg)\w+)`), "$1$2"},
	{lazy(`\btmp[._-]\w{6,12}\b`), "<tmp>"},
	// Counters, and numbers that say where.
	{lazy(`[\[(] *\d+(?:\.\d+)?(?:%| ?/ ?\d+| of \d+) *[\])]`), ""},
	{lazy(`[(\[]\d+:\d+[)\]]|^\d+:\d+ +`), ""},
	{lazy(`^((?:not )?ok) \d+\b`), "$1"},
	{lazy(`(\.[A-Za-z]\w{0,5}["')]?)(?: @ \d+\b|(?::? \d+:\d+(?:-\d+(?::\d+)?)?)+)`), "$1"},
	{lazy(`(^|/)(\S+\.\w{1,5}) +` + size), "$1$2 <size>"},
	{lazy(`^@@ -\d[\d,]* \+\d[\d,]* @@`), "@@"},
	{lazy(`(?i)\b(lines?,?|columns?|col|char)( ?[:=#]? ?)\d+(?:(?:-|, ?| to )\d+)?\b`), "$1"},
}

var (
	// ofThisRun matches a line that speaks of the time, of a process or of a place made for this run. It is no assertion:
	// its other long numbers are as random.
	ofThisRun  = lazy(`<(?:time|uuid|hash|id|tmp|dir|addr|port|n)>`)
	longNumber = lazy(`-?\b\d{3,}\b`)
	// hexes matches what could be a hash, or an id made of several.
	hexes = lazy(`\b[0-9a-fA-F]{4,}(?:-[0-9a-fA-F]{4,})*\b|\b[0-9A-Z]{26}\b`)
	// ruler matches the rows of signs by which tools set headings off: they are as long as the terminal is wide.
	ruler = lazy(`(?:^|\s)(?:={3,}|-{3,}|_{3,}|\*{3,}|!{3,}|#{3,}|~{3,}|<{3,}|>{3,})(?:\s|$)|[⎯─━═╌┄]+`)
	// slow matches a duration next to a name: some tools show it only when it is long.
	slow = lazy(` *[(\[]<duration>[^)\]]*[)\]]| +<duration>$| *\((?:cached|slow)\)`)
)

// normalize is a line without what changes from run to run. It may be empty. tops are names that are known as directories
// at the root.
func normalize(line string, tops map[string]bool) string {
	line = strings.ReplaceAll(line, "file://", "")
	line = shortPaths(line, tops) // before dates, which are in the names of directories
	if strings.ContainsAny(line, "0123456789") {
		var asserted fixed
		line = asserted.hide(line)
		line = hideHashes(vary(numbers, noPlaces(vary(times, line))))
		if ofThisRun.MatchString(line) {
			line = hideNumbers(line)
		}
		line = asserted.back(line)
	}
	line = slow.ReplaceAllString(ruler.ReplaceAllString(line, " "), "")
	line = sortSets(line)
	line = unindexed(line)
	line = strings.TrimPrefix(strings.TrimLeft(line, " \t✕✖✗×❌●•➜→❯▶►⨯✘⚠▲■"), "! ")
	line = strings.ReplaceAll(line, "→", "->") // as it is written where there is no terminal
	line = strings.TrimPrefix(strings.TrimPrefix(line, "[<time>] "), "<time> ")
	return strings.TrimRight(safetext.OneLine(line), ",")
}

// unindexed is a line without the number that a runner puts between the mark of a failed test and its name.
func unindexed(line string) string {
	for _, mark := range []string{"✘  ", "✗  ", "×  "} {
		if rest, ok := strings.CutPrefix(line, mark); ok {
			return strings.TrimLeft(strings.TrimLeft(rest, " "), "0123456789")
		}
	}
	return line
}

var answer = lazy(`(?i)status|http|code|respon|returned|expect`)

// hideNumbers leaves out long numbers, but not what a server answers.
func hideNumbers(line string) string {
	answers := answer.MatchString(line)
	return longNumber.ReplaceAllStringFunc(line, func(number string) string {
		if answers && len(number) == 3 && number[0] >= '1' && number[0] <= '5' {
			return number
		}
		return "<n>"
	})
}

func vary(list []mask, line string) string {
	for _, m := range list {
		line = m.pattern.ReplaceAllString(line, m.with)
	}
	return line
}

// hideHashes leaves out what is written in the letters and digits of a hash.
func hideHashes(line string) string {
	return hexes.ReplaceAllStringFunc(line, func(word string) string {
		if len(word) < 8 || !strings.ContainsAny(word, "0123456789") || !strings.ContainsAny(word, "abcdefABCDEF") {
			return word
		}
		return "<hash>"
	})
}

// fixed hides in a line that tells what was expected what the clock and the run do not change: dates, times on the
// minute, round durations, checksums and ports that no system hands out. back puts them in again.
type fixed struct {
	texts []string
}

// mark stands for a hidden text: no rule knows it.
const mark = '\x01'

// asserted is one kind of value that a line can assert.
type asserted struct {
	pattern *pattern
	keeps   func(text string) bool
}

var assertedValues = []asserted{
	{lazy(`\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?)?(?:Z\b|[+-]\d\d:?\d\d\b)?`), onTheMinute},
	{lazy(`\bdate\(\d{4}, \d{1,2}, \d{1,2}\)`), always},
	{lazy(`\bdatetime\(\d{4}, \d{1,2}, \d{1,2}, \d{1,2}, \d{1,2}\)`), always},
	{lazy(`\b\d{1,2}:\d\d:00(?:\.0+)?\b`), always},
	{lazy(`\b(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)? ?` + unit), isRound},
	{lazy(`\b(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})\b`), always},
	{lazy(`(?:\blocalhost|\b\d{1,3}(?:\.\d{1,3}){3}|[\s"'(\]]):\d{4,5}\b`), isChosenPort},
	{lazy(`(?i)port\D{0,20}\b\d{4,5}\b`), isChosenPort},
	{lazy(`\(\d+(?:\.\d+)?%\)`), always},
}

func always(string) bool { return true }

// onTheMinute reports whether a date has no time, or one in UTC without seconds: the current time is rarely so even.
func onTheMinute(text string) bool {
	_, time, found := strings.Cut(strings.Replace(text, " ", "T", 1), "T")
	if !found {
		return true
	}
	time = strings.TrimSuffix(time, "Z")
	if strings.ContainsAny(time, "+-") {
		return false
	}
	whole, fraction, _ := strings.Cut(strings.Replace(time, ",", ".", 1), ".")
	return strings.Trim(fraction, "0") == "" && (len(whole) == len("15:04") || strings.HasSuffix(whole, ":00"))
}

// isRound reports whether someone has written a duration down: what is measured is rarely as even.
func isRound(text string) bool {
	end := 0
	for end < len(text) && (isDigit(text[end]) || text[end] == '.') {
		end++
	}
	whole, fraction, _ := strings.Cut(text[:end], ".")
	name := strings.TrimLeft(text[end:], " ")
	if len(name) > 1 && (name[0] == 'h' || name[0] == 'm') && isDigit(name[1]) { // 1m30s
		return true
	}
	switch {
	case strings.HasPrefix(name, "ms"), strings.HasPrefix(name, "milli"):
		n, err := strconv.Atoi(whole)
		return err == nil && fraction == "" && n > 0 && n%50 == 0
	case strings.HasPrefix(name, "n"), strings.HasPrefix(name, "u"), name[0] >= 0x80:
		return false
	}
	return len(fraction) <= 1
}

// isChosenPort reports whether someone has chosen a port: those that a system hands out are higher.
func isChosenPort(text string) bool {
	digits := strings.TrimRight(text, "0123456789")
	n, err := strconv.Atoi(text[len(digits):])
	return err == nil && n < 32768
}

// boundSuffix matches what follows a value that was measured and is held against a bound, which is behind it: a round
// value has come by chance there.
var boundSuffix = lazy(`^\W{0,3}(?:which |that )?(?:exceed(?:s|ed|ing) (?:the|its|a|an|our|max\w*|limit|\d)\b|` +
	`(?:is|was) (?:over|above|beyond|more|longer|slower|greater|higher)\b|(?:over|above|beyond) the |>=? )`)

// hide is a line without the values that it asserts.
func (f *fixed) hide(line string) string {
	if !isAssertion(line) {
		return line
	}
	for _, a := range assertedValues {
		places := a.pattern.FindAllStringIndex(line, -1)
		for i := len(places) - 1; i >= 0; i-- {
			begin, end := places[i][0], places[i][1]
			if boundSuffix.MatchString(line[end:]) || !a.keeps(line[begin:end]) {
				continue
			}
			f.texts = append(f.texts, line[begin:end])
			line = line[:begin] + string(mark) + strconv.Itoa(len(f.texts)-1) + string(mark) + line[end:]
		}
	}
	return line
}

// back is a line with what hide took out.
func (f *fixed) back(line string) string {
	for i := len(f.texts) - 1; i >= 0; i-- {
		line = strings.Replace(line, string(mark)+strconv.Itoa(i)+string(mark), f.texts[i], 1)
	}
	return line
}

// assertions are words of lines that tell what was expected or what came instead.
var assertions = strings.Split("expect,got,want,actual,receiv,assert,equal,left:,right:,!=,==,should,to be,instead,"+
	"timeout,timed out,limit,exceed,deadline,within", ",")

// isAssertion reports whether a line tells what was expected or what came instead: by its words, or as one side of a
// diff.
func isAssertion(line string) bool {
	line = strings.TrimLeft(line, " ")
	if len(line) > 1 && (line[0] == '-' || line[0] == '+') && line[1] != line[0] {
		return true
	}
	return holdsAny(strings.ToLower(line), assertions)
}

// innerSet matches braces that hold no others; the last may be left open.
var innerSet = lazy(`\{[^{}]*(?:\}|$)`)

// setDepth is the deepest nesting of braces that is sorted.
const setDepth = 16

// sortSets sorts what is between braces: many languages print the members of a set or a map in another order on
// every run.
func sortSets(line string) string {
	for range setDepth {
		sorted := innerSet.ReplaceAllStringFunc(line, func(set string) string {
			inner, closed := strings.CutSuffix(set[1:], "}")
			if inner = "\x02" + sortMembers(inner); closed {
				return inner + "\x03"
			}
			return inner
		})
		if sorted == line {
			break
		}
		line = sorted
	}
	return strings.NewReplacer("\x02", "{", "\x03", "}").Replace(line)
}

// sortMembers sorts what commas divide, but not commas within other brackets.
func sortMembers(text string) string {
	switch {
	case strings.IndexByte(text, ',') < 0:
		return text
	case strings.Contains(text, "..."): // cut, and who knows which members were
		return "..."
	}
	var members []string
	depth, begin := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(', '[', '\x02':
			depth++
		case ')', ']', '\x03':
			depth--
		case ',':
			if depth == 0 {
				members = append(members, strings.TrimSpace(text[begin:i]))
				begin = i + 1
			}
		}
	}
	members = append(members, strings.TrimSpace(text[begin:]))
	slices.Sort(members)
	return strings.Join(members, ", ")
}

var letters = lazy(`^([.EFSIWRxsu]*\.)([^/ \\.].*)$`)

var fileDots = lazy(`^\S+[./]\S* \.{2,}(?: +(?:\d+/[\d?]+ *)*(.*))?$`)

// unglued is a line without the progress that a runner printed before it: dots and letters, "..E.no such user", or a
// file, "t/a.t .. 1/? ".
func unglued(line string) string {
	if m := fileDots.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	m := letters.FindStringSubmatch(line)
	if m == nil || strings.Count(m[1], ".") < 2 || m[1][0] != '.' && !strings.Contains(m[1], "..") {
		return line
	}
	return m[2]
}
