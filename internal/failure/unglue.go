package failure

import "strings"

var libtestSays = lazy(`^test (\S.*?) \.\.\. *(.*)$`)

// libtest takes off what a test of Rust prints what stands before it on the line, "test name ... ", and the result that comes on another
// line then. Which tests failed is listed below.
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

// unglued is a line without the dots and letters of progress that a runner printed before it: "..E.no such user".
func unglued(line string) string {
	end, dots := 0, 0
	for i := 0; i < len(line) && strings.IndexByte(".EFSIWRxsu", line[i]) >= 0; i++ {
		if line[i] == '.' {
			dots++
			end = i + 1
		}
	}
	if dots < 2 || line[0] != '.' && !strings.Contains(line[:end], "..") || end == len(line) || strings.IndexByte("/ \\", line[end]) >= 0 {
		return line
	}
	return line[end:]
}
