package safetext

import "github.com/ralph-loop/ralph/internal/regex"

type pattern = regex.Pattern

// lazy is a pattern that is compiled when it is first asked.
func lazy(text string) *pattern { return regex.Lazy(text) }
