package agent

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/proc"
)

// claudeElsewhere are variables by which claude speaks to a model that is not reached by a key of its own.
var claudeElsewhere = []string{"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"}

// claudeKey is the credential that claude uses of those it has, and the header that it goes by.
func claudeKey(o Options) (name, header, value string) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"} {
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
	_, header, value := claudeKey(o)
	if value == "" || why != "" {
		return nil, why
	}
	return []Route{{Base: base, Header: header, Value: value, Formats: []string{anthropicFormat},
		Extra: lines(proc.Value(o.Parent, "ANTHROPIC_CUSTOM_HEADERS"))}}, ""
}

func lines(text string) (list []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// claudeReach: under the name that the key had, since claude asks for other things with a subscription.
func claudeReach(t *talk) []string {
	name, _, _ := claudeKey(t.Options)
	return []string{"ANTHROPIC_BASE_URL=" + t.at(""), name + "=" + t.way.Bearer()}
}
