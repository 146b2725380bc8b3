package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"
)

// Layer is one source of settings: the name problems are reported under, and a JSON object.
type Layer struct {
	Name string // ".ralph/settings.json", "input settings"
	JSON []byte
}

// Error is everything that is wrong with settings, inputs or the environment, one sentence each.
type Error struct {
	Problems []string
}

// Error lists the problems, one a line.
func (e *Error) Error() string { return strings.Join(e.Problems, "\n") }

// asError is nil when there is no problem.
func asError(problems []string) error {
	if len(problems) == 0 {
		return nil
	}
	return &Error{Problems: problems}
}

// Load lays the layers over the defaults in their order and checks each on its own: scalars override, arrays replace, objects merge
// (S1-55…S1-58). Its error is an *Error that holds the problems of all layers.
func Load(layers ...Layer) (Settings, error) {
	var problems []string
	merged := map[string]any{}
	from := ""
	for _, layer := range layers {
		object, faults := layer.parse()
		problems = append(problems, faults...)
		if _, ok := object["guardrails"]; ok {
			from = layer.Name
		}
		merge(merged, object)
	}
	if err := asError(problems); err != nil {
		return Settings{}, err
	}
	settings, err := decode(merged)
	settings.GuardrailsFrom = from
	return settings, err
}

// parse reads a layer as a JSON object and holds it against the schema.
func (l Layer) parse() (map[string]any, []string) {
	text := bytes.TrimPrefix(l.JSON, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, []string{l.Name + " is empty; an object is needed, at least {}."}
	}
	if !utf8.Valid(text) {
		return nil, []string{l.Name + " is not UTF-8 text."}
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil { // sees also what follows the object, which a Decoder leaves unread
		return nil, []string{l.syntax(text, err)}
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, []string{l.syntax(text, err)}
	}
	if faults := violations(l.Name, value); len(faults) > 0 {
		return nil, faults
	}
	object := value.(map[string]any)
	delete(object, "$schema")
	return object, nil
}

// syntax says where the text stops being JSON.
func (l Layer) syntax(text []byte, err error) string {
	var wrong *json.SyntaxError
	if !errors.As(err, &wrong) {
		return fmt.Sprintf("%s is not JSON: %v.", l.Name, err)
	}
	at := min(max(int(wrong.Offset)-1, 0), len(text)) // Offset counts the byte that was wrong
	if strings.HasPrefix(wrong.Error(), "unexpected end") {
		at = len(text)
	}
	before := string(text[:at])
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("%s is not JSON: line %d, column %d: %s.", l.Name, line, column, wrong.Error())
}

// merge lays over onto base: objects merge, everything else replaces (S1-56…S1-58).
func merge(base, over map[string]any) {
	for key, value := range over {
		object, ok := value.(map[string]any)
		under, both := base[key].(map[string]any)
		if ok && both {
			merge(under, object)
			continue
		}
		base[key] = value
	}
}

// decode turns a merged object into settings; what it does not set is the default.
func decode(merged map[string]any) (Settings, error) {
	settings := Defaults()
	text, err := json.Marshal(plain(merged))
	if err != nil {
		return settings, fmt.Errorf("merging settings: %w", err)
	}
	if err := json.Unmarshal(text, &settings); err != nil {
		return settings, fmt.Errorf("merging settings: %w", err)
	}
	settings.complete()
	return settings, nil
}

// plain writes whole numbers without point and exponent: 5.0 and 5e0 are integers to the schema, but not to encoding/json.
func plain(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = plain(v[key])
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case json.Number:
		if whole, ok := new(big.Rat).SetString(v.String()); ok && whole.IsInt() {
			return json.Number(whole.Num().String())
		}
	}
	return value
}
