package config

import (
	"bytes"
	_ "embed" // the schema
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Schema is the JSON schema of a settings file.
//
//go:embed settings.schema.json
var Schema []byte

// rule is a schema within settings.schema.json, with just the keywords that stand there: another one is an error when the file is read.
// It is read by us because a validator of all of JSON Schema takes longer to start than a hook may take; a test holds the two
// against each other.
type rule struct {
	Ref         string           `json:"$ref"`
	Defs        map[string]*rule `json:"$defs"`
	Type        string           `json:"type"`
	Enum        []string         `json:"enum"`
	Format      string           `json:"format"`
	Properties  map[string]*rule `json:"properties"`
	Open        *bool            `json:"additionalProperties"`
	Required    []string         `json:"required"`
	Items       *rule            `json:"items"`
	MinItems    int              `json:"minItems"`
	MaxItems    *int             `json:"maxItems"`
	UniqueItems bool             `json:"uniqueItems"`
	Minimum     json.Number      `json:"minimum"`
	Maximum     json.Number      `json:"maximum"`
	MaxLength   *int             `json:"maxLength"`
	Pattern     *regexp.Regexp   `json:"pattern"`

	Schema      string `json:"$schema"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Default     any    `json:"default"`
}

// schema is read once. That it can be read is a test's business.
var schema = sync.OnceValue(func() *rule {
	root, err := readSchema(Schema)
	if err != nil {
		panic(err)
	}
	return root
})

func readSchema(text []byte) (*rule, error) {
	var root rule
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&root); err != nil {
		return nil, fmt.Errorf("reading the schema of the settings: %w", err)
	}
	return &root, root.complete(root.Defs)
}

// complete puts what is referred to into its place, and refuses what check does not know.
func (r *rule) complete(defs map[string]*rule) error {
	if name, ok := strings.CutPrefix(r.Ref, "#/$defs/"); ok && defs[name] != nil {
		*r = *defs[name]
	} else if r.Ref != "" {
		return fmt.Errorf("the schema of the settings refers to %s, which is not there", r.Ref)
	}
	if _, known := kinds[r.Type]; r.Type != "" && !known {
		return fmt.Errorf("the schema of the settings has the type %q", r.Type)
	}
	if _, known := formats[r.Format]; r.Format != "" && !known {
		return fmt.Errorf("the schema of the settings has the format %q", r.Format)
	}
	below := slices.Collect(maps.Values(r.Properties))
	if r.Items != nil {
		below = append(below, r.Items)
	}
	for _, b := range below {
		if err := b.complete(defs); err != nil {
			return err
		}
	}
	return nil
}

// fault is what a value has against it.
type fault struct {
	at    []string // where the value stands: keys, and numbers of entries
	value any
	rule  *rule
	word  string   // the keyword of the schema that it breaks
	keys  []string // that are unknown, or lacking
	count int      // of its characters or entries
}

// check holds a value, as reader makes them, against a rule, and tells what it breaks until told returns false. What has the wrong type is
// not looked at any further.
func (r *rule) check(value any, at []string, told func(fault) bool) bool {
	tell := func(word string, keys []string, count int) bool {
		return told(fault{at, value, r, word, keys, count})
	}
	switch {
	case r.Type != "" && !kinds[r.Type](value):
		return tell("type", nil, 0)
	case r.Enum != nil && !isOneOf(value, r.Enum):
		return tell("enum", nil, 0)
	case r.Format != "" && !formats[r.Format](value):
		return tell("format", nil, 0)
	}
	switch v := value.(type) {
	case map[string]any:
		return r.checkObject(v, at, told, tell)
	case []any:
		return r.checkList(v, at, told, tell)
	case string:
		n := utf8.RuneCountInString(v)
		return (r.MaxLength == nil || n <= *r.MaxLength || tell("maxLength", nil, n)) && (r.Pattern == nil || r.Pattern.MatchString(v) || tell("pattern", nil, 0))
	case json.Number:
		return !below(v, r.Minimum) && !below(r.Maximum, v) || tell("range", nil, 0)
	}
	return true
}

func (r *rule) checkObject(object map[string]any, at []string, told func(fault) bool, tell func(string, []string, int) bool) bool {
	lacking := slices.DeleteFunc(slices.Clone(r.Required), func(key string) bool { _, there := object[key]; return there })
	if len(lacking) > 0 && !tell("required", lacking, 0) {
		return false
	}
	var unknown []string
	for _, key := range slices.Sorted(maps.Keys(object)) {
		switch property := r.Properties[key]; {
		case property != nil:
			if !property.check(object[key], append(slices.Clone(at), key), told) {
				return false
			}
		case r.Open != nil && !*r.Open:
			unknown = append(unknown, key)
		}
	}
	return len(unknown) == 0 || tell("additionalProperties", unknown, 0)
}

func (r *rule) checkList(entries []any, at []string, told func(fault) bool, tell func(string, []string, int) bool) bool {
	n := len(entries)
	if n < r.MinItems && !tell("minItems", nil, n) || r.MaxItems != nil && n > *r.MaxItems && !tell("maxItems", nil, n) ||
		r.UniqueItems && repeats(entries) && !tell("uniqueItems", nil, n) {
		return false
	}
	for i, entry := range entries {
		if r.Items != nil && !r.Items.check(entry, append(slices.Clone(at), strconv.Itoa(i)), told) {
			return false
		}
	}
	return true
}

// kinds say whether a value is of a type.
var kinds = map[string]func(any) bool{
	"object":  is[map[string]any],
	"array":   is[[]any],
	"string":  is[string],
	"boolean": is[bool],
	"number":  is[json.Number],
	"integer": func(value any) bool {
		n, ok := value.(json.Number)
		return ok && exact(n).IsInt()
	},
}

func is[T any](value any) bool { _, ok := value.(T); return ok }

func isOneOf(value any, texts []string) bool {
	text, ok := value.(string)
	return ok && slices.Contains(texts, text)
}

func repeats(entries []any) bool {
	seen := map[string]bool{}
	for _, entry := range entries {
		text, err := json.Marshal(entry)
		if err != nil || seen[string(text)] {
			return true
		}
		seen[string(text)] = true
	}
	return false
}

// below compares numbers; what is not given is neither above nor below.
func below(a, b json.Number) bool { return a != "" && b != "" && exact(a).Cmp(exact(b)) < 0 }

// exact is a number of JSON, which reader has seen to be small enough for that.
func exact(n json.Number) *big.Rat {
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return new(big.Rat)
	}
	return r
}
