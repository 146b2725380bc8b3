package report

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// trailersOf say what a commit belongs to.
func trailersOf(s loop.State, it loop.Iteration) [][2]string {
	trailers := [][2]string{
		{"Ralph-Task", trailerValue(s.Start.Task)},
		{"Ralph-Run", trailerValue(s.Start.Run)},
		{"Ralph-Iteration", fmt.Sprint(it.N)},
	}
	if it.Mode != "" {
		trailers = append(trailers, [2]string{"Ralph-Mode", trailerValue(string(it.Mode))})
	}
	if it.Story != "" {
		trailers = append(trailers, [2]string{"Ralph-Story", trailerValue(it.Story)})
	}
	return trailers
}

func messageOf(subject, body string, trailers [][2]string) string {
	var b strings.Builder
	b.WriteString(subject + "\n\n" + body)
	for _, t := range trailers {
		b.WriteString(t[0] + ": " + t[1] + "\n")
	}
	return b.String()
}

var (
	login    = regex.Lazy(`^[A-Za-z0-9][A-Za-z0-9-]{0,99}(\[bot\])?$`)
	host     = regex.Lazy(`^[A-Za-z0-9][A-Za-z0-9.-]*$`)
	notValue = regex.Lazy(`[^A-Za-z0-9._/-]+`)

	address   = regex.Lazy(`(?i)[a-z][a-z0-9+.-]*://\S*|\bwww\.\S*`)
	reference = regex.Lazy(`(?i)#+(\d)|\bGH-(\d)`)
)

func trailerValue(s string) string { return safetext.Shorten(notValue.ReplaceAllString(s, "-"), 100) }

// plain is foreign text for a place without Markdown: one line in which nothing refers to anything. Brackets go because
// CI systems obey "[skip ci]".
func plain(s string) string {
	s = address.ReplaceAllString(safetext.OneLine(s), "(link)")
	s = reference.ReplaceAllString(s, "$1$2")
	return safetext.OneLine(strings.NewReplacer("@", "", "[", "(", "]", ")", "<", "", ">", "").Replace(s))
}
