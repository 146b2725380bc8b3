package detect

import (
	"cmp"
	"slices"

	"github.com/ralph-loop/ralph/internal/config"
)

// detectors look for one kind of project each. A repository may be of several kinds, and is checked as all of them;
// within a stage their checks run in this order.
var detectors = []func(topFiles) Result{
	goProject, nodeProject, denoProject, pythonProject, rustProject, javaProject, rubyProject, phpProject, perlProject,
	dotnetProject, nativeProject, elixirProject, dartProject, plainProjects,
}

// Repository says how a repository is checked when no setting does, and what has to be installed before. A Makefile,
// justfile or Taskfile with a target that tests is its owner's word on that, and nothing else is examined for checks
// then; of what installs, only what a lock file asks for is left. The same files always give the same answer, and
// nothing of them is run.
func Repository(files map[string][]byte) Result {
	entry, decides := entryPoint(files)
	var all Result
	for _, detect := range detectors {
		all.add(detect(files))
	}
	if decides {
		all.Checks = nil
		all.Setup = slices.DeleteFunc(all.Setup, func(s Step) bool { return !s.locked })
	}
	if !slices.ContainsFunc(all.Checks, func(d Check) bool { return d.Severity == config.Hard }) {
		all.Checks = append(entry.Checks, all.Checks...)
	}
	all.Notes = append(entry.Notes, all.Notes...)
	slices.SortStableFunc(all.Checks, func(a, b Check) int { return cmp.Compare(a.stage, b.stage) })
	return all
}
