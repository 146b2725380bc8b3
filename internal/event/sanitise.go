package event

import "strings"

// maxPasses is how often a text is gone over. Taking something out can lay bare something else; honest texts need two passes.
const maxPasses = 30

// Sanitise takes out of Markdown whatever a person who looks at it on GitHub would not see, so that nobody can tell the agent
// something behind the maintainer's back (B-14): comments, invisible characters, attributes of HTML, images' alternative texts,
// titles, definitions that nothing refers to, the rest of a fence's info string. Visible text in any script stays as it is, and so
// does code, but for invisible characters. Sanitising twice changes nothing more.
func Sanitise(s string) string {
	s = Visible(s)
	for range maxPasses {
		next := unhide(s)
		if next == s {
			return s
		}
		s = next
	}
	return strings.Map(func(r rune) rune { // somebody plays games: leave nothing that could be markup
		if strings.ContainsRune("<>[]()!`~", r) {
			return -1
		}
		return r
	}, s)
}

func unhide(s string) string {
	s = Visible(dropMarkup(s))
	return dropDefinitions(s)
}
