package stream

import (
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
)

// FormatOptions are how events are shown. The zero value is plain ASCII, for a pipe or a file.
type FormatOptions struct {
	UseEmoji      bool // else text markers: [OK], [ERR]
	UseColor      bool // terminal sequences for colours, none of which comes from the agent
	ShowTimestamp bool // "[15:04:05] " before each line, and no line is empty
	// MaxOutputLines and MaxOutputChars are how much of a tool's answer is shown, empty lines not counted; 0 is 3 lines
	// and 400 characters, below 0 is nothing of it.
	MaxOutputLines, MaxOutputChars int
	Zone                           *time.Location      // of timestamps; nil is the local one
	Redact                         func(string) string // takes secrets out of a line before it is cut; nil: nothing
}

// Place is where lines go.
type Place struct {
	Terminal bool // someone looks at them as they come
	CI       bool // they make the log of a job
	// Environ may say how: NO_COLOR, CLICOLOR, CLICOLOR_FORCE, TERM; NAME=value each.
	Environ []string
}

// FormatFor chooses how events are shown at a place: emoji and colors on a terminal, emoji in the log of a job, plain
// ASCII in a pipe.
func FormatFor(p Place) FormatOptions {
	return FormatOptions{UseEmoji: p.Terminal || p.CI, UseColor: p.colours()}
}

// colors follows no-color.org and bixense.com/clicolors: a no counts before a yes.
func (p Place) colours() bool {
	value := func(name string) string { return proc.Value(p.Environ, name) }
	switch force := value("CLICOLOR_FORCE"); {
	case value("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	}
	return p.Terminal && !p.CI && value("CLICOLOR") != "0" && !slices.Contains([]string{"", "dumb"}, value("TERM"))
}

// marks are what lines begin with.
type marks struct {
	tool, ok, failed, waiting, retry, from, excerpt, more string
	todo, todoDone, todoActive, todoOpen, active, chart   string
}

var (
	emojiMarks = marks{
		tool: "⏺ ", ok: "✅ ", failed: "❌ ", waiting: "⏸️ ", retry: "🔁 ", from: "←", excerpt: "⎿", more: "[…]",
		todo: "📋 ", todoDone: "✅ ", todoActive: "🔄 ", todoOpen: "⏸️ ", active: " ← ACTIVE", chart: "📊 ",
	}
	asciiMarks = marks{
		tool: "> ", ok: "[OK] ", failed: "[ERR] ", waiting: "[WAIT] ", retry: "[RETRY] ", from: "<-", excerpt: "|",
		more:     "[...]",
		todoDone: "[x] ", todoActive: "[>] ", todoOpen: "[ ] ", active: " <- ACTIVE",
	}
)

// color is the number of a terminal's graphic rendition; "" is none.
type colour string

const (
	noColour colour = ""
	bold     colour = "1"
	faint    colour = "2"
	red      colour = "31"
	green    colour = "32"
	yellow   colour = "33"
	cyan     colour = "36"
)
