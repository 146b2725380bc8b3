package prompt

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Found is what looking for something missing came to.
type Found struct {
	Looked   []string // the names that the failure says are missing
	Defined  bool     // one of them is in the repository
	Excerpts []Excerpt
}

// Excerpt is a part of a file.
type Excerpt struct {
	File string
	From int    // the number of its first line, 1-based
	Why  string // "where it failed", "defines parseConfig", "is named like config.yaml"
	Text string
}

// section shows what was found, each line with its number, within borders and a room: it is the repository's text.
func (f Found) section(border safetext.Border, room int) string {
	if len(f.Looked) == 0 && len(f.Excerpts) == 0 {
		return ""
	}
	var looked []string
	for _, name := range f.Looked {
		looked = append(looked, lineOf(name, 80))
	}
	var b strings.Builder
	b.WriteString("## Context\n\nThe error suggests that something is missing.")
	var inside strings.Builder
	if !f.Defined && len(looked) > 0 {
		b.WriteString(" Nothing in the repository defines what is named first. Make it, or do without it.")
		inside.WriteString("not defined: " + safetext.AndMore(looked, 5) + "\n\n")
	}
	if len(f.Excerpts) > 0 {
		b.WriteString(" These files may help.")
		for _, e := range f.Excerpts {
			one := e.numbered()
			if inside.Len()+len(one) > room {
				break
			}
			inside.WriteString(one)
		}
	}
	return b.String() + " " + asData(border, "what was found", inside.String())
}

func (e Excerpt) numbered() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, from line %d", lineOf(e.File, maxLine), e.From)
	if e.Why != "" {
		fmt.Fprintf(&b, " (%s)", lineOf(e.Why, 100))
	}
	b.WriteString(":\n")
	for i, text := range strings.Split(strings.TrimRight(e.Text, "\n"), "\n") {
		fmt.Fprintf(&b, "%5d  %s\n", e.From+i, clip(strings.ToValidUTF8(strings.TrimRight(text, "\r \t"), "\uFFFD"), maxLine))
	}
	return b.String() + "\n"
}
