package report

import (
	"cmp"
	"html"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/secret"
)

// Words write foreign text into a report: whatever ralph did not write itself, such as issues, agents, check output,
// names of files and branches, and reasons. It is hostile: it can mention people, close issues, give commands, forge a
// marker, open HTML or break out of a fence. It enters a report only through Text, Code, Fence and quote, which share
// Clean. A backslash cannot disarm mentions and references, because GitHub looks for them after rendering; inside code
// they are inert, so that is where they go.
type Words struct {
	Redact func(string) string // nil: identity; applied to every piece of foreign text before it is cut or fenced
	Phrase string              // "/ralph"

	plain bool // the text is no Markdown: a console's
}

var (
	marker      = regex.Lazy(`(?i)<!--(\s*ralph:)`)
	logCommand  = regex.Lazy(`(?m)^(\s*):(:+)`)
	logCommand1 = regex.Lazy(`##\[`)
)

// Clean redacts foreign text and takes out what no one can see, ralph's markers and commands to the runner's log.
// Redaction runs again at the end, because a secret with something invisible inside would be put together again in
// between.
func (w Words) Clean(s string) string {
	s = w.Redacted(strings.ToValidUTF8(s, "\uFFFD"))
	s = wording.Colors.ReplaceAllString(s, "")
	s = safetext.WithoutSkips(safetext.Visible(s)) // a pull request's text may become a commit's
	s = marker.ReplaceAllString(s, "<! --$1")
	s = logCommand.ReplaceAllString(s, "$1: $2")
	s = logCommand1.ReplaceAllString(s, "# #[")
	return w.Redacted(s)
}

func (w Words) Redacted(s string) string {
	if w.Redact == nil {
		return s
	}
	return w.Redact(s)
}

// Text is foreign text as ordinary words on one line, at most most runes of it.
func (w Words) Text(s string, most int) string {
	s = safetext.Shorten(safetext.OneLine(w.Clean(s)), most)
	if w.plain {
		return s
	}
	return wording.Inert(s, w.OwnPhrase())
}

// Code is foreign text as a code span on one line, at most most runes of it: names of files, branches, checks and
// people.
func (w Words) Code(s string, most int) string {
	return w.shown(safetext.Shorten(safetext.OneLine(w.Clean(s)), most))
}

var plainName = regex.Lazy(`^[A-Za-z][A-Za-z0-9./-]*$`)

// name is a name of someone else's as it is when it is an ordinary word, else as code.
func (w Words) name(s string, most int) string {
	s = safetext.Shorten(safetext.OneLine(w.Clean(s)), most)
	if plainName.MatchString(s) && wording.Inert(s, w.OwnPhrase()) == s {
		return s
	}
	return w.shown(s)
}

// Fence is foreign text as a fenced block: what can be seen of it, verbatim, within the number of lines and 200 runes a
// line.
func (w Words) Fence(s string, lines int) string {
	return safetext.Fence(wording.LongLines(wording.Within(w.Clean(s), lines), 200))
}

// fenceAt is fence with the lines first that the findings come from.
func (w Words) fenceAt(s string, findings []loop.Finding, lines int) string {
	return safetext.Fence(wording.LongLines(wording.WithinAt(w.Clean(s), lines, wording.Places(findings)), 200))
}

// quote is foreign Markdown as a block quote of at most most bytes: lists and code keep their shape, the rest is words.
func (w Words) quote(s string, most int) string {
	s = safetext.Truncated(w.Clean(s), most)
	var b strings.Builder
	for _, line := range w.quoted(strings.Split(strings.TrimSpace(s), "\n")) {
		b.WriteString(strings.TrimRight("> "+line, " ") + "\n")
	}
	return b.String()
}

var (
	fenceLine = regex.Lazy("^[ \t]*(`{3,}|~{3,})")
	listMark  = regex.Lazy(`^( {0,6})([-*+]|\d{1,4}[.)])[ \t]+(\[[ xX]\] )?`)
	heading   = regex.Lazy(`^#{1,6}[ \t]+`)
)

// quoted rewrites lines of foreign Markdown.
func (w Words) quoted(lines []string) (out []string) {
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if m := fenceLine.FindStringSubmatch(line); m != nil {
			end := i + 1
			for end < len(lines) && !strings.HasPrefix(strings.TrimSpace(lines[end]), m[1]) {
				end++
			}
			block := safetext.Fence(strings.Join(lines[i+1:end], "\n"))
			out = append(out, strings.Split(strings.TrimRight(block, "\n"), "\n")...)
			i = end
			continue
		}
		out = append(out, w.quotedLine(line))
	}
	return out
}

func (w Words) quotedLine(line string) string {
	if m := listMark.FindString(line); m != "" {
		return m + wording.Inert(line[len(m):], w.OwnPhrase())
	}
	if m := heading.FindString(line); m != "" {
		if title := strings.TrimSpace(line[len(m):]); title != "" {
			return "**" + wording.Inert(title, w.OwnPhrase()) + "**"
		}
	}
	return wording.Inert(strings.TrimSpace(line), w.OwnPhrase())
}

// html is foreign text on one line inside an HTML element of ours, where GitHub reads no Markdown. It must stand inside
// code, which keeps mentions inert.
func (w Words) html(s string, most int) string {
	return html.EscapeString(safetext.Shorten(safetext.OneLine(w.Clean(s)), most))
}

// OwnPhrase is what a command begins with.
func (w Words) OwnPhrase() string { return cmp.Or(w.Phrase, "/ralph") }

// Command shows one of ralph's own commands, to be copied.
func (w Words) Command(words string) string { return w.shown(w.OwnPhrase() + " " + words) }

// shown is a text of ours as code, to be copied.
func (w Words) shown(s string) string {
	if w.plain {
		return s
	}
	return safetext.Code(s)
}

// Redactor returns a function that takes secrets out of a text: the known values and the forms they travel in, and
// whatever looks like a credential of GitHub, a model vendor or AWS, or a private key. Values of fewer than six
// characters are ignored, because they would take ordinary words with them.
func Redactor(secrets []string) func(string) string {
	known := secret.NewRedactor(secrets)
	return func(text string) string {
		safe := redactAll(text, known)
		if hides(text) { // what no one sees may part a secret, and only its beginning looks like one
			if seen := redactAll(wording.Bare(text), known); seen != wording.Bare(safe) {
				return seen
			}
		}
		return safe
	}
}

// hides reports whether anything in a text may be there without being seen: nearly nothing that is printed has any of
// it.
func hides(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= 0x80 || c < ' ' && c != '\n' && c != '\t' && c != '\r' {
			return true
		}
	}
	return false
}

const redacted = "[redacted]"

// redactAll replaces what is known and what looks like a credential; what overlaps becomes one, so that no end of
// either is left.
func redactAll(text string, known *secret.Redactor) string {
	spans := known.All(text)
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	end := 0
	for _, s := range spans {
		b.WriteString(text[end:s.From] + redacted)
		end = s.To
	}
	return b.String() + text[end:]
}

func (w Words) storyID(st plan.Story) string { return cmp.Or(w.name(st.ID, 40), "–") }

// firstLine is the first line of a text that says anything.
func (w Words) firstLine(text string) string { return w.Text(safetext.FirstLine(text), mostCause) }

// mostCause is how many characters of someone else's words a headline has.
const mostCause = 160

// mostReason is the same of a reason that has to be read to be acted on.
const mostReason = 240
