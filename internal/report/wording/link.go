package wording

import (
	"github.com/ralph-loop/ralph/internal/regex"
)

// Linkable is an address that a link may lead to, or "".
func Linkable(url string) string {
	if len(url) > MaxURL || !plainURL.MatchString(url) {
		return ""
	}
	return url
}

// plainURL is what a link of ours may lead to; anything else is shown without a link.
var plainURL = regex.Lazy(`^https?://[A-Za-z0-9._:-]+(/[A-Za-z0-9._~%/?=&#+-]*)?$`)

const MaxURL = 500

// Link is a Markdown link with a text of ours, or the text alone when the address is not a plain one.
func Link(text, url string) string {
	if len(url) > MaxURL || !plainURL.MatchString(url) {
		return text
	}
	return "[" + text + "](" + url + ")"
}
