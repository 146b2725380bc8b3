package safetext

import (
	"strings"
)

// maxPasses is how often a text is gone over. Taking something out can lay bare something else; honest texts need two
// passes.
const maxPasses = 5

// TooDeep is what Sanitise puts in the place of a text that has more in each other than anyone writes: lists, quotes,
// links, tables or comments. What GitHub shows of it would take too long to find out.
const TooDeep = "(Here stood a text that ralph has left out: it has more lists, quotes, links, tables or comments in each other than ralph reads. Its author must write it without them.)"

// Sanitise takes out of Markdown whatever a person who looks at it on GitHub would not see, so that no one can tell the
// agent something behind the maintainer's back: comments, invisible characters, attributes of HTML, images' alternative
// texts, titles, definitions that nothing refers to, the rest of a fence's info string. Visible text in any script
// stays as it is, and so does code, but for invisible characters. Sanitising twice changes nothing more. A text that is
// made to be slow to read is left out as a whole, and TooDeep is in its place.
func Sanitise(s string) string {
	s = Visible(s)
	var r reading
	for range maxPasses {
		next := r.unhide(s)
		switch {
		case r.overdone:
			return TooDeep
		case next == s:
			return s
		}
		s = next
	}
	return TooDeep // someone plays games
}

func (r *reading) unhide(s string) string {
	for _, drop := range []func(string) string{r.dropMarkup, Visible, r.dropFootnotes, r.dropDefinitions} {
		if s = drop(s); r.overdone {
			return ""
		}
	}
	return s
}

var (
	// skipMark is what CI systems obey in a commit's message: "[skip ci]", "[ci skip]", "[no ci]", "[skip actions]".
	skipMark = lazy(`(?i)\[[ \t]*((?:skip|no)[ \t_-]*(?:ci|actions?|checks?|builds?|travis|circle(?:ci)?|appveyor|azp|` +
		`azurepipelines|buddy|buildkite|drone|gitlab|netlify|render|tests?|vercel|workflows?)|[a-z]+[ \t_-]*skip)[ \t]*\]`)
	// skipTrailer is the same as a trailer: "skip-checks: true"; skipWord is that of one system.
	skipTrailer = lazy(`(?im)^([ \t]*skip-checks?)[ \t]*:`)
	skipWord    = lazy(`(?i)\*{2,}(no)_(ci)\*{2,}`)
)

// WithoutSkips is a text for a commit's message without the marks that keep workflows from running: the author of an
// issue, and an agent, must not decide that. The words stay.
func WithoutSkips(text string) string {
	small := strings.ToLower(text)
	if !strings.Contains(small, "skip") && !strings.Contains(small, "no") {
		return text
	}
	text = skipMark.ReplaceAllString(text, "($1)")
	text = skipTrailer.ReplaceAllString(text, "$1 -")
	return skipWord.ReplaceAllString(text, "$1 $2")
}
