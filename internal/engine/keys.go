package engine

import (
	"net/url"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/secret"
)

// Secrets are the values of an environment that must never be printed or committed: our own, those of every agent, and
// whatever else has the name of a secret and a value that no one would write by chance.
func Secrets(env config.Environment, parent []string) []string {
	secrets := env.Secrets()
	for _, name := range agent.KeyNames() {
		secrets = append(secrets, proc.Value(parent, name))
	}
	for _, entry := range parent {
		name, value, _ := strings.Cut(entry, "=")
		if proc.NamesSecret(name) && secret.Unguessable(value) {
			secrets = append(secrets, value)
		}
		if u, err := url.Parse(value); err == nil && u.User != nil {
			if password, _ := u.User.Password(); secret.Unguessable(password) {
				secrets = append(secrets, password)
			}
		}
	}
	slices.Sort(secrets)
	return slices.DeleteFunc(slices.Compact(secrets), func(value string) bool { return value == "" })
}

// claudeKeys are the credentials of claude, of which it gets one: a key before a subscription.
var claudeKeys = []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"}

// AgentKeys are the credentials that agents may be given, by environment name. Each agent takes those that are its own;
// inputs come before the environment.
func AgentKeys(parent []string, inputs map[string]string) map[string]string {
	keys, environ := map[string]string{}, map[string]string{}
	for _, name := range agent.KeyNames() {
		if value := proc.Value(parent, name); value != "" {
			environ[name] = value
			if !slices.Contains(claudeKeys, name) {
				keys[name] = value
			}
		}
	}
	for name, value := range inputs {
		if value != "" && !slices.Contains(claudeKeys, name) {
			keys[name] = value
		}
	}
	for _, from := range []map[string]string{inputs, environ} {
		for _, name := range claudeKeys {
			if from[name] != "" {
				keys[name] = from[name]
				return keys
			}
		}
	}
	return keys
}
