package regex

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestNeeds has a row for what can be told of each kind of pattern.
func TestNeeds(t *testing.T) {
	for pattern, want := range map[string]struct {
		first string // of a few signs those that a text may begin with; "*": any
		some  []string
	}{
		`word`:                        {"*", []string{"word"}},
		`^word$`:                      {"w", []string{"word"}},
		`\Aword|^other`:               {"ow", []string{"word", "other"}},
		`^(?:a|b)c`:                   {"ab", []string{"c"}},
		`^\s*(\d+) passed`:            {" 1", []string{" passed"}},
		`^a?b*c`:                      {"abc", []string{"c"}},
		`^a*`:                         {"*", nil},
		`^[^a]x`:                      {"*-a", []string{"x"}},
		`(?i)^word`:                   {"Ww", nil},
		`(?m)^word`:                   {"*", []string{"word"}},
		`(?:ab){2,}`:                  {"*", []string{"ab"}},
		`(?:ab){0,2}c`:                {"*", []string{"c"}},
		`[✗✘] `:                       {"*", []string{"✗", "✘"}},
		`^✗`:                          {"é", []string{"✗"}},
		`^.`:                          {"*", nil},
		`ab|bc|cd|de|ef|fg|gh`:        {"*", nil},
		`\x{FFFD}`:                    {"*", nil},
		`longer.*word|b`:              {"*", []string{"longer", "b"}},
		`x(?:longer (?:text|other))y`: {"*", []string{"longer "}},
		``:                            {"*", nil},
		`$`:                           {"*", nil},
		`(`:                           {"*", nil},
	} {
		n := needsOf(pattern)
		first := "*"
		if n.first != nil {
			first = ""
			if n.first['a'] && n.first['z'] {
				first = "*"
			}
			for _, c := range " 1Wabcowé" {
				if begin := string(c)[0]; n.first[begin] && first != "*" {
					first += string(c)
				}
			}
			if !n.first['a'] && n.first['z'] {
				first = "*-a"
			}
		}
		if some := slices.Clone(n.some); first != want.first || !slices.Equal(some, want.some) {
			t.Errorf("%s: begins with %q, has one of %q, want %q and %q", pattern, first, some, want.first, want.some)
		}
	}
}

// FuzzNeeds: nothing that a pattern matches is kept from it.
func FuzzNeeds(f *testing.F) {
	for _, pattern := range []string{`^(?:a|b)c`, `(?i)k[ae]+`, `^\s*--- (PASS|FAIL): (\S+)`, `(?s)x.*?(?:y|\z)`, `\bé+\b`,
		`[^a]{2,3}$`,
		`^(?:x?)*y|z`, `\x{FFFD}a`, `[\x{FFFC}-\x{FFFE}]`, `(?i)ſ`, `(?:|a)b?`} {
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
		if n := needsOf(pattern); whole.MatchString(text) && !n.met(text) {
			t.Errorf("%q matches %q, and is not asked: %q", pattern, text, strings.Join(n.some, "|"))
		}
	})
}
