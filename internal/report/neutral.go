package report

import (
	"html"
	"strings"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Foreign text is whatever ralph did not write itself: issues, agents, check output, file and branch names, reasons. It
// is hostile: it may mention people, close issues, give commands, forge a marker, open HTML or break out of a fence. It
// enters a report only through the four functions below — text, code, fence and quote — which share clean. Mentions and
// references cannot be disarmed by a backslash, because GitHub looks for them after rendering; inside code they are
// inert, so that is where they go.

var (
	marker      = regex.Lazy(`(?i)<!--(\s*ralph:)`)
	logCommand  = regex.Lazy(`(?m)^(\s*):(:+)`)
	logCommand1 = regex.Lazy(`##\[`)
)

// Clean redacts foreign text and takes out what no one can see, ralph's markers and commands to the runner's log.
// Redaction runs again at the end, because a secret with something invisible inside would be put together again in
// between.
func (v View) Clean(s string) string {
	s = v.Redacted(strings.ToValidUTF8(s, "\uFFFD"))
	s = wording.Colours.ReplaceAllString(s, "")
	s = safetext.WithoutSkips(safetext.Visible(s)) // a pull request's text may become a commit's
	s = marker.ReplaceAllString(s, "<! --$1")
	s = logCommand.ReplaceAllString(s, "$1: $2")
	s = logCommand1.ReplaceAllString(s, "# #[")
	return v.Redacted(s)
}

func (v View) Redacted(s string) string {
	if v.Redact == nil {
		return s
	}
	return v.Redact(s)
}

// Text is foreign text as ordinary words on one line, at most most runes of it.
func (v View) Text(s string, most int) string {
	s = safetext.Shorten(safetext.OneLine(v.Clean(s)), most)
	if v.plain {
		return s
	}
	return wording.Inert(s, v.OwnPhrase())
}

// Code is foreign text as a code span on one line, at most most runes of it: names of files, branches, checks and
// people.
func (v View) Code(s string, most int) string {
	return v.shown(safetext.Shorten(safetext.OneLine(v.Clean(s)), most))
}

var plainName = regex.Lazy(`^[A-Za-z][A-Za-z0-9./-]*$`)

// name is a name of someone else's as it is when it is an ordinary word, else as code.
func (v View) name(s string, most int) string {
	s = safetext.Shorten(safetext.OneLine(v.Clean(s)), most)
	if plainName.MatchString(s) && wording.Inert(s, v.OwnPhrase()) == s {
		return s
	}
	return v.shown(s)
}

// Fence is foreign text as a fenced block: what can be seen of it, verbatim, within the number of lines and 200 runes a
// line.
func (v View) Fence(s string, lines int) string {
	return safetext.Fence(wording.LongLines(wording.Within(v.Clean(s), lines), 200))
}

// fenceAt is fence with the lines first that the findings come from.
func (v View) fenceAt(s string, findings []loop.Finding, lines int) string {
	return safetext.Fence(wording.LongLines(wording.WithinAt(v.Clean(s), lines, wording.Places(findings)), 200))
}

// quote is foreign Markdown as a block quote of at most most bytes: lists and code keep their shape, the rest is words.
func (v View) quote(s string, most int) string {
	s = v.Clean(s)
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "\n[... the rest was cut: too long ...]"
	}
	var b strings.Builder
	for _, line := range v.quoted(strings.Split(strings.TrimSpace(s), "\n")) {
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
func (v View) quoted(lines []string) (out []string) {
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
		out = append(out, v.quotedLine(line))
	}
	return out
}

func (v View) quotedLine(line string) string {
	if m := listMark.FindString(line); m != "" {
		return m + wording.Inert(line[len(m):], v.OwnPhrase())
	}
	if m := heading.FindString(line); m != "" {
		if title := strings.TrimSpace(line[len(m):]); title != "" {
			return "**" + wording.Inert(title, v.OwnPhrase()) + "**"
		}
	}
	return wording.Inert(strings.TrimSpace(line), v.OwnPhrase())
}

// html is foreign text on one line inside an HTML element of ours, where GitHub reads no Markdown. It must stand inside
// code, which keeps mentions inert.
func (v View) html(s string, most int) string {
	return html.EscapeString(safetext.Shorten(safetext.OneLine(v.Clean(s)), most))
}

func (v View) OwnPhrase() string {
	if v.Phrase == "" {
		return "/ralph"
	}
	return v.Phrase
}

// Command shows one of ralph's own commands, to be copied.
func (v View) Command(words string) string { return v.shown(v.OwnPhrase() + " " + words) }

// Offer is the part of a sentence that names a command and what it does: "`/ralph retry` starts over". It is empty if no
// comment starts a job.
func (v View) Offer(words, does string) string {
	if !v.Ways.Work(event.Commented) {
		return ""
	}
	return v.Command(words) + " " + does
}

// parts are the parts of a sentence that are not empty, as one.
func parts(of ...string) string { return wording.Sentence(wording.JoinedBy("; ", of...)) }

// shown is a text of ours as code, to be copied.
func (v View) shown(s string) string {
	if v.plain {
		return s
	}
	return safetext.Code(s)
}
