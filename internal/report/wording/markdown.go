package wording

import (
	"fmt"
	"strings"
)

// Folded hides a text behind a heading of ours.
func Folded(heading, text string) string {
	if text == "" {
		return ""
	}
	return "<details><summary>" + heading + "</summary>\n\n" + strings.TrimRight(text, "\n") + "\n\n</details>\n"
}

func Small(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return "<sub>" + strings.Join(parts, " · ") + "</sub>"
}

// TitledBold is a body under a heading that is no more than a word in bold.
func TitledBold(title, body string) string {
	if body == "" {
		return ""
	}
	return "**" + title + ":**\n\n" + body
}

func Titled(title, body string) string {
	if body == "" {
		return ""
	}
	return "### " + title + "\n\n" + body
}

// Markdown collects the lines of a Markdown text.
type Markdown struct{ strings.Builder }

func (p *Markdown) Line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// Part adds a paragraph or block, parted by a blank line; an empty one adds nothing.
func (p *Markdown) Part(text string) {
	if text = strings.TrimRight(text, "\n"); text == "" {
		return
	}
	if p.Len() > 0 {
		p.WriteString("\n")
	}
	p.WriteString(text + "\n")
}
