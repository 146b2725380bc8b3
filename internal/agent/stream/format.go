package stream

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// FormatOptions are how events are shown. The zero value is plain ASCII, for a pipe or a file.
type FormatOptions struct {
	UseEmoji      bool                // else text markers: [OK], [ERR]
	UseColor      bool                // terminal sequences for colors, none of which comes from the agent
	ShowTimestamp bool                // "[15:04:05] " before each line, and no line is empty
	Zone          *time.Location      // of timestamps; nil is the local one
	Redact        func(string) string // takes secrets out of a line before it is cut; nil: nothing
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
	return FormatOptions{UseEmoji: p.Terminal || p.CI, UseColor: p.colors()}
}

// colors follows no-color.org and bixense.com/clicolors: a no counts before a yes.
func (p Place) colors() bool {
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

// color is the number of a terminal's graphic rendition; "" is the default color.
type color string

const (
	noColor color = ""
	bold    color = "1"
	faint   color = "2"
	red     color = "31"
	green   color = "32"
	yellow  color = "33"
	cyan    color = "36"
)

// tally is what a turn took, where "in" is all that the model read, from the cache or not: "cost: $5.76", "tokens: 1.2M
// in (850K cached) / 45K out", "tools: 58", "errors: 4", "time: 6m7s".
func tally(t loop.Turn) []string {
	var parts []string
	u := t.Usage
	if u.CostUSD > 0 {
		parts = append(parts, "cost: "+loop.Dollars(u.CostUSD))
	}
	if u.Input+u.CacheRead+u.CacheWrite+u.Output > 0 {
		cached := ""
		if u.CacheRead > 0 {
			cached = " (" + brief(u.CacheRead) + " cached)"
		}
		parts = append(parts, "tokens: "+brief(u.Input+u.CacheRead+u.CacheWrite)+" in"+cached+" / "+brief(u.Output)+" out")
	}
	if t.Tools > 0 {
		parts = append(parts, fmt.Sprintf("tools: %d", t.Tools))
	}
	if t.ToolErrors > 0 {
		parts = append(parts, fmt.Sprintf("errors: %d", t.ToolErrors))
	}
	if t.Duration > 0 {
		parts = append(parts, "time: "+briefly(t.Duration))
	}
	return parts
}

// brief writes a count in at most five characters: "999", "45K", "1.2M".
func brief(n int64) string {
	if n < 1000 {
		return strconv.FormatInt(n, 10)
	}
	v := float64(n)
	for _, unit := range []string{"K", "M", "B"} {
		v /= 1000
		tenths := math.Round(v*10) / 10
		switch {
		case tenths < 100:
			return strconv.FormatFloat(tenths, 'f', -1, 64) + unit
		case math.Round(v) < 1000 || unit == "B":
			return strconv.FormatFloat(math.Round(v), 'f', 0, 64) + unit
		}
	}
	return "" // not reached
}

// briefly is a duration as precise as people want it: "420ms", "3.2s", "6m7s".
func briefly(d time.Duration) string {
	switch {
	case d < time.Second:
		d = max(d.Round(time.Millisecond), time.Millisecond)
	case d < 10*time.Second:
		d = d.Round(100 * time.Millisecond)
	default:
		d = d.Round(time.Second)
	}
	return d.String()
}
