package stream

import (
	"io"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// begin says what the next lines are of, and parts them from those before.
func (f *Formatter) begin(b block) {
	apart := b == listBlock || f.shown == listBlock || f.shown == toolBlock && b == wordsBlock
	if apart && f.shown != noBlock && !f.options.ShowTimestamp {
		f.line(noColour, "")
	}
	f.shown, f.latest = b, ""
}

// line shows one line.
func (f *Formatter) line(c colour, s string) {
	s = strings.TrimRight(safetext.Inert(clip(f.redacted(s), lineBytes, f.marks.more)), " \t")
	if f.options.UseColor && c != noColour && s != "" {
		s = "\x1b[" + string(c) + "m" + s + "\x1b[0m"
	}
	if f.options.ShowTimestamp {
		zone := f.options.Zone
		if zone == nil {
			zone = time.Local
		}
		s = strings.TrimRight(f.at.In(zone).Format("[15:04:05] ")+s, " ")
	}
	_, _ = io.WriteString(f.to, s+"\n")
}

func (f *Formatter) redacted(s string) string {
	if f.options.Redact == nil {
		return s
	}
	return f.options.Redact(s)
}

// indent puts what a helper of the agent does under what the agent does.
func under(nested bool) string {
	if nested {
		return "  "
	}
	return ""
}

// clip keeps the beginning of a line.
func clip(s string, most int, more string) string {
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + " " + more
	}
	return s
}
