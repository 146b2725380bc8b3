package failure

import (
	"slices"
	"strings"
)

// running are runners that tell what failed at the end: by what the progress of their tests begins and ends. What the
// tests print comes between, now before and now behind the letter of another test.
var running = []struct{ begins, ends string }{
	{"# Running:", "Finished in "}, // minitest
	{"JUnit version ", "Time: "},
	{"PHPUnit ", "Time: "},
}

// progress drops what comes while tests run, of runners that tell what failed when they have.
func progress(lines []string) []string {
	for _, r := range running {
		begin := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, r.begins) })
		if begin < 0 {
			continue
		}
		end := slices.IndexFunc(lines[begin:], func(line string) bool { return strings.HasPrefix(line, r.ends) })
		if end > 0 {
			lines = slices.Concat(lines[:begin], lines[begin+end:])
		}
	}
	return lines
}

var libtestSays = lazy(`^test (\S.*?) \.\.\. *(.*)$`)

// libtest takes off what a test of Rust prints what stands before it on the line, "test name ... ", and the result that
// comes on another line then. Which tests failed is listed below.
func libtest(lines []string) []string {
	listed := false
	for _, line := range lines {
		listed = listed || line == "failures:"
	}
	if !listed {
		return lines
	}
	var kept []string
	for _, line := range lines {
		if strings.HasPrefix(line, "test ") {
			if m := libtestSays.FindStringSubmatch(line); m != nil {
				line = m[2]
			}
		}
		if line != "FAILED" && line != "ok" {
			kept = append(kept, line)
		}
	}
	return kept
}

var fileDots = lazy(`^\S+[./]\S* \.{2,}(?: +(?:\d+/[\d?]+ *)*(.*))?$`)

// unglued is a line without the progress that a runner printed before it: dots and letters, "..E.no such user", or a
// file, "t/a.t .. 1/? ".
func unglued(line string) string {
	if strings.Contains(line, " ..") {
		if m := fileDots.FindStringSubmatch(line); m != nil {
			return m[1]
		}
	}
	end, dots := 0, 0
	for i := 0; i < len(line) && strings.IndexByte(".EFSIWRxsu", line[i]) >= 0; i++ {
		if line[i] == '.' {
			dots++
			end = i + 1
		}
	}
	if dots < 2 || line[0] != '.' && !strings.Contains(line[:end], "..") || end == len(line) ||
		strings.IndexByte("/ \\", line[end]) >= 0 {
		return line
	}
	return line[end:]
}
