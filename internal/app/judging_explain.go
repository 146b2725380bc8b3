package app

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/loop"
)

// mostExplained is how many files a failure is explained by.
const mostExplained = 3

// Explain implements check.Tree: a check that fails in the tree may miss a file that lies in the worktree and is in no commit, or one that earlier
// checks had left.
func (j *judging) Explain(ctx context.Context, at check.At, v *loop.Verdict) error {
	said := mentioned(v.Output + "\n" + v.Reason + "\n" + strings.Join(v.Gap, "\n"))
	var why []string
	for _, name := range pick(j.swept, said) {
		why = append(why, fmt.Sprintf("`%s`, which an earlier check had left, was removed before the checks: it is in no commit", name))
	}
	left, err := j.leftOut(ctx, at.State, func(f git.Unkept) bool { return mentions(said, f.Path) })
	if err != nil {
		return err
	}
	why = append(why, left...)
	if len(why) == 0 {
		return nil
	}
	v.Reason += "; " + strings.Join(why, "; ")
	v.Tell = strings.TrimRight(v.Tell, "\n") + "\n\nThe checks see the commit alone, not your working tree: " + strings.Join(why, "; ") + ".\n"
	return nil
}

// leftOut says of files that lie in the worktree and are in no commit why that is: of those that which picks.
func (j *judging) leftOut(ctx context.Context, s loop.State, which func(git.Unkept) bool) ([]string, error) {
	unkept, err := j.shop.tree.Unkept(ctx, s.StartedAt)
	if err != nil {
		return nil, err
	}
	given := j.sharedPaths()
	var names []string
	for _, f := range unkept {
		inGiven := slices.ContainsFunc(given, func(p string) bool { return f.Path == p || strings.HasPrefix(f.Path, p+"/") })
		if !inGiven && !config.Rebuilt(f.Path) && which(f) {
			names = append(names, f.Path)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	names = names[:min(len(names), mostExplained)]
	if len(names) == 0 {
		return nil, nil
	}
	why, err := j.shop.tree.WhyUnkept(ctx, names)
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		why[i] = fmt.Sprintf("`%s` %s and is not in the commit", name, why[i])
		if !j.shop.hurried {
			why[i] += ": commit it, or share it with the checks (judge.share)"
		}
	}
	return why, nil
}

// words are what a text mentions: names and paths.
type words map[string]bool

// mentioned are the words of a text that may be files or modules.
func mentioned(text string) words {
	found := words{}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool {
		return r != '_' && r != '-' && r != '.' && r != '/' && r != '@' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r < 0x80
	}) {
		word = strings.Trim(word, "./-")
		found[word] = true
		found[path.Base(word)] = true
		for part := range strings.SplitSeq(word, ".") { // lib.util is lib/util.py
			found[part] = true
		}
	}
	return found
}

// shortestStem is the length below which a name without its ending is a word like any other.
const shortestStem = 3

// mentions reports whether a file is among the words: by its path, its name, or its name without the ending.
func mentions(said words, name string) bool {
	base := path.Base(name)
	stem, _, _ := strings.Cut(strings.TrimPrefix(base, "."), ".")
	return said[strings.Trim(name, "./-")] || said[strings.Trim(base, "./-")] && len(base) >= shortestStem || len(stem) >= shortestStem && said[stem]
}

// pick are those of some names that a text mentions.
func pick(names []string, said words) []string {
	found := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return config.Rebuilt(name) || !mentions(said, name) })
	return found[:min(len(found), mostExplained)]
}

// forgotten is a check that warns a reviewer of files which the run has made and no commit holds: an ignore rule may hide the work itself.
type forgotten struct{ judging *judging }

// Name implements check.Check.
func (forgotten) Name() string { return "uncommitted" }

// Severity implements check.Check.
func (forgotten) Severity() loop.Severity { return loop.Soft }

// Needs implements check.Check.
func (forgotten) Needs() check.Need { return check.SomeWork | check.AClaim }

// Quiet implements check.Quiet.
func (forgotten) Quiet() {}

// Run implements check.Check.
func (f forgotten) Run(ctx context.Context, at check.At) (loop.Verdict, error) {
	why, err := f.judging.leftOut(ctx, at.State, func(u git.Unkept) bool { return u.Made && config.Source(u.Path) })
	if err != nil || len(why) == 0 {
		return loop.Verdict{Pass: true}, err
	}
	return loop.Verdict{Reason: strings.Join(why, "; "), Tell: "Files that you have made are in no commit: " + strings.Join(why, "; ") + "."}, nil
}
