package config

import (
	"os"
	"strings"
	"testing"
)

func explained(t *testing.T, text string) Explained {
	t.Helper()
	e, err := Explain(Layer{Name: SettingsFile, JSON: []byte(text)})
	noError(t, err)
	return e
}

// TestAllowanceRefuses has a row for each thing that a repository asks for and is not given.
func TestAllowanceRefuses(t *testing.T) {
	tests := []struct {
		allowance Allowance
		settings  string
		want      string // of the error; empty for none
	}{
		{Allowance{}, `{"agent": {"command": "codex", "flags": ["--x"], "model": "m"}}`, ""},
		{Allowance{}, `{"agent": {"command": "./any"}}`,
			`agent.command is "./any"; this server allows claude, codex, amp, gemini, opencode.`},
		{Allowance{}, `{"agent": {"command": "./any"}, "dispatch": "workflow"}`, ""},
		{Allowance{Agents: []string{"./any"}}, `{"agent": {"command": "./any"}}`, ""},
		{Allowance{Agents: []string{"claude"}}, `{"agent": {"command": "codex"}}`,
			`.ralph/settings.json: agent.command is "codex"; this server allows claude.`},
		{Allowance{Agents: []string{"claude"}}, `{"reviewer": {"command": "codex"}}`, `reviewer.command is "codex"`},
		{Allowance{Agents: []string{"claude"}}, `{"agent": {"flags": ["--model other"]}}`, `agent.flags is "--model other"`},
		{Allowance{Models: []string{"opus"}}, `{"agent": {"model": "fable"}}`,
			`agent.model is "fable"; this server allows opus.`},
		{Allowance{Models: []string{"opus"}}, `{"agent": {"command": "./any"}}`, `agent.command is "./any"`},
		{Allowance{Models: []string{"opus"}}, `{"agentSettings": true}`, `agentSettings is "true"`},
		{Allowance{Launchers: []string{"workflow"}}, `{"dispatch": "process"}`,
			`dispatch is "process"; this server allows workflow.`},
		{Allowance{}, `{"sandbox": "off"}`, `sandbox is "off"; this server allows those in which everything holds.`},
		{Allowance{}, `{"sandbox": "landlock"}`, `sandbox is "landlock"`},
		{Allowance{}, `{"sandbox": "off", "dispatch": "workflow"}`, ""},
		{Allowance{Sandbox: "off"}, `{"sandbox": "off"}`, ""},
		{Allowance{}, `{"sandboxWritable": ["/srv"]}`, `sandboxWritable is "/srv"; this server allows none.`},
		{Allowance{Writable: []string{"/srv"}}, `{"sandboxWritable": ["/srv"]}`, ""},
		{Allowance{Hosts: []string{"x.example"}}, `{"sandboxNetwork": ["x.example", "*"]}`,
			`sandboxNetwork is "*"; this server allows the registries of packages, x.example.`},
		{Allowance{Hosts: []string{"*"}}, `{"sandboxNetwork": ["*"]}`, ""},
	}
	for _, tt := range tests {
		given, _, err := tt.allowance.Apply(explained(t, tt.settings))
		s := given.Settings
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v, %s: %v, want %s", tt.allowance, tt.settings, err, tt.want)
		}
		if err == nil && len(tt.allowance.Models) > 0 && (s.Agent.Model != "opus" || s.Reviewer.Model != "opus") {
			t.Errorf("%s: models %q, %q", tt.settings, s.Agent.Model, s.Reviewer.Model)
		}
	}
	given, _, _ := (Allowance{Models: []string{"opus"}}).Apply(explained(t, `{}`))
	if s := given.Settings; s.Agent.Model != "opus" || s.Reviewer.Model != "opus" || s.Sandbox != "require" ||
		s.Dispatch != OnServer || given.From["agent.model"] != Allowed || given.From["sandbox"] != Allowed {
		t.Errorf("%+v", given)
	}
}

