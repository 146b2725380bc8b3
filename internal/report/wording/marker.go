package wording

import (
	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/safetext"
)

var notRun = regex.Lazy(`[^A-Za-z0-9._-]`)

// MarkerName is a run's id, or a task's name, as it stands in a marker.
func MarkerName(run string) string { return safetext.Shorten(notRun.ReplaceAllString(run, ""), 80) }
