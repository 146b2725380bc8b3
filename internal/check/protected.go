package check

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ralph-loop/ralph/internal/diffscan"
	"github.com/ralph-loop/ralph/internal/loop"
)

// ProtectedCheck is the name of the check of protected paths.
const ProtectedCheck = "protected paths"

// Protected says no when the run changed, added, deleted or moved a file that is not the agent's to touch. It judges
// every iteration, claimed or not: the sooner the agent hears of it the less is built on it. It goes by the list of
// names, which is never cut.
type Protected struct {
	// Globs are patterns as doublestar reads them, from the top of the tree: "ci/**", "**/*.lock", "{Makefile,*.mk}". One
	// without a slash is searched for in every directory, one whose last part has no wildcard protects what is below it too
	// ("ci", "/ci/"). Letters match in either case, since on some systems "ci" and "CI" are one directory.
	Globs   []string
	Changes *diffscan.Changes
}

// CheckGlob says in a sentence what is wrong with a pattern of protected paths; nil when nothing is.
func CheckGlob(glob string) error {
	if strings.Trim(glob, "/") == "" || !doublestar.ValidatePattern(glob) {
		return fmt.Errorf("%q is not a pattern of paths; write one as in gitignore, such as \"ci/**\" or \"*.lock\"", glob)
	}
	return nil
}

// Name is the check's name in verdicts.
func (*Protected) Name() string { return ProtectedCheck }

// Severity of a touched protected path is hard.
func (*Protected) Severity() loop.Severity { return loop.Hard }

// Needs nothing: what is protected is so in a broken turn too.
func (*Protected) Needs() Need { return ReadsOnly }

// Run compares the names of what changed with the patterns.
func (p *Protected) Run(ctx context.Context, at Input) (loop.Verdict, error) {
	d, err := changeOf(ctx, p.Changes, at)
	if err != nil || d == nil {
		return loop.Verdict{Pass: true}, err
	}
	touched := slices.DeleteFunc(slices.Clone(d.Names), func(name string) bool {
		return !slices.ContainsFunc(p.Globs, func(glob string) bool { return protects(glob, name) })
	})
	if len(touched) == 0 {
		return loop.Verdict{Pass: true}, nil
	}
	v := loop.Verdict{Reason: "protected paths were changed: " + few(touched)}
	v.PromptText = fmt.Sprintf("These files are protected, and not yours to change: %s. Put them back as they were in the "+
		"commit %.12s, remove those that you added, and do the task without touching them.",
		few(touched), d.From)
	for _, name := range touched {
		addFinding(&v, loop.Finding{File: name, Message: "this path is protected"})
	}
	return v, nil
}

// protects reports whether a pattern covers a path. A pattern that cannot be read covers everything: it fails closed.
func protects(glob, name string) bool {
	if CheckGlob(glob) != nil {
		return true
	}
	rooted := strings.HasPrefix(glob, "/")
	glob = strings.ToLower(path.Clean(strings.TrimPrefix(strings.TrimPrefix(glob, "./"), "/")))
	name = strings.ToLower(name)
	if !rooted && !strings.Contains(glob, "/") {
		glob = "**/" + glob
	}
	if doublestar.MatchUnvalidated(glob, name) {
		return true
	}
	if strings.ContainsAny(path.Base(glob), "*?[{") {
		return false
	}
	return doublestar.MatchUnvalidated(glob+"/**", name)
}
