package wording

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

func Place(f loop.Finding) string {
	if f.File != "" && f.Line > 0 {
		return fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	return cmp.Or(f.File, f.Test)
}

// Said is a finding's message with the rule that it breaks.
func Said(f loop.Finding) string {
	if strings.Contains(f.Message, f.Rule) { // also when there is none
		return f.Message
	}
	return f.Rule + ": " + f.Message
}

// Unplaced is why a check failed without the place that its reason names, where that stands in a list of its own.
func Unplaced(c loop.Verdict) string {
	if len(c.Findings) == 0 || c.Findings[0].Message == "" {
		return c.Reason
	}
	first := c.Findings[0]
	for _, shown := range []string{Place(first) + ": " + first.Message, first.Message} {
		if before, ok := strings.CutSuffix(c.Reason, ": "+shown); ok {
			return before
		}
	}
	return c.Reason
}
