package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/loop"
)

// On a laptop without a setup, checks rely on what lies in the clone: packages that somebody has installed, a file with
// settings. Such paths are shared with the tree of the checks as they were before the run's first turn, and the report
// names them: the commit does not have them.

// sharedPaths are the paths that the checks are given.
func (j *judgingTree) sharedPaths() []string {
	var paths []string
	for _, s := range j.shared {
		if !s.changed {
			paths = append(paths, s.path)
		}
	}
	return paths
}

// copyShared gives the tree its own copies. What was changed in the run is not given.
func (j *judgingTree) copyShared() error {
	for _, s := range j.shared {
		if s.changed {
			continue
		}
		if err := j.copyPath(s); err != nil {
			return fmt.Errorf("giving %s to the checks: %w", s.path, err)
		}
	}
	return nil
}

func (j *judgingTree) copyPath(s *Shared) error {
	if err := j.tree.Remove([]string{s.path}); err != nil {
		return err
	}
	from := j.run.Workspace.Dir()
	s.seen = git.FootprintOf(from, []string{s.path})
	c := copier{from: from, to: j.dir}
	if !j.mapped() {
		c.rewrite = func(text string) string { return replacePath(text, from, j.dir) }
	}
	if err := c.copy(s.path); err != nil {
		return err
	}
	s.laid = git.FootprintOf(j.dir, []string{s.path})
	return nil
}

// restoreShared makes the copies what they were: what was added is removed, what was changed is copied again.
func (j *judgingTree) restoreShared() error {
	for _, s := range j.shared {
		if s.changed {
			continue
		}
		added, changed := s.laid.Differs(j.dir)
		if changed {
			if err := j.copyPath(s); err != nil {
				return fmt.Errorf("giving %s to the checks again: %w", s.path, err)
			}
		} else if err := j.tree.Remove(added); err != nil {
			return err
		}
	}
	return nil
}

// refused is the verdict when a turn has changed what is shared: what passes with the copies from before would not pass
// with what is there now.
func (j *judgingTree) refused() (*loop.Verdict, error) {
	var names []string
	for _, s := range j.shared {
		if j.setAt != "" &&
			slices.ContainsFunc(j.own, func(own string) bool { return strings.TrimSuffix(own, "/") == s.path }) {
			continue // the setup has made it anew
		}
		was := s.changed
		if s.changed = s.differs(j.run.Workspace.Dir()); s.changed {
			names = append(names, s.path)
		} else if was { // it is again as it was
			if err := j.copyPath(s); err != nil {
				return nil, fmt.Errorf("giving %s to the checks: %w", s.path, err)
			}
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	what := strings.Join(names, ", ")
	v := unusableTree(
		"shared",
		fmt.Sprintf(
			"%s was changed during the run, and is in no commit: name what installs it in the setting setup, undo the change, "+
				"or accept it with --resume --accept %s",
			what, names[0],
		),
	)
	v.PromptText = fmt.Sprintf(
		"The checks use %s as it lay in the clone before this run; it has been changed since, and git ignores it, so the "+
			"change is in no commit. Undo that change: the work must pass without it.",
		what,
	)
	return v, nil
}

// unusableTree is the verdict on a tree in which nothing can be judged.
func unusableTree(name, why string) *loop.Verdict {
	return &loop.Verdict{Check: name, Exit: -1, Reason: why, PromptText: "The checks could not be run: " + why + "."}
}
