package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/hook"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
)

// Hooks are the settings by which an agent calls this very program while it works: to hear how full its context is,
// that it may not stop yet, that a command is dangerous. nil for an agent that knows no hooks, and where our program is
// not to be had: in a virtual machine.
func (run *Run) Hooks(command string) ([]byte, error) {
	name := strings.TrimSuffix(filepath.Base(command), ".exe")
	if s := run.boxes.sandbox; run.OfPrompt || !slices.Contains(hook.Agents, name) ||
		s != nil && s.Mode == sandbox.DockerSandbox {
		return nil, nil
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding our own program for the agent's hooks: %w", err)
	}
	kinds := slices.Clone(hook.Kinds)
	// in a folder that it does not trust it runs no git, so it could never commit what it is told to
	if name == "gemini" {
		kinds = slices.DeleteFunc(kinds, func(kind string) bool { return kind == hook.StopReminder })
	}
	return hook.Settings(name, program, true, kinds...)
}
