package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// formats say whether a value is as the schema's format asks; what is not a text is.
var formats = map[string]func(any) bool{"duration-go": isDuration, "path-inside": isInside}

// isDuration accepts "10m": a positive duration as Go writes it, at most a day.
func isDuration(value any) bool {
	text, ok := value.(string)
	if !ok {
		return true
	}
	d, err := time.ParseDuration(text)
	return err == nil && d > 0 && d <= 24*time.Hour
}

// isInside accepts the path of a file in the repository, and nothing: no way leads out, none into .git.
func isInside(value any) bool {
	text, ok := value.(string)
	if !ok || text == "" {
		return true
	}
	clean := path.Clean(text)
	return !path.IsAbs(text) && clean != "." && clean != ".." && !strings.HasPrefix(clean, "../") && !strings.ContainsAny(text, "\\\x00") &&
		!strings.EqualFold(strings.SplitN(clean, "/", 2)[0], ".git")
}

// violations holds a value against the schema: one sentence a problem, in the order of their keys.
func violations(name string, value any) []string {
	var found []string
	schema().check(value, nil, func(f fault) bool {
		found = append(found, name+": "+sentence(f))
		return len(found) < mostProblems
	})
	sort.Strings(found)
	return slices.Compact(found)
}

// sentence says at which key what was found and what is allowed.
func sentence(f fault) string {
	key, found := keyPath(f.at), show(f.value)
	switch f.word {
	case "additionalProperties":
		return unknown(f)
	case "required":
		return fmt.Sprintf("%s lacks %s, which must be there.", key, list(f.keys, "and"))
	case "type":
		if found == "null" { // some tools take null for "as below"
			return fmt.Sprintf("%s is null; allowed is %s, or to leave the key out.", key, noun(f.rule.Type))
		}
		return fmt.Sprintf("%s is %s; allowed is %s.", key, found, noun(f.rule.Type))
	case "enum":
		return fmt.Sprintf("%s is %s; allowed is %s.", key, found, choices(f.rule.Enum))
	case "range":
		return fmt.Sprintf("%s is %s; allowed is %s from %s to %s.", key, found, noun(f.rule.Type), f.rule.Minimum, f.rule.Maximum)
	case "pattern":
		if strings.HasPrefix(f.rule.Pattern.String(), "^[A-Za-z_]") {
			return fmt.Sprintf("%s is %s; allowed is a name such as DATABASE_URL, or a beginning and a star: MY_*.", key, found)
		}
		return fmt.Sprintf("%s is %s; it must not be empty.", key, found)
	case "maxLength":
		return fmt.Sprintf("%s has %d characters; allowed are at most %d.", key, f.count, *f.rule.MaxLength)
	case "maxItems":
		return fmt.Sprintf("%s has %d entries; allowed are at most %d.", key, f.count, *f.rule.MaxItems)
	case "format":
		if key == "workingDirectory" {
			return fmt.Sprintf(`%s is %s; allowed is the path of a directory below the top of the repository, such as "web"; leave it out for the top.`, key, found)
		}
		if f.rule.Format == "path-inside" {
			return fmt.Sprintf(`%s is %s; allowed is the path of a file in the repository, such as "DONE".`, key, found)
		}
		return fmt.Sprintf(`%s is %s; allowed is a time up to 24h, such as "90s", "10m" or "1h30m".`, key, found)
	}
	return fmt.Sprintf("%s is %s, which the schema does not allow.", key, found)
}

// unknown names keys that do not exist, and those that do.
func unknown(f fault) string {
	keys := f.keys
	word := "is an unknown key"
	if len(keys) > 1 {
		word = "are unknown keys"
	}
	if more := len(keys) - mostKeys; more > 0 {
		keys, word = keys[:mostKeys], fmt.Sprintf("and %d more %s", more, word)
	}
	full := make([]string, len(keys))
	for i, key := range keys {
		full[i] = keyPath(append(slices.Clone(f.at), key))
	}
	allowed := f.rule.keys()
	said := fmt.Sprintf("%s %s; allowed are %s.", list(full, "and"), word, list(allowed, "and"))
	if meant := nearest(keys, allowed); len(meant) > 0 {
		said += " Did you mean " + list(meant, "and") + "?"
	}
	return said
}

// keys are those that an object may have, in order.
func (r *rule) keys() []string {
	keys := slices.Sorted(maps.Keys(r.Properties))
	return slices.DeleteFunc(keys, func(key string) bool { return key == "$schema" })
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

func noun(kind string) string {
	return map[string]string{"object": "an object", "array": "a list", "string": "a text in quotes", "integer": "a whole number",
		"number": "a number", "boolean": "true or false"}[kind]
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
