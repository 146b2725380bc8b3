package agent

import (
	"encoding/json"
	"slices"
)

// into is an object within an object. It makes the objects that are missing.
func into(object map[string]any, path ...string) map[string]any {
	for _, name := range path {
		inner, ok := object[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			object[name] = inner
		}
		object = inner
	}
	return object
}

// hooks are those of this turn: event → groups, each with what it matches and what it calls. An agent that is to change
// nothing gets none: they could, and nothing that it does needs them. New has made sure that they can be read.
func (o Options) hooks() map[string][]any {
	if o.reads() {
		return nil
	}
	hooks, _ := readHooks(o.Hooks)
	return hooks
}

func readHooks(text []byte) (map[string][]any, error) {
	var settings struct{ Hooks map[string][]any }
	if len(text) == 0 {
		return nil, nil
	}
	err := json.Unmarshal(text, &settings)
	return settings.Hooks, err
}

// addHooks puts hooks behind those that an agent's settings have. Where those are written otherwise, they stay, since
// what they mean is not ours to guess.
func addHooks(settings map[string]any, hooks map[string][]any) {
	if len(hooks) == 0 {
		return
	}
	theirs := into(settings, "hooks")
	for event, groups := range hooks {
		if list, ok := theirs[event].([]any); ok || theirs[event] == nil {
			theirs[event] = append(slices.Clone(list), groups...)
		}
	}
}

const mostSettings = 100 << 10 // bytes of settings in an argument
