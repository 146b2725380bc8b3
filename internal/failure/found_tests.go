package failure

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

var (
	goLogged  = lazy(`^\s+([\w./-]+\.go):(\d+): (.*)$`)
	goPanic   = lazy(`^(panic|fatal error): (.*?)(?: \[recovered.*)?$`)
	goFrame   = lazy(`^\t(\S+\.go):(\d+)(?: \+0x[0-9a-f]+)?$`)
	goForeign = lazy(`/(?:src/(?:runtime|testing|internal|sync|reflect|panic)|pkg/mod)/`)
)

// readGoTest finds the tests that go test says have failed, and what they logged; and where a program panicked.
func readGoTest(lines []string, found *findings) {
	logged := map[string][]loop.Finding{} // by test: with -v it comes before the verdict
	var failed []string
	owner, panicking := "", ""
	for i, line := range lines {
		if m := goSays.FindStringSubmatch(line); m != nil {
			owner = m[1]
		} else if m := goEnds.FindStringSubmatch(line); m != nil {
			owner = m[2]
			if m[1] == "FAIL" {
				failed = append(failed, owner)
			}
		} else if m := goLogged.FindStringSubmatch(line); m != nil && owner != "" {
			message := m[3]
			if message == "" && i+1 < len(lines) {
				message = lines[i+1]
			}
			logged[owner] = append(logged[owner], loop.Finding{File: m[1], Line: number(m[2]), Test: owner, Message: message})
		} else if m := goPanic.FindStringSubmatch(line); m != nil {
			panicked := loop.Finding{Test: owner, Message: m[1] + ": " + m[2]}
			panicked.File, panicked.Line = goPlace(lines[i+1:])
			found.add(panicked)
			owner, panicking = "", owner
		}
	}
	for _, test := range failed {
		for _, f := range logged[test] {
			found.add(f)
		}
		if len(logged[test]) == 0 && test != panicking && !parentOf(test, failed) {
			found.add(loop.Finding{Test: test})
		}
	}
}

// parentOf reports whether one of the tests is a part of this one.
func parentOf(test string, tests []string) bool {
	return slices.ContainsFunc(tests, func(t string) bool { return strings.HasPrefix(t, test+"/") })
}

// goPlace is the first place of a dump that is not the runtime's.
func goPlace(lines []string) (file string, line int) {
	for _, text := range lines[:min(len(lines), 60)] {
		if m := goFrame.FindStringSubmatch(text); m != nil && !goForeign.MatchString(m[1]) {
			return m[1], number(m[2])
		}
	}
	return "", 0
}

var (
	pytestName = lazy(`^_+ (?:ERROR (?:at \w+ of|collecting) )?(.+?) _+$`)
	pytestAt   = lazy(`^(\S.*\.py):(\d+): (.*)$`)
	pytestSum  = lazy(`^(?:FAILED|ERROR) (\S+?\.py)(?:::(.*?))?(?: - (.*))?$`)
)

// readPytest finds failed tests with their first assertion and the last place of their trace.
func readPytest(lines []string, found *findings) {
	if !isPytest(lines) {
		return
	}
	known := map[string]bool{}
	f := loop.Finding{}
	flush := func() {
		if f.Test != "" && f.Message != "" {
			known[f.Test] = true
			found.add(f)
		}
		f = loop.Finding{}
	}
	for _, line := range lines {
		if strings.HasPrefix(line, "=") {
			flush()
		} else if m := pytestName.FindStringSubmatch(line); m != nil {
			flush()
			f.Test = m[1]
		} else if m := pytestAt.FindStringSubmatch(line); m != nil && f.Test != "" {
			f.File, f.Line = m[1], number(m[2])
			if f.Message == "" && !strings.HasPrefix(m[3], "in ") {
				f.Message = m[3]
			}
		} else if said, ok := strings.CutPrefix(line, "E  "); ok && f.Test != "" && f.Message == "" {
			f.Message = said
		} else if m := pytestSum.FindStringSubmatch(line); m != nil {
			name := strings.ReplaceAll(m[2], "::", ".")
			if !known[name] && !known[m[1]] {
				found.add(loop.Finding{File: m[1], Test: name, Message: m[3]})
			}
		}
	}
	flush()
}

var pythonError = lazy(`^[A-Za-z_][\w.]*(?:Error|Exception|Warning|Exit|Interrupt|Iteration|Failure)?(?::|$)`)

// readTraceback finds the last own frame of Python's tracebacks, with the exception.
func readTraceback(lines []string, found *findings) {
	f, inside := loop.Finding{}, false
	test := ""
	for _, line := range lines {
		if m := unittestName.FindStringSubmatch(line); m != nil {
			test = m[1]
			continue
		}
		if strings.HasPrefix(strings.TrimSpace(line), "Traceback (most recent call last)") {
			inside, f = true, loop.Finding{}
			continue
		}
		m := pythonFrame.FindStringSubmatch(line)
		switch {
		case m != nil && !isForeignPython(m[1]):
			f.File, f.Line = m[1], number(m[2])
			inside = true
		case inside && f.File != "" && line != "" && line[0] != ' ' && pythonError.MatchString(line):
			f.Message, f.Test = line, test
			found.add(f)
			inside, f, test = false, loop.Finding{}, ""
		}
	}
}

var unittestName = lazy(`^(?:FAIL|ERROR): (\w+) \([\w.]+\)`)

var cargoPanic = lazy(`^thread '([^']*)'(?: \(\d+\))? panicked at (\S+?):(\d+):(\d+):$`)

