package engine

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/proc"
)

// Secrets are the values of an environment that must never be printed or committed: our own, and those of every agent.
func Secrets(env config.Environment, parent []string) []string {
	secrets := env.Secrets()
	for _, name := range agent.KeyNames() {
		if value := proc.Value(parent, name); value != "" && !slices.Contains(secrets, value) {
			secrets = append(secrets, value)
		}
	}
	return secrets
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
