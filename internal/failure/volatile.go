package failure

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

const apart = `(?:\s*[:=#(]\s*|\s+)` // what stands between a name and its number

// hasULID reports whether there may be a sortable id: 26 digits and capital letters.
func hasULID(s *shape) bool {
	run := 0
	for i := range len(s.lower) {
		if c := s.lower[i]; run > 0 && isLetter(c) || isDigit(c) && (run > 0 || c < '8') {
			if run++; run == 26 {
				return true
			}
		} else {
			run = 0
		}
	}
	return false
}

// hasHex reports whether so many digits of a hash stand in a row, one of them a number.
func hasHex(line string, most int) bool {
	run, digit := 0, false
	for i := range len(line) {
		c := line[i]
		if !isDigit(c) && (c < 'a' || c > 'f') {
			run, digit = 0, false
			continue
		}
		digit = digit || isDigit(c)
		if run++; run >= most && digit {
			return true
		}
	}
	return false
}

// numbers are what a system or a run makes up, and what says where.
var numbers = []change{
	{anEpoch, lazy(`(^|[^.\w])(?:1[4-9]\d{8}(?:\.\d+|\d{3}|\d{6}|\d{9})?|\d{12,})\b`), "$1<n>"},
	{aPort, lazy(`(\blocalhost|\b\d{1,3}(?:\.\d{1,3}){3}|\[::[\d.f:]*\]|(?:^|[\s"'(]))(:)\d{4,5}\b`), "$1$2<port>"},
	{word("', "), lazy(`('\d{1,3}(?:\.\d{1,3}){3}', )\d+`), "$1<port>"},
	{word("(."), lazy(`:?\(\.(?:text|data|rodata|bss)[^)]*\)`), ""},
	{func(s *shape) bool { return s.hex }, lazy(`\+0x[0-9a-fA-F]+\b|\b0[xX][0-9a-fA-F]{5,}\b`), "<addr>"},
	{word("@"), lazy(`@[0-9a-f]{5,16}\b`), "@<addr>"},
	{word("$"), lazy(`\$\$?(?:Lambda|EnhancerBy\w+|FastClassBy\w+|Proxy|ByteBuddy)[\w$/.<>]*`), "$$lambda"},
	{word("func wrap"), lazy(`(\.[\w()*\[\]]*)(?:\.(?:func|gowrap|deferwrap)\d+(?:\.\d+)*)+`), "$1.func"},
	{func(s *shape) bool { return s.digits && s.says("#<") }, lazy(`(#<[A-Z]\w*(?:::\w+)*:)\d+>`), "$1<id>>"},
	{word("closure#"), lazy(`\{closure#\d+\}`), "{closure}"},
	{word("lambda$"), lazy(`\blambda\$(?:(\w+)\$)?\d+\b`), "lambda$$$1"},
	{word("$"), lazy(`(\w\$)\d+(\.[A-Za-z_<]|[@$(])`), "$1<n>$2"},
	{aDuration, lazy(`-?\b(?:\d+(?:\.\d+)?h ?)?(?:\d+m ?)?\d+(?:[.,]\d+)?(?:e-?\d+)? ?` + unit), "<duration>"},
	{func(s *shape) bool {
		return s.digits && s.says(" usr", " cu", " sys", " csy", " wallclock", " cpu", " user", " real")
	},
		lazy(`\b\d+(?:\.\d+)?( (?:wallclock|c?usr|c?sys|user|system|real|CPU|cpu)\b)`), "<duration>$1"},
	{word("load"), lazy(`(?i)\b(load(?:avg)?(?: averages?)?[:=]? +)\d+\.\d\d,? \d+\.\d\d,? \d+\.\d\d\b`), "$1<size>"},
	{word("duration elapsed took time"),
		lazy(`(?i)\b((?:duration|elapsed|took|time)(?:_ms|Ms)?['"]?)(\s*[:=]\s*)\d+(?:\.\d+)?`), "$1$2<duration>"},
	{func(s *shape) bool { return s.clock && s.says("duration", "elapsed", "took", "time") },
		lazy(`(?i)\b(duration|elapsed|took|time)(\s*[:=]?\s*)\d+:\d\d\b`), "$1$2<duration>"},
	{func(s *shape) bool {
		return s.says("bps", "/sec", "/s ", "/s,", "/s)", "/ms", "/min") || strings.HasSuffix(s.lower, "/s")
	}, lazy(`\b\d[\d.,]* ?(?:(?:[kKMG]i?)?[Bb](?:ytes?|its?)?(?:/s|ps)|\w+/(?:s|sec|second|ms|min|minute))\b`), "<rate>"},
	{word("mem heap rss alloc load"),
		lazy(
			`(?i)\b((?:memory|mem|heap|rss|allocated|load average)\b[^:=\d]{0,20}[:= ]\s*)\d+(?:[.,]\d+)*(?: ?[kmgt]?i?b(?:ytes)?\b|(?:, [\d.]+)+)?`), "$1<size>"},
	{func(s *shape) bool { return s.digits && s.says(" id", "_id", "-id", "id=", "id:", `id"`) },
		lazy(
			`(?i)\b((?:request|session|trace|span|correlation|transaction|job|worker|task|message|event|run|build|container|instance|client|thread)[ _-]?id['"]?(?:\s*[:=#]\s*|\s+)['"]?)[\w-]*\d[\w-]*`), "$1<id>"},
	{func(s *shape) bool { return s.says("hostname", "host name") }, lazy(`(?i)\b(host ?name['"]?\s*[:=]\s*['"]?)[\w.-]+`),
		"$1<host>"},
	{word("pid tid port seed goroutine attempt retr reproduce try tries"),
		lazy(
			`(?i)\b((?:p|pp|t)id|port|(?:\w+[ _-])?seed|goroutine|attempt|try|tries|retry|retries|reproduce with)((?:[ _](?:id|number|no\.?|of|was|is|set to|to|used|value))?['"]?` + apart + `['"]?)(?:0x[0-9a-f]+|-?\d+)(?: ?(?:/|of) ?\d+)?`), "$1$2<n>"},
	{word("process thread worker child"),
		lazy(`(?i)\b(process|thread|worker|child)((?:[ _]id)?['"]?` + apart + `['"]?)\d{3,}`), "$1$2<n>"},
	{func(s *shape) bool { return s.says("threadid(", "hashcode", "hash:", "hash=", "<0.", "object #", ")#") },
		lazy(
			`(ThreadId\(|\b[Hh]ash(?:Code)?[:=] ?|\bObject #|\bobject\([\w\\]+\)#)-?\d+|#?(?:PID|Reference|Port)?<0(?:\.\d+){2,3}>`), "$1<id>"},
	{func(s *shape) bool { return s.says("commit", "rev", "head", "sha") && hasHex(s.lower, 7) },
		lazy(`(?i)\b((?:commit|revision|rev|head|sha)(?: is now at| at)?[:= ]+\(?)[0-9a-f]{7,40}\b`), "$1<hash>"},
	{hasULID, lazy(`\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b`), "<id>"},
	{word("path:"), lazy(`\b(path: ")[\d:]+"`), `$1"`},
	{word("after shrunk"),
		lazy(
			`(?i)\b(after|shrunk) \d+ (passed tests?|tests?|runs?|iterations?|tries|examples?|successful|successes|times?|shrinks?)\b`), "$1 <n> $2"},
	{word("input argument"), lazy(`(failed on input|TEST FAILED\. Arguments:) .*`),
		"$1"}, // drawn by lot, and not made smaller
	{func(s *shape) bool { return s.tagged && s.says("thread", "worker", "process", "exec", "fork", "task") },
		lazy(`(?i)(?:pool-\d+-)?(thread|worker|process|executor|exec|fork|task)(?:-|#)\d+(?:-(?:thread|worker)-\d+)?`), "$1"},
	{word("tmp"), lazy(`\b(?:tmp[._-][A-Za-z0-9_]{6,12}|tmp[a-z_]{0,7}\d[a-z0-9_]{4,7})\b`), "<tmp>"},
	{word("]"), lazy(`^\[\d{3,}\] `), ""},
	{func(s *shape) bool { return strings.HasPrefix(s.lower, "==") }, lazy(`^==\d+==`), ""},
	{word("]:"), lazy(`\b(\w+)\[\d+\]:`), "$1:"},
	{word("(node: (pid: (python: (java:"), lazy(`\((?:node|pid|python|java):\d+\)`), ""},
	{word("[gw"), lazy(`^\[gw\d+\] *`), ""},
	// Counters, and numbers that say where.
	{func(s *shape) bool { return s.begun && s.says("%", "/", " of ") },
		lazy(`[\[(] *\d+(?:\.\d+)?(?:%| ?/ ?\d+| of \d+) *[\])]`), ""},
	{func(s *shape) bool { return s.begun && s.slashed }, lazy(`^\s*\d+/\d+ +`), ""},
	{word("previous"), lazy(`(?i) ?\(previous[^)]*\)`), ""},
	{word("more other"), lazy(`\band \d+ (more|others?)\b`), "and $1"},
	{func(s *shape) bool { return s.says("test #") }, lazy(`(?i)\b(test) #\d+:`), "$1:"},
	{word("(retry (repeat"), lazy(`\((?:retry|repeat) x\d+\)`), ""},
	{func(s *shape) bool { return s.begun && s.says(":") }, lazy(`[(\[]\d+:\d+[)\]]|^\d+:\d+ +`), ""},
	{func(s *shape) bool { return isDigit(s.lower[0]) && s.says(")") }, lazy(`^\d+\) `), ""},
	{word("ok "), lazy(`^((?:not )?ok) \d+\b`), "$1"},
	{aPlace, lazy(`(\bat |\bposition |\S: )\d+:\d+\b(?:: ?)?`), "$1"},
	{aPlace, lazy(`(\.[A-Za-z]\w{0,5}["')]?)(?: \d+:\d+(?:-\d+(?::\d+)?)?)+`), "$1"},
	{word("@"), lazy(`(\.[A-Za-z]\w{0,5}) @ \d+\b`), "$1"},
	{word("line,"), lazy(`(\bline,) ?\d+\b`), "$1"},
	{func(s *shape) bool { return isDigit(s.lower[0]) && s.says(": ") }, lazy(`^\d+: `), ""},
	{word("fault abort kill terminate exception instruction trap"),
		lazy(`(^|: )\s*\d+ ((?:Segmentation|Bus|Floating|Illegal|Abort|Kill|Terminat|Trace/)\w*)`), "$1$2"},
	{func(s *shape) bool { return s.sized }, lazy(`(^|/)(\S+\.\w{1,5}) +` + size), "$1$2 <size>"},
	{word("@@"), lazy(`^@@ -\d[\d,]* \+\d[\d,]* @@`), "@@"},
	{word("line col char"), lazy(`(?i)\b(lines?|columns?|col|char)( ?[:=#]? ?)\d+(?:(?:-|, ?| to )\d+)?\b`), "$1"},
	{word("sh:"), lazy(`^((?:ba|da|z|k)?sh|\S*\.sh): \d+:`), "$1:"},
}

