package failure

import (
	"slices"
	"strings"
)

var (
	script       = lazy(`^> \S+@\S+ [\w:.-]+`)
	requireStack = lazy(`^\s*(?:R|r)equire ?(?:S|s)tack: ?(?:\[|$)`)
)

// echoes drops the command that a package manager prints below the name of its script: it differs with CI.
func echoes(lines []string) []string {
	echoed := false
	return without(lines, func(line string) bool {
		if strings.HasPrefix(line, "> ") {
			drop := echoed
			echoed = script.MatchString(line)
			return drop
		}
		echoed = echoed && line == ""
		return false
	})
}

// requireStacks drops of the modules that required one which is missing those that are libraries: the runner's own are
// others in each of its ways to run.
func requireStacks(lines []string) []string {
	inside := false
	return without(lines, func(line string) bool {
		if strings.Contains(line, "equire") && requireStack.MatchString(line) {
			inside = !strings.HasSuffix(line, "]")
			return false
		}
		trimmed := strings.TrimSpace(line)
		inside = inside && (strings.HasPrefix(trimmed, "- ") || strings.HasPrefix(trimmed, "'"))
		return inside && strings.Contains(line, "node_modules/")
	})
}

// asides drops what a tool remarks below a finding, a paragraph behind the letter i: how to put it right.
func asides(lines []string) []string {
	var kept []string
	for i, line := range lines {
		text := strings.TrimLeft(line, " ")
		if len(line)-len(text) >= 2 && startsAny(text, "i ", "ℹ ") && i > 0 && strings.TrimSpace(lines[i-1]) == "" {
			continue
		}
		kept = append(kept, line)
	}
	return kept
}

// sanitizers drops, where a sanitizer has ended a program, the lines without a word that it had printed: those are
// lost where they do not go to a terminal.
func sanitizers(lines []string) []string {
	if !slices.ContainsFunc(lines, func(line string) bool {
		return strings.HasPrefix(line, "==") && strings.Contains(line, "Sanitizer: ")
	}) {
		return lines
	}
	return without(lines, func(line string) bool { return !strings.ContainsFunc(line, isLetterRune) })
}

func isLetterRune(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= 0xc0 }

// wrapIndent is how far compilers indent what they wrap of a message at the width of the terminal.
const wrapIndent = "      "

var message = lazy(`^\S+: (?:fatal )?(?:error|warning|note): `)

// wrapped joins a compiler's message that goes on in the next lines. What stands above carets is source.
func wrapped(lines []string) []string {
	var kept []string
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if strings.Contains(line, ": ") && message.MatchString(line) {
			for i+1 < len(lines) && goesOnBelow(lines[i+1:]) {
				i++
				line += " " + strings.TrimSpace(lines[i])
			}
		}
		kept = append(kept, line)
	}
	return kept
}

// goesOnBelow reports whether the first line is the rest of a message.
func goesOnBelow(lines []string) bool {
	line := lines[0]
	return strings.HasPrefix(line, wrapIndent) && len(line) > len(wrapIndent) && line[len(wrapIndent)] != ' ' &&
		!strings.Contains(line, "|") && !isCarets(line) && (len(lines) == 1 || !marksAbove(lines[1]))
}

// marksAbove reports whether a line marks source in the one above it.
func marksAbove(line string) bool {
	return strings.Trim(line, " \t^~") == "" && strings.ContainsAny(line, "^~")
}

// unrepeated drops a file's name alone where another line tells more of it: a terminal shows the one that is at work.
func unrepeated(lines []string) []string {
	return slices.DeleteFunc(lines, func(line string) bool {
		if strings.ContainsAny(line, " \t<") || extension(line) == "" {
			return false
		}
		return slices.ContainsFunc(lines, func(other string) bool {
			_, after, found := strings.Cut(other, line)
			return found && other != line && (strings.HasPrefix(after, ":") || strings.HasPrefix(after, " "))
		})
	})
}

var inspection = lazy(`^(\s*[+-]#<[\w:]+:0x[0-9a-f]+)(?: .*)?$`)

// inspected cuts the members off an object of Ruby's in a diff: where there is no room they stand in lines of their
// own, and are left out there if they are the same. They are told above the diff too.
func inspected(lines []string) []string {
	var kept []string
	cut := false
	for _, line := range lines {
		if strings.Contains(line, "#<") {
			if m := inspection.FindStringSubmatch(line); m != nil {
				cut = true
				kept = append(kept, m[1])
				continue
			}
		}
		if cut = cut && strings.HasPrefix(strings.TrimLeft(line, " +-"), "@"); !cut {
			kept = append(kept, line)
		}
	}
	return kept
}

var refused = lazy(`-([^-]+)-`)

// clauses takes the dashes off a function's head that mark what did not match: where there are colors, those mark it.
func clauses(lines []string) []string {
	inside := false
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "Attempted function clauses"):
			inside, lines = true, slices.Clone(lines)
		case inside && strings.HasPrefix(trimmed, "def"):
			lines[i] = refused.ReplaceAllString(line, "$1")
		case trimmed != "":
			inside = false
		}
	}
	return lines
}

// paragraphs joins the lines of a text that a tool wraps at the width of the terminal: indented alike below an empty
// line, each going on with a small letter where the one before ended without a stop.
func paragraphs(lines []string) []string {
	var kept []string
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if i > 0 && strings.TrimSpace(lines[i-1]) == "" && strings.HasPrefix(line, "  ") && strings.Count(line, " ") > 4 {
			indent := len(line) - len(strings.TrimLeft(line, " "))
			for i+1 < len(lines) && goesOnAt(indent, line, lines[i+1]) {
				i++
				line += " " + lines[i][indent:]
			}
		}
		kept = append(kept, line)
	}
	return kept
}

// goesOnAt reports whether the next line is the rest of the sentence in a text that is indented so far.
func goesOnAt(indent int, line, next string) bool {
	rest := strings.TrimLeft(next, " ")
	end := line[len(line)-1]
	return len(next)-len(rest) == indent && rest != "" && rest[0] >= 'a' && rest[0] <= 'z' &&
		(end >= 'a' && end <= 'z' || end == ',')
}

var verdict = lazy(`^(\S.*) \.\.\. (FAIL|ERROR)$`)

// verdicts drops what unittest says of a test that failed while it runs, where it tells why below: it says so with -v.
func verdicts(lines []string) []string {
	told := map[string]bool{}
	for _, line := range lines {
		if strings.HasPrefix(line, "FAIL: ") || strings.HasPrefix(line, "ERROR: ") {
			told[line] = true
		}
	}
	if len(told) == 0 {
		return lines
	}
	return without(lines, func(line string) bool {
		m := verdict.FindStringSubmatch(line)
		return m != nil && told[m[2]+": "+m[1]]
	})
}

// hunks drops of a unified diff what is the same on both sides: it changes while somebody works on something else.
func hunks(lines []string) []string {
	inside := false
	return without(lines, func(line string) bool {
		if strings.HasPrefix(line, "@@ -") {
			inside = true
			return false
		}
		inside = inside && (line == "" || strings.IndexByte(" +-\\", line[0]) >= 0)
		return inside && strings.HasPrefix(line, " ")
	})
}
