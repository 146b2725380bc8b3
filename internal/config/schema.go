package config

import (
	"bytes"
	_ "embed" // the schema
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Schema is the JSON schema of a settings file.
//
//go:embed settings.schema.json
var Schema []byte

// schema is compiled once. That it compiles is a test's business.
var schema = sync.OnceValue(func() *jsonschema.Schema {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		panic(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	compiler.RegisterFormat(&jsonschema.Format{Name: "duration-go", Validate: isDuration})
	compiler.RegisterFormat(&jsonschema.Format{Name: "path-inside", Validate: isInside})
	if err := compiler.AddResource("settings.schema.json", document); err != nil {
		panic(err)
	}
	return compiler.MustCompile("settings.schema.json")
})

// isDuration accepts "10m": a positive duration as Go writes it, at most a day.
func isDuration(value any) error {
	text, ok := value.(string)
	if !ok {
		return nil
	}
	d, err := time.ParseDuration(text)
	if err == nil && (d <= 0 || d > 24*time.Hour) {
		err = errors.New("out of range")
	}
	return err
}

// isInside accepts the path of a file in the repository, and nothing: no way leads out, none into .git.
func isInside(value any) error {
	text, ok := value.(string)
	if !ok || text == "" {
		return nil
	}
	clean := path.Clean(text)
	if path.IsAbs(text) || clean == "." || clean == ".." || strings.HasPrefix(clean, "../") || strings.ContainsAny(text, "\\\x00") ||
		strings.EqualFold(strings.SplitN(clean, "/", 2)[0], ".git") {
		return errors.New("not inside")
	}
	return nil
}

// violations holds a value against the schema: one sentence a problem, in the order of their keys.
func violations(name string, value any) []string {
	var wrong *jsonschema.ValidationError
	err := schema().Validate(value)
	if err == nil {
		return nil
	}
	if !errors.As(err, &wrong) {
		return []string{fmt.Sprintf("%s: %v.", name, err)}
	}
	var found []string
	collect(wrong, func(leaf *jsonschema.ValidationError) {
		if len(found) < mostProblems {
			found = append(found, name+": "+sentence(leaf, value))
		}
	})
	sort.Strings(found)
	return slices.Compact(found)
}

// collect calls f for every error that has no cause of its own.
func collect(e *jsonschema.ValidationError, f func(*jsonschema.ValidationError)) {
	if len(e.Causes) == 0 {
		f(e)
	}
	for _, cause := range e.Causes {
		collect(cause, f)
	}
}

// sentence says at which key what was found and what is allowed.
func sentence(e *jsonschema.ValidationError, document any) string {
	key, found := keyPath(e.InstanceLocation), show(at(document, e.InstanceLocation))
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		return unknown(k.Properties, e.InstanceLocation)
	case *kind.Required:
		return fmt.Sprintf("%s lacks %s, which must be there.", key, list(k.Missing, "and"))
	case *kind.Type:
		if found == "null" { // some tools take null for "as below"
			return fmt.Sprintf("%s is null; allowed is %s, or to leave the key out.", key, noun(k.Want))
		}
		return fmt.Sprintf("%s is %s; allowed is %s.", key, found, noun(k.Want))
	case *kind.Enum:
		return fmt.Sprintf("%s is %s; allowed is %s.", key, found, choices(k.Want))
	case *kind.Minimum, *kind.Maximum:
		return fmt.Sprintf("%s is %s; allowed is %s.", key, found, bounds(e.InstanceLocation))
	case *kind.Pattern:
		if strings.HasPrefix(k.Want, "^[A-Za-z_]") {
			return fmt.Sprintf("%s is %s; allowed is a name such as DATABASE_URL, or a beginning and a star: MY_*.", key, found)
		}
		return fmt.Sprintf("%s is %s; it must not be empty.", key, found)
	case *kind.MinLength:
		return fmt.Sprintf("%s is %s; it must not be empty.", key, found)
	case *kind.MaxLength:
		return fmt.Sprintf("%s has %d characters; allowed are at most %d.", key, k.Got, k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("%s has %d entries; allowed are at most %d.", key, k.Got, k.Want)
	case *kind.Format:
		if k.Want == "path-inside" {
			return fmt.Sprintf(`%s is %s; allowed is the path of a file in the repository, such as "DONE".`, key, found)
		}
		return fmt.Sprintf(`%s is %s; allowed is a time up to 24h, such as "90s", "10m" or "1h30m".`, key, found)
	}
	return fmt.Sprintf("%s is %s, which the schema does not allow.", key, found)
}

// unknown names keys that do not exist, and those that do.
func unknown(keys, location []string) string {
	slices.Sort(keys)
	word := "is an unknown key"
	if len(keys) > 1 {
		word = "are unknown keys"
	}
	if more := len(keys) - mostKeys; more > 0 {
		keys, word = keys[:mostKeys], fmt.Sprintf("and %d more %s", more, word)
	}
	full := make([]string, len(keys))
	for i, key := range keys {
		full[i] = keyPath(append(slices.Clone(location), key))
	}
	allowed := allowedKeys(location)
	said := fmt.Sprintf("%s %s; allowed are %s.", list(full, "and"), word, list(allowed, "and"))
	if meant := nearest(keys, allowed); len(meant) > 0 {
		said += " Did you mean " + list(meant, "and") + "?"
	}
	return said
}

// node is the part of the schema that describes a place in a settings file; nil when there is none.
func node(location []string) *jsonschema.Schema {
	s := schema()
	for _, step := range location {
		if s = deref(s); s == nil {
			return nil
		}
		if property, ok := s.Properties[step]; ok {
			s = property
		} else {
			s = s.Items2020
		}
	}
	return deref(s)
}

func deref(s *jsonschema.Schema) *jsonschema.Schema {
	for s != nil && s.Ref != nil {
		s = s.Ref
	}
	return s
}

func allowedKeys(location []string) []string {
	var keys []string
	if s := node(location); s != nil {
		for key := range s.Properties {
			if key != "$schema" {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	return keys
}

func bounds(location []string) string {
	s := node(location)
	what := "a whole number"
	if slices.Contains(s.Types.ToStrings(), "number") {
		what = "a number"
	}
	return fmt.Sprintf("%s from %s to %s", what, decimal(s.Minimum), decimal(s.Maximum))
}

// decimal writes a bound as the schema does: 0.1.
func decimal(r *big.Rat) string {
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'f', -1, 64)
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

// at is the value at a place in a document.
func at(value any, location []string) any {
	for _, step := range location {
		switch v := value.(type) {
		case map[string]any:
			value = v[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(v) {
				return nil
			}
			value = v[i]
		}
	}
	return value
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

func noun(types []string) string {
	names := map[string]string{"object": "an object", "array": "a list", "string": "a text in quotes", "integer": "a whole number",
		"number": "a number", "boolean": "true or false"}
	words := make([]string, len(types))
	for i, t := range types {
		words[i] = names[t]
	}
	return list(words, "or")
}

func choices(values []any) string {
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