// TestAllowanceLowers has a row for each budget: what was asked, what it becomes, and whether it is said.
func TestAllowanceLowers(t *testing.T) {
	a := Allowance{MaxCostUSD: 10, MaxCostUSDPerIssue: 20, MaxTokens: 1000, MaxIterations: 8, MaxMinutes: 90}
	free := `{"prices": [{"model": "opus", "input": 0, "output": 0}]}`
	for settings, want := range map[string]struct {
		cost       float64
		iterations int
		minutes    int
		note       string
	}{
		`{}`:                       {10, 8, 60, ""},
		free:                       {10, 8, 60, ".ralph/settings.json: prices is set; this server allows none"},
		`{"maxCostUsd": 3}`:        {3, 8, 60, ""},
		`{"maxCostUsd": 10.5}`:     {10, 8, 60, ".ralph/settings.json: maxCostUsd is 10.5; this server allows 10."},
		`{"maximumIterations": 0}`: {10, 8, 60, ""},
		`{"maximumIterations": 9}`: {10, 8, 60, "maximumIterations is 9; this server allows 8."},
		`{"maximumIterations": 2}`: {10, 2, 60, ""},
		`{"timeoutMinutes": 91}`:   {10, 8, 90, "timeoutMinutes is 91; this server allows 90."},
	} {
		given, notes, err := a.Apply(explained(t, settings))
		s := given.Settings
		if err != nil || s.MaxCostUSD != want.cost || s.Iterations(PlanIterations) != want.iterations ||
			s.TimeoutMinutes != want.minutes || s.MaxCostUSDPerIssue != 20 || s.MaxTokens != 1000 ||
			!strings.Contains(strings.Join(notes, ""), want.note) || len(s.Prices) > 0 ||
			(want.note == "") != (len(notes) == 0) {
			t.Errorf("%s: %v, %q, %v %d %d", settings, err, notes, s.MaxCostUSD, s.Iterations(PlanIterations), s.TimeoutMinutes)
		}
	}
	given, _, _ := a.Apply(explained(t, `{"maxCostUsd": 3}`))
	if given.From["maxCostUsd"] != SettingsFile || given.From["maxTokens"] != Allowed || given.Settings.AtMost(99) != 8 {
		t.Errorf("from %v, and %d iterations of 99", given.From, given.Settings.AtMost(99))
	}
	if given, _, _ = (Allowance{}).Apply(explained(t, `{}`)); given.Settings.MaximumIterations != nil ||
		given.Settings.MaxCostUSD != 0 || given.Settings.AtMost(99) != 99 {
		t.Errorf("without limits: %+v", given.Settings)
	}
}

// TestAllowances: the account's own row, or everybody's.
func TestAllowances(t *testing.T) {
	all, err := ReadAllowances("allow.json",
		[]byte(`{"Acme": {"agents": ["claude"]}, /* others */ "*": {"maxCostUsd": 1},}`))
	if err != nil || len(all.Of("aCME").Agents) != 1 || all.Of("acme").MaxCostUSD != 0 || all.Of("bob").MaxCostUSD != 1 {
		t.Errorf("%v, %+v", err, all)
	}
	if a := (Allowances)(nil).Of("x"); a.restricts() {
		t.Errorf("%+v", a)
	}
	for want, text := range map[string]string{
		"is not JSON": `{`, "unknown field": `{"x": {"agent": ["claude"]}}`, "below 0": `{"x": {"maxTokens": -1}}`,
		"must be process or workflow": `{"x": {"launchers": ["moon"]}}`,
		"is there twice":              `{"x": {}, "X": {}}`, `must be "off"`: `{"x": {"sandbox": "require"}}`,
	} {
		if _, err := ReadAllowances("allow.json", []byte(text)); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "allow.json") {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	example, err := os.ReadFile("../../examples/app/allow.json")
	noError(t, err)
	if all, err = ReadAllowances("allow.json", example); err != nil || all.Of("anybody").MaxIterations != 5 {
		t.Errorf("the example: %v, %+v", err, all)
	}
}
