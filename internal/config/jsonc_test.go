package config

import (
	"fmt"
	"strings"
	"testing"
)

// TestSyntaxErrorsSayWhere: at which line and column, and why in plain words.
func TestSyntaxErrorsSayWhere(t *testing.T) {
	for _, test := range []struct{ settings, want string }{
		{`{"review": tru }`, `line 1, column 12: tru is no value; a text needs quotes`},
		{"{\n", `line 2, column 1: the end comes too early; a bracket or a value is missing`},
		{"{\n  \"agent\": {\n  // é\n  /* e */ review: 1\n", `line 4, column 11: review is no value; a text needs quotes`},
		{"{\"a\": 1\n \"b\": 2}", `line 2, column 2: invalid character '"' after object value (expecting ',' or '}')`},
		{"{\n \"agent\": \"claude,\n \"review\": true}",
			`line 2, column 11: the text that begins here lacks its closing quote, or holds a line end or tab that is not written as \n or \t`},
		{`{"setup": "a\d"}`,
			`line 1, column 11: the text that begins here holds a backslash that escapes nothing; a backslash itself is written as \\`},
		{`{"setup": "a`, `line 2, column 1: a closing quote is missing before the end`},
		{"{}\n /* open", `line 2, column 2: the comment that begins here has no end`},
		{"\ufeff{x", `line 1, column 2: x is no value; a text needs quotes`},
	} {
		_, err := Load(layer(test.settings))
		if want := ".ralph/settings.json is not JSON: " + test.want + "."; err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", test.settings, err, want)
		}
	}
}

// TestHostileTextsCostLittle: a text that would fill the stack or the memory is refused before it is parsed.
func TestHostileTextsCostLittle(t *testing.T) {
	for what, text := range map[string]string{
		"deep":       strings.Repeat("[", mostBrackets+1),
		"long":       `{"setup": "` + strings.Repeat("x", mostText) + `"}`,
		"tiny":       `{"timeoutMultiplier": 1e-99999999}`,
		"many zeros": `{"timeoutMinutes": 6` + strings.Repeat("0", 1000) + `}`,
		"wide":       `{` + strings.Repeat(`"a":1,`, 170_000) + `}`,
		"many keys":  `{` + manyKeys(90_000) + `}`,
		"many flags": `{"agent":{"flags":[` + strings.Repeat(`1,`, 500_000) + `]}}`,
		"a key":      `{"` + strings.Repeat("k", 1000) + `": 1}`,
	} {
		_, err := Load(layer(text))
		if err == nil || !strings.HasPrefix(err.Error(), SettingsFile) || len(err.Error()) > 6000 {
			t.Errorf("%s: %.2000v", what, err)
		}
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "\"%d\":1,", i)
	}
	return b.String()
}
