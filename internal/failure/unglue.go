package failure

import (
	"strings"
)

var letters = lazy(`^([.EFSIWRxsu]*\.)([^/ \\.].*)$`)

var fileDots = lazy(`^\S+[./]\S* \.{2,}(?: +(?:\d+/[\d?]+ *)*(.*))?$`)

// unglued is a line without the progress that a runner printed before it: dots and letters, "..E.no such user", or a
// file, "t/a.t .. 1/? ".
func unglued(line string) string {
	if m := fileDots.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	m := letters.FindStringSubmatch(line)
	if m == nil || strings.Count(m[1], ".") < 2 || m[1][0] != '.' && !strings.Contains(m[1], "..") {
		return line
	}
	return m[2]
}
