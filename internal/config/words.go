package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// unknown names keys that do not exist, and what they may have been meant to be: the nearest keys, or all where none is
// near.
func (s *Setting) unknown(at, keys []string) string {
	word := "is an unknown key"
	if len(keys) > 1 {
		word = "are unknown keys"
	}
	if more := len(keys) - mostKeys; more > 0 {
		keys, word = keys[:mostKeys], fmt.Sprintf("and %d more %s", more, word)
	}
	full := make([]string, len(keys))
	for i, key := range keys {
		full[i] = keyPath(append(slices.Clone(at), key))
	}
	var allowed []string
	for _, row := range s.Keys {
		if row.Key != "$schema" {
			allowed = append(allowed, row.Key)
		}
	}
	slices.Sort(allowed)
	meant := nearest(keys, allowed)
	switch {
	case len(meant) == 0:
		return fmt.Sprintf("%s %s; allowed are %s.", list(full, "and"), word, list(allowed, "and"))
	case len(meant) == len(keys):
		return fmt.Sprintf("%s %s. Did you mean %s?", list(full, "and"), word, list(meant, "and"))
	}
	return fmt.Sprintf("%s %s. Did you mean %s? Allowed are %s.", list(full, "and"), word, list(meant, "and"),
		list(allowed, "and"))
}

// ordinary keys are written as they are, others in quotes and shortened.
var ordinary = lazy(`^[A-Za-z0-9_$-]{1,60}$`)

// keyPath writes a place as people do: guardrails[0].command.
func keyPath(location []string) string {
	var b strings.Builder
	for _, step := range location {
		if _, err := strconv.Atoi(step); err == nil {
			b.WriteString("[" + step + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		if !ordinary.MatchString(step) {
			step = show(step)
		}
		b.WriteString(step)
	}
	if b.Len() == 0 {
		return "the whole"
	}
	return b.String()
}

// show writes a value as it stands in the file, shortened, and without what is named as a secret: problems are posted.
func show(value any) string {
	switch value.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "something else"
	}
	return shorten(Redact(string(text)))
}

func shorten(text string) string {
	if runes := []rune(text); len(runes) > 80 {
		return string(runes[:80]) + "…"
	}
	return text
}

func choices(values []string) string {
	words := make([]string, len(values))
	for i, value := range values {
		words[i] = show(value)
	}
	return list(words, "or")
}

// list joins words: "a, b and c".
func list(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}
