package diffscan

import "strings"

const maxOfFile = 4_000 // tests of a file that are looked at

// suite is what a file of tests holds.
type suite struct {
	file  string
	tests []testCase
	// loose are assertions outside any test: in what tests share.
	loose  []string
	narrow []line // lines that keep many tests from running
	plain  []string
}

// testCase is one test, or one named case of it.
type testCase struct {
	name      string
	file      string
	line, end int // 1-based; end is its last line
	row       bool
	inner     bool // it is a part of another
	skipped   bool
	asserts   []string // its lines that can fail it
	trivial   int      // its assertions that cannot
	body      []string // its lines without comments
}

// suiteOf reads a file of tests: which there are, where, and what each of them asserts.
func (l *language) suiteOf(file, text string) suite {
	s := suite{file: file}
	lines := strings.Split(text, "\n")
	dead := l.comments(lines)
	marked := 0 // lines for which a mark that was read still counts
	covered := 0
	budget := 4*len(lines) + 1000 // lines that are read again, as part of a test in a test
	for i, raw := range lines {
		text := clip(raw)
		if l.mark != nil && (!dead[i] || strings.Contains(text, "@test")) && l.mark.MatchString(text) {
			marked = 12
		}
		if dead[i] {
			if l.narrow != nil && l.narrow.MatchString(text) && strings.HasPrefix(text, "//") {
				s.narrow = append(s.narrow, line{i + 1, text})
			}
			continue
		}
		if l.narrow != nil && l.narrow.MatchString(text) {
			s.narrow = append(s.narrow, line{i + 1, text})
		}
		name, row := l.declared(text, marked > 0)
		if name == "" && l.marked != nil {
			s.plain = append(s.plain, group(l.marked, text))
		} else if name == "" {
			s.plain = append(s.plain, group(anyFunction, text))
		}
		if marked--; name != "" && len(s.tests) < maxOfFile {
			marked = 0
			t := l.testAt(lines, dead, i, row, &budget)
			t.name, t.file, t.inner = name, file, i < covered
			covered = max(covered, t.end)
			s.tests = append(s.tests, t)
		} else if i >= covered && l.asserts(text) {
			s.loose = append(s.loose, strings.TrimSpace(text))
		}
	}
	return s
}

var anyFunction = lazy(`^\s*(?:async\s+)?(?:func|def|function)\s+(?:\([^)]*\)\s*)?(\w+)`)

// declared is the name of the test that a line declares, empty when it declares none.
func (l *language) declared(text string, marked bool) (name string, row bool) {
	if l.test != nil {
		if name = group(l.test, text); name != "" {
			return name, false
		}
	}
	if marked && l.marked != nil {
		if name = group(l.marked, text); name != "" {
			return name, false
		}
	}
	if l.row != nil {
		name = group(l.row, text)
	}
	return name, name != ""
}

// testAt reads the test that is declared in lines[at]: what stands right above it, and what is indented below it.
func (l *language) testAt(lines []string, dead []bool, at int, row bool, budget *int) testCase {
	t := testCase{line: at + 1, end: at + 1, row: row}
	depth := indent(lines[at])
	for i := at - 1; i >= max(0, at-12) && !row; i-- {
		above := strings.TrimSpace(lines[i])
		if above == "" || !strings.HasPrefix(above, "@") && !strings.HasPrefix(above, "#[") &&
			!strings.HasPrefix(above, "[") && !dead[i] {
			break
		}
		t.skipped = t.skipped || !dead[i] && l.skips(lines[i])
	}
	t.take(l, lines[at], true)
	if row {
		return t
	}
	for i := at + 1; i < len(lines) && *budget > 0; i++ {
		*budget--
		text := strings.TrimSpace(lines[i])
		if text == "" {
			continue
		}
		if indent(lines[i]) <= depth && !opens(text) {
			if closes(text) {
				t.end = i + 1
			}
			break
		}
		t.end = i + 1
		if !dead[i] || strings.HasPrefix(text, "// Output:") {
			t.take(l, lines[i], false)
		}
	}
	return t
}

// opens and closes: lines that are indented like the declaration and belong to it all the same.
func opens(text string) bool {
	return text[0] == '{' || text[0] == ')' && !strings.HasSuffix(text, ";") && text != ")"
}
func closes(text string) bool {
	return text[0] == '}' || text[0] == ')' || text == "end"
}

// take adds a line to a test.
func (t *testCase) take(l *language, raw string, declares bool) {
	text := strings.TrimSpace(clip(raw))
	t.skipped = t.skipped || l.skips(text) || !declares && len(t.body) == 0 && (text == "return" || text == "return;")
	switch {
	case l.isTrivial(text):
		t.trivial++
	case (!declares || l.marked == nil) && l.assert.MatchString(afterName(l, text, declares)):
		t.asserts = append(t.asserts, text)
	}
	if declares {
		text = inBraces(l, text)
	}
	if strings.Trim(text, "{}()[];,") != "" && text != "pass" && text != "..." && text != "end" {
		t.body = append(t.body, text)
	}
}

// afterName is what a declaration says after the test's name: "test_verify(" is no assertion.
func afterName(l *language, text string, declares bool) string {
	if !declares || l.test == nil {
		return text
	}
	if at := l.test.FindStringIndex(text); at != nil {
		return text[at[1]:]
	}
	return text
}

// inBraces is the part of a declaration that is already the body: of a test in one line.
func inBraces(l *language, text string) string {
	from := strings.Index(text, "{")
	if to := strings.LastIndex(text, "}"); from >= 0 && to > from {
		return strings.TrimSpace(text[from+1 : to])
	}
	if _, after, ok := strings.Cut(text, "=>"); ok && from < 0 {
		return strings.TrimSpace(after)
	}
	if i := strings.LastIndex(text, "):"); i >= 0 && l.hash {
		return strings.TrimSpace(text[i+2:])
	}
	return ""
}

func (l *language) skips(text string) bool { return l.skip.MatchString(clip(text)) }

func (l *language) asserts(text string) bool { return l.assert.MatchString(text) && !l.isTrivial(text) }

func (l *language) isTrivial(text string) bool {
	for _, p := range l.trivial {
		m := p.FindStringSubmatch(text)
		if m != nil && (len(m) == 1 || m[1] == m[2]) {
			return true
		}
	}
	return false
}

// comments says of each line whether it is a comment, as a whole.
func (l *language) comments(lines []string) []bool {
	dead := make([]bool, len(lines))
	end := "" // what ends the comment that we are in
	for i, raw := range lines {
		text := strings.TrimSpace(raw)
		if end != "" {
			dead[i] = true
			if strings.Contains(text, end) {
				end = ""
			}
			continue
		}
		switch {
		case l.hash && strings.HasPrefix(text, "#"), !l.hash && strings.HasPrefix(text, "//"):
			dead[i] = true
		case l.hash && strings.HasPrefix(text, "=begin"):
			dead[i], end = true, "=end"
		case l.hash && (strings.HasPrefix(text, `"""`) || strings.HasPrefix(text, "'''")):
			dead[i] = true
			if !strings.Contains(text[3:], text[:3]) {
				end = text[:3]
			}
		case !l.hash && strings.HasPrefix(text, "/*"):
			dead[i] = true
			if !strings.Contains(text[2:], "*/") {
				end = "*/"
			}
		}
	}
	return dead
}
