package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
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

// Invalid says that the error is a mistake of its author.
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

// merge merges over into base: objects merge, everything else replaces.
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
	if err := settings.read(all); err != nil {
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

// Defaults are the settings of an empty file.
func Defaults() Settings {
	var settings Settings
	if err := settings.read(defaults(Table())); err != nil { // the table is wrong, which a test finds
		panic(err)
	}
	return settings
}

// Explained are settings, and where each value of them comes from.
type Explained struct {
	Settings Settings
	// From names the layer of each value that layers set, by its key ("agent.command"), and of each object that they name.
	// A list is one value. What is not here is a default, or follows from another key.
	From map[string]string
}

// Default is where a value comes from that no layer set.
const Default = "default"

// mark notes which layer set what.
func mark(from map[string]string, path string, object map[string]any, layer string) {
	for key, value := range object {
		from[path+key] = layer
		if below, ok := value.(map[string]any); ok {
			mark(from, path+key+".", below, layer)
		}
	}
}

// lacking says what must be there once all layers are merged. The schema cannot: each layer alone may leave it to
// another.
func lacking(merged map[string]any, from map[string]string) []string {
	scm, ok := merged["scm"].(map[string]any)
	if _, there := scm["command"]; ok && !there {
		return []string{from["scm"] + ": scm lacks command, which must be there."}
	}
	return nil
}

// parse reads a layer as a JSON object, with comments and trailing commas if it has them, and holds it against the
// schema.
func (l Layer) parse() (map[string]any, []string) {
	text := bytes.TrimPrefix(l.JSON, []byte("\xef\xbb\xbf"))
	switch {
	case len(text) > mostText:
		return nil, []string{fmt.Sprintf("%s has %d bytes; must be at most %d.", l.Name, len(text), mostText)}
	case len(bytes.TrimSpace(text)) == 0:
		return nil, []string{l.Name + " is empty; an object is needed, at least {}."}
	case !utf8.Valid(text):
		return nil, []string{l.Name + " is not UTF-8 text."}
	case bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > mostBrackets:
		return nil, []string{fmt.Sprintf("%s has more than %d brackets; no settings need as many.", l.Name, mostBrackets)}
	}
	tree, err := hujson.Parse(append(bytes.TrimRight(bytes.Clone(text), "\n"), '\n')) // the last line may be a comment
	if err != nil {
		return nil, []string{fmt.Sprintf("%s is not JSON: %s.", l.Name, syntax(err))}
	}
	var twice []string
	value := decoded(tree, nil, func(key string) {
		if len(twice) < mostProblems {
			twice = append(twice, fmt.Sprintf("%s: %s is there twice; only one is allowed.", l.Name, key))
		}
	})
	if len(twice) > 0 {
		return nil, twice
	}
	if faults := violations(l.Name, value); len(faults) > 0 {
		return nil, faults
	}
	object := value.(map[string]any)
	delete(object, "$schema")
	return object, l.notTheirs(object)
}

// notTheirs are the keys of a layer that only the user's own may set.
func (l Layer) notTheirs(object map[string]any) (problems []string) {
	for _, row := range Table() {
		if _, there := object[row.Key]; there && row.Where == forUser && !l.User {
			problems = append(problems, fmt.Sprintf("%s: %s is for the settings of a user alone; set it with ralph settings "+
				"set --user %s, and leave it out here.", l.Name, row.Key, row.Key))
		}
	}
	return problems
}

// origin is the layer that set a key, or what else its value comes from.
func (e Explained) origin(key string) string {
	if layer, ok := e.From[key]; ok {
		return layer
	}
	if name, ok := strings.CutPrefix(key, "reviewer."); ok && name != "timeout" && e.From["agent."+name] != "" {
		return "as agent." + name
	}
	return Default
}

// Indented is json.MarshalIndent with two spaces, but writes && as &&.
func Indented(value any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("writing settings as JSON: %w", err)
	}
	return b.Bytes(), nil
}
