package engine

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/detect"
	"github.com/ralph-loop/ralph/internal/loop"
)

// Environment is the virtual environment of Python in a person's clone that detected checks use, as seen from the
// working directory: ".venv"; "" none. known and accepted are as of Share: one that came after a run's first turn is
// the agent's.
func Environment(
	ctx context.Context, p Place, set config.Settings, known []loop.Shared, accepted []string,
) (string, error) {
	spec := &Spec{Place: p, Rules: Rules{Settings: set}}
	name := environmentIn(spec.workdir())
	if name == "" || p.InJob || p.Tree == nil {
		return "", nil
	}
	at := spec.fromTop(name)
	if known != nil && !slices.ContainsFunc(known, func(was loop.Shared) bool { return was.Path == at }) &&
		!slices.Contains(accepted, at) && !slices.Contains(accepted, "all") {
		return "", nil
	}
	ignored, err := p.Tree.IgnoredPaths(ctx)
	if err != nil || !slices.Contains(ignored, at+"/") || spec.sharable(ctx, at) != nil {
		return "", err
	}
	return name, nil
}

// environmentIn is the virtual environment that lies in a directory; "" none.
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
