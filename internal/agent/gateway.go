package agent

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// Gateway carries what turns ask their models, so that the credential stays with the harness.
type Gateway interface {
	// Open starts to carry one turn, which may spend what is left.
	Open(routes []Route, left loop.Left) (TurnGateway, error)
	// Prices reports whether it knows what a model costs; "" is the agent's own choice, which shows when it asks.
	Prices(model string) bool
}

// TurnGateway carries one turn.
type TurnGateway interface {
	URL() string    // where the agent reaches it: "http://127.0.0.1:4567"
	Bearer() string // by what it knows the agent
	// Usage is what the model's answers have said so far that they took. CostUSD is 0 when a price is not known. asked
	// is false when nothing has been passed on.
	Usage() (u loop.Usage, asked bool)
	Refused() string // why a request was refused because of what may be spent; "" if none was
	Close() error    // ends what runs; nothing is carried afterwards
}

// Route is one provider that a turn is carried to.
type Route struct {
	Name    string   // the first part of the path at the gateway: "anthropic"; "" is the only route
	Base    string   // where it leads: "https://api.anthropic.com"
	Header  string   // that has the credential: "x-api-key"
	Value   string   // of that header
	Extra   []string // more headers that its user sends to the provider, "Name: value" each
	Formats []string // what is spoken there: "anthropic", "openai-responses", "openai-chat", "gemini"
	// Login is where the value is from that its user has logged in for: "~/.claude/.credentials.json"; "" it is a key of
	// the environment. Ends is when it counts no more; zero: no one says.
	Login string
	Ends  time.Time
	// Renew is another value after one that the provider has refused; false: there is none. nil: no one renews it.
	Renew func(ctx context.Context, refused string) (string, bool)
}

// home is the agent's HOME.
func (t *turnInput) home() string {
	switch {
	case t.Home != "":
		return t.Home
	case t.As != nil:
		return t.As.Home
	}
	return proc.Value(t.Parent, "HOME")
}

// settingBytes is how much of an agent's settings file is read.
const settingBytes = 1 << 20

// gatewayConfig is how a gateway carries an agent.
type gatewayConfig struct {
	// routes are the providers that it is carried to, or why it cannot be; none: there is no key.
	routes func(o Options) (routes []Route, why string)
	// reach is the environment that leads it to the gateway of talk.way.
	reach func(t *turnInput) []string
	// renew are the arguments by which its CLI renews its login and does nothing else; nil: there are none.
	renew []string
}

// Spoken in requests to models.
const (
	anthropicFormat = "anthropic"
	responsesFormat = "openai-responses"
	chatFormat      = "openai-chat"
	geminiFormat    = "gemini"
)

// openaiBase is where the environment says that OpenAI's interface is, without the /v1 that everyone writes there.
func openaiBase(o Options) (base, why string) {
	said := proc.Value(o.Parent, "OPENAI_BASE_URL")
	if said == "" {
		return "https://api.openai.com", ""
	}
	base, ok := strings.CutSuffix(strings.TrimRight(said, "/"), "/v1")
	if !ok {
		return "", "OPENAI_BASE_URL does not end in /v1"
	}
	return base, checkedBase("OPENAI_BASE_URL", base)
}

// openaiHeaders are the headers by which the environment says for whom requests to OpenAI count.
func openaiHeaders(o Options) (headers []string) {
	for _, h := range [][2]string{{"OpenAI-Organization", "OPENAI_ORGANIZATION"}, {"OpenAI-Project", "OPENAI_PROJECT"}} {
		if value := proc.Value(o.Parent, h[1]); value != "" {
			headers = append(headers, h[0]+": "+value)
		}
	}
	return headers
}

// baseOf is where the environment says that a provider is, or else its public address.
func baseOf(o Options, name, public string) (base, why string) {
	if base = strings.TrimRight(proc.Value(o.Parent, name), "/"); base == "" {
		return public, ""
	}
	return base, checkedBase(name, base)
}

func checkedBase(name, base string) string {
	if u, err := url.Parse(base); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return name + " is no address of a web server"
	}
	return ""
}

// loopback is what no proxy is asked for.
const loopback = "127.0.0.1,localhost"

// withheld are variables that an agent which is carried does not get: they hold credentials or lead past the gateway.
var withheld = []string{"ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL",
	"GOOGLE_VERTEX_BASE_URL", "GEMINI_CLI_CUSTOM_HEADERS", "NO_PROXY", "no_proxy"}

// shortestKey is how long a value is at least that is taken for a key wherever it stands.
const shortestKey = 8

// carriedEnvironment is an environment without the agents' keys, by name and by value, and what else is withheld. A
// proxy is not asked for the gateway.
func carriedEnvironment(o Options, env, keys []string) []string {
	out, values := []string{}, slices.Collect(maps.Values(o.Keys))
	names := slices.Concat(withheld, keys, slices.Collect(maps.Keys(o.Keys)))
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if !slices.Contains(names, name) && (len(value) < shortestKey || !slices.Contains(values, value)) {
			out = append(out, entry)
		}
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		if had := proc.Value(env, name); had != "" {
			out = append(out, name+"="+had+","+loopback)
		} else {
			out = append(out, name+"="+loopback)
		}
	}
	return out
}

// address is the gateway's on this machine, for a box to let it through: "127.0.0.1:4567".
func (t *turnInput) address() string {
	if t.way == nil {
		return ""
	}
	u, err := url.Parse(t.way.URL())
	if err != nil {
		return ""
	}
	return u.Host
}

// at is where a provider is reached at the gateway.
func (t *turnInput) at(route string) string {
	if route == "" {
		return t.way.URL()
	}
	return t.way.URL() + "/" + route
}
