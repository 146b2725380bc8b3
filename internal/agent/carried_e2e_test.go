//go:build e2e

package agent_test

import (
	"net/url"

	"github.com/ralph-loop/ralph/internal/agent"
	proxy "github.com/ralph-loop/ralph/internal/gateway"
	"github.com/ralph-loop/ralph/internal/loop"
)

// wire is a real gateway.
type wire struct{}

func (wire) Prices(string) bool { return true }

func (wire) Open(routes []agent.Route, _ loop.Left) (agent.TurnGateway, error) {
	o := proxy.Options{Upstreams: map[string]proxy.Upstream{}}
	for _, r := range routes {
		base, err := url.Parse(r.Base)
		if err != nil {
			return nil, err
		}
		up := proxy.Upstream{Base: base, Credentials: []proxy.Credential{{Header: r.Header, Value: r.Value}}}
		for _, format := range r.Formats {
			up.Protocols = append(up.Protocols, proxy.Protocol(format))
		}
		o.Upstreams[r.Name] = up
	}
	return proxy.Open(o)
}

// carriedReals are the real CLIs as a gateway carries them, with what leads it to the stand-in for their model.
var carriedReals = []real{
	{"claude", "/gateway", "ANTHROPIC_API_KEY", byWire("", "ANTHROPIC_BASE_URL", "")},
	{"codex", "/gateway", "OPENAI_API_KEY", byWire("gpt-5.5", "OPENAI_BASE_URL", "/v1")},
	{"gemini", "/gateway", "GEMINI_API_KEY", byWire("gemini-2.5-flash", "GOOGLE_GEMINI_BASE_URL", "")},
	{"opencode", "/gateway", "OPENAI_API_KEY", byWire("openai/gpt-5.5", "OPENAI_BASE_URL", "/v1")},
}

func byWire(model, variable, path string) func(*agent.Options, string, func(string, string)) {
	return func(o *agent.Options, url string, write func(string, string)) {
		write(".gemini/settings.json", `{"security":{"auth":{"selectedType":"gemini-api-key"}},"general":{"maxAttempts":2}}`)
		o.Gateway, o.Model = wire{}, model
		o.Parent = append(o.Parent, variable+"="+url+path)
	}
}
