package failure

import (
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
	// slow matches a duration that stands beside a name: some tools show it only when it is long.
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
