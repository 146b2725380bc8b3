package safetext

import (
	"strings"
	"unicode"
)

var (
	// ansi matches terminal sequences: CSI, OSC up to its end, and the two-character ones.
	ansi = lazy(
		`\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[PX^_][^\x1b]*(?:\x1b\\)?|\x1b[ -/]*[0-~]`)
	// oldCommand matches the beginning of a workflow command of the old form, which may stand anywhere in a line.
	oldCommand = lazy(`##(\p{M}*)\[`)
)

// Inert makes one line of someone else's output harmless where it is shown: no terminal sequence, no control or
// invisible character, and no workflow command of the runner ("::set-env …", "##[group]"), which reads them from any
// line of a job's output.
func Inert(line string) string {
	line = strings.ToValidUTF8(line, "\uFFFD")
	line = strings.Map(shown, ansi.ReplaceAllString(line, ""))
	line = oldCommand.ReplaceAllString(line, "## $1[")
	begin := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsSpace(r) && !unicode.Is(unicode.M, r) })
	if begin >= 0 && strings.HasPrefix(line[begin:], "::") {
		line = line[:begin] + ": :" + line[begin+2:]
	}
	return line
}

// InertLines is Inert for every line of a text, the last of which ends with a newline too.
func InertLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(Inert(strings.TrimSuffix(line, "\n")) + "\n")
	}
	return b.String()
}

// shown drops what cannot be seen; what would begin a new line becomes a space.
func shown(r rune) rune {
	switch {
	case r == '\t', ' ' <= r && r <= '~':
		return r
	case r == '\r', r == '\n', r == '\v', r == '\f', r == '\u0085', r == '\u2028', r == '\u2029':
		return ' '
	case unicode.Is(unicode.C, r):
		return -1
	}
	return r
}
