package safetext

import "strings"

// Border is what the text of others stands between in a prompt. It is drawn after that text was written, or made of
// what its author cannot know.
type Border string

// Around sets a text between two lines with the border. This is the one place that does, and nothing within can end it:
// whoever found the border out reads another word there.
func (b Border) Around(text string) string {
	if b != "" {
		text = strings.ReplaceAll(text, string(b), "(the border)")
	}
	return "--- begin " + string(b) + " ---\n" + strings.TrimRight(text, "\n") + "\n--- end " + string(b) + " ---"
}
