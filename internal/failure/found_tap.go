package failure

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

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
