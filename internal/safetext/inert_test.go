package safetext

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestInert(t *testing.T) {
	for in, want := range map[string]string{
		"plain text\twith tab":              "plain text\twith tab",
		"std::vector<int> x; // a::b":       "std::vector<int> x; // a::b",
		"::set-env name=PATH::/evil":        ": :set-env name=PATH::/evil",
		"  \u00a0::add-mask::x":             "  \u00a0: :add-mask::x",
		"\u200b::stop-commands::x":          ": :stop-commands::x",
		"\x1b[31m::error::red":              ": :error::red",
		"done\r::error::hidden":             "done ::error::hidden",
		"x ##[group]y":                      "x ## [group]y",
		"##\u200b[endgroup]":                "## [endgroup]",
		"\x1b]0;title\x07text\x1b[2K\x1b(B": "text",
		"a\x00b\x08c\x7fd\u202ee":           "abcde",
		"cut \xff\xfe":                      "cut \uFFFD",
	} {
		got := Inert(in)
		if got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzInert(f *testing.F) {
	f.Add("\x1b::x")
	f.Add("##\x1b[m[x")
	f.Fuzz(func(t *testing.T, in string) {
		got := Inert(in)
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\x1b\r\n") || strings.Contains(got, "##[") ||
			strings.HasPrefix(strings.TrimSpace(got), "::") {
			t.Errorf("%q: %q", in, got)
		}
	})
}
