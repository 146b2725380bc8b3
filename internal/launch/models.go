package launch

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/gateway"
	"github.com/ralph-loop/ralph/internal/proc"
)

// Models are the models that a job may ask. Their keys stay with the server: the job gets an address and a bearer that
// count for it alone.
type Models struct {
	// Environ names keys and addresses as agents do, NAME=value: ANTHROPIC_API_KEY, OPENAI_BASE_URL. What it names
	// besides does not count.
	Environ []string
	Limit   gateway.Limit
	Through []string // as in gateway.Options
}

// Within are the models with the budget of a run that a server allows. The process of a job keeps to it by itself; this
// holds if what runs there does not.
func (m Models) Within(a config.Allowance) Models {
	m.Through = a.GatewayThrough
	m.Limit = gateway.Limit{Dollars: a.MaxCostUSD, Tokens: int64(a.MaxTokens), Setting: "maxCostUsd of this server"}
	return m
}

// modelKeys are the variables with keys by which agents can be led to a gateway: the first part of the path there, the
// header with the key, the variable that says where the provider is, where it is else, and what everyone writes at the
// end of that variable. Of several keys of a provider the first counts: an agent uses one.
var modelKeys = []jobKey{
	{"ANTHROPIC_API_KEY", "anthropic", "x-api-key", "", "ANTHROPIC_BASE_URL", "https://api.anthropic.com", "", []gateway.Protocol{gateway.Anthropic}},
	{"ANTHROPIC_AUTH_TOKEN", "anthropic", "authorization", "Bearer ", "ANTHROPIC_BASE_URL", "https://api.anthropic.com", "", []gateway.Protocol{gateway.Anthropic}},
	{"CLAUDE_CODE_OAUTH_TOKEN", "anthropic", "authorization", "Bearer ", "ANTHROPIC_BASE_URL", "https://api.anthropic.com", "", []gateway.Protocol{gateway.Anthropic}},
	{"CODEX_API_KEY", "openai", "authorization", "Bearer ", "OPENAI_BASE_URL", "https://api.openai.com", "/v1", []gateway.Protocol{gateway.Responses, gateway.Chat}},
	{"OPENAI_API_KEY", "openai", "authorization", "Bearer ", "OPENAI_BASE_URL", "https://api.openai.com", "/v1", []gateway.Protocol{gateway.Responses, gateway.Chat}},
	{"GEMINI_API_KEY", "gemini", "x-goog-api-key", "", "GOOGLE_GEMINI_BASE_URL", "https://generativelanguage.googleapis.com", "", []gateway.Protocol{gateway.Gemini}},
}

type jobKey struct {
	name, path, header, scheme, base, public, suffix string
	protocols                                        []gateway.Protocol
}

// HasKey reports whether an agent, named as in settings, gets a key that it reads: "claude", or the path of a program.
// No one knows which key a program of someone's own needs.
func (m Models) HasKey(command string) (has, known bool) {
	names, known := agent.Keys(command)
	return slices.ContainsFunc(m.keys(), func(k jobKey) bool { return slices.Contains(names, k.name) }), known
}

// keys are those that jobs get: of each provider the first that is set.
func (m Models) keys() []jobKey {
	set := slices.DeleteFunc(slices.Clone(modelKeys), func(k jobKey) bool { return proc.Value(m.Environ, k.name) == "" })
	return slices.CompactFunc(set, func(a, b jobKey) bool { return a.path == b.path })
}

// open opens the gateway of a job, whose process reaches it at an address and by a bearer, and says by which
// environment its process finds it. Without a key no gateway is opened.
func (m Models) open(address, bearer string, log func(string, ...any)) (*gateway.Turn, []string, error) {
	o := gateway.Options{Upstreams: map[string]gateway.Upstream{}, Limit: m.Limit, Log: log,
		Bearer: bearer, Through: m.Through}
	var environ []string
	for _, k := range m.keys() {
		base := strings.TrimSuffix(strings.TrimRight(proc.Value(m.Environ, k.base), "/"), k.suffix)
		at, err := url.Parse(cmp.Or(base, k.public))
		if err != nil {
			return nil, nil, fmt.Errorf("reading %s: it is no address", k.base)
		}
		o.Upstreams[k.path] = gateway.Upstream{Base: at, Protocols: k.protocols,
			Credentials: []gateway.Credential{{Header: k.header, Value: k.scheme + proc.Value(m.Environ, k.name)}}}
		environ = append(environ, k.name+"="+bearer, k.base+"="+address+"/"+k.path+k.suffix)
	}
	if environ == nil {
		return nil, nil, nil
	}
	t, err := gateway.Open(o)
	return t, environ, err
}
