package regex

import (
	"regexp"
	"testing"
)

// FuzzMatch: what a pattern says of a text, again too, is what its expression says.
func FuzzMatch(f *testing.F) {
	for _, pattern := range []string{`^(?:a|b)c`, `(?i)k[ae]+`, `^\s*--- (PASS|FAIL): (\S+)`, `(?s)x.*?(?:y|\z)`, `\bé+\b`,
		`[^a]{2,3}$`, `(?m)^y$`, `\B`, `^$`, ``, `a\bb`, `x|^a|c$`,
		`^(?:x?)*y|z`, `^(?:|a)[b-d]?\s*é`, `^(?i)[^a]k`, `^\B(?:x{0,2}|y+).`, `\x{FFFD}a`, `[\x{FFFC}-\x{FFFE}]`, `(?i)ſ`, `(?:|a)b?`} {
		for _, text := range []string{"", "ac", "bc\n", "Kelvin \u212a", " --- FAIL: TestA", "x\ny", "é", "\xffa", "yz", "S",
			"ab"} {
			f.Add(pattern, text)
		}
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		whole, err := regexp.Compile(pattern)
		if err != nil || len(pattern) > 200 {
			return
		}
		made := Made(pattern)
		for range 2 {
			if want := whole.MatchString(text); made.MatchString(text) != want {
				t.Errorf("%q: %v for %q", pattern, !want, text)
			}
		}
	})
}

// TestMatchFull: a text that needs more states than are kept, and the one after it, get the answers of the expression.
func TestMatchFull(t *testing.T) {
	p := Made(`[ab]*a[ab]{11}c`)
	text := ""
	for n := range 1 << 11 {
		for bit := range 11 {
			text += string("ab"[n>>bit&1])
		}
	}
	for _, end := range []string{"", "c", "d", "aaaaaaaaaaaac"} {
		if got, want := p.MatchString(text+end), p.Regexp().MatchString(text+end); got != want {
			t.Errorf("…%s: %v", end, got)
		}
	}
}
