package wording

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Acting matches a word that GitHub, or ralph, would act upon: mentions and addresses, references, links, commands.
var Acting = regex.Lazy(`(?i)@|#\d|\bGH-\d|://|\bwww\.`)

// Inert escapes one line so that it reads as it was written and does nothing. Code spans stay code.
func Inert(line, phrase string) string {
	var b strings.Builder
	for line != "" {
		start := strings.IndexByte(line, '`')
		if start < 0 {
			escapeWords(&b, line, phrase)
			break
		}
		run := Leading(line[start:], '`')
		content, rest, closed := CutRun(line[start+run:], run)
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

// CutRun splits s at the first run of exactly n backticks.
func CutRun(s string, n int) (before, after string, found bool) {
	for i := 0; i < len(s); i++ {
		if s[i] != '`' {
			continue
		}
		run := Leading(s[i:], '`')
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
		if !Acting.MatchString(core) && (phrase == "" || !strings.HasPrefix(core, phrase)) {
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

var blockMark = regex.Lazy(`^(\d{1,9})?([-+=#:.)])`)

// leadingMark escapes what would begin a heading, a list, a rule or a table at the start of a line.
func leadingMark(s string) string { return blockMark.ReplaceAllString(s, `$1\$2`) }

func Leading(s string, c byte) int { return len(s) - len(strings.TrimLeft(s, string(c))) }
