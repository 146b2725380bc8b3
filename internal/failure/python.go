package failure

import "strings"

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

var (
	pythonFrame = lazy(`^(\s*(?:\| )*)File "([^"]*)", line \d+(?:, in (.*))?$`)
)

func isForeignPython(file string) bool {
	return strings.Contains(file, "site-packages") || strings.Contains(file, "dist-packages") ||
		strings.Contains(file, "/lib/python") || strings.HasPrefix(file, "<frozen")
}
