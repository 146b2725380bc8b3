package agent

import (
	"github.com/ralph-loop/ralph/internal/agent/stream"
)

// command is any program: the prompt on standard input, text out. The one who names it decides what it needs, so it
// gets every credential that the harness was given for agents.
var command = dialect{
	name:        "the agent",
	keys:        []string{"*"},
	arguments:   func(t *turnInput) []string { return t.Flags },
	environment: func(Options) []string { return nil },
	gateway:     &gatewayConfig{commandCarry, commandReach, nil},
	output:      output{decode: stream.NewPlain},
}

// commandCarry: the keys in the environment say which providers a program can ask. Other keys it does not get.
func commandCarry(o Options) (routes []Route, why string) {
	for _, p := range []provider{anthropic, openai, google} {
		name, key := p.key(o)
		if key == "" {
			continue
		}
		r, why := p.route(o, name, key)
		if why != "" {
			return nil, why
		}
		r.Extra = p.extra(o)
		routes = append(routes, r)
	}
	return routes, ""
}

// commandReach: a program finds each address and the bearer under the names that the provider's own tools use.
func commandReach(t *turnInput) (env []string) {
	for _, p := range []provider{anthropic, openai, google} {
		for _, key := range p.keys {
			if t.Keys[key] != "" {
				env = append(env, key+"="+t.way.Bearer(), p.from+"="+t.at(p.name)+p.path)
			}
		}
	}
	return env
}
