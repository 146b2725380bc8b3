package failure

import "strings"

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
