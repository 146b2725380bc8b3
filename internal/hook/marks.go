package hook

import "strings"

// Marks stand in a word for what its text does not say. They are of the range that no alphabet uses; a command that holds them loses them.
const (
	unknown    = "\uE000" // a variable of the environment
	downloaded = "\uE001" // what came over the network
	decoded    = "\uE002" // what was decoded from something that is not in the command
	secret     = "\uE003" // a variable whose name says that it holds a secret
	output     = "\uE004" // what a program prints

	marks = unknown + downloaded + decoded + secret + output
)

// unmarked takes the marks out of what comes from outside.
func unmarked(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(marks, r) {
			return '?'
		}
		return r
	}, text)
}

// marked are the marks of a text, or output when it has none.
func marked(text string) string {
	var b strings.Builder
	for _, mark := range marks {
		if strings.ContainsRune(text, mark) {
			b.WriteRune(mark)
		}
	}
	if b.Len() == 0 {
		return output
	}
	return b.String()
}

// foreign reports whether a text came from where nobody can read it before it is run.
func foreign(text string) bool { return strings.ContainsAny(text, downloaded+decoded) }
