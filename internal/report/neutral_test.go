package report

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/report/wording"
)

func TestText(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain words", "Add a greeting, please.", "Add a greeting, please."},
		{"other scripts", "Добавь 你好 مرحبا 👋", "Добавь 你好 مرحبا 👋"},
		{"code stays code", "Add `Greet(name)` now", "Add `Greet(name)` now"},
		{"code of two backticks", "``a`b`` c", "``a`b`` c"},
		{"lone backtick", "a ` b", "a \\` b"},
		{"mention", "thanks @alice.", "thanks `@alice`."},
		{"mail", "a@b.cd", "`a@b.cd`"},
		{"reference", "fixes #12, closes GH-4", "fixes `#12`, closes `GH-4`"},
		{"address", "closes https://github.com/alice/demo/issues/5", "closes `https://github.com/alice/demo/issues/5`"},
		{"number sign alone", "C# and # 5", "C# and # 5"},
		{"command", "/ralph run", "`/ralph` run"},
		{"log command", "::set-output name=x::y", "\\: :set-output name=x::y"},
		{"comment", "a <!-- b --> c", "a \\<!-- b --\\> c"},
		{"marker", "<!-- ralph:run:1 -->", "\\<! -- ralph:run:1 --\\>"},
		{"link", "[x](javascript:alert(1))", "\\[x\\](javascript:alert(1))"},
		{"entity", "&#64;alice &commat;bob", "`&#64;alice` \\&commat;bob"},
		{"list", "- a", "\\- a"},
		{"lines", "a\n\nb\tc", "a b c"},
		{"a mark that keeps workflows from running", "a [skip ci]", "a (skip ci)"},
		{"invisible", "a\u200bb\u202e", "ab"},
		{"colours", "\x1b[31mred\x1b[0m \x1b]0;title\x07x", "red x"},
		{"empty", " \n ", ""},
		{"too long", strings.Repeat("x", 200), strings.Repeat("x", 99) + "…"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := View{}.Text(tt.in, 100)
			if got != tt.want {
				t.Errorf("text(%q)\n got %q\nwant %q", tt.in, got, tt.want)
			}
			for _, p := range sample.Inertness(got) {
				t.Error(p)
			}
		})
	}
}

func TestCode(t *testing.T) {
	tests := []struct{ in, want string }{
		{"go test ./...", "`go test ./...`"},
		{"a`b", "``a`b``"},
		{"`a``b`", "``` `a``b` ```"},
		{"", ""},
	}
	for _, tt := range tests {
		if got := (View{}).Code(tt.in, 50); got != tt.want {
			t.Errorf("code(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
	if got, want := wording.Row("`a|b`", `c\|d`), "| `a\\|b` | c\\|d |\n"; got != want {
		t.Errorf("row: %q, want %q", got, want)
	}
}

func TestFence(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "a\nb\n", "```text\na\nb\n```\n"},
		{"break-out", "a\n```\n@bob\n", "````text\na\n```\n@bob\n````\n"},
		{"longer break-out", "``````", "```````text\n``````\n```````\n"},
		{"tildes", "~~~", "```text\n~~~\n```\n"},
		{"marker", "<!-- ralph:run:1 -->", "```text\n<! -- ralph:run:1 -->\n```\n"},
		{"log command", "  ::error::x\n##[group]y", "```text\n  : :error::x\n# #[group]y\n```\n"},
		{"long line", strings.Repeat("я", 203),
			"```text\n" + strings.Repeat("я", 200) + " [... 3 characters truncated ...]\n```\n"},
	}
	for _, tt := range tests {
		if got := (View{}).Fence(tt.in, 10); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestQuote(t *testing.T) {
	in := "# Title\n\nSay `hi` to @bob:\n\n- [ ] one #1\n  - two\n1) three\n\n~~~go\nx := \"```\"\n~~~\n> " +
		"quoted\n/ralph run\n```\nnever closed"
	want := "> **Title**\n>\n> Say `hi` to `@bob`:\n>\n> - [ ] one `#1`\n>   - two\n> 1) three\n>\n> ````text\n> x := " +
		"\"```\"\n> ````\n> \\> quoted\n> `/ralph` run\n> ```text\n> never closed\n> ```\n"
	if got := (View{}).quote(in, 1000); got != want {
		t.Errorf("quoted\n%s\nwant\n%s", got, want)
	}
	if got := (View{}).quote(strings.Repeat("x", 100), 20); !strings.Contains(got, "was cut") || len(got) > 80 {
		t.Errorf("a long quote: %q", got)
	}
}

// Redaction comes before cleaning, cutting, escaping and fencing; an invisible character inside does not save a secret.
func TestRedactionComesFirst(t *testing.T) {
	secret := "s3cret-of-`the`-house"
	v := View{Words: Words{Redact: Redactor([]string{secret, "::s3cret-after-colons"})}}
	if got := v.Fence("::s3cret-after-colons", 5); strings.Contains(got, "s3cret") {
		t.Error(got)
	}
	for _, in := range []string{secret, "s3cret-of-\u200b`the`-house", "s3cret-of-\x1b[1m`the`-house",
		strings.Repeat("x", 90) + secret} {
		for name, got := range map[string]string{"text": v.Text(in, 100), "code": v.Code(in, 100), "fence": v.Fence(in, 5),
			"quote": v.quote(in, 100), "html": v.html(in, 100), "state": v.verbatimFence(in)} {
			if name == "state" && in != secret { // verbatim: nothing is joined there
				continue
			}
			if strings.Contains(got, "s3cret") || !strings.Contains(got, "redact") {
				t.Errorf("%s(%q) = %q", name, in, got)
			}
		}
	}
}
