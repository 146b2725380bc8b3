package agent

import (
	"runtime"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ralph-loop/ralph/internal/proc"
)

// claudeElsewhere are variables by which claude speaks to a model that is not reached by a key of its own.
var claudeElsewhere = []string{"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"}

// claudeToken has the token of a subscription.
const claudeToken = "CLAUDE_CODE_OAUTH_TOKEN"

// claudeKey is the credential that claude uses of those it has, and the header that it goes by.
func claudeKey(o Options) (name, header, value string) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", claudeToken} {
		switch value := o.Keys[name]; {
		case value == "":
		case name == "ANTHROPIC_API_KEY":
			return name, "x-api-key", value
		default:
			return name, "authorization", "Bearer " + value
		}
	}
	return "", "", ""
}

func claudeCarry(o Options) ([]Route, string) {
	for _, name := range claudeElsewhere {
		if proc.Value(proc.Environment(o.Parent, o.Allow), name) != "" {
			return nil, name + " leads claude to another provider"
		}
	}
	base, why := baseOf(o, "ANTHROPIC_BASE_URL", "https://api.anthropic.com")
	r := Route{Base: base, Formats: []string{anthropicFormat},
		Extra: lines(proc.Value(o.Parent, "ANTHROPIC_CUSTOM_HEADERS"))}
	if _, r.Header, r.Value = claudeKey(o); r.Value == "" {
		r = claudeLogin(o, r)
	}
	switch {
	case why != "":
		return nil, why
	case r.Value == "" && runtime.GOOS == "darwin":
		return nil, "a login of claude's is in the keychain, which ralph does not open: run claude setup-token, and set " +
			"CLAUDE_CODE_OAUTH_TOKEN to what it says"
	case r.Value == "":
		return nil, ""
	}
	return []Route{r}, ""
}

// claudeLogin adds the token of a subscription, as the CLI has saved it, to a route.
func claudeLogin(o Options, r Route) Route {
	saved, where := savedLogin("claude", o)
	login := saved.Get("claudeAiOauth")
	token := login.Get("accessToken").Str
	if token == "" {
		return r
	}
	r.Header, r.Value, r.Login = "authorization", "Bearer "+token, where
	if ends := login.Get("expiresAt"); ends.Type == gjson.Number && ends.Num > 0 {
		r.Ends = time.UnixMilli(ends.Int())
	}
	return r
}

func lines(text string) (list []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// claudeBearer is the file that claude's helper for keys prints, so that nothing that it runs inherits the bearer. The
// token of a subscription needs none: claude does not hand it on.
const claudeBearer = "bearer"

func claudeFiles(t *turnInput) error {
	if name, _, _ := claudeKey(t.Options); t.way == nil || name == "" || name == claudeToken {
		return nil
	}
	return t.file(claudeBearer, t.way.Bearer())
}

// claudeReach: a subscription keeps its variable, because claude asks for other things with it.
func claudeReach(t *turnInput) []string {
	env := []string{"ANTHROPIC_BASE_URL=" + t.at("")}
	if name, _, _ := claudeKey(t.Options); name == "" || name == claudeToken {
		env = append(env, claudeToken+"="+t.way.Bearer())
	}
	return env
}

// claudeHelper are the settings that name the helper; nil: there is none.
func claudeHelper(t *turnInput) map[string]any {
	if name, _, _ := claudeKey(t.Options); t.way == nil || name == "" || name == claudeToken {
		return nil
	}
	return map[string]any{"apiKeyHelper": "cat '" + strings.ReplaceAll(t.path(claudeBearer), "'", `'\''`) + "'"}
}
