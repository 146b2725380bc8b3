package agent

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// reads reports whether the agent is to change nothing.
func (o Options) reads() bool { return o.ReadOnly || o.NoTools }

// into is an object within an object, which is made where there is none.
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

// claudeFlags are the user's flags with our own settings, if there are any. Of two --settings the CLI heeds the last, so
// where the user has one, ours go into it.
func claudeFlags(t *turnInput) []string {
	settings, hooks, at := claudeHelper(t), t.hooks(), claudeSettingsAt(t.Flags)
	switch {
	case settings == nil && len(hooks) == 0:
		return t.Flags
	case at < 0 && settings == nil:
		return append(slices.Clone(t.Flags), "--settings", string(t.Hooks)) // which count whatever the sources are
	}
	theirs := map[string]any{}
	if at >= 0 {
		text, err := claudeSettings(t.Options, strings.TrimPrefix(t.Flags[at], "--settings="))
		if err != nil || json.Unmarshal(text, &theirs) != nil {
			return t.Flags // which the CLI will complain of
		}
	}
	maps.Copy(theirs, settings)
	if len(hooks) > 0 {
		addHooks(theirs, hooks)
	}
	merged, err := json.Marshal(theirs)
	if err != nil || len(merged) > mostSettings {
		return t.Flags
	}
	flags := slices.Clone(t.Flags)
	switch {
	case at < 0:
		flags = append(flags, "--settings", string(merged))
	case strings.HasPrefix(t.Flags[at], "--settings="):
		flags[at] = "--settings=" + string(merged)
	default:
		flags[at] = string(merged)
	}
	return flags
}

// claudeSettingsAt is where the settings are that count among flags; -1 when there are none.
func claudeSettingsAt(flags []string) int {
	for i := len(flags) - 1; i >= 0; i-- {
		if strings.HasPrefix(flags[i], "--settings=") || i > 0 && flags[i-1] == "--settings" {
			return i
		}
	}
	return -1
}

// claudeSettings are what --settings names: JSON, or a file with it. A file is not read for an agent that may read less
// than we: a link could lead anywhere, and what is read becomes its argument.
func claudeSettings(o Options, named string) ([]byte, error) {
	if strings.HasPrefix(strings.TrimSpace(named), "{") {
		return []byte(named), nil
	}
	if o.As != nil || o.Box != nil {
		return nil, os.ErrPermission
	}
	if !filepath.IsAbs(named) {
		named = filepath.Join(orHere(o.Dir), named)
	}
	f, err := os.Open(named)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, mostSettings))
}

// codexHooks are hooks as arguments. They count without being trusted by hand; those of a repository that is not
// trusted do not.
func codexHooks(o Options) []string {
	hooks := o.hooks()
	if len(hooks) == 0 {
		return nil
	}
	args := []string{"--dangerously-bypass-hook-trust"}
	for _, event := range slices.Sorted(maps.Keys(hooks)) {
		args = append(args, "-c", "hooks."+event+"="+toml(hooks[event]))
	}
	return args
}

// toml is a value of JSON in TOML, on one line. What JSON says in strings, TOML reads alike.
func toml(value any) string {
	var parts []string
	switch v := value.(type) {
	case []any:
		for _, inner := range v {
			parts = append(parts, toml(inner))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if v[name] != nil { // TOML has no null
				parts = append(parts, toml(name)+"="+toml(v[name]))
			}
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	text, _ := json.Marshal(value)
	return string(text)
}
