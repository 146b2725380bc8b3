package config

import (
	"encoding/json"
	"strings"
	"testing"
)

var explainedLayers = []Layer{
	{Name: SettingsFile,
		JSON: []byte(`{"agent": {"command": "codex", "flags": ["--api-key sk-1", "-v"]}, "maximumIterations": 0,
		"guardrails": [{"command": "make lint && TOKEN=hush make test", "timeout": "90s"}], "timeoutMultiplier": 0.5}`)},
	{Name: LocalSettingsFile,
		JSON: []byte(
			`{"agent": {"flags": ["--token", "hush", "--key", "--verbose"]}, "reviewer": {"timeout": "7m"}, "scm": {"command": "git"}}`)},
	{Name: "flags", JSON: []byte(`{"streamAgentOutput": false}`)},
}

// TestExplainedSettings: each value is in a line with its origin, without secrets, and in JSON. A key whose default depends
// on the run is not shown as set.
func TestExplainedSettings(t *testing.T) {
	e, err := Explain(explainedLayers...)
	noError(t, err)
	got, err := e.Text(nil)
	for _, line := range []string{
		"maximumIterations: 0 (.ralph/settings.json)", `completionResponse: "DONE" (default)`, "streamAgentOutput: false (flags)",
		`agent.command: "codex" (.ralph/settings.json)`,
		`agent.flags: ["--token","[redacted]","--key","--verbose"] (.ralph/settings.local.json)`, `reviewer.command: "codex" (as agent.command)`,
		`guardrails: [{"name":"make lint && TOKEN=[redacted] make test","command":"make lint && TOKEN=[redacted] make test",` +
			`"failAction":"APPEND","severity":"hard","timeout":"1m30s"}] (.ralph/settings.json)`,
		"review: not set (true for an issue, a task or a plan, false for a prompt)",
	} {
		if err != nil || strings.Count("\n"+got, "\n"+line+"\n") != 1 {
			t.Errorf("%v: no line %s in\n%s", err, line, got)
		}
	}
	if strings.Contains(got, "hush") || strings.Contains(got, "review: true") {
		t.Error(got)
	}
	text, err := e.JSON(func(s string) string { return strings.ReplaceAll(s, "codex", "[agent]") })
	noError(t, err)
	var decoded struct {
		Settings Settings
		From     map[string]string
	}
	noError(t, json.Unmarshal(text, &decoded))
	for key, want := range map[string]string{"agent.command": SettingsFile, "agent.flags": LocalSettingsFile,
		"reviewer.command": "as agent.command",
		"guardrails":       SettingsFile, "scm.command": LocalSettingsFile, "streamAgentOutput": "flags", "review": Default} {
		if decoded.From[key] != want {
			t.Errorf("%s is from %q, want %q", key, decoded.From[key], want)
		}
	}
	if decoded.Settings.Agent.Command != "[agent]" || decoded.Settings.Agent.Flags[1] != redacted || len(decoded.From) != 55 {
		t.Errorf("%d origins\n%s", len(decoded.From), text)
	}
}
