package failure

import (
	"path"
	"slices"
	"strings"
)

// nodeTests brings the two reports of node --test to the same facts: TAP, which it writes into a pipe, and "spec", on a
// terminal. What the tests printed stays, and so do other programs' lines.
func nodeTests(lines []string) []string {
	switch {
	case slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, "failureType: '") }):
		return nodeTAP(lines)
	case slices.Contains(lines, "✖ failing tests:"):
		return nodeSpec(lines)
	}
	return lines
}

// nodeFailure is what both reports say of a test that failed.
type nodeFailure struct {
	name, file       string
	message          []string
	kind             string // of the error: TypeError
	expected, actual []string
	stack            []string
}

var (
	nodeKind   = lazy(`^(\w*(?:Error|Exception))(?: \[\w+\])?(?:: |$)`)
	nodeTook   = lazy(` \(\d[\d.]*ms\)$`)
	nodePlace  = lazy(`:\d+:\d+['")]*$`)
	nodeValues = lazy(`[\w.+-]+`)
	nodeKeys   = lazy(`^\d+: *`)
)

func (f nodeFailure) lines() []string {
	told := []string{"not ok " + f.name, "in " + path.Base(strings.ReplaceAll(f.file, `\`, "/"))}
	message := slices.DeleteFunc(f.message, func(line string) bool { return strings.TrimSpace(line) == "" })
	if f.kind != "" && f.kind != "Error" {
		told = append(told, f.kind)
	}
	told = append(told, message...)
	// what several lines say, holds the values
	if len(message) == 1 && !startsAny(message[0], "Missing expected ", "Got unwanted ") {
		told = append(told, nodeValue("expected", f.expected), nodeValue("actual", f.actual))
	}
	for _, frame := range f.stack {
		told = append(told, "    at "+frame)
	}
	return told
}

// nodeValue is a value without the signs of YAML, or of JavaScript.
func nodeValue(name string, lines []string) string {
	var words []string
	for _, line := range lines {
		line = nodeKeys.ReplaceAllString(strings.TrimSpace(line), "")
		for _, at := range nodeValues.FindAllStringIndex(line, -1) {
			words = append(words, line[at[0]:at[1]])
		}
	}
	if len(words) == 0 || slices.Equal(words, []string{"undefined"}) {
		return ""
	}
	return name + ": " + strings.Join(words, " ")
}

// unquoted is a text without the quotes around it.
func unquoted(text string) string {
	if n := len(text); n > 1 && (text[0] == '\'' || text[0] == '"') && text[n-1] == text[0] {
		return strings.NewReplacer(`\'`, `'`, `\"`, `"`).Replace(text[1 : n-1])
	}
	return text
}

// nodeSpec leaves of a report for terminals the tests that are listed at its end, and what is printed above.
func nodeSpec(lines []string) []string {
	var kept []string
	var failure []string // the lines of one
	listed, own := false, true
	flush := func() {
		if len(failure) > 1 {
			kept = append(kept, nodeListed(failure).lines()...)
		}
		failure = nil
	}
	for _, line := range lines {
		text := strings.TrimLeft(line, " ")
		switch {
		case line == "✖ failing tests:":
			listed, own = true, false
		case listed && strings.HasPrefix(line, "test at "):
			flush()
			failure, own = []string{line}, false
		case listed && !own && (line == "" || line[0] == ' ' || strings.HasPrefix(line, "✖ ")):
			failure = append(failure, line)
		case startsAny(text, "▶ ", "✔ ", "✖ ", "ℹ "):
			own = false
		case own, line != "" && line[0] != ' ':
			own = true
			kept = append(kept, line)
		}
	}
	flush()
	return kept
}

// nodeListed reads one failure of the list: where it is, its name, its message, its stack and what the error holds.
func nodeListed(lines []string) nodeFailure {
	f := nodeFailure{
		file: nodePlace.ReplaceAllString(strings.TrimPrefix(lines[0], "test at "), ""),
		name: nodeTook.ReplaceAllString(strings.TrimPrefix(lines[1], "✖ "), ""),
	}
	key := "error"
	for _, line := range lines[2:] {
		text := strings.TrimSpace(line)
		switch {
		case (key == "error" || key == "stack") && strings.HasPrefix(text, "at "):
			key = "stack"
			text = strings.TrimSuffix(strings.TrimPrefix(text, "at "), " {")
		case key == "error":
			text = f.headed(text)
		default:
			m := tapKey.FindStringSubmatch(text)
			if m != nil && len(line)-len(strings.TrimLeft(line, " ")) <= 4 {
				key, text = m[1], strings.TrimSuffix(m[2], ",")
			} else if key == "stack" {
				key = ""
			}
		}
		f.more(key, text)
	}
	return f
}

// headed is a message without the kind of error before it, or quotes around it.
func (f *nodeFailure) headed(text string) string {
	if len(f.message) > 0 {
		return text
	}
	if m := nodeKind.FindStringSubmatch(text); m != nil {
		f.kind = m[1]
		return text[len(m[0]):]
	}
	return unquoted(text)
}

var (
	tapResult = lazy(`^( *)(not )?ok \d+(?: - (.*))?$`)
	tapSays   = lazy(`^ *# (?:Subtest: .*|(?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+)$`)
	tapFrame  = lazy(`^ *(?:1\.\.\d+|TAP version \d+)$`)
	tapKey    = lazy(`^(\w+): ?(.*)$`)
)

// nodeTAP leaves of TAP the tests that failed, without the suites that only say so, and what is printed between.
func nodeTAP(lines []string) []string {
	var kept []string
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		m := tapResult.FindStringSubmatch(line)
		switch {
		case m != nil:
			block := tapBlock(lines[i+1:], m[1]+"  ")
			i += len(block)
			if f, ok := nodeYAML(m[3], block, len(m[1])+2); ok && m[2] != "" {
				kept = append(kept, f.lines()...)
			}
		case tapSays.MatchString(line), tapFrame.MatchString(line):
		default:
			if printed, ok := strings.CutPrefix(strings.TrimLeft(line, " "), "# "); ok {
				line = printed
			}
			kept = append(kept, line)
		}
	}
	return kept
}

// mostBlock is how many lines a result's block may have, so that many without an end cost no time.
const mostBlock = 1000

// tapBlock are the lines from --- to ... that belong to the result above.
func tapBlock(lines []string, indent string) []string {
	if len(lines) == 0 || lines[0] != indent+"---" {
		return nil
	}
	end := indent + "..."
	for i, line := range lines[:min(len(lines), mostBlock)] {
		if line == end {
			return lines[:i+1]
		}
	}
	return nil
}

// nodeYAML reads such a block. It is not ok for a suite that only failed because its tests did. A key that comes again
// belongs to an error within.
func nodeYAML(name string, block []string, indent int) (f nodeFailure, ok bool) {
	f.name = name
	seen, key, ok := map[string]bool{}, "", true
	for _, line := range block {
		line = strings.TrimPrefix(line, strings.Repeat(" ", indent))
		m := tapKey.FindStringSubmatch(line)
		if m == nil {
			f.more(key, line)
			continue
		}
		key = m[1]
		if key == "error" && seen["expected"] || seen[key] && key != "stack" {
			key = ""
		}
		if key == "stack" && seen[key] {
			f.stack = nil // the first was that of an error within
		}
		seen[key] = true
		switch key {
		case "location":
			f.file = nodePlace.ReplaceAllString(unquoted(m[2]), "")
		case "failureType":
			ok = ok && m[2] != "'subtestsFailed'"
		case "name":
			f.kind = unquoted(m[2])
		default:
			if m[2] != "" && m[2] != "|-" {
				f.more(key, unquoted(m[2]))
			}
		}
	}
	return f, ok
}

// more adds a line to the value of a key.
func (f *nodeFailure) more(key, line string) {
	switch key {
	case "error":
		f.message = append(f.message, line)
	case "expected":
		f.expected = append(f.expected, line)
	case "actual":
		f.actual = append(f.actual, line)
	case "stack":
		if frame := strings.TrimSpace(line); frame != "" && frame != "..." {
			f.stack = append(f.stack, frame)
		}
	}
}
