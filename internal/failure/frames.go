package failure

import (
	"regexp"
	"strings"
)

var (
	nodeFrame   = regexp.MustCompile(`^\s*at (?:async )?.*(?:node:|node_modules/|internal/|<anonymous>\)?$|native\)?$)`)
	javaFrame   = regexp.MustCompile(`^\s*at (?:[\w.-]+(?:@[\w.-]+)?/+)*([\w$.<>/]+)\([^)]*\)`)
	rustFrame   = regexp.MustCompile(`^\s+\d+: (?:0x[0-9a-f]+ - )?\S`)
	rustPlace   = regexp.MustCompile(`^\s+at \S+:\d+(?::\d+)?$`)
	nativeFrame = regexp.MustCompile(`^\s*#\d+ +0x[0-9a-f]+ `)
	foreignJava = regexp.MustCompile(`^(?:java|javax|jdk|sun|com\.sun|kotlin|kotlinx|scala|groovy|worker\.org\.gradle|org\.(?:junit|gradle|apache\.maven|opentest4j|testng|mockito|hamcrest|assertj|codehaus|springframework))\.`)
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
		rust = rust && (rustFrame.MatchString(line) || rustPlace.MatchString(line))
		if !rust && !isForeignFrame(line, trimmed) {
			kept = append(kept, line)
		}
	}
	return kept
}

func isForeignFrame(line, trimmed string) bool {
	if !strings.HasPrefix(trimmed, "at ") {
		return strings.HasPrefix(trimmed, "#") && nativeFrame.MatchString(line) && !strings.Contains(line, " in ")
	}
	if nodeFrame.MatchString(line) {
		return true
	}
	m := javaFrame.FindStringSubmatch(line)
	return m != nil && foreignJava.MatchString(m[1])
}

var (
	gutter  = regexp.MustCompile(`^\s*(>?)\s*(\d*)\s*[|│┃╎]\s?(.*)$`)
	numbers = regexp.MustCompile(`^\s*(>)\s*\d+\s+(.*)$`)
	carets  = regexp.MustCompile(`^[\s^~\-|│_+]*[\^~][\s^~\-|│_+]*`)
)

// excerpts keeps of shown source code the lines that are marked, by an arrow before them or by carets below, without their numbers:
// those around them change while somebody works on something else.
func excerpts(lines []string) []string {
	var kept []string
	for i := 0; i < len(lines); {
		n := 0
		for i+n < len(lines) && isExcerpt(lines[i+n]) {
			n++
		}
		if n == 0 {
			if rest := carets.ReplaceAllString(lines[i], ""); rest != lines[i] {
				if rest != "" && strings.TrimSpace(rest) != "" {
					kept = append(kept, rest)
				}
			} else {
				kept = append(kept, lines[i])
			}
			i++
			continue
		}
		kept = append(kept, marked(lines[i:i+n])...)
		i += n
	}
	return kept
}

func isExcerpt(line string) bool {
	m := gutter.FindStringSubmatch(line)
	return m != nil && (m[2] != "" || m[1] != "" || strings.TrimSpace(m[3]) == "" || carets.MatchString(m[3]))
}

func marked(lines []string) []string {
	var kept []string
	numbered := "" // the last line of source, until it is known to be marked
	for _, line := range lines {
		m := gutter.FindStringSubmatch(line)
		arrow, number, text := m[1] != "", m[2] != "", m[3]
		switch {
		case arrow && number:
			kept = append(kept, beginning(text))
			numbered = ""
		case number:
			numbered = text
		case carets.MatchString(text):
			if numbered != "" {
				kept = append(kept, beginning(numbered))
				numbered = ""
			}
			if label := strings.TrimSpace(carets.ReplaceAllString(text, "")); label != "" {
				kept = append(kept, label)
			}
		}
	}
	return kept
}

// beginning is so much of a line of source as a narrow terminal shows too.
func beginning(source string) string {
	const most = 30
	if r := []rune(source); len(r) > most {
		return string(r[:most])
	}
	return strings.TrimRight(source, ".…")
}
