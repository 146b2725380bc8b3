package agent

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// GatewaySupport says whether a gateway can carry the turns of an agent.
type GatewaySupport struct {
	Routes []Route
	Why    string // why it cannot; "": it can
	// Unsure says that no one knows whether the agent uses the address that it is given.
	Unsure bool
	Known  bool // ralph knows the agent, and how it is carried
	// Unnamed says which variables the agent needs to reach a provider that the gateway does not carry to, and does not get,
	// because the setting environment does not name them; "" if there are none.
	Unnamed string
	// Credential is where the agent's credential is: "key in ANTHROPIC_API_KEY"; "" none is seen.
	Credential string
}

// elsewhere are the providers that agents reach by credentials that the gateway cannot add to a request: the variable that
// chooses one, and those that it is reached by.
var elsewhere = []struct {
	agent, chosen, provider string
	needs                   []string
}{
	{"claude", "CLAUDE_CODE_USE_BEDROCK", "Amazon Bedrock", []string{"AWS_REGION", "AWS_PROFILE", "AWS_ACCESS_KEY_ID",
		"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"}},
	{"claude", "CLAUDE_CODE_USE_VERTEX", "Vertex AI", []string{"CLOUD_ML_REGION", "ANTHROPIC_VERTEX_PROJECT_ID",
		"GOOGLE_APPLICATION_CREDENTIALS"}},
	{"claude", "CLAUDE_CODE_USE_FOUNDRY", "Microsoft Foundry", []string{"ANTHROPIC_FOUNDRY_RESOURCE",
		"ANTHROPIC_FOUNDRY_BASE_URL", "ANTHROPIC_FOUNDRY_API_KEY"}},
	{"gemini", "GOOGLE_GENAI_USE_VERTEXAI", "Vertex AI", []string{"GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION",
		"GOOGLE_APPLICATION_CREDENTIALS"}},
	{"codex", "AZURE_OPENAI_API_KEY", "Azure OpenAI", nil},
	{"opencode", "AZURE_API_KEY", "Azure OpenAI", []string{"AZURE_RESOURCE_NAME"}},
	{"opencode", "AWS_BEARER_TOKEN_BEDROCK", "Amazon Bedrock", []string{"AWS_REGION"}},
}

// unnamed says which variables of a provider the environment has and the agent does not get.
func unnamed(name string, o Options) string {
	given := proc.Environment(o.Parent, o.Allow)
	for _, e := range elsewhere {
		if e.agent != name || proc.Value(o.Parent, e.chosen) == "" {
			continue
		}
		missing := slices.DeleteFunc(append([]string{e.chosen}, e.needs...), func(variable string) bool {
			return proc.Value(o.Parent, variable) == "" || proc.Value(given, variable) != ""
		})
		if len(missing) > 0 {
			return fmt.Sprintf("%s asks %s (%s), which the gateway does not carry: add %s to the setting environment", name,
				e.provider, e.chosen, strings.Join(missing, ", "))
		}
	}
	return ""
}

// CheckGateway finds out whether a gateway could carry the turns of these options.
func CheckGateway(o Options) GatewaySupport {
	d, known := dialectOf(o.Command)
	c := GatewaySupport{Unsure: !known, Known: known && d.gateway != nil}
	if known {
		c.Credential = credential(d, o)
	} else if i := slices.IndexFunc(KeyNames(), func(name string) bool { return o.Keys[name] != "" }); i >= 0 {
		c.Credential = "key in " + KeyNames()[i]
	}
	if d.gateway == nil {
		c.Why = d.name + " has no setting that says where its model is"
		return c
	}
	c.Routes, c.Why = d.gateway.routes(o)
	if len(c.Routes) == 0 {
		c.Unnamed = unnamed(d.name, o)
	}
	if c.Why != "" || len(c.Routes) > 0 {
		if c.Why != "" && c.Credential == "" && d.name == "claude" && logins[d.name].lax {
			c.Credential = "login in the keychain, if there is one"
		}
		return c
	}
	if c.Why = "no key for " + d.name + " is in the environment"; strings.HasPrefix(c.Credential, "login") {
		c.Why = "the " + c.Credential + " cannot use the gateway: " + logins[d.name].how
	}
	return c
}

// carry opens the way to the agent's model; done closes it. A turn without a gateway has none. why says that its user
// has to log in again before there can be one.
func (t *turnInput) carry(ctx context.Context) (done func(), why string, err error) {
	if t.Gateway == nil {
		return func() {}, "", nil
	}
	c := CheckGateway(t.Options)
	if c.Why != "" {
		return nil, "", fmt.Errorf("carrying %s to its model: %s", filepath.Base(t.Command), c.Why)
	}
	if t.routes, why = t.login(ctx, c.Routes); why != "" {
		return nil, why, nil
	}
	if t.way, err = t.Gateway.Open(t.routes, t.Left); err != nil {
		return nil, "", fmt.Errorf("opening the way to the agent's model: %w", err)
	}
	return func() { _ = t.way.Close() }, "", nil
}

// loggedOut makes a turn wait for its user, whose login has been refused: a key that is wrong stays wrong, but all that
// is needed here is to log in again.
func (t *turnInput) loggedOut(turn *loop.Turn) {
	if turn.Class != loop.Auth {
		return
	}
	where := ""
	if i := slices.IndexFunc(t.routes, func(r Route) bool { return r.Login != "" }); i >= 0 {
		where = t.routes[i].Login
	} else if rest, ok := strings.CutPrefix(credential(t.dialect, t.Options), "login in "); ok {
		where = rest
	}
	if where != "" {
		turn.Class, turn.Reason = loop.Waits, t.dialect.loginHint(where)
	}
}

// differs reports whether what an agent told, if it told anything, is not what was seen, give or take a twentieth.
func differs(told, seen float64) bool { return told > 0 && math.Abs(told-seen) > seen/20 }

// onTheWire takes a turn's tokens and its cost from the answers of its model, which no agent can tell otherwise.
func (t *turnInput) onTheWire(turn *loop.Turn) {
	if t.way == nil {
		return
	}
	_ = t.way.Close() // what is not counted yet is counted now
	if seen, asked := t.way.Usage(); asked {
		told := turn.Usage
		if seen.CostUSD == 0 {
			seen.CostUSD = told.CostUSD
		}
		if differs(told.CostUSD, seen.CostUSD) || differs(float64(told.Tokens()), float64(seen.Tokens())) {
			turn.AgentUsage = &told
		}
		turn.Usage = seen
	}
	if why := t.way.Refused(); why != "" && turn.Class != loop.OK {
		turn.Class, turn.Reason, turn.Ours = loop.Spent, why, true
	}
}
