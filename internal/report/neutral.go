package report

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Foreign text is whatever ralph did not write itself: issues, agents, check output, file and branch names, reasons. It
// is hostile: it may mention people, close issues, give commands, forge a marker, open HTML or break out of a fence. It
// enters a report only through the four functions below — text, code, fence and quote — which share clean. Mentions and
// references cannot be disarmed by a backslash, because GitHub looks for them after rendering; inside code they are
// inert, so that is where they go.

var (
	colours     = lazy(`\x1b(\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(\x07|\x1b\\)?|[@-Z\\^_])`)
	marker      = lazy(`(?i)<!--(\s*ralph:)`)
	logCommand  = lazy(`(?m)^(\s*):(:+)`)
	logCommand1 = lazy(`##\[`)
)

// clean redacts foreign text and takes out what nobody can see, ralph's markers and commands to the runner's log.
// Redaction runs again at the end, because a secret with something invisible inside would be put together again in
// between.
func (v View) clean(s string) string {
	s = v.redact(strings.ToValidUTF8(s, "\uFFFD"))
	s = colours.ReplaceAllString(s, "")
	s = safetext.Visible(s)
	s = marker.ReplaceAllString(s, "<! --$1")
	s = logCommand.ReplaceAllString(s, "$1: $2")
	s = logCommand1.ReplaceAllString(s, "# #[")
	return v.redact(s)
}

func (v View) redact(s string) string {
	if v.Redact == nil {
		return s
	}
	return v.Redact(s)
}

// text is foreign text as ordinary words on one line, at most most runes of it.
func (v View) text(s string, most int) string {
	s = safetext.Shorten(safetext.OneLine(v.clean(s)), most)
	if v.plain {
		return s
	}
	return words(s, v.phrase())
}

// code is foreign text as a code span on one line, at most most runes of it: names of files, branches, checks and
// people.
func (v View) code(s string, most int) string {
	return v.shown(safetext.Shorten(safetext.OneLine(v.clean(s)), most))
}

var plainName = lazy(`^[A-Za-z][A-Za-z0-9./-]*$`)

// name is a name of somebody else's as it is when it is an ordinary word, else as code.
func (v View) name(s string, most int) string {
	s = safetext.Shorten(safetext.OneLine(v.clean(s)), most)
	if plainName.MatchString(s) && words(s, v.phrase()) == s {
		return s
	}
	return v.shown(s)
}

// fence is foreign text as a fenced block: what can be seen of it, verbatim, within the number of lines and 200 runes a
// line.
func (v View) fence(s string, lines int) string {
	return safetext.Fence(longLines(within(v.clean(s), lines), 200))
}

// fenceAt is fence with the lines first that the findings come from.
func (v View) fenceAt(s string, findings []loop.Finding, lines int) string {
	return safetext.Fence(longLines(withinAt(v.clean(s), lines, places(findings)), 200))
}

// quote is foreign Markdown as a block quote of at most most bytes: lists and code keep their shape, the rest is words.
func (v View) quote(s string, most int) string {
	s = v.clean(s)
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
	fenceLine = lazy("^[ \t]*(`{3,}|~{3,})")
	listMark  = lazy(`^( {0,6})([-*+]|\d{1,4}[.)])[ \t]+(\[[ xX]\] )?`)
	heading   = lazy(`^#{1,6}[ \t]+`)
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
		return m + words(line[len(m):], v.phrase())
	}
	if m := heading.FindString(line); m != "" {
		if title := strings.TrimSpace(line[len(m):]); title != "" {
			return "**" + words(title, v.phrase()) + "**"
		}
	}
	return words(strings.TrimSpace(line), v.phrase())
}

// inert matches a word that GitHub, or ralph, would act upon: mentions and addresses, references, links, commands.
var inert = lazy(`(?i)@|#\d|\bGH-\d|://|\bwww\.`)

// words escapes one line so that it reads as it was written and does nothing. Code spans stay code.
func words(line, phrase string) string {
	var b strings.Builder
	for line != "" {
		start := strings.IndexByte(line, '`')
		if start < 0 {
			escapeWords(&b, line, phrase)
			break
		}
		run := leading(line[start:], '`')
		content, rest, closed := cutRun(line[start+run:], run)
		if !closed || strings.TrimSpace(content) == "" {
			escapeWords(&b, line[:start], phrase)
			b.WriteString(strings.Repeat("\\`", run))
			line = line[start+run:]
			continue
		}
		escapeWords(&b, line[:start], phrase)
		b.WriteString(separate(&b, safetext.Code(content)))
		line = rest
	}
	return leadingMark(b.String())
}

// cutRun splits s at the first run of exactly n backticks.
func cutRun(s string, n int) (before, after string, found bool) {
	for i := 0; i < len(s); i++ {
		if s[i] != '`' {
			continue
		}
		run := leading(s[i:], '`')
		if run == n {
			return s[:i], s[i+run:], true
		}
		i += run - 1
	}
	return "", s, false
}

func escapeWords(b *strings.Builder, s, phrase string) {
	for s != "" {
		i := strings.IndexAny(s, " \t")
		if i == 0 {
			b.WriteByte(' ')
			s = s[1:]
			continue
		}
		word := s
		if i > 0 {
			word = s[:i]
		}
		s = s[len(word):]
		core := strings.Trim(word, `.,:;!?()[]{}"'*_>`)
		if !inert.MatchString(core) && (phrase == "" || !strings.HasPrefix(core, phrase)) {
			b.WriteString(safetext.EscapeMarkdown(word))
			continue
		}
		before, after, _ := strings.Cut(word, core)
		b.WriteString(safetext.EscapeMarkdown(before))
		b.WriteString(separate(b, safetext.Code(core)) + safetext.EscapeMarkdown(after))
	}
}

// separate keeps a code span from growing together with what is before it: with a backtick into another span, with
// letters and signs into a mail address.
func separate(b *strings.Builder, span string) string {
	if s := b.String(); s != "" && strings.IndexByte(" (\"[<>:,;", s[len(s)-1]) < 0 {
		return " " + span
	}
	return span
}

var blockMark = lazy(`^(\d{1,9})?([-+=#:.)])`)

// leadingMark escapes what would begin a heading, a list, a rule or a table at the start of a line.
func leadingMark(s string) string { return blockMark.ReplaceAllString(s, `$1\$2`) }

func leading(s string, c byte) int { return len(s) - len(strings.TrimLeft(s, string(c))) }

// longLines shortens every line to most runes and says so.
func longLines(s string, most int) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if n := utf8.RuneCountInString(line); n > most {
			lines[i] = fmt.Sprintf("%s [... %d characters truncated ...]", string([]rune(line)[:most]), n-most)
		}
	}
	return strings.Join(lines, "\n")
}

// html is foreign text on one line inside an HTML element of ours, where GitHub reads no Markdown. It must stand inside
// code, which keeps mentions inert.
func (v View) html(s string, most int) string {
	return html.EscapeString(safetext.Shorten(safetext.OneLine(v.clean(s)), most))
}
