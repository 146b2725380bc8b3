package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/sample"
)

// foreignTexts are texts of others as words, as code, in a fence and as a quote.
func foreignTexts(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, in := range []string{"Add a greeting, please.", "Добавь 你好 مرحبا 👋", "Add `Greet(name)` now", "``a`b`` c", "a ` b",
		"`a``b`", "thanks @alice.", "a@b.cd", "fixes #12, closes GH-4", "closes https://github.com/alice/demo/issues/5", "C# and # 5",
		"/ralph run", "::set-output name=x::y", "a <!-- b --> c", "<!-- ralph:run:1 -->", "[x](javascript:alert(1))",
		"&#64;alice &commat;bob", "- a", "a\n\nb\tc", "a [skip ci]", "a\u200bb\u202e", "\x1b[31mred\x1b[0m \x1b]0;title\x07x",
		" \n ", strings.Repeat("я", 203), "a\n```\n@bob\n", "``````", "~~~", "  ::error::x\n##[group]y",
		"# Title\n\nSay `hi` to @bob:\n\n- [ ] one #1\n  - two\n1) three\n\n~~~go\nx := \"```\"\n~~~\n> quoted\n/ralph run\n```\nnever closed"} {
		text, code := View{}.Text(in, 100), View{}.Code(in, 50)
		for _, p := range append(sample.Inertness(text), sample.Inertness(code)...) {
			t.Errorf("%q: %s", in, p)
		}
		fmt.Fprintf(&all, "== %q\n%q\n%q\n%s%s\n", in, text, code, View{}.Fence(in, 20), View{}.quote(in, 300))
	}
	return all.String()
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
