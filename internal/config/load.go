package config

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
)

// Explain is Load with the origin of every value.
func Explain(layers ...Layer) (Explained, error) {
	var problems []string
	merged, from := map[string]any{}, map[string]string{}
	for _, layer := range layers {
		object, faults := layer.parse()
		problems = append(problems, faults...)
		merge(merged, object)
		mark(from, "", object, layer.Name)
	}
	if len(problems) == 0 {
		problems = lacking(merged, from)
	}
	if err := asError(problems); err != nil {
		return Explained{}, err
	}
	settings, err := decode(merged)
	settings.GuardrailsFrom, settings.ReviewFrom, settings.TimeoutFrom = from["guardrails"], from["review"],
		from["timeoutMinutes"]
	return Explained{settings, from}, err
}

// Layer is one source of settings: the name problems are reported under, and a JSON object.
type Layer struct {
	Name string // ".ralph/settings.json", "input settings"
	JSON []byte // may hold comments and trailing commas
	User bool   // it is the user's own, which may set what no one else may
}

// Error is everything that is wrong with settings, inputs or the environment, one sentence each.
type Error struct {
	Problems []string
}

// Error lists the problems, one a line.
func (e *Error) Error() string { return strings.Join(e.Problems, "\n") }

// Invalid says that they are for whoever wrote them.
func (e *Error) Invalid() bool { return true }

// Anchor returns the anchor of the error on the page of messages.
func (e *Error) Anchor() string { return "settings-and-inputs" }

// asError is nil when there is no problem.
func asError(problems []string) error {
	if len(problems) == 0 {
		return nil
	}
	return &Error{Problems: problems}
}

// Load lays the layers over the defaults in their order and checks each on its own: scalars override, arrays replace,
// objects merge. null is no value of any key: a layer that has nothing to say about one leaves it out. Load's error is
// an *Error that holds the problems of all layers.
func Load(layers ...Layer) (Settings, error) {
	explained, err := Explain(layers...)
	return explained.Settings, err
}

// merge lays over onto base: objects merge, everything else replaces.
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
	all := defaults(Table())
	merge(all, merged)
	var settings Settings
	if err := settings.read(plain(all)); err != nil {
		return settings, err
	}
	settings.complete()
	return settings, nil
}

// read fills the struct from an object.
func (s *Settings) read(object any) error {
	text, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(text, s)
	}
	if err != nil {
		return fmt.Errorf("merging settings: %w", err)
	}
	return nil
}

// plain writes whole numbers without point and exponent: 5.0 and 5e0 are integers to the schema, but not to
// encoding/json.
func plain(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = plain(v[key])
		}
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = plain(v[i])
		}
		return list
	case json.Number:
		if whole, ok := new(big.Rat).SetString(v.String()); ok && whole.IsInt() {
			return json.Number(whole.Num().String())
		}
	}
	return value
}

// Defaults are the settings of an empty file.
func Defaults() Settings {
	var settings Settings
	if err := settings.read(defaults(Table())); err != nil { // the table is wrong, which a test finds
		panic(err)
	}
	return settings
}
