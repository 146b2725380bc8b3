package agent

import "github.com/ralph-loop/ralph/internal/proc"

// commandKeys are the keys that any program is carried with: the provider's route, the header, and the variable that
// says where the provider is, in which the path stands that everybody writes there.
var commandKeys = []struct{ key, route, header, scheme, from, path string }{
	{"ANTHROPIC_API_KEY", "anthropic", "x-api-key", "", "ANTHROPIC_BASE_URL", ""},
	{"ANTHROPIC_AUTH_TOKEN", "anthropic", "authorization", "Bearer ", "ANTHROPIC_BASE_URL", ""},
	{"CLAUDE_CODE_OAUTH_TOKEN", "anthropic", "authorization", "Bearer ", "ANTHROPIC_BASE_URL", ""},
	{"OPENAI_API_KEY", "openai", "authorization", "Bearer ", "OPENAI_BASE_URL", "/v1"},
	{"GEMINI_API_KEY", "google", "x-goog-api-key", "", "GOOGLE_GEMINI_BASE_URL", ""},
}

// commandCarry: the keys in the environment say which providers a program may ask. Other keys it does not get.
func commandCarry(o Options) (routes []Route, why string) {
	named := map[string]bool{}
	for _, k := range commandKeys {
		value := o.Keys[k.key]
		if value == "" || named[k.route] {
			continue
		}
		r := Route{Name: k.route, Header: k.header, Value: k.scheme + value}
		switch k.route {
		case "anthropic":
			r.Base, why = baseOf(o, k.from, "https://api.anthropic.com")
			r.Formats, r.Extra = []string{anthropicFormat}, lines(proc.Value(o.Parent, "ANTHROPIC_CUSTOM_HEADERS"))
		case "openai":
			r.Base, why = openaiBase(o)
			r.Formats = []string{responsesFormat, chatFormat}
		default:
			r.Base, why = baseOf(o, k.from, "https://generativelanguage.googleapis.com")
			r.Formats = []string{geminiFormat}
		}
		if why != "" {
			return nil, why
		}
		named[k.route] = true
		routes = append(routes, r)
	}
	return routes, ""
}

// commandReach: a program finds each address and the bearer under the names that the provider's own tools use.
func commandReach(t *turnInput) (env []string) {
	for _, k := range commandKeys {
		if t.Keys[k.key] != "" {
			env = append(env, k.key+"="+t.way.Bearer(), k.from+"="+t.at(k.route)+k.path)
		}
	}
	return env
}