var (
	// ofThisRun matches a line that speaks of the time, of a process or of a place made for this run. It is no assertion:
	// its other long numbers are as random.
	ofThisRun  = lazy(`<(?:time|uuid|hash|id|tmp|dir|addr|port|n)>`)
	longNumber = lazy(`-?\b\d{3,}\b`)
	// hexes matches what could be a hash, or an id made of several.
	hexes = lazy(`\b[0-9a-fA-F]{4,}(?:-[0-9a-fA-F]{4,})*\b`)
	// ruler matches the rows of signs by which tools set headings off: they are as long as the terminal is wide.
	ruler = lazy(`(?:^|\s)(?:={3,}|-{3,}|_{3,}|\*{3,}|!{3,}|#{3,}|~{3,}|<{3,}|>{3,})(?:\s|$)|[⎯─━═╌┄]+`)
	// slow matches a duration that stands beside a name: some tools show it only when it is long.
	slow = lazy(` *[(\[]<duration>[^)\]]*[)\]]| +<duration>$| *\((?:cached|slow)\)`)
)

// normalize is a line without what changes from run to run. It may be empty. tops are names that are known as directories
// at the root.
func normalize(line string, tops map[string]bool) string {
	line = strings.ReplaceAll(line, "file://", "")
	line = shortPaths(line, tops) // before dates, which stand in the names of directories
	if s := shapeOf(line); s.digits {
		var asserted fixed
		line = asserted.hide(line, &s)
		line = hideHashes(vary(numbers, &s, noPlaces(vary(times, &s, line))))
		if strings.IndexByte(line, '<') >= 0 && ofThisRun.MatchString(line) {
			line = hideNumbers(line, &s)
		}
		line = asserted.back(line)
	}
	if hasRuler(line) {
		line = ruler.ReplaceAllString(line, " ")
	}
	if strings.Contains(line, "<duration>") || strings.Contains(line, "(cached)") {
		line = slow.ReplaceAllString(line, "")
	}
	if strings.IndexByte(line, '{') >= 0 {
		line = sortSets(line)
	}
	line = unindexed(line)
	line = strings.TrimPrefix(strings.TrimLeft(line, " \t✕✖✗×❌●•➜→❯▶►⨯✘⚠▲■"), "! ")
	line = strings.ReplaceAll(line, "→", "->") // as it is written where there is no terminal
	line = strings.TrimPrefix(strings.TrimPrefix(line, "[<time>] "), "<time> ")
	if !isTidy(line) {
		line = safetext.OneLine(line)
	}
	return strings.TrimRight(line, ",")
}

