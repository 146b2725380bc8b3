package config

import (
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// actionFile is what the tests read of action.yml and host/action.yml.
type actionFile struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
	Inputs      map[string]struct {
		Description string `yaml:"description"`
		Default     string `yaml:"default"`
		Required    bool   `yaml:"required"`
	} `yaml:"inputs"`
	Outputs map[string]struct {
		Description string `yaml:"description"`
		Value       string `yaml:"value"`
	} `yaml:"outputs"`
	Runs struct {
		Using string `yaml:"using"`
		Image string `yaml:"image"`
		Steps []struct {
			ID    string            `yaml:"id"`
			Uses  string            `yaml:"uses"`
			Shell string            `yaml:"shell"`
			Run   string            `yaml:"run"`
			Env   map[string]string `yaml:"env"`
		} `yaml:"steps"`
	} `yaml:"runs"`
}

func readAction(t *testing.T, path string) actionFile {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var action actionFile
	if err := yaml.Unmarshal(text, &action); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if len(action.Description) > 125 { // the marketplace takes no more
		t.Errorf("%s: the description has %d characters", path, len(action.Description))
	}
	return action
}

// sameAsTables holds an action against InputTable and OutputTable; extra are inputs of its own.
func sameAsTables(t *testing.T, action actionFile, extra ...string) {
	t.Helper()
	for _, row := range InputTable() {
		input, ok := action.Inputs[row.Name]
		if !ok || input.Description != row.Description || input.Default != row.Default || input.Required {
			t.Errorf("input %s is %+v, the code says %+v", row.Name, input, row)
		}
		delete(action.Inputs, row.Name)
	}
	for _, name := range extra {
		delete(action.Inputs, name)
	}
	for name := range action.Inputs {
		t.Errorf("the code knows no input %s", name)
	}
	for _, row := range OutputTable {
		if output, ok := action.Outputs[row.Name]; !ok || output.Description != row.Description {
			t.Errorf("output %s is %+v, the code says %+v", row.Name, output, row)
		}
	}
	if len(action.Outputs) != len(OutputTable) {
		t.Errorf("%d outputs, the code has %d", len(action.Outputs), len(OutputTable))
	}
}

func TestActionYML(t *testing.T) {
	action := readAction(t, "../../action.yml")
	if action.Runs.Using != "docker" || action.Runs.Image != "Dockerfile" {
		t.Errorf("%+v", action.Runs)
	}
	sameAsTables(t, action)
}

func TestHostActionYML(t *testing.T) {
	action := readAction(t, "../../host/action.yml")
	for name, output := range action.Outputs {
		if want := "${{ steps.run.outputs." + name + " }}"; output.Value != want {
			t.Errorf("output %s has the value %q, not %q", name, output.Value, want)
		}
	}
	passed := map[string]string{}
	for _, step := range action.Runs.Steps {
		if step.Shell != "bash" || step.Uses != "" {
			t.Errorf("step %s needs shell: bash and nothing else", step.ID)
		}
		if strings.Contains(step.Run, "${{") {
			t.Errorf("step %s splices an expression into its script", step.ID)
		}
		if step.ID == "run" {
			passed = step.Env
		}
	}
	for _, row := range InputTable() {
		if want := "${{ inputs." + row.Name + " }}"; passed[row.Env()] != want {
			t.Errorf("%s is passed as %q, not %q", row.Env(), passed[row.Env()], want)
		}
		delete(passed, row.Env())
	}
	delete(passed, "RALPH")
	for name := range passed {
		t.Errorf("%s is passed and nobody reads it", name)
	}
	sameAsTables(t, action, "ralph_path", "build", "release_url", "attestation", "install_agent")
}
