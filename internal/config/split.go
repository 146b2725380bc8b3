package config

import (
	"errors"
	"strings"
	"unicode"
)

// fields splits at commas and white space.
func fields(s string) []string {
	if s == "" {
		return nil
	}
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}

// commands are the lines that hold one: blank lines and lines that begin with # do not.
func commands(s string) []string {
	var found []string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			found = append(found, line)
		}
	}
	return found
}

// words splits as a shell does: at white space, but not within quotes or after a backslash. Nothing is expanded.
func words(s string) ([]string, error) {
	var found []string
	var word strings.Builder
	begun, quote := false, rune(0)
	escaped := false
	for _, r := range s {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, begun = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case unicode.IsSpace(r):
			if begun {
				found = append(found, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote is not closed")
	}
	if escaped {
		return nil, errors.New("nothing follows the last backslash")
	}
	if begun {
		found = append(found, word.String())
	}
	return found, nil
}