// isTidy reports whether a line is without white space but for single spaces between words.
func isTidy(line string) bool {
	space := true // as before the first word
	for i := range len(line) {
		c := line[i]
		if c < ' ' || c >= 0x7f || c == ' ' && space {
			return false
		}
		space = c == ' '
	}
	return !space || line == ""
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

// hideNumbers leaves out long numbers, but not what a server answers.
func hideNumbers(line string, s *shape) string {
	answers := s.says("status", "http", "code", "respon", "returned", "expect")
	return longNumber.ReplaceAllStringFunc(line, func(number string) string {
		if answers && len(number) == 3 && number[0] >= '1' && number[0] <= '5' {
			return number
		}
		return "<n>"
	})
}

func vary(list []change, s *shape, line string) string {
	for _, c := range list {
		if c.when(s) && c.pattern.MatchString(line) { // to replace nothing would copy the line twice
			line = c.pattern.ReplaceAllString(line, c.with)
		}
	}
	return line
}

// hideHashes leaves out what is written in the letters and digits of a hash.
func hideHashes(line string) string {
	if !isHashed(line) {
		return line
	}
	return hexes.ReplaceAllStringFunc(line, func(word string) string {
		if len(word) < 8 || !strings.ContainsAny(word, "0123456789") || !strings.ContainsAny(word, "abcdefABCDEF") {
			return word
		}
		return "<hash>"
	})
}

// isHashed reports whether eight signs of a hash stand in a row, a digit and a letter next to each other among them.
func isHashed(line string) bool {
	run, mixed := 0, false
	for i := range len(line) {
		c := line[i]
		letter := c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
		if !letter && !isDigit(c) && (c != '-' || run == 0) {
			run, mixed = 0, false
			continue
		}
		if run > 0 && (letter && isDigit(line[i-1]) || isDigit(c) && isLetter(line[i-1]) || c == '-') {
			mixed = true
		}
		if run++; run >= 8 && mixed {
			return true
		}
	}
	return false
}

func hasRuler(line string) bool {
	for i := range len(line) {
		switch c := line[i]; {
		case c == 0xe2 && i+1 < len(line) && strings.IndexByte("\x8e\x94\x95", line[i+1]) >= 0: // as the lines of boxes begin
			return true
		case strings.IndexByte("=-_*!#~<>", c) >= 0 && i+2 < len(line) && line[i+1] == c && line[i+2] == c:
			return true
		}
	}
	return false
}
