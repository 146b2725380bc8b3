package engine

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/detect"
	"github.com/ralph-loop/ralph/internal/hook"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
)

// Environment is the virtual environment of Python in a person's clone that detected checks use, as seen from the
// working directory: ".venv"; "" none. known and accepted are as of Share: one that came after a run's first turn is
// the agent's.
func Environment(
	ctx context.Context, p Place, set config.Settings, known []loop.Shared, accepted []string,
) (string, error) {
	spec := &Spec{Place: p, Rules: Rules{Settings: set}}
	name := environmentIn(filepath.Join(p.Clone, filepath.FromSlash(set.WorkingDirectory)))
	if name == "" || p.Clone == "" {
		return "", nil
	}
	at := spec.fromTop(name)
	if known != nil && !slices.ContainsFunc(known, func(was loop.Shared) bool { return was.Path == at }) &&
		!slices.Contains(accepted, at) && !slices.Contains(accepted, "all") {
		return "", nil
	}
	if !slices.Contains(p.Ignored, at+"/") || spec.sharable(ctx, at) != nil {
		return "", nil
	}
	return name, nil
}

// environmentIn is the virtual environment that is in a directory; "" none.
func environmentIn(dir string) string {
	for _, name := range detect.Environments {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err == nil && info.IsDir() && Exists(filepath.Join(dir, detect.EnvironmentMark(name))) {
			return name
		}
	}
	return ""
}

// sharedEnvironment is that environment as a path that is shared.
func (spec *Spec) sharedEnvironment() []string {
	if spec.Environment == "" {
		return nil
	}
	return []string{path.Clean(spec.fromTop(spec.Environment))}
}

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
