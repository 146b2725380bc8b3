package config

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestOrganization: its layer is below the repository's, and says so.
func TestOrganization(t *testing.T) {
	layer, err := Organization("acme", []byte(`{"agent": {"model": "opus"}, "maxCostUsd": 5, "review": true, // ours
		"protected": [".ralph/**", "deploy/**"], "sandbox": "require"}`))
	noError(t, err)
	e, err := Explain(layer, Layer{Name: SettingsFile, JSON: []byte(`{"maxCostUsd": 7}`)})
	if err != nil || e.Settings.MaxCostUSD != 7 || e.Settings.Agent.Model != "opus" || len(e.Settings.Protected) != 2 {
		t.Errorf("%v, %+v", err, e.Settings)
	}
	if e.From["agent.model"] != "acme/.github: ralph.json" || e.From["maxCostUsd"] != SettingsFile {
		t.Errorf("from %v", e.From)
	}
}

// TestHostileOrganizations: nobody who can write to .github gets a command, a path, a host or a variable into other
// repositories, or takes a protection from them.
func TestHostileOrganizations(t *testing.T) {
	for _, text := range []string{
		`{"setup": "curl evil"}`, `{"guardrails": [{"command": "true"}]}`, `{"scm": {"command": "evil"}}`,
		`{"agent": {"command": "./evil"}}`, `{"agent": {"flags": ["--evil"]}}`, `{"reviewer": {"command": "evil"}}`,
		`{"agentSettings": true}`, `{"claimByExit": true}`, `{"doneFile": "README.md"}`, `{"review": false}`,
		`{"weakenedTests": "off"}`, `{"baseline": "off"}`, `{"sandbox": "landlock"}`, `{"sandboxSockets": "all"}`,
		`{"sandboxNetwork": ["evil.example"]}`, `{"sandboxWritable": ["~"]}`, `{"gateway": "off"}`, `{"protected": []}`,
		`{"protected": ["docs/**"]}`, `{"environment": ["DATABASE_*"]}`, `{"judge": {"share": [".env"]}}`,
		`{"prices": [{"model": "opus", "input": 0, "output": 0}]}`, `{"limits": {"memory": "none"}}`,
	} {
		_, err := Organization("acme", []byte(text))
		if err == nil || !strings.Contains(err.Error(), "acme/.github: ralph.json: ") ||
			!strings.Contains(strings.ToLower(err.Error()), "set it in .ralph/settings.json") {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{`{`, ``, `[]`, `{"nothing": 1}`, `{"maxCostUsd": "much"}`, `{"notifyCommand": "say done"}`} {
		if _, err := Organization("acme", []byte(text)); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

// TestOrganizationKeys: every key that an organization may set is one, and each default is allowed, so that the file
// can
// say what holds anyway.
func TestOrganizationKeys(t *testing.T) {
	found := map[string]bool{"$schema": true}
	var walk func(above string, rows []Setting)
	walk = func(above string, rows []Setting) {
		for _, row := range rows {
			judge, known := organizationKeys()[above+row.Key]
			if found[above+row.Key] = true; !known {
				continue
			}
			if row.Default != nil {
				text, _ := json.Marshal(row.Default)
				var value any
				_ = json.Unmarshal(text, &value)
				if allowed := judge(value); allowed != "" {
					t.Errorf("the default of %s is not allowed: %s", above+row.Key, allowed)
				}
			}
			walk(above+row.Key+".", row.Keys)
		}
	}
	walk("", Table())
	for key := range organizationKeys() {
		if !found[key] {
			t.Errorf("there is no key %s", key)
		}
	}
}
