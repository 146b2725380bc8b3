package failure

import (
	"strconv"
	"strings"
)

var (
	javaFrame   = lazy(`^\s*at (?:[\w.-]+(?:@[\w.-]+)?/+)*([\w$.<>/]+)\([^)]*\)`)
	rustFrame   = lazy(`^\s+\d+: (?:0x[0-9a-f]+ - )?\S`)
	rustPlace   = lazy(`^\s+at \S+:\d+(?::\d+)?$`)
	rustThread  = lazy(`^thread '[^']*'(?: \(\d+\))? panicked at`) // with one thread only, its name is not the test's
	nativeFrame = lazy(`^\s*#\d+ +0x[0-9a-f]+ `)
	foreignJava = lazy(
		`^(?:java|javax|jdk|sun|com\.sun|kotlin|kotlinx|scala|groovy|worker\.org\.gradle|org\.(?:junit|gradle|apache\.maven|opentest4j|testng|mockito|hamcrest|assertj|codehaus|springframework))\.`)
)

// frames drops from stack traces what is not the project's own: the frames of runtimes, libraries and test runners.
func frames(lines []string) []string {
	var kept []string
	rust := false
	for _, line := range lines {
		trimmed := strings.TrimSpace(line)
		if trimmed == "stack backtrace:" {
			rust = true
			continue
		}
		if strings.HasPrefix(line, "thread '") {
			line = rustThread.ReplaceAllString(line, "panicked at")
		}
		rust = rust && (rustFrame.MatchString(line) || rustPlace.MatchString(line))
		if !rust && !isForeignFrame(line, trimmed) {
			kept = append(kept, line)
		}
	}
	return kept
}

func isForeignFrame(line, trimmed string) bool {
	if !strings.HasPrefix(trimmed, "at ") {
		return nativeFrame.MatchString(line) &&
			(!strings.Contains(line, " in ") || strings.Contains(line, " in _"))
	}
	if isNodeFrame(trimmed) {
		return true
	}
	if !strings.Contains(line, "(") {
		return false
	}
	m := javaFrame.FindStringSubmatch(line)
	return m != nil && foreignJava.MatchString(m[1])
}

// isNodeFrame reports whether a frame is one of node's, of a library's, or of no file.
func isNodeFrame(frame string) bool {
	bare := strings.TrimSuffix(frame, ")")
	return strings.Contains(frame, "node:") || strings.Contains(frame, "node_modules/") ||
		strings.Contains(frame, "internal/") || strings.HasSuffix(bare, "<anonymous>") ||
		strings.HasSuffix(bare, "native") || strings.Contains(frame, "async Promise.")
}

var (
	gutter = lazy(`^(?:\[\w+\] |%)?\s*(>?)\s*(\d*)(?:\s+(\d+))?\s*[|│┃╎]\s?(.*)$`)
	carets = lazy(`^[\s^~\-|│_+]*[\^~][\s^~\-|│_+]*`)
)

// excerpts keeps of shown source code the lines that are marked, by an arrow before them or by carets below, without
// their numbers: those around them change while someone works on something else.
func excerpts(lines []string) []string {
	var kept []string
	for i := 0; i < len(lines); {
		n := 0
		for i+n < len(lines) && isExcerpt(lines[i+n], n > 0) {
			n++
		}
		if n == 0 {
			line := lines[i]
			under := i > 0 && isCarets(line) && numberedLine.MatchString(lines[i-1])
			if strings.ContainsAny(line, "^~") && !under {
				line = carets.ReplaceAllString(line, "")
			}
			kept = append(kept, line)
			i++
			continue
		}
		kept = append(kept, marked(lines[i:i+n])...)
		i += n
	}
	return kept
}

// isExcerpt reports whether a line shows source, or belongs to what does.
func isExcerpt(line string, within bool) bool {
	m := gutter.FindStringSubmatch(line)
	return m != nil && (within || m[2] != "" || m[1] != "" || strings.TrimSpace(m[4]) == "" || carets.MatchString(m[4]))
}

func marked(lines []string) []string {
	var kept []string
	source := ""  // the last line of it, until it is known to be marked
	diff := false // what was and what shall be are numbered each
	for _, line := range lines {
		m := gutter.FindStringSubmatch(line)
		arrow, number, text := m[1] != "", m[2] != "", m[4]
		diff = diff || m[2] != "" && m[3] != ""
		switch {
		case diff && startsAny(text, "- ", "+ "):
			kept = append(kept, beginning(text))
		case arrow && number:
			kept = append(kept, beginning(text))
			source = ""
		case number:
			source = text
		case carets.MatchString(text):
			kept = append(kept, underlined(source, text)...)
			source = ""
			kept = append(kept, strings.TrimSpace(carets.ReplaceAllString(text, "")))
		default:
			kept = append(kept, strings.TrimLeft(text, " |│"))
		}
	}
	return kept
}

var (
	marks    = lazy(`[\^~]+`)
	wordHere = lazy(`^[\w$.]+`)
	lastWord = lazy(`[\w$.)\]}"']+\s*$`)
)

// underlined is what marks stand under in a line of source. The rest of it depends on the width of the terminal: long
// lines are cut, on either side.
func underlined(source, below string) []string {
	var words []string
	for _, at := range marks.FindAllStringIndex(below, 8) {
		if at[0] >= len(source) {
			words = append(words, lastWord.FindString(source))
			continue
		}
		word := source[at[0]:min(at[1], len(source))]
		if at[1]-at[0] == 1 {
			word = wordHere.FindString(source[at[0]:])
		}
		if strings.TrimSpace(word) == "" {
			word = lastWord.FindString(source[:at[0]])
		}
		words = append(words, "at "+strings.ToValidUTF8(strings.TrimSpace(word), ""))
	}
	return words
}

// beginning is so much of a line of source as a narrow terminal shows too.
func beginning(source string) string {
	const most = 30
	if r := []rune(source); len(r) > most {
		return string(r[:most])
	}
	return strings.TrimRight(source, ".…")
}

var numberedLine = lazy(`^\s*(>?)\s*(\d+)(?::|  )\s?(.*)$`)

// numbered keeps of shown source code whose lines only have numbers, "3: code", those that an arrow marks, or the
// beginnings of all.
func numbered(lines []string) []string {
	var kept []string
	for i := 0; i < len(lines); {
		n, texts := numberedBlock(lines[i:])
		if n < 2 {
			kept = append(kept, lines[i])
			i++
			continue
		}
		kept = append(kept, texts...)
		i += n
	}
	return kept
}

// numberedBlock is how many lines of source with numbers are at the beginning, and what is kept of them.
func numberedBlock(lines []string) (n int, texts []string) {
	arrows, last, text := 0, 0, ""
	for ; n < len(lines); n++ {
		m := numberedLine.FindStringSubmatch(lines[n])
		if m == nil && n > 0 && isCarets(lines[n]) { // marks the line above
			texts, arrows = []string{text}, 1
			continue
		}
		if m == nil {
			break
		}
		number, _ := strconv.Atoi(m[2])
		if n > 0 && number != last+1 {
			break
		}
		last, text = number, beginning(m[3])
		switch {
		case m[1] != "" && arrows == 0:
			texts, arrows = []string{text}, 1
		case (m[1] != "") == (arrows > 0):
			texts = append(texts, text)
		}
	}
	return n, texts
}

// isCarets reports whether a line does nothing but mark the one above it.
func isCarets(line string) bool {
	return strings.Contains(line, "^") && strings.Trim(line, " \t^~-") == ""
}
