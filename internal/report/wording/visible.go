package wording

import (
	"github.com/ralph-loop/ralph/internal/regex"

	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Bare is what can be seen of a text.
func Bare(s string) string {
	return safetext.Visible(Colours.ReplaceAllString(strings.ToValidUTF8(s, "\uFFFD"), ""))
}

// Colours are what a terminal acts upon: colors, titles, links.
var Colours = regex.Lazy(`\x1b(\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(\x07|\x1b\\)?|[@-Z\\^_])`)
