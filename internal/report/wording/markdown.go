package wording

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/safetext"
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
	if Linkable(url) == "" {
		return text
	}
	return "[" + text + "](" + url + ")"
}

var notRun = regex.Lazy(`[^A-Za-z0-9._-]`)

// MarkerName is a run's id, or a task's name, as it is in a marker.
func MarkerName(run string) string { return safetext.Shorten(notRun.ReplaceAllString(run, ""), 80) }

var SafeWord = regex.Lazy(`^[A-Za-z0-9._/+=:,%-]+$`)

// ShellWord quotes a name for a shell; git allows nearly everything in a branch.
func ShellWord(s string) string {
	if SafeWord.MatchString(s) && !strings.HasPrefix(s, "-") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Bare is what can be seen of a text.
func Bare(s string) string {
	return safetext.Visible(Colors.ReplaceAllString(strings.ToValidUTF8(s, "\uFFFD"), ""))
}

// Colors are what a terminal acts upon: colors, titles, links.
var Colors = regex.Lazy(`\x1b(\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(\x07|\x1b\\)?|[@-Z\\^_])`)

// Sentence ends a text with a full stop, unless it has its own end.
func Sentence(s string) string {
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") || strings.HasSuffix(s, "…") {
		return s
	}
	return s + "."
}

// Brief is someone else's text on one line.
func Brief(s string, most int) string { return safetext.Shorten(safetext.OneLine(s), most) }

func JoinedBy(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return p == "" }), sep)
}

func Yes(so bool) string {
	if so {
		return "yes"
	}
	return "no"
}

// Row is one line of a table. A bar inside a cell is escaped, which in a table goes for code as well.
func Row(cells ...string) string {
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(strings.ReplaceAll(c, `\|`, "|"), "|", `\|`)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}
