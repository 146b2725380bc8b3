package failure

import (
	"regexp"
	"strings"
)

// change is one thing that differs between two runs of the same failure.
type change struct {
	when    string // the line must hold one of these characters; the cheap question before the dear one
	pattern *regexp.Regexp
	with    string
}

const (
	digits = "0123456789"
	month  = `(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*`
	clock  = `\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?(?: ?[AaPp]\.?[Mm]\.?)?`
	zone   = `(?: ?(?:Z\b|UTC\b|GMT\b|CES?T\b|[ECMP][SD]T\b|[+-]\d\d:?\d\d\b))*`
	unit   = `(?:ns|[µuμ]s|ms|msecs?|milliseconds?|secs?|seconds?|mins?|minutes?|hrs?|hours?|[smh])\b`
)

// changes are made in this order, before paths are shortened.
var changes = []change{
	{"-", regexp.MustCompile(`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`), "<uuid>"},
	// Times.
	{digits, regexp.MustCompile(`\d{4}-\d\d-\d\d(?:[T _]\d\d[:_.-]?\d\d(?:[:_.-]?\d\d(?:[.,_]\d+)?)?)?` + zone), "<time>"},
	{"/", regexp.MustCompile(`\b(?:\d{4}/\d\d/\d\d|\d{1,2}/\d{1,2}/\d{4})\b(?:,? ` + clock + `)?` + zone), "<time>"},
	{"JFMASOND", regexp.MustCompile(`\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?(?:\d{1,2}[ -]` + month + `(?:[ -]\d{2,4})?|` + month + ` +\d{1,2}(?:,? \d{4}\b)?)(?:,? ` + clock + zone + `)?(?: \d{4})?\b`), "<time>"},
	{digits, regexp.MustCompile(`\b1[4-9]\d{8}(?:\.\d+|\d{3}|\d{6}|\d{9})?\b`), "<time>"},
}

// addresses and names that a run makes up; after paths.
var madeUp = []change{
	{":[(", regexp.MustCompile(`(\.[A-Za-z]\w{0,9}['"]?|[Mm]akefile|Dockerfile|<\w+>|\[\w+\]|node:[\w/]+)(?::\d+(?:[:.-]\d+)*|:?\[\d+[,:] ?\d+\]|\(\d+(?:[,:] ?\d+)*\))`), "$1"},
	{":", regexp.MustCompile(`\b\d{1,2}:\d\d:\d\d(?:[.,:]\d+)?(?: ?[AaPp][Mm])?\b`), "<time>"},
	{":", regexp.MustCompile(`(\blocalhost|\b\d{1,3}(?:\.\d{1,3}){3}|\[::[\d.f:]*\]|(?:^|[\s"'(]))(:)\d{4,5}\b`), "$1$2<port>"},
	{"x", regexp.MustCompile(`(?:\+0x[0-9a-fA-F]+|\b0x[0-9a-fA-F]{5,}|\b0[xX]X+)\b`), "<addr>"},
	{"@", regexp.MustCompile(`(\w)@[0-9a-f]{5,16}\b`), "$1@<addr>"},
	{"$", regexp.MustCompile(`\$\$?(?:Lambda|EnhancerBy\w+|FastClassBy\w+|Proxy|ByteBuddy)[\w$/.<>]*`), "$$lambda"},
	// Durations and rates.
	{":", regexp.MustCompile(`\b\d+:\d\d(?:\.\d+)\b`), "<time>"},
	{digits, regexp.MustCompile(`(?:\b|-)(?:\d+(?:\.\d+)?h)?(?:\d+m)?\d+(?:[.,]\d+)?(?:e-?\d+)? ?` + unit), "<duration>"},
	{"i", regexp.MustCompile(`(?i)\b((?:duration|elapsed|took|time|timeout)(?:_ms|Ms)?['"]?)(\s*[:=]\s*)\d+(?:\.\d+)?`), "$1$2<duration>"},
	{digits, regexp.MustCompile(`\b\d+(?:\.\d+)? ?(?:[kKMG]i?)?B(?:/s|ps)\b`), "<rate>"},
	// Numbers that a system hands out.
	{digits, regexp.MustCompile(`(?i)\b((?:request|session|trace|span|correlation|transaction|job|worker|task|message|event|run|build)[ _-]?id['"]?(?:\s*[:=#]\s*|\s+)['"]?)[\w-]*\d[\w-]*`), "$1<id>"},
	{digits, regexp.MustCompile(`(?i)\b((?:p|pp|t)id|port|(?:random[ _-]?|shuffle[ _-]?)?seed|goroutine|attempt|retry|retries|(?:re)?run id|-test\.shuffle|--seed|reproduce with)((?:[ _](?:id|number|no\.?|was|is))?['"]?(?:\s*[:=#(]\s*|\s+)['"]?)-?\d+(?: ?(?:/|of) ?\d+)?`), "$1$2<n>"},
	{digits, regexp.MustCompile(`(?i)\b(process|thread)((?:[ _]id)?['"]?(?:\s*[:=#(]\s*|\s+)['"]?)\d{3,}`), "$1$2<n>"},
	{"(", regexp.MustCompile(`(thread '[^']*') \(\d+\)`), "$1"},
	{digits, regexp.MustCompile(`(?i)(thread|worker|process|executor|fork|task)(-|#)\d+(?:-(thread|worker)-\d+)?`), "$1"},
	{"=", regexp.MustCompile(`==\d+==`), ""},
	{"[", regexp.MustCompile(`\b(\w+)\[\d{2,}\]:`), "$1:"},
	{"(", regexp.MustCompile(`\((?:node|pid|python|java):\d+\)`), ""},
	{"[", regexp.MustCompile(`^\[gw\d+\] *`), ""},
	// Counters, and numbers that say where.
	{"[(", regexp.MustCompile(`[\[(] *\d+(?:\.\d+)?(?:%| ?/ ?\d+| of \d+) *[\])]`), ""},
	{"(", regexp.MustCompile(`\((?:retry|repeat) x\d+\)`), ""},
	{":", regexp.MustCompile(`[(\[]\d+:\d+[)\]]`), ""},
	{")", regexp.MustCompile(`^\d+\) `), ""},
	{"o", regexp.MustCompile(`^((?:not )?ok) \d+\b`), "$1"},
	{":", regexp.MustCompile(`^\d+:\d+ +`), ""},
	{"lcLC", regexp.MustCompile(`(?i)\b(lines?|columns?|col|char|position|offset)( ?[:=#]? ?)\d+(?:(?:-|, ?| to )\d+)?\b`), "$1"},
	{":", regexp.MustCompile(`^((?:ba|da|z|k)?sh|\S*\.sh): \d+:`), "$1:"},
	{":", regexp.MustCompile(`\b([a-z]*make)\[\d+\]:`), "$1:"},
}

