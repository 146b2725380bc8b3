package config

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

var explainedLayers = []Layer{
	{Name: SettingsFile,
		JSON: []byte(`{"agent": {"command": "codex", "flags": ["--api-key sk-1", "-v"]}, "maximumIterations": 0,
		"guardrails": [{"command": "make lint && TOKEN=hush make test", "timeout": "90s"}], "timeoutMultiplier": 0.5}`)},
	{Name: LocalSettingsFile,
		JSON: []byte(
			`{"agent": {"flags": ["--token", "hush", "--verbose"]}, "reviewer": {"timeout": "7m"}, "scm": {"command": "git"}}`)},
	{Name: "flags", JSON: []byte(`{"streamAgentOutput": false}`)},
}

const explainedJSONC = `{
  "maximumIterations": 0, // .ralph/settings.json
  "completionResponse": "DONE", // default
  "outputTruncateChars": 5000, // default
  "outputTruncateFrom": "head", // default
  "streamAgentOutput": false, // flags
  "includeIterationCountInPrompt": false, // default
  "agent": {
    "command": "codex", // .ralph/settings.json
    "flags": [ // .ralph/settings.local.json
      "--token",
      "[redacted]",
      "--verbose"
    ],
    "timeout": "20m", // default
    "idleTimeout": "10m" // default
  },
  "agentSettings": false, // default
  "claimByExit": false, // default
  "doneFile": "", // default
  "reviewer": {
    "command": "codex", // as agent.command
    "flags": [ // as agent.flags
      "--token",
      "[redacted]",
      "--verbose"
    ],
    "timeout": "7m", // .ralph/settings.local.json
    "idleTimeout": "10m" // default
  },
  "guardrails": [ // .ralph/settings.json
    {
      "name": "make lint && TOKEN=[redacted] make test",
      "command": "make lint && TOKEN=[redacted] make test",
      "failAction": "APPEND",
      "severity": "hard",
      "timeout": "1m30s"
    }
  ],
  "scm": {
    "command": "git" // .ralph/settings.local.json
  },
  "verification": "string_match", // default
  "strict": false, // default
  "protected": [ // default
    ".ralph/**"
  ],
  "weakenedTests": "soft", // default
  "unfinished": "soft", // default
  "reviewCap": 5, // default
  "atReviewCap": "approve", // default
  "plans": [], // default
  "sandbox": "auto", // default
  "sandboxWritable": [], // default
  "sandboxNetwork": [ // default
    "proxy.golang.org",
    "sum.golang.org",
    "registry.npmjs.org",
    "registry.yarnpkg.com",
    "pypi.org",
    "files.pythonhosted.org",
    "index.crates.io",
    "static.crates.io",
    "repo.maven.apache.org",
    "repo1.maven.org",
    "plugins.gradle.org",
    "services.gradle.org",
    "rubygems.org",
    "index.rubygems.org",
    "api.nuget.org",
    "repo.packagist.org"
  ],
  "sandboxSockets": "tcp", // default
  "sandboxUserns": false, // default
  "gateway": "auto", // default
  "gatewayThrough": [], // default
  "baseline": "report", // default
  "maxCostUsd": 0, // default
  "maxCostUsdPerIssue": 0, // default
  "maxTokens": 0, // default
  "prices": [], // default
  "limits": {
    "disk": "64GiB", // default
    "output": "1GiB" // default
  },
  "workflow": "ralph.yml", // default
  "ciGate": "off", // default
  "ciTimeoutMinutes": 30, // default
  "comments": "sticky", // default
  "notifyOn": [ // default
    "done",
    "failed",
    "waiting"
  ],
  "notify": [], // default
  "workingDirectory": "", // default
  "timeoutMultiplier": 0.5, // .ralph/settings.json
  "waitForLimits": true, // default
  "setup": "", // default
  "setupInputs": [], // default
  "environment": [] // default
  // review is not set: true for an issue, a task or a plan, false for a prompt
  // timeoutMinutes is not set: 60 for an issue, a task or a plan, no limit for a prompt
  // dispatch is not set: process, or the first that the installation allows
  // judge is not set: without a setup, the checks are given the directories in which dependencies are installed
}
`

func TestExplainedSettingsAreReadable(t *testing.T) {
	e, err := Explain(explainedLayers...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.JSONC(nil)
	if err != nil || string(got) != explainedJSONC {
		t.Errorf("%v\n%s", err, got)
	}
}

// TestExplainedSettingsAreReadBack: what is shown is a settings file that means the same, also whether a key was set at
// all.
func TestExplainedSettingsAreReadBack(t *testing.T) {
	for _, text := range []string{`{}`, `{"timeoutMinutes": 60}`, `{"guardrails": []}`, `{"review": true}`,
		`{"review": false, "maximumIterations": 0}`,
		`{"reviewer": {"flags": []}, "agent": {"flags": ["a\u2028b</script>", "c // d"]}}`,
		`{"scm": {"command": "git", "tasks": ["commit"]}}`,
		`{"agent": {"command": "amp", "flags": ["-x"]}, "reviewer": {"command": "codex"}, "timeoutMultiplier": 0.30000000000000004}`} {
		e, err := Explain(layer(text))
		if err != nil {
			t.Fatal(err)
		}
		shown, err := e.JSONC(nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Load(layer(string(shown)))
		if err != nil || !reflect.DeepEqual(again, e.Settings) {
			t.Errorf("%s: %v\n got %+v\nwant %+v\n%s", text, err, again, e.Settings, shown)
		}
	}
}

func TestExplainedSettingsAsJSON(t *testing.T) {
	e, err := Explain(explainedLayers...)
	if err != nil {
		t.Fatal(err)
	}
	text, err := e.JSON(func(s string) string { return strings.ReplaceAll(s, "codex", "[agent]") })
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Settings Settings
		From     map[string]string
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"agent.command": SettingsFile, "agent.flags": LocalSettingsFile,
		"reviewer.command": "as agent.command",
		"guardrails":       SettingsFile, "scm.command": LocalSettingsFile, "streamAgentOutput": "flags", "review": Default} {
		if got.From[key] != want {
			t.Errorf("%s is from %q, want %q", key, got.From[key], want)
		}
	}
	if got.Settings.Agent.Command != "[agent]" || got.Settings.Agent.Flags[1] != redacted || len(got.From) != 55 {
		t.Errorf("%d origins\n%s", len(got.From), text)
	}
}
