package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/shell"
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
	full := safetext.Map(keys, func(key string) string { return keyPath(append(slices.Clone(at), key)) })
	var allowed []string
	for _, row := range s.Keys {
		if row.Key != "$schema" {
			allowed = append(allowed, row.Key)
		}
	}
	slices.Sort(allowed)
	meant := nearest(keys, allowed)
	if len(meant) == 0 && len(keys) == 1 {
		if paths := elsewhere(keys[0]); len(paths) > 0 {
			return fmt.Sprintf("%s %s. Did you mean %s?", full[0], word, either(paths))
		}
	}
	switch {
	case len(meant) >= len(keys):
		return fmt.Sprintf("%s %s. Did you mean %s?", safetext.Listed(full), word, safetext.Listed(meant))
	case len(allowed) > mostKeys:
		allowed = []string{"those that ralph settings schema lists"}
	}
	if len(meant) == 0 {
		return fmt.Sprintf("%s %s; must be one of %s.", safetext.Listed(full), word, safetext.Listed(allowed))
	}
	return fmt.Sprintf("%s %s. Did you mean %s? It must be one of %s.", safetext.Listed(full), word, safetext.Listed(meant),
		safetext.Listed(allowed))
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

// show writes a value as it is in the file, shortened, and without what is named as a secret: problems are posted.
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
	return safetext.Shorten(Redact(string(text)), 80)
}

func choices(values []string) string {
	return either(safetext.Map(values, func(value string) string { return show(value) }))
}

// either is "a, b or c".
func either(words []string) string {
	last := len(words) - 1
	return strings.TrimPrefix(strings.Join(words[:last], ", ")+" or ", " or ") + words[last]
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

// warnings are those of the settings, redacted.
func (e Explained) warnings(redact func(string) string) []string {
	list := e.Settings.Warnings()
	for i := range list {
		if list[i] = Redact(list[i]); redact != nil {
			list[i] = redact(list[i])
		}
	}
	return list
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

// nearest are the allowed keys that may have been meant.
func nearest(keys, allowed []string) (meant []string) {
	for _, key := range keys {
		if best := safetext.Nearest(key, allowed); best != "" {
			meant = append(meant, best)
		}
	}
	return meant
}

// elsewhere are the paths of the keys of a name in other objects: agent.idleTimeout.
func elsewhere(key string) (paths []string) {
	var look func(at []string, rows []Setting)
	look = func(at []string, rows []Setting) {
		for _, row := range rows {
			path := append(slices.Clone(at), row.Key)
			if row.Key == key {
				paths = append(paths, keyPath(path))
			}
			look(path, row.Keys)
		}
	}
	look(nil, root().Keys)
	return paths
}

// Warnings are what people should know of settings that are valid, one sentence or two each.
func (s Settings) Warnings() (list []string) {
	for i, g := range s.Guardrails {
		says, piped := shell.HidesExit(g.Command, g.Shell == Bash)
		if says == "" {
			continue
		}
		out := "Let the command end with that exit code."
		if piped {
			out = `With "shell": "bash" it runs with pipefail and keeps the exit code.`
		}
		list = append(list, fmt.Sprintf("guardrails[%d] %q: %s, so a failure may look like a success. %s", i,
			safetext.Shorten(safetext.OneLine(g.Name), 60), says, out))
	}
	return list
}
