package safetext

import "strings"

var (
	// skipMark is what CI systems obey in a commit's message: "[skip ci]", "[ci skip]", "[no ci]", "[skip actions]".
	skipMark = lazy(`(?i)\[[ \t]*((?:skip|no)[ \t_-]*(?:ci|actions?|checks?|builds?|travis|circle(?:ci)?|appveyor|azp|` +
		`azurepipelines|buddy|buildkite|drone|gitlab|netlify|render|tests?|vercel|workflows?)|[a-z]+[ \t_-]*skip)[ \t]*\]`)
	// skipTrailer is the same as a trailer: "skip-checks: true"; skipWord is that of one system.
	skipTrailer = lazy(`(?im)^([ \t]*skip-checks?)[ \t]*:`)
	skipWord    = lazy(`(?i)\*{2,}(no)_(ci)\*{2,}`)
)

// WithoutSkips is a text for a commit's message without the marks that keep workflows from running: whoever writes an
// issue's title, and an agent, must not decide that. The words stay.
func WithoutSkips(text string) string {
	small := strings.ToLower(text)
	if !strings.Contains(small, "skip") && !strings.Contains(small, "no") {
		return text
	}
	text = skipMark.ReplaceAllString(text, "($1)")
	text = skipTrailer.ReplaceAllString(text, "$1 -")
	return skipWord.ReplaceAllString(text, "$1 $2")
}
