package engine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
)

// TestAModelIsAskedByTheUsersProgram: an agent of the settings that is a file of the clone is not the one of that name
// in the agent's tree, which the agent can have written.
func TestAModelIsAskedByTheUsersProgram(t *testing.T) {
	clone, tree := t.TempDir(), t.TempDir()
	for dir, says := range map[string]string{clone: "the user's", tree: "the agent's"} {
		if err := os.WriteFile(filepath.Join(dir, "ask.sh"), []byte("#!/bin/sh\necho \""+says+"\""), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	set := config.Settings{Sandbox: sandbox.Off, Agent: config.Command{Command: "./ask.sh"}}
	run := &Run{Dir: t.TempDir(), Spec: &Spec{Rules: Rules{Settings: set}, Identity: Identity{Parent: os.Environ()},
		Place: Place{Workspace: Directory(tree), Clone: clone}, Output: Output{Log: t.Logf}}}
	run.budget = run.OwnBudget()
	if turn, err := run.asker()(t.Context(), "done?", ""); err != nil || turn.Text != "the user's" {
		t.Errorf("%+v, %v", turn, err)
	}
}
