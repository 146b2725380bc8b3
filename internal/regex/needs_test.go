package regex

import (
	"regexp"
	"slices"
	"testing"
)

// TestNeeds has a row for what can be told of each kind of pattern.
func TestNeeds(t *testing.T) {
	for pattern, want := range map[string][]string{
		`word`:                        {"word"},
		`^word$`:                      {"word"},
		`\Aword|^other`:               {"word", "other"},
		`^(?:a|b)c`:                   {"c"},
		`^\s*(\d+) passed`:            {" passed"},
		`^a?b*c`:                      {"c"},
		`^a*`:                         nil,
		`^[^a]x`:                      {"x"},
		`(?i)^word`:                   nil,
		`(?m)^word`:                   {"word"},
		`(?:ab){2,}`:                  {"ab"},
		`(?:ab){0,2}c`:                {"c"},
		`[✗✘] `:                       {"✗", "✘"},
		`^✗`:                          {"✗"},
		`^.`:                          nil,
		`ab|bc|cd|de|ef|fg|gh`:        nil,
		`\x{FFFD}`:                    nil,
		`longer.*word|b`:              {"longer", "b"},
		`x(?:longer (?:text|other))y`: {"longer "},
		``:                            nil,
		`$`:                           nil,
		`(`:                           nil,
	} {
		if got, _ := needsOf(pattern); !slices.Equal(got, want) {
			t.Errorf("%s has one of %q, want %q", pattern, got, want)
		}
	}
}

// FuzzNeeds: nothing that a pattern matches is kept from it.
func FuzzNeeds(f *testing.F) {
	for _, pattern := range []string{`^(?:a|b)c`, `(?i)k[ae]+`, `^\s*--- (PASS|FAIL): (\S+)`, `(?s)x.*?(?:y|\z)`, `\bé+\b`,
		`[^a]{2,3}$`,
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
		if whole.MatchString(text) && !Made(pattern).MatchString(text) {
			needs, _ := needsOf(pattern)
			t.Errorf("%q matches %q, and is not asked: %q", pattern, text, needs)
		}
	})
}
