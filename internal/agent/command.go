package agent

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/proc"
)

// command is any program: the prompt on standard input, text out. The one who names it decides what it needs, so it
// gets every credential that the harness was given for agents.
var command = dialect{
	name:        "the agent",
	keys:        []string{"*"},
	arguments:   func(*turnInput) []string { return nil },
	environment: func(Options) []string { return nil },
	gateway:     &gatewayConfig{commandCarry, commandReach, nil},
	decode:      stream.NewPlain,
}

// withoutEcho cuts the prompt out of an output, wherever it is in it word for word. When the beginning of the
// output is missing, it may begin within the prompt.
func withoutEcho(said, prompt string, beheaded bool) string {
	said, prompt = strings.ReplaceAll(said, "\r\n", "\n"), strings.TrimSpace(strings.ReplaceAll(prompt, "\r\n", "\n"))
	// no tag in it could be taken for a claim, and a short one is a part of many words
	if !strings.Contains(prompt, "</") {
		return said
	}
	if beheaded {
		said = said[overlap(prompt, said):]
	}
	return strings.ReplaceAll(said, prompt, "")
}

// overlap is the length of the longest beginning of b that is an end of a. It takes time in proportion to their lengths
// (Knuth, Morris and Pratt), since both may be large and repetitive.
func overlap(a, b string) int {
	b = b[:min(len(a), len(b))]
	back := make([]int32, len(b)+1) // back[i]: the longest beginning of b[:i], shorter than it, that is its end
	step := func(matched int, c byte) int {
		for matched > 0 && (matched == len(b) || b[matched] != c) {
			matched = int(back[matched])
		}
		if matched < len(b) && b[matched] == c {
			matched++
		}
		return matched
	}
	for i, matched := 1, 0; i < len(b); i++ {
		matched = step(matched, b[i])
		back[i+1] = int32(matched)
	}
	matched := 0
	for i := range len(a) {
		matched = step(matched, a[i])
	}
	return matched
}

// commandKeys are the keys that any program is carried with: the provider's route, the header, and the variable that
// says where the provider is, in which the path stands that everyone writes there.
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
			r.Formats, r.Extra = []string{responsesFormat, chatFormat}, openaiHeaders(o)
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
