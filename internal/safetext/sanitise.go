package safetext

// maxPasses is how often a text is gone over. Taking something out can lay bare something else; honest texts need two
// passes.
const maxPasses = 5

// TooDeep is what Sanitise puts in the place of a text that has more in each other than anybody writes: lists, quotes,
// links, tables or comments. What GitHub shows of it cannot be told soon enough.
const TooDeep = "(Here stood a text that ralph has left out: it has more lists, quotes, links, tables or comments in " +
	"each other than anybody reads. " +
	"Whoever wrote it has to write it without them.)"

// Sanitise takes out of Markdown whatever a person who looks at it on GitHub would not see, so that nobody can tell the
// agent something behind the maintainer's back: comments, invisible characters, attributes of HTML, images' alternative
// texts, titles, definitions that nothing refers to, the rest of a fence's info string. Visible text in any script
// stays as it is, and so does code, but for invisible characters. Sanitising twice changes nothing more. A text that is
// made to be slow to read is left out as a whole, and TooDeep stands in its place.
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
	return TooDeep // somebody plays games
}

// reading keeps the newest outline: most texts have nothing to take out, and one is enough for them.
type reading struct {
	of       string
	last     *outline
	overdone bool
}

func (r *reading) outline(s string) *outline {
	if r.last == nil || r.of != s {
		o := outlineOf(s)
		r.of, r.last = s, &o
		r.overdone = r.overdone || o.overdone
	}
	return r.last
}

func (r *reading) unhide(s string) string {
	for _, drop := range []func(string) string{r.dropMarkup, Visible, r.dropFootnotes, r.dropDefinitions} {
		if s = drop(s); r.overdone {
			return ""
		}
	}
	return s
}
