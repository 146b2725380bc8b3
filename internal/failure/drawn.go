package failure

import "strings"

// What draws a message below source, once quotes are all of one kind: it begins with "╭─[a.js:3:5]" and ends with
// "╰──", or, in letters that every terminal has, with ",-[a.js:3:5]" and "'--".
var (
	drawnHead   = lazy(`^\s*(?:╭─+|,-+)\s*(\[.*\])$`)
	drawnSource = lazy(`^\s*\d+\s*[|│]\s?(.*)$`)
	plainMark   = lazy(`^ {2}[x!⚠] ([A-Za-z'"].*)$`)
)

// drawn keeps of source with messages drawn below it the place, what is said, and the lines that something is said of,
// however it is drawn: that depends on the terminal, and on CI.
func drawn(lines []string) []string {
	var kept []string
	for i := 0; i < len(lines); i++ {
		m := headOfDrawing(lines[i])
		if m == nil {
			kept = append(kept, lines[i])
			continue
		}
		if n := len(kept); n > 0 {
			kept[n-1] = plainMark.ReplaceAllString(kept[n-1], "$1")
		}
		kept = append(kept, m[1])
		source := ""
		for i+1 < len(lines) && !endsDrawing(lines[i+1]) && headOfDrawing(lines[i+1]) == nil {
			i++
			if m := drawnSource.FindStringSubmatch(lines[i]); m != nil {
				source = beginning(m[1])
				continue
			}
			trimmed := strings.TrimSpace(lines[i])
			if trimmed == "" || !startsAny(trimmed, ":", "·", "│", "|") {
				i--
				break
			}
			if source != "" {
				kept, source = append(kept, source), ""
			}
			kept = append(kept, strings.TrimLeft(trimmed, " :·|│┬╰─╭╮'^-"))
		}
	}
	return kept
}

func headOfDrawing(line string) []string {
	if !strings.Contains(line, "╭") && !strings.Contains(line, ",-") {
		return nil
	}
	return drawnHead.FindStringSubmatch(line)
}

// endsDrawing reports whether a line closes what headOfDrawing opens.
func endsDrawing(line string) bool {
	trimmed := strings.TrimSpace(line)
	return startsAny(trimmed, "╰──", "'--", "───╯", "──╯") && !strings.Contains(trimmed, " ")
}
