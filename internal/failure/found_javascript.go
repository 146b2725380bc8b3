package failure

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

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

// vitest drops the list of tests that vitest draws while it runs: in a terminal it is another one. The report of what
// failed follows.
func vitest(lines []string) []string {
	begin := -1
	var kept []string
	for _, line := range lines {
		switch text := strings.TrimSpace(line); {
		case strings.HasPrefix(text, "RUN  v"), strings.HasPrefix(text, "DEV  v"), strings.HasPrefix(text, "RUN v"):
			begin = len(kept)
		case begin >= 0 && strings.Contains(text, "⎯⎯"):
			kept = kept[:begin]
			begin = -1
		}
		kept = append(kept, line)
	}
	return kept
}