// A line that speaks of the time, of a process or of a place made for this run is no assertion: its other long numbers are as random.
var (
	ofThisRun  = regexp.MustCompile(`<(?:time|uuid|hash|id|tmp|dir|addr|port|n)>`)
	longNumber = regexp.MustCompile(`-?\b\d{3,}\b`)
)

// hexes matches what could be a hash, or an id made of several.
var hexes = regexp.MustCompile(`\b[0-9a-fA-F]{4,}(?:-[0-9a-fA-F]{4,})*\b|\b[0-9a-f]{7,}`)

// hideHashes leaves out what is written in letters and digits of a hash.
func hideHashes(line string) string {
	if !strings.ContainsAny(line, digits) {
		return line
	}
	return hexes.ReplaceAllStringFunc(line, func(word string) string {
		if len(word) < 8 || !strings.ContainsAny(word, digits) || !strings.ContainsAny(word, "abcdefABCDEF") {
			return word
		}
		return "<hash>"
	})
}

// ruler matches the lines and rows of signs by which tools set headings off.
var ruler = regexp.MustCompile(`(?:^|\s)(?:={3,}|-{3,}|_{3,}|\*{3,}|!{3,}|#{3,}|~{3,}|[─━═⎯╌┄]+|<{3,}|>{3,})(?:\s|$|[⎯─━═\[])|[⎯─━═]+`)

// settle is a line without what changes from run to run. It may be empty.
func settle(line string) string {
	line = vary(changes, line)
	if strings.ContainsAny(line, `/\`) {
		line = shortPaths(line)
		line = strings.ReplaceAll(line, " ./", " ")
		line = strings.TrimPrefix(line, "./")
	}
	line = vary(madeUp, hideHashes(line))
	if strings.Contains(line, "<") && ofThisRun.MatchString(line) {
		line = longNumber.ReplaceAllString(line, "<n>")
	}
	if strings.ContainsAny(line, "=-_*!#~─━═⎯╌┄<>") {
		line = ruler.ReplaceAllString(line, " ")
	}
	if strings.IndexByte(line, '{') >= 0 {
		line = sortSets(line)
	}
	line = strings.TrimLeft(line, " \t✕✖✗×❌●•➜→❯▶►⨯✘")
	line = strings.TrimPrefix(line, "<time> ")
	return strings.TrimRight(strings.Join(strings.Fields(line), " "), ",")
}

func vary(list []change, line string) string {
	for _, c := range list {
		if strings.ContainsAny(line, c.when) {
			line = c.pattern.ReplaceAllString(line, c.with)
		}
	}
	return line
}