// readCargo finds the panics of Rust tests.
func readCargo(lines []string, found *findings) {
	for i, line := range lines {
		if m := cargoPanic.FindStringSubmatch(line); m != nil {
			var said []string
			for _, next := range lines[i+1 : min(len(lines), i+4)] {
				if next == "" || strings.HasPrefix(next, "note:") || strings.HasPrefix(next, "stack backtrace") {
					break
				}
				said = append(said, strings.TrimSpace(next))
			}
			found.add(loop.Finding{File: m[2], Line: number(m[3]), Column: number(m[4]), Test: m[1],
				Message: strings.Join(said, ", ")})
		}
	}
}

var (
	scriptFile  = lazy(`^\s*FAIL +(?:\|[^|]*\| *)?(\S+\.[cm]?[jt]sx?)(?: > (.*)| \(.*\))?(?: \[.*\])?$`)
	jestTest    = lazy(`^\s*● (.+)$`)
	scriptPlace = lazy(`^\s*(?:at .*?\(?|❯ (?:.* )?)((?:file://)?[^\s()]+\.[cm]?[jt]sx?):(\d+):(\d+)\)?$`)
	ownCode     = lazy(`node_modules|node:|internal/`)
	mochaTest   = lazy(`^\s*\d+\) (.+)$`)
)

// readJavaScriptTests finds what jest and vitest report: file, test, the first line that says why, and the first place
// of the project.
func readJavaScriptTests(lines []string, found *findings) {
	f := loop.Finding{}
	flush := func() {
		if f.Test != "" && f.Message != "" || f.File != "" && f.Message != "" {
			found.add(f)
		}
	}
	for _, line := range lines {
		if m := scriptFile.FindStringSubmatch(line); m != nil {
			flush()
			f = loop.Finding{File: m[1], Test: m[2]}
			continue
		}
		if f.File == "" {
			continue
		}
		text := strings.TrimSpace(line)
		if m := jestTest.FindStringSubmatch(line); m != nil {
			flush()
			f = loop.Finding{File: f.File, Test: m[1]}
		} else if m := scriptPlace.FindStringSubmatch(line); m != nil {
			if f.Line == 0 && !ownCode.MatchString(m[1]) {
				f.File, f.Line, f.Column = m[1], number(m[2]), number(m[3])
			}
		} else if strings.HasPrefix(text, "Test Suites:") || strings.HasPrefix(text, "Test Files") ||
			strings.HasPrefix(text, "PASS ") {
			flush()
			f = loop.Finding{}
		} else if expected(text) {
			f.Message = strings.TrimPrefix(f.Message+"; "+text, "; ")
		} else if f.Message == "" && text != "" && f.Test != "Console" && !strings.HasPrefix(text, "⎯") {
			f.Message = text
		}
	}
	flush()
}

func expected(text string) bool {
	return strings.HasPrefix(text, "Expected") && strings.Contains(text, ":") || strings.HasPrefix(text, "Received") &&
		strings.Contains(text, ":")
}

// readMocha finds the numbered failures at the end of mocha's report.
func readMocha(lines []string, found *findings) {
	begin := -1
	for i, line := range lines {
		if strings.HasSuffix(line, " failing") && mochaCount.MatchString(line) {
			begin = i + 1
		}
	}
	if begin < 0 {
		return
	}
	f, title := loop.Finding{}, false
	for _, line := range lines[begin:] {
		text := strings.TrimSpace(line)
		if m := mochaTest.FindStringSubmatch(line); m != nil {
			if f.Message != "" {
				found.add(f)
			}
			f, title = loop.Finding{Test: strings.TrimSuffix(m[1], ":")}, !strings.HasSuffix(m[1], ":")
		} else if m := scriptPlace.FindStringSubmatch(line); m != nil {
			if f.Line == 0 && !ownCode.MatchString(m[1]) {
				f.File, f.Line, f.Column = m[1], number(m[2]), number(m[3])
			}
		} else if title && text != "" {
			f.Test += " " + strings.TrimSuffix(text, ":")
			title = !strings.HasSuffix(text, ":")
		} else if f.Test != "" && f.Message == "" {
			f.Message = text
		}
	}
	if f.Message != "" {
		found.add(f)
	}
}

var mochaCount = lazy(`^\s*\d+ failing$`)

var (
	tapPlace  = lazy(`(?:^ +location: '|^ +at: .*\(|^# +\((?:in test file|from function .* in test file) )([^'\s]+?)(?::|, line )(\d+)(?::(\d+))?`)
	tapReason = lazy(`^(?: +(?:error|message): *(.*)|# +('.*' failed.*))$`)
	ofSubtest = lazy(`^\d+ subtests? failed$`)
)

// readTAP finds the points of the Test Anything Protocol that failed, and what the block or the comments below each say.
func readTAP(lines []string, found *findings) {
	f := loop.Finding{}
	for i, line := range append(lines[:len(lines):len(lines)], "ok 0") { // which ends the last one
		if m := namedTAP.FindStringSubmatch(line); m != nil {
			if f.Test != "" && !ofSubtest.MatchString(f.Message) {
				found.add(f)
			}
			if f = (loop.Finding{}); m[1] != "" && m[3] == "" {
				f.Test = m[2]
			}
			continue
		}
		if f.Test == "" {
			continue
		}
		if m := tapPlace.FindStringSubmatch(line); m != nil && f.Line == 0 {
			f.File, f.Line, f.Column = m[1], number(m[2]), number(m[3])
		} else if m := tapReason.FindStringSubmatch(line); m != nil && f.Message == "" {
			f.Message = strings.Trim(m[1], `'"`) + m[2]
			if strings.Trim(f.Message, "|>-+") == "" && i+1 < len(lines) { // a text of several lines
				f.Message = strings.TrimSpace(lines[i+1])
			}
		}
	}
}
