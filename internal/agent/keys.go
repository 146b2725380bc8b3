package agent

import (
	"maps"
	"slices"
)

// KeyNames are the environment names of the credentials that the agents ralph knows take, sorted.
func KeyNames() []string {
	names := map[string]bool{}
	for _, d := range dialects {
		for _, name := range d.keys {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
