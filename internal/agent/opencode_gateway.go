package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
	"github.com/tidwall/gjson"

	"github.com/ralph-loop/ralph/internal/proc"
)

// opencodeProviders are those of opencode that a gateway carries, with the names that their keys have.
var opencodeProviders = []struct {
	name, from, public, path, header, scheme string
	keys, formats                            []string
}{
	{name: "anthropic", from: "ANTHROPIC_BASE_URL", public: "https://api.anthropic.com", path: "/v1", header: "x-api-key",
		keys: []string{"ANTHROPIC_API_KEY"}, formats: []string{anthropicFormat}},
	{name: "openai", from: "OPENAI_BASE_URL", public: "https://api.openai.com", path: "/v1", header: "authorization",
		scheme: "Bearer ", keys: []string{"OPENAI_API_KEY"}, formats: []string{responsesFormat, chatFormat}},
	{name: "google", public: "https://generativelanguage.googleapis.com", path: "/v1beta", header: "x-goog-api-key",
		keys: []string{"GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"}, formats: []string{geminiFormat}},
}

// opencodeOthers are keys of providers that it cannot be led away from, and what their models begin with.
var opencodeOthers = map[string]string{"OPENROUTER_API_KEY": "openrouter/", "OPENCODE_API_KEY": "opencode/"}

func opencodeCarry(o Options) (routes []Route, why string) {
	chosen, _, _ := strings.Cut(o.Model, "/")
	for key, model := range opencodeOthers {
		if o.Keys[key] != "" && (o.Model == "" || strings.HasPrefix(o.Model, model)) {
			return nil, "the key in " + key + " is for a provider whose address opencode knows itself"
		}
	}
	if where := opencodeOwn(o); where != "" {
		return nil, "opencode's own settings name providers: " + where
	}
	saved, where := savedLogin("opencode", o)
	for _, p := range opencodeProviders {
		base := strings.TrimSuffix(strings.TrimRight(proc.Value(o.Parent, p.from), "/"), p.path)
		if base == "" {
			base = p.public
		} else if why := checkedBase(p.from, base); why != "" {
			return nil, why
		}
		for _, key := range p.keys {
			if value := o.Keys[key]; value != "" {
				routes = append(routes, Route{Name: p.name, Base: base, Header: p.header, Value: p.scheme + value,
					Formats: p.formats})
				break
			}
		}
		if kept := saved.Get(p.name); kept.Get("type").Str == "api" && kept.Get("key").Str != "" && !named(routes, p.name) {
			routes = append(routes, Route{Name: p.name, Base: base, Header: p.header,
				Value: p.scheme + kept.Get("key").Str, Formats: p.formats, Login: where})
		}
	}
	if other := opencodeSaved(saved, routes); chosen == "" && other != "" && len(routes) > 0 {
		return nil, "the login for " + oneLine(other) + " in " + where + " cannot be carried, and no model is named: " +
			"name one of another provider in agent.model"
	}
	if chosen != "" && !named(routes, chosen) {
		return nil, "no key is for the model " + oneLine(o.Model)
	}
	return routes, ""
}

func named(routes []Route, name string) bool {
	return slices.ContainsFunc(routes, func(r Route) bool { return r.Name == name })
}

// opencodeSaved is a provider that opencode has a login for, and no route leads to; "" there is none.
func opencodeSaved(saved gjson.Result, routes []Route) (name string) {
	saved.ForEach(func(provider, _ gjson.Result) bool {
		if !named(routes, provider.Str) {
			name = provider.Str
		}
		return name == ""
	})
	return name
}

// opencodeOwn is the file of the user's settings that names a provider's address or key; "" there is none.
func opencodeOwn(o Options) string {
	dir := filepath.Join((&turnInput{Options: o}).home(), ".config", "opencode")
	if xdg := proc.Value(o.Parent, "XDG_CONFIG_HOME"); filepath.IsAbs(xdg) && o.As == nil {
		dir = filepath.Join(xdg, "opencode")
	}
	names := []string{proc.Value(o.Parent, "OPENCODE_CONFIG")}
	for _, dir := range []string{dir, proc.Value(o.Parent, "OPENCODE_CONFIG_DIR")} {
		for _, name := range []string{"config.json", "opencode.json", "opencode.jsonc"} {
			names = append(names, filepath.Join(dir, name))
		}
	}
	for _, name := range names {
		info, err := os.Lstat(name)
		if err != nil || !filepath.IsAbs(name) || !info.Mode().IsRegular() || info.Size() > settingBytes {
			continue
		}
		text, err := os.ReadFile(name)
		if err == nil {
			text, err = hujson.Standardize(text)
		}
		if err == nil && gjson.GetBytes(text, "provider").Exists() {
			return name
		}
	}
	return ""
}

// opencodeBearer is the file that the settings name, so that no tool finds the bearer in its environment.
const opencodeBearer = "bearer"

func opencodeFiles(t *turnInput) error {
	if t.way == nil {
		return nil
	}
	return t.file(opencodeBearer, t.way.Bearer())
}

func opencodeReach(t *turnInput) []string {
	providers := map[string]any{}
	for _, p := range opencodeProviders {
		if slices.ContainsFunc(t.routes, func(r Route) bool { return r.Name == p.name }) {
			providers[p.name] = map[string]any{"options": map[string]any{"baseURL": t.at(p.name) + p.path,
				"apiKey": "{file:" + t.path(opencodeBearer) + "}"}}
		}
	}
	text, _ := json.Marshal(map[string]any{"provider": providers}) // strings
	return []string{"OPENCODE_CONFIG_CONTENT=" + string(text), "OPENCODE_DISABLE_MODELS_FETCH=1"}
}
