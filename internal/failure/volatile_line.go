package failure

import "strings"

// change is one thing that differs between two runs of the same failure.
type change struct {
	when    func(s *shape) bool // whether the line can hold it: the cheap question before the dear one
	pattern *pattern
	with    string
}

// word asks for a number and for one of the words.
func word(words string) func(*shape) bool {
	list := strings.Fields(words)
	return func(s *shape) bool { return s.digits && s.says(list...) }
}

const unit = `(?:ns|[µuμ]s|ms|msecs?|milliseconds?|secs?|seconds?|mins?|minutes?|hrs?|hours?|[smh])\b`

const size = `\d+(?:\.\d+)? ?(?:bytes|B|[kKMG]i?B)\b`

func aPort(s *shape) bool     { return s.port }
func aPlace(s *shape) bool    { return s.placed }
func aDuration(s *shape) bool { return s.duration }
