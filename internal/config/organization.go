package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Where an organization keeps the settings of all its repositories.
const (
	OrganizationRepository = ".github"
	OrganizationFile       = "ralph.json"
)

// mayBe judges the value of a key in an organization's file: empty, or what is allowed in place of it.
type mayBe func(value any) string

// organizationKeys are what an organization's file may set, and how. Write access to that repository does not imply
// access to the others: so the file names no command, no path, no host and no variable, and it can make protections
// only stricter. A key that is not here, such as a new one, is refused.
var organizationKeys = sync.OnceValue(func() map[string]mayBe {
	return map[string]mayBe{
		"$schema":           anything,
		"maximumIterations": anything, "completionResponse": anything, "outputTruncateChars": anything,
		"outputTruncateFrom": anything, "streamAgentOutput": anything, "includeIterationCountInPrompt": anything,
		"agent": anything, "agent.command": knownAgent, "agent.model": anything, "agent.timeout": anything,
		"agent.idleTimeout": anything,
		"reviewer":          anything, "reviewer.command": knownAgent, "reviewer.model": anything,
		"reviewer.timeout":     anything,
		"reviewer.idleTimeout": anything,
		"agentSettings":        only(false), "claimByExit": only(false), "review": only(true), "strict": anything,
		"weakenedTests": only(Soft, Hard), "unfinished": only(Soft, Hard),
		"baseline":  only(string(BaselineRequire), string(BaselinePass), string(BaselineReport)),
		"reviewCap": anything, "atReviewCap": anything,
		"sandbox": only("auto", "require"), "sandboxSockets": only("tcp"), "sandboxUserns": only(false),
		"sandboxNetwork": withinRegistries, "sandboxWritable": noEntries,
		"gateway": only(GatewayAuto, GatewayRequire), "protected": withProtected,
		"timeoutMinutes": anything, "timeoutMultiplier": anything, "waitForLimits": anything,
		"maxCostUsd": anything, "maxCostUsdPerIssue": anything, "maxTokens": anything,
		"dispatch": anything, // but not in which of a repository's workflows
		"ciGate":   anything, "ciTimeoutMinutes": anything, "comments": anything, "notifyOn": anything,
	}
})

// knownAgents are the agents that ralph calls by name. Every other command is a program that the file would bring.
var knownAgents = []string{"claude", "codex", "amp", "gemini", "opencode"}

// Organization is the layer of an organization's file, below the settings of each repository: content is ralph.json of
// the repository .github of this owner. Its error is an *Error with all that the file may not say.
func Organization(owner string, content []byte) (Layer, error) {
	layer := Layer{Name: owner + "/" + OrganizationRepository + ": " + OrganizationFile, JSON: content}
	object, problems := layer.parse()
	if len(problems) == 0 {
		problems = notForOrganizations(layer.Name, "", object)
	}
	return layer, asError(problems)
}

func notForOrganizations(name, above string, object map[string]any) []string {
	var problems []string
	for _, key := range slices.Sorted(maps.Keys(object)) {
		path, value := above+key, object[key]
		judge, known := organizationKeys()[path]
		if !known {
			problems = append(problems, fmt.Sprintf("%s: %s is not for all repositories; set it in %s of the repositories "+
				"that need it.", name, path, SettingsFile))
			continue
		}
		if allowed := judge(value); allowed != "" {
			problems = append(problems, fmt.Sprintf("%s: %s is %s; for all repositories, it must be %s. Set it in %s of the "+
				"repositories that need it.", name, path, show(value), allowed, SettingsFile))
		}
		if below, ok := value.(map[string]any); ok {
			problems = append(problems, notForOrganizations(name, path+".", below)...)
		}
	}
	return problems
}

func anything(any) string { return "" }

// only allows these values.
func only(values ...any) mayBe {
	return func(value any) string {
		if slices.Contains(values, value) {
			return ""
		}
		var words []string
		for _, v := range values {
			words = append(words, show(v))
		}
		return strings.Join(words, " or ")
	}
}

func knownAgent(value any) string { return only(anyOf(knownAgents)...)(value) }

func anyOf(texts []string) []any {
	var all []any
	for _, t := range texts {
		all = append(all, t)
	}
	return all
}

func noEntries(value any) string {
	if list, ok := value.([]any); ok && len(list) == 0 {
		return ""
	}
	return "[]"
}

// withinRegistries allows fewer hosts than without the setting.
func withinRegistries(value any) string {
	list, _ := value.([]any)
	for _, host := range list {
		if name, ok := host.(string); !ok || !slices.Contains(registries(), name) {
			return "hosts of the default list alone"
		}
	}
	return ""
}

// withProtected allows a list that has the entries of the default, and more.
func withProtected(value any) string {
	list, _ := value.([]any)
	for _, pattern := range Defaults().Protected {
		if !slices.Contains(list, any(pattern)) {
			return "a list with " + strings.Join(Defaults().Protected, ", ")
		}
	}
	return ""
}
