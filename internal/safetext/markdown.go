package safetext

import "strings"

// Code is a text as inline code of Markdown, in which no one is mentioned; the delimiter is longer than any run of
// backticks inside. It is empty for a blank text.
func Code(s string) string {
	if s = OneLine(s); s == "" {
		return ""
	}
	ticks := strings.Repeat("`", longestTicks(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return ticks + s + ticks
}

// Fence is a text as a code block of Markdown, whose fence is longer than any run of backticks in it, so that nothing inside can end it.
func Fence(s string) string {
	ticks := strings.Repeat("`", max(3, longestTicks(s)+1))
	return ticks + "text\n" + strings.TrimRight(s, "\n") + "\n" + ticks + "\n"
}

func longestTicks(s string) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

var punctuation = strings.NewReplacer(`\`, `\\`, "`", "\\`", `*`, `\*`, `_`, `\_`, `[`, `\[`, `]`, `\]`, `<`, `\<`, `>`,
	`\>`,
	`|`, `\|`, `~`, `\~`, `&`, `\&`, `$`, `\$`)

// EscapeMarkdown escapes what Markdown reads as more than a character within a line. It makes no mention or reference harmless: those
// are found after rendering, and only Code keeps them from it.
func EscapeMarkdown(s string) string { return punctuation.Replace(s) }
