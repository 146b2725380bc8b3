package safetext

import (
	"fmt"
	"strings"
	"testing"
)

// long is what an issue may hold at most.
const long = 64 << 10

// hostile are texts that are made to be slow: a part again and again, to the length of an issue, and what stands around
// it. overdone says that they are left out; the others are many things beside each other, however odd.
var hostile = []struct {
	before, part, after string
	overdone            bool
}{
	{"", "- ", "x", true},
	{"[x]: y\n\n", "* ", ">", true},
	{"", "> ", "x", true},
	{"", ">", "\nx\n", true},
	{"", "1. ", "x", true},
	{"", "> - ", "x", true},
	{"", "- > 1. ", "x", true},
	{strings.Repeat("- ", 14) + "x\n", "\n", "", true},
	{"", "[a](", "", true},
	{"", "![](", "](x)", true},
	{"", "[](<a b=\"~~", "", true},
	{"", "[a]\n", "", true},
	{"", "[a]: b\n", "", true},
	{"|" + strings.Repeat("a|", 9000) + "\n|" + strings.Repeat("-|", 9000) + "\n", "|\n", "", true},
	{"", "<a ", ">", true},
	{"", "<a ", "", true},
	{"<!-<!-<!-<!-<!-<!-", "---->-->-->-->-->-->", "", false},
	{"", "- ", "", false}, // a line across the page
	{"", "[", "", false},
	{"", "![", "", false},
	{"", "<!--", "", false},
	{"", "<!---->", "", true},
	{"", "`", "", false},
	{"", "` `` ", "", false},
	{"", "**", "", false},
	{"", "_", "", false},
	{"", "a_ *b ", "", false},
	{"", "~~", "", false},
	{"", "|", "", false},
	{"", "| a ", "", false},
	{"", "&#", "", false},
	{"", "\\", "", false},
	{"", "<div>", "", false},
	{"", "<x-y a=b ", "", false},
	{"", "<", "", false},
	{"", "``` ", "", false},
	{"", "[^a]: b\n", "", true},
	{"", "[a]: b\n\n", "", false},
	{"", "\n", "", false},
	{"", "- a\n\n", "", false},
	{"", "*y* `x` [z](u)\n\n", "", false},
}

// TestSanitiseHostile: what is made to be slow is found out before it is; it is left out as a whole, with a note.
func TestSanitiseHostile(t *testing.T) {
	for _, tt := range hostile {
		t.Run(fmt.Sprintf("%.20q", tt.before+tt.part), func(t *testing.T) {
			text := "<!-- hidden -->\n\n" + tt.before + strings.Repeat(tt.part, long/len(tt.part)) + tt.after
			got := Sanitise(text)
			if (got == TooDeep) != tt.overdone || strings.Contains(got, "hidden") {
				t.Errorf("%d bytes are left: %.100q", len(got), got)
			}
			var r reading
			if r.outline(text); !r.overdone && r.last.effort > maxEffort {
				t.Errorf("reading it costs %d", r.last.effort)
			}
		})
	}
	if again := Sanitise(TooDeep); again != TooDeep {
		t.Errorf("the note becomes %q", again)
	}
}

// TestSanitiseHonest: what people write stays as it is, however much of it.
func TestSanitiseHonest(t *testing.T) {
	var deep strings.Builder
	for i := range 10 {
		fmt.Fprintf(&deep, "%s- level %d\n", strings.Repeat("  ", i), i)
	}
	for name, text := range map[string]string{
		"lists in lists":            deep.String(),
		"quotes in lists in quotes": "> - a\n>   > - b\n>   >   1. c\n>   >      > d\n",
		"an old discussion":         strings.Repeat("> ", 12) + "first\n\n" + strings.Repeat("> ", 11) + "second\n",
		"lines across the page": strings.Repeat(">", 90) + "\n\n" + strings.Repeat("- ", 200) + "\n\n" +
			strings.Repeat("* ", 200) + "\n",
		"anything in code":      "```\n" + strings.Repeat("- > [a](", 5000) + "\n```\n",
		"a table":               "| a | b | c |\n|---|---|---|\n" + strings.Repeat("| 1 | 2 | 3 |\n", 3000),
		"a changelog":           "[0]\n\n" + strings.Repeat("- fixed [0]\n", 1000) + "\n[0]: https://example.com/0\n",
		"a log without a fence": strings.Repeat("2026-11-21T05:30:00Z [INFO] [main] handled (in 3 ms) my_var=*p\n", 900),
		"badges":                strings.Repeat("[![](https://x.y/a.svg)](https://x.y/z)", 300),
		"generics":              strings.Repeat("Map<String, List<T>> m; if a < b && c > d { x < b }\n", 400),
		"definitions":           strings.Repeat("[a]\n\n", 20) + strings.Repeat("[a]: https://x.y\n", 500),
	} {
		if got := Sanitise(text); got != text {
			t.Errorf("%s: %d bytes became %d: %.200q", name, len(text), len(got), got)
		}
	}
}
