package agent

import (
	"encoding/json"
	"fmt"
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

// hookSettings are hooks as all agents that know any write them: event → groups, each with what it matches and what it
// calls. What else is said beside "hooks" is other.
type hookSettings struct {
	hooks map[string][]any
	other map[string]any
}

// hooks are those of this turn. An agent that is to change nothing gets none: they could, and nothing that it does
// needs them. New has made sure that they can be read.
func (o Options) hooks() map[string][]any {
	if o.reads() {
		return nil
	}
	s, _ := readHooks(o.Hooks)
	return s.hooks
}

func readHooks(text []byte) (s hookSettings, err error) {
	if len(text) == 0 {
		return s, nil
	}
	if err := json.Unmarshal(text, &s.other); err != nil {
		return s, err
	}
	hooks, ok := s.other["hooks"].(map[string]any)
	if !ok && s.other["hooks"] != nil {
		return s, fmt.Errorf("hooks is a %T; it must be an object", s.other["hooks"])
	}
	delete(s.other, "hooks")
	s.hooks = map[string][]any{}
	for event, groups := range hooks {
		list, ok := groups.([]any)
		if !ok {
			return s, fmt.Errorf("hooks.%s is a %T; it must be a list", event, groups)
		}
		s.hooks[event] = list
	}
	return s, nil
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
