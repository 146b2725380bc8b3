package engine

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/detect"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// mostExplained is how many files a failure is explained by.
const mostExplained = 3

// Explain implements check.Tree: a check that fails in the tree may miss a file that is in the worktree or in the
// user's clone and is in no commit, or one that earlier checks had left.
func (j *judgingTree) Explain(ctx context.Context, at check.Input, v *loop.Verdict) error {
	j.run.explainUnreached(v)
	var why []string
	for _, name := range j.swept {
		if len(why) < mostExplained && !detect.Rebuilt(name) && mentions(v, name) {
			why = append(why, fmt.Sprintf("`%s`, which an earlier check had left, was removed before the checks: it is in no commit", name))
		}
	}
	left, _, err := j.leftOut(ctx, at.State, func(f git.Unkept) bool { return mentions(v, f.Path) }, j.run.inClone(v))
	if err != nil {
		return err
	}
	why = append(why, left...)
	if len(why) == 0 {
		return nil
	}
	v.Reason += "; " + strings.Join(why, "; ")
	v.PromptText = strings.TrimRight(v.PromptText, "\n") + "\n\nThe checks see the commit alone, not your working tree: " +
		strings.Join(why, "; ") + ".\n"
	return nil
}

// inClone are files that a failure mentions which lie in the user's clone and are ignored there.
func (spec *Spec) inClone(v *loop.Verdict) (names []string) {
	for _, name := range spec.Ignored {
		dir, isDir := strings.CutSuffix(name, "/")
		if !isDir && mentions(v, name) {
			names = append(names, name)
		}
		if !isDir || slices.Contains(detect.DependencyDirs, path.Base(dir)) {
			continue
		}
		for _, below := range strings.Split(v.Output+"\n"+v.Reason, name)[1:] {
			file := name + strings.TrimRight(below[:len(below)-len(strings.TrimLeftFunc(below, inPath))], ".")
			if Exists(filepath.Join(spec.Clone, filepath.FromSlash(file))) {
				names = append(names, file)
			}
		}
	}
	return names
}

// leftOut says why files are in no commit: files of the worktree for which the function which is true, and more, files
// of the user's clone. unkept are all files of the worktree that are in none.
func (j *judgingTree) leftOut(
	ctx context.Context, s loop.State, which func(git.Unkept) bool, more []string,
) (why []string, unkept []git.Unkept, err error) {
	if unkept, err = j.run.Tree.Unkept(ctx, s.StartedAt); err != nil {
		return nil, nil, err
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
	if why, err = j.run.Tree.WhyUnkept(ctx, names); err != nil {
		return nil, nil, err
	}
	for i, name := range names {
		why[i] = fmt.Sprintf("`%s` %s and is not in the commit", name, why[i])
		switch {
		case j.run.InJob:
		case strings.HasPrefix(path.Base(name), ".env"): // an agent commits what a message asks it to commit
			why[i] += ": it may hold secrets, so leave it out of commits; its user can share it with the checks (judge.share)"
		case slices.Contains(theirs, name):
			why[i] += ": it is in the clone, and its user can share it with the checks (judge.share)"
		default:
			why[i] += ": commit it, or share it with the checks (judge.share)"
		}
	}
	return why, unkept, nil
}

// inPath reports whether a character may be part of a path in a text.
func inPath(r rune) bool {
	return strings.ContainsRune("_-./@", r) || r >= 0x80 || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// mentions reports whether a failure names a file: by its path, by a name with an ending, as a module by the end of its
// path, or by any of it where that is missing.
func mentions(v *loop.Verdict, file string) bool {
	base, stem := path.Base(file), strings.TrimSuffix(file, path.Ext(file))
	var forms []string
	if strings.ContainsAny(file, "./") {
		forms = append(forms, file)
	}
	if strings.Contains(base, ".") {
		forms = append(forms, base)
	}
	for at := stem; strings.Contains(at, "/"); _, at, _ = strings.Cut(at, "/") {
		forms = append(forms, at, strings.ReplaceAll(at, "/", "."))
	}
	return slices.ContainsFunc(forms, func(form string) bool { return names(v.Output+"\n"+v.Reason, form) }) ||
		slices.ContainsFunc(v.MissingNames, func(gap string) bool { return names(gap, base) || names(gap, path.Base(stem)) })
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
	why, unkept, err := f.judging.leftOut(ctx, at.State, func(u git.Unkept) bool { return u.Made && detect.Source(u.Path) }, nil)
	if err != nil {
		return loop.Verdict{}, err
	}
	v := loop.Verdict{Pass: len(why) == 0, Reason: strings.Join(why, "; ")}
	if !v.Pass {
		v.PromptText = "Files that you have made are in no commit: " + v.Reason + "."
	}
	tools, err := f.judging.run.Tree.Leavings(ctx, unkept)
	given := f.judging.sharedPaths()
	tools = slices.DeleteFunc(tools, func(name string) bool { return slices.Contains(given, strings.TrimSuffix(name, "/")) })
	if len(tools) > 0 {
		v.Pass = false
		v.Reason = wording.JoinedBy("; ", v.Reason, "left out of the commit, because tools make it and no ignore rule names it: "+
			safetext.FirstN(tools, mostExplained))
	}
	return v, err
}
