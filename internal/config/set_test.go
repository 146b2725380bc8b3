package config

import (
	"strings"
	"testing"
)

func TestSetKeepsWhatIsThere(t *testing.T) {
	for _, c := range []struct{ name, before, key, value, after string }{
		{"another value, with its comments",
			"// mine\n{\n  \"review\": true, // slow\n  /* a */ \"baseline\": \"off\" // b\n}\n", "review", "false",
			"// mine\n{\n  \"review\": false, // slow\n  /* a */ \"baseline\": \"off\" // b\n}\n"},
		{"a trailing comma stays", "{\n\t\"review\": true,\n}\n", "sandbox", "off",
			"{\n\t\"review\": true,\n\t\"sandbox\": \"off\",\n}\n"},
		{"one line", `{"agent": {"command": "codex"}}`, "agent.model", "o3",
			"{\"agent\": {\"command\": \"codex\", \"model\": \"o3\"}}\n"},
		{"a check", "{}", "guardrails", "go test ./... && go vet ./...",
			"{\n  \"guardrails\": [\n    {\n      \"command\": \"go test ./... && go vet ./...\"\n    }\n  ]\n}\n"},
		{"a text that looks like JSON", "{}", "completionResponse", "true", "{\n  \"completionResponse\": \"true\"\n}\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Layer{Name: SettingsFile, JSON: []byte(c.before)}.Set(c.key, c.value)
			if err != nil || string(got) != c.after {
				t.Fatalf("%v\n%s\nwant\n%s", err, got, c.after)
			}
		})
	}
}

func TestUnset(t *testing.T) {
	file := "{\n  \"review\": true, // slow\n  \"agent\": {\"command\": \"codex\", \"model\": \"o3\"}\n}\n"
	made := []byte("{\n  \"agent\": {\n    \"model\": \"o3\"\n  }\n}\n")
	if got, err := (Layer{Name: SettingsFile, JSON: made}).Unset("agent.model"); err != nil || string(got) != "{\n}\n" {
		t.Errorf("of what set has made something is left: %v\n%s", err, got)
	}
	for key, want := range map[string]string{
		"agent.model": "{\n  \"review\": true, // slow\n  \"agent\": {\"command\": \"codex\"}\n}\n",
		"review":      "{ // slow\n  \"agent\": {\"command\": \"codex\", \"model\": \"o3\"}\n}\n",
		"agent":       "{\n  \"review\": true\n}\n",
		"scm.command": file,
	} {
		got, err := Layer{Name: SettingsFile, JSON: []byte(file)}.Unset(key)
		if err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", key, err, got, want)
		}
	}
}

func TestSetRefuses(t *testing.T) {
	for _, c := range []struct{ before, key, value, says string }{
		{"{}", "review.x", "x", "review has no keys of its own; set the whole of it."},
		{"{}", "agent", "codex", "agent has keys of its own: set one of command, flags, model, timeout and idleTimeout."},
		{"{}", "guardrails", "[1", "which is not JSON"},
		{"{}", "$schema", "x", "$schema is an unknown key"},
		{`{"reviw": true}`, "review", "true", SettingsFile + ": reviw is an unknown key. Did you mean review?"},
	} {
		_, err := Layer{Name: SettingsFile, JSON: []byte(c.before)}.Set(c.key, c.value)
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s %s: %v; want %q", c.key, c.value, err, c.says)
		}
	}
}
