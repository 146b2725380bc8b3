package failure

import "strings"

// So much of an assertion's explanation pytest shows in every place: without CI or -vv it cuts the rest.
const (
	explainedLines = 6
	explainedBytes = 640
)

// explained leaves of what pytest says below a failed assertion what it says everywhere: not what depends on how
// verbose it is.
func explained(lines []string) []string {
	var kept []string
	for i := 0; i < len(lines); {
		line := lines[i]
		kept = append(kept, line)
		i++
		if !strings.HasPrefix(line, "E ") || !strings.HasPrefix(saidE(line), "assert ") &&
			!strings.Contains(line, ": assert ") {
			continue
		}
		n := 0
		for i+n < len(lines) && (lines[i+n] == "E" || depthE(lines[i+n]) > depthE(line)) {
			n++
		}
		kept = append(kept, explanation(line, lines[i:i+n])...)
		i += n
	}
	return kept
}

// saidE is the text of a line that pytest marks with E.
func saidE(line string) string { return strings.TrimLeft(strings.TrimPrefix(line, "E"), " ") }

// depthE is how far that text is indented; 0: the line is not marked.
func depthE(line string) int {
	if !strings.HasPrefix(line, "E ") {
		return 0
	}
	return len(line) - len(saidE(line))
}

// explanation is what is kept of the lines below an assertion. The lines that say where a value came from are never
// cut.
func explanation(head string, lines []string) []string {
	var below, where []string
	for _, line := range withoutCommon(lines) {
		if text := saidE(line); strings.HasPrefix(text, "+  where ") || strings.HasPrefix(text, "+    and ") {
			where = append(where, line)
		} else {
			below = append(below, line)
		}
	}
	below = untilFull(below)
	told := changed(below, everywhere(head, below))
	if !tells(told) {
		told = changed(below, len(below))
	}
	return append(told, where...)
}

// untilFull are the lines above "Full diff:" where they say what differs; it depends on -v whether there is one.
func untilFull(lines []string) []string {
	told := false
	for i, line := range lines {
		if told && saidE(line) == "Full diff:" {
			return lines[:i]
		}
		told = told || tells(lines[i:i+1])
	}
	return lines
}

// everywhere is how many of the lines pytest shows even when it cuts.
func everywhere(head string, lines []string) int {
	bytes := len(saidE(head))
	for i, line := range lines {
		bytes += len(saidE(line))
		if i == explainedLines || bytes > explainedBytes {
			return i
		}
	}
	return len(lines)
}

// withoutCommon drops the items that are the same on both sides.
func withoutCommon(lines []string) []string {
	var kept []string
	common := false
	for _, line := range lines {
		text := saidE(line)
		common = text == "Common items:" || common && !tellsMore(text) && text != "Full diff:"
		if !common {
			kept = append(kept, line)
		}
	}
	return kept
}

// tells reports whether some of the lines say what differs.
func tells(lines []string) bool {
	for _, line := range lines {
		if text := saidE(line); tellsMore(text) || startsAny(text, "- ", "+ ") {
			return true
		}
	}
	return false
}

func tellsMore(text string) bool {
	return startsAny(text, "Differing items", "Differing attributes", "At index ", "Left contains ", "Right contains ",
		"Extra items ")
}

// changed are the first lines without the marks below a diff's lines, what is on both sides, and what differs only in
// the order of a set.
func changed(lines []string, first int) []string {
	sides := map[string]string{} // of a line with a set: the signs that it stood behind
	within := 2 * mostLine
	for _, line := range lines {
		text := saidE(line)
		if !startsAny(text, "- ", "+ ") {
			continue
		}
		within = min(within, depthE(line)+len("  ")) // so far both sides' lines are indented
		if strings.Contains(text, "{") {
			sides[sortSets(text[1:])] += text[:1]
		}
	}
	var kept []string
	for _, line := range lines[:first] {
		text := saidE(line)
		side := ""
		if startsAny(text, "- ", "+ ") {
			side = sides[sortSets(text[1:])]
		}
		if text != "?" && !strings.HasPrefix(text, "? ") && depthE(line) < within &&
			(!strings.Contains(side, "-") || !strings.Contains(side, "+")) {
			kept = append(kept, line)
		}
	}
	return kept
}
