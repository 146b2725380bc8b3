package failure

import (
	"cmp"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

const mostMessage = 300 // bytes of a finding's message

// place is where a finding points.
type place struct {
	file string
	line int
}

// findings collects, each different one once.
type findings struct {
	all    []loop.Finding
	seen   map[loop.Finding]bool
	places map[place]bool
}

func newFindings() *findings {
	return &findings{seen: map[loop.Finding]bool{}, places: map[place]bool{}}
}

// add keeps a finding that says something.
func (f *findings) add(found loop.Finding) {
	found.File = displayed(found.File)
	found.Message = cut(cmp.Or(found.Message, "failed"))
	found.Test, found.Rule = cut(found.Test), cut(found.Rule)
	if found.File == "" && found.Test == "" && found.Rule == "" {
		return
	}
	if found.Line < 0 || found.File == "" {
		found.Line = 0
	}
	found.Column = max(found.Column, 0)
	if len(f.all) >= loop.MaxFindings || f.seen[found] {
		return
	}
	f.seen[found] = true
	f.places[place{found.File, found.Line}] = true
	f.all = append(f.all, found)
}

// displayed is a path with slashes, from the directory the check ran in if that is known, otherwise its last name.
func displayed(file string) string {
	file = strings.TrimPrefix(file, "file://")
	file = strings.ReplaceAll(strings.TrimSpace(file), `\`, "/")
	for strings.HasPrefix(file, "./") {
		file = file[2:]
	}
	drive := len(file) > 2 && file[1] == ':' && file[2] == '/'
	if strings.HasPrefix(file, "/") || drive || strings.HasPrefix(file, "~") || strings.Contains("/"+file+"/", "/../") {
		file = file[strings.LastIndexByte(strings.TrimRight(file, "/"), '/')+1:]
	}
	return cut(strings.TrimRight(file, "/"))
}

// cut is one line of at most mostMessage bytes.
func cut(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > mostMessage {
		text = strings.ToValidUTF8(text[:mostMessage-len("…")], "") + "…"
	}
	return text
}

var leadingLevel = lazy(`^(fatal error|[Ee]rror|ERROR|[Ww]arning|WARNING|info|style):\s*`)

// levelled takes the level off a message.
func levelled(message string) (level, rest string) {
	m := leadingLevel.FindStringSubmatch(message)
	switch {
	case m == nil:
		return "", message
	case strings.HasSuffix(strings.ToLower(m[1]), "error"):
		level = "error"
	default:
		level = "warning"
	}
	return level, strings.TrimSpace(message[len(m[0]):])
}

// anyPlace matches the ways in which most compilers and linters name a place.
var anyPlace = findingLine{lazy(`^(?:vet: |\[ERROR\] )?(?<file>(?:[A-Za-z]:)?\S+?)` +
	`(?::(?<line>\d+)(?::|:(?<column>\d+)(?:| -|:)) |\((?<line2>\d+)(?:,(?<column2>\d+))?\): )(?<message>.+)$`), false}

// readPlaces finds "file:line: message" wherever nothing else was found.
func readPlaces(lines []string, found *findings) {
	for _, line := range lines {
		m := anyPlace.pattern.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		f := anyPlace.fill(loop.Finding{}, m)
		f.File = displayed(f.File)
		if !isPlace(f.File) || found.places[place{f.File, f.Line}] && f.Column == 0 {
			continue
		}
		f.Level, f.Message = levelled(f.Message)
		if startsAny(f.Message, "note:", "in ") || f.Message == "required from here" || f.Message == "" {
			continue
		}
		f.Rule, f.Message = ruled(f.Message)
		found.add(f)
	}
}

// isPlace reports whether a name is a file's: not a host, a time or the end of a sentence.
func isPlace(file string) bool {
	if file == "" || strings.ContainsAny(file, " \t\"'()<>|=,;{}") || strings.Contains(file, "://") ||
		!isFile(file[strings.LastIndexByte(file, '/')+1:]) {
		return false
	}
	switch extension(file) {
	case ".com", ".org", ".net", ".io", ".local":
		return false
	}
	return true
}

var (
	leadingRule  = lazy(`^([A-Z]{1,8}\d{2,6})\b:? *`)
	errorRule    = lazy(`^(?:error|warning) ([A-Z]{1,4}\d{2,6}): *`)
	trailingRule = lazy(` [\[(]((?:-W|-Werror=)?[a-zA-Z][\w/@.-]*[\w=]|[A-Z]+\d+)[\])]$`)
	packageRule  = lazy(`^\[(\w[\w-]*)\] +`)
)

// ruled takes the code of a rule off a message.
func ruled(message string) (rule, rest string) {
	for _, pattern := range []*pattern{leadingRule, errorRule, packageRule} {
		if m := pattern.FindStringSubmatch(message); m != nil {
			return m[1], message[len(m[0]):]
		}
	}
	if m := trailingRule.FindStringSubmatchIndex(message); m != nil {
		return message[m[2]:m[3]], message[:m[0]]
	}
	return "", message
}

// findingLine is a line by which a tool reports a place, or a part of one: the groups of its pattern say of which.
type findingLine struct {
	pattern *pattern
	opens   bool // what it tells holds for the lines that follow; otherwise it completes a finding
}

// toolLines are those of one tool each.
var toolLines = [][]findingLine{
	{ // rustc, and tools that print as it does: ruff
		{lazy(`^(?<level>error|warning)(?:\[(?<rule>\w+)\])?: (?<message>.*)$`), true},
		{lazy(`^(?<rule>[A-Z]{1,5}\d{3,4}|invalid-syntax):?(?: \[\*\])? (?<message>.*)$`), true},
		{lazy(`^\s*-->\s+(?<file>\S+?):(?<line>\d+):(?<column>\d+)$`), false},
	},
	{ // eslint, stylelint and others that list below the name of a file
		{lazy(`^(?<file>\S(?:[^:]|:\S)*\.[A-Za-z]\w*)$`), true},
		{lazy(`^\s+(?<line>\d+):(?<column>\d+)\s+(?<level>error|warning|✖|⚠)\s+(?<message>.+?)(?:\s{2,}(?<rule>\S+))?$`), false},
	},
	{ // shellcheck, below a line of source
		{lazy(`^In (?<file>\S+) line (?<line>\d+):$`), true},
		{lazy(`^(?<indent>\s*)\^-*\^? (?<rule>SC\d+) \((?<level>\w+)\): (?<message>.*)$`), false},
	},
	{ // Maven: the compiler's errors, and failed tests
		{lazy(`^\[(?<level>ERROR|WARNING)\] (?<file>\S+\.(?:java|kt|scala|groovy)):\[(?<line>\d+),(?<column>\d+)\] (?<message>.*)$`), false},
		{lazy(`^\[ERROR\] +(?<test>(?:[\w$]+\.)*?(?<class>[\w$]+)[.:][\w$]+)(?:\([^)]*\))?:(?<line>\d+)(?:->\S+)* +(?<message>.*)$`), false},
	},
	{ // the TypeScript compiler, with a terminal or without
		{lazy(`^(?<file>\S+?)(?:\((?<line>\d+),(?<column>\d+)\): |:(?<line2>\d+):(?<column2>\d+) - )error (?<rule>TS\d+): (?<message>.*)$`), false},
	},
}

// readTools finds what compilers and linters print in ways of their own.
func readTools(lines []string, found *findings) {
	for _, tool := range toolLines {
		open := loop.Finding{}
		for _, line := range lines {
			for _, l := range tool {
				m := l.pattern.FindStringSubmatch(line)
				if m == nil {
					continue
				}
				if l.opens {
					open = l.fill(loop.Finding{}, m)
				} else if f := l.fill(open, m); f.File != "" && f.Message != "" {
					found.add(f)
					open.Message, open.Rule, open.Level = "", "", ""
				}
				break
			}
		}
	}
}

// fill puts what the groups of a line have matched into a finding.
func (l findingLine) fill(f loop.Finding, m []string) loop.Finding {
	for i, group := range l.pattern.Regexp().SubexpNames() {
		switch text := m[i]; {
		case group == "indent":
			f.Column = len(text) + 1
		case text == "":
		case group == "file":
			f.File = text
		case group == "class":
			f.File = text + ".java"
		case group == "line", group == "line2":
			f.Line = number(text)
		case group == "column", group == "column2":
			f.Column = number(text)
		case group == "rule":
			f.Rule = text
		case group == "message":
			f.Message = text
		case group == "test":
			f.Test = strings.ReplaceAll(text, ":", ".")
		case group == "level":
			if f.Level = "warning"; strings.EqualFold(text, "error") || text == "✖" {
				f.Level = "error"
			}
		}
	}
	return f
}
