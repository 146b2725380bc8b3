package failure

import (
	"strings"
)

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
