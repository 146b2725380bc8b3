package config

import "strings"

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
