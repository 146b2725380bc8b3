package engine

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/detect"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/loop"
)

// mostExplained is how many files a failure is explained by.
const mostExplained = 3

// Explain implements check.Tree: a check that fails in the tree may miss a file that is in the worktree or in the
// user's clone and is in no commit, or one that earlier checks had left.
func (j *judgingTree) Explain(ctx context.Context, at check.Input, v *loop.Verdict) error {
	j.run.explainUnreached(v)
	said := mentioned(v)
	var why []string
	for _, name := range pick(j.swept, said) {
		why = append(
			why,
			fmt.Sprintf(
				"`%s`, which an earlier check had left, was removed before the checks: it is in no commit", name,
			),
		)
	}
	left, err := j.leftOut(ctx, at.State, func(f git.Unkept) bool { return mentions(said, f.Path) }, j.run.inClone(said))
	if err != nil {
		return err
	}
	why = append(why, left...)
	if len(why) == 0 {
		return nil
	}
	v.Reason += "; " + strings.Join(why, "; ")
	v.PromptText = strings.TrimRight(
		v.PromptText, "\n",
	) + "\n\nThe checks see the commit alone, not your working tree: " + strings.Join(
		why, "; ",
	) + ".\n"
	return nil
}

// inClone are files that a text mentions which lie in the user's clone and are ignored there.
func (spec *Spec) inClone(said words) (names []string) {
	for _, name := range spec.Ignored {
		dir, isDir := strings.CutSuffix(name, "/")
		if !isDir && mentions(said, name) {
			names = append(names, name)
		}
		for word := range said.paths {
			if isDir && strings.HasPrefix(word, name) && !slices.Contains(detect.DependencyDirs, path.Base(dir)) &&
				Exists(filepath.Join(spec.Clone, filepath.FromSlash(word))) {
				names = append(names, word)
			}
		}
	}
	return names
}

// leftOut says of files that are in no commit why that is: of those in the worktree that which picks, and of more in the
// user's clone.
func (j *judgingTree) leftOut(
	ctx context.Context, s loop.State, which func(git.Unkept) bool, more []string,
) ([]string, error) {
	unkept, err := j.run.Tree.Unkept(ctx, s.StartedAt)
	if err != nil {
		return nil, err
	}
	given := j.sharedPaths()
	var names []string
	add := func(name string) {
		inGiven := slices.ContainsFunc(given, func(p string) bool { return name == p || strings.HasPrefix(name, p+"/") })
		if !inGiven && !detect.Rebuilt(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, f := range unkept {
		if which(f) {
			add(f.Path)
		}
	}
	here := len(names)
	for _, name := range more {
		add(name)
	}
	theirs := names[here:]
	names = slices.Clone(names)
	slices.SortFunc(names, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	names = names[:min(len(names), mostExplained)]
	if len(names) == 0 {
		return nil, nil
	}
	why, err := j.run.Tree.WhyUnkept(ctx, names)
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		why[i] = fmt.Sprintf("`%s` %s and is not in the commit", name, why[i])
		switch {
		case j.run.InJob:
		case strings.HasPrefix(path.Base(name), ".env"): // an agent that is told to commit it may do so
			why[i] += ": it may hold secrets, so leave it out of commits; its user can share it with the checks (judge.share)"
		case slices.Contains(theirs, name):
			why[i] += ": it is in the clone, and its user can share it with the checks (judge.share)"
		default:
			why[i] += ": commit it, or share it with the checks (judge.share)"
		}
	}
	return why, nil
}

// words are what a failure mentions.
type words struct {
	paths map[string]bool // paths, names of files, and modules as paths
	gone  map[string]bool // what it says is missing
}

// mentioned are the words of a failed check that may be files or modules.
func mentioned(v *loop.Verdict) words {
	said := words{map[string]bool{}, map[string]bool{}}
	for _, word := range strings.FieldsFunc(v.Output+"\n"+v.Reason, notInPath) {
		word = strings.Trim(word, "./-")
		said.paths[word] = true
		said.paths[path.Base(word)] = true
		said.paths[strings.ReplaceAll(word, ".", "/")] = true // lib.util is lib/util.py
	}
	for _, gap := range v.MissingNames {
		for _, word := range strings.FieldsFunc(gap, notInPath) {
			word = strings.Trim(word, "./-")
			said.gone[word], said.gone[path.Base(word)], said.gone[strings.ReplaceAll(word, ".", "/")] = true, true, true
		}
	}
	return said
}

// notInPath reports whether a character ends a path in a text.
func notInPath(r rune) bool {
	return r != '_' && r != '-' && r != '.' && r != '/' && r != '@' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') &&
		(r < 'a' || r > 'z') &&
		r < 0x80
}

// mentions reports whether a file is among the words: by its path, by its name where that has an ending, as a module in
// a package, or as what is missing.
func mentions(said words, name string) bool {
	base, stem := path.Base(name), strings.TrimSuffix(name, path.Ext(name))
	trimmed := strings.Trim(base, "./-")
	switch {
	case said.paths[strings.Trim(name, "./-")] && strings.Contains(name, "/"),
		said.gone[trimmed], said.gone[path.Base(stem)],
		said.gone[stem]:
		return true
	case said.paths[trimmed] && strings.Contains(base, "."):
		return true
	}
	for at := stem; strings.Contains(at, "/"); _, at, _ = strings.Cut(at, "/") {
		if said.paths[at] {
			return true
		}
	}
	return false
}

// pick are those of some names that a text mentions.
func pick(names []string, said words) []string {
	found := slices.DeleteFunc(
		slices.Clone(names), func(name string) bool { return detect.Rebuilt(name) || !mentions(said, name) },
	)
	return found[:min(len(found), mostExplained)]
}

// uncommitted is a check that warns a reviewer of files which the run has made and no commit holds: an ignore rule may
// hide the work itself.
type uncommitted struct{ judging *judgingTree }

// Name implements check.Check.
func (uncommitted) Name() string { return "uncommitted" }

// Severity implements check.Check.
func (uncommitted) Severity() loop.Severity { return loop.Soft }

// Needs implements check.Check.
func (uncommitted) Needs() check.Need { return check.SomeWork | check.AClaim | check.Quiet }

// Run implements check.Check.
func (f uncommitted) Run(ctx context.Context, at check.Input) (loop.Verdict, error) {
	why, err := f.judging.leftOut(ctx, at.State, func(u git.Unkept) bool { return u.Made && detect.Source(u.Path) }, nil)
	if err != nil || len(why) == 0 {
		return loop.Verdict{Pass: true}, err
	}
	return loop.Verdict{
		Reason:     strings.Join(why, "; "),
		PromptText: "Files that you have made are in no commit: " + strings.Join(why, "; ") + ".",
	}, nil
}
