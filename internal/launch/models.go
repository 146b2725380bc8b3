package launch

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

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
	Prices  gateway.Prices // zero: the list that ralph brings along
	Through []string       // as in gateway.Options
}

// Within are the models with the budget of a run that a server allows. The process of a job keeps to it by itself; this
// holds if what runs there does not.
func (m Models) Within(a config.Allowance) Models {
	m.Through = a.GatewayThrough
	m.Limit = gateway.Limit{Dollars: a.MaxCostUSD, Tokens: int64(a.MaxTokens), Setting: "maxCostUsd of this server"}
	return m
}

// HasKey reports whether there is a key for the models of an agent, named as in settings: "claude", or the path of a
// program. Nobody knows which key a program of somebody's own needs.
func (m Models) HasKey(agent string) (has, known bool) {
	of := map[string][]string{"claude": {"anthropic"}, "codex": {"openai"}, "gemini": {"gemini"}, "amp": {},
		"opencode": {"anthropic", "openai", "gemini"}}
	paths, known := of[strings.TrimSuffix(filepath.Base(agent), ".exe")]
	return slices.ContainsFunc(providers(), func(p provider) bool {
		return slices.Contains(paths, p.path) && p.key(m.Environ) != ""
	}), known
}

// provider is one whose requests a gateway carries.
type provider struct {
	path         string // the first part of the path at the gateway
	keys         []string
	header       map[string]string // by key, where it is not that of the provider
	usual        string
	base, public string // the variable that says where it is, and where it is else
	suffix       string // what everybody writes at the end of the variable
	protocols    []gateway.Protocol
}

// key is the name of the variable that holds one; of several the first: an agent uses one. "": none does.
func (p provider) key(environ []string) string {
	for _, name := range p.keys {
		if proc.Value(environ, name) != "" {
			return name
		}
	}
	return ""
}

// providers are those that agents can be led to by their environment.
func providers() []provider {
	return []provider{
		{path: "anthropic", keys: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"},
			header: map[string]string{"ANTHROPIC_API_KEY": "x-api-key"}, usual: "authorization",
			base: "ANTHROPIC_BASE_URL", public: "https://api.anthropic.com",
			protocols: []gateway.Protocol{gateway.Anthropic}},
		{path: "openai", keys: []string{"CODEX_API_KEY", "OPENAI_API_KEY"}, usual: "authorization",
			base: "OPENAI_BASE_URL", public: "https://api.openai.com", suffix: "/v1",
			protocols: []gateway.Protocol{gateway.Responses, gateway.Chat}},
		{path: "gemini", keys: []string{"GEMINI_API_KEY"}, usual: "x-goog-api-key", base: "GOOGLE_GEMINI_BASE_URL",
			public: "https://generativelanguage.googleapis.com", protocols: []gateway.Protocol{gateway.Gemini}},
	}
}

// open opens the gateway of a job, whose process reaches it at an address and, where it is not empty, by a bearer, and says
// by which environment its process finds it. Without a key there is none.
func (m Models) open(address, bearer string, log func(string, ...any)) (*gateway.Turn, []string, error) {
	o := gateway.Options{Upstreams: map[string]gateway.Upstream{}, Limit: m.Limit, Prices: m.Prices, Log: log,
		Bearer: bearer, Through: m.Through}
	type named struct {
		provider
		name string
	}
	var used []named
	for _, p := range providers() {
		name := p.key(m.Environ)
		if name == "" {
			continue
		}
		value := proc.Value(m.Environ, name)
		base := strings.TrimRight(proc.Value(m.Environ, p.base), "/")
		base = strings.TrimSuffix(base, p.suffix)
		if base == "" {
			base = p.public
		}
		at, err := url.Parse(base)
		if err != nil {
			return nil, nil, fmt.Errorf("reading %s: it is no address", p.base)
		}
		header := p.usual
		if h := p.header[name]; h != "" {
			header = h
		}
		if header == "authorization" {
			value = "Bearer " + value
		}
		o.Upstreams[p.path] = gateway.Upstream{Base: at, Protocols: p.protocols,
			Credentials: []gateway.Credential{{Header: header, Value: value}}}
		used = append(used, named{p, name})
	}
	if len(used) == 0 {
		return nil, nil, nil
	}
	t, err := gateway.Open(o)
	if err != nil {
		return nil, nil, err
	}
	var environ []string
	for _, p := range used {
		environ = append(environ, p.name+"="+t.Bearer(), p.base+"="+address+"/"+p.path+p.suffix)
	}
	return t, environ, nil
}
