package engine

import (
	"github.com/ralph-loop/ralph/internal/regex"
)

type Pattern = regex.Pattern

// Lazy is a pattern that is compiled when it is first asked.
func Lazy(text string) *Pattern { return regex.Lazy(text) }
