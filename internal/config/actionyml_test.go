package config

import (
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// TestActionFiles: what TestGeneratedFiles does not write of the two action files. The marketplace takes a description of
// 125 characters, and no step splices an expression into its script.
func TestActionFiles(t *testing.T) {
	for file, using := range map[string]string{"../../action.yml": "docker", "../../host/action.yml": "composite"} {
		text, err := os.ReadFile(file)
		noError(t, err)
		var action struct {
			Description string
			Runs        struct {
				Using, Image string
				Steps        []struct{ ID, Uses, Shell, Run string }
			}
		}
		if err := yaml.Unmarshal(text, &action); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if len(action.Description) > 125 || action.Runs.Using != using || using == "docker" && action.Runs.Image != "Dockerfile" {
			t.Errorf("%s: %+v", file, action)
		}
		for _, step := range action.Runs.Steps {
			if step.Shell != "bash" || step.Uses != "" || strings.Contains(step.Run, "${{") {
				t.Errorf("%s: step %s needs shell: bash, and no expression in its script", file, step.ID)
			}
		}
	}
}
