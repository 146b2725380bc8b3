package failure

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

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
