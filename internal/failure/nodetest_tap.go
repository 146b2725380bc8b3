package failure

import "strings"

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
