package check

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/diffscan"
	"github.com/ralph-loop/ralph/internal/loop"
)

// BaseTests says no when the tests as they were in the base commit fail on the change, or fewer of them run. Where the
// change touches tests, what they need, or what configures a test runner, it puts those files of the base commit into
// the change, and runs there the commands that run tests, once each within their limits. A file of the base commit that
// cannot be compiled or loaded there gives way to the change's own, and the rest is run again. Afterwards the tree is
// the change's again. Whatever it finds has to be accepted by name.
//
// It must stand after the commands in the list, since it looks at what they said.
type BaseTests struct {
	Changes  *diffscan.Changes
	Commands []*Command
	Tree     Tree
	// Overlay makes a commit of one that is judged in which the named files are as the base commit has them, or gone where
	// it has none, and others hold something else.
	Overlay func(ctx context.Context, commit, base string, names []string, contents map[string][]byte) (string, error)
	Log     func(format string, args ...any)
	Hard    bool // only a person may accept what it finds
}

// Name is the check's name in verdicts.
func (*BaseTests) Name() string { return baseTestsCheck }

// Severity is soft, unless the setting says hard: a reviewer may accept what is found.
func (b *BaseTests) Severity() loop.Severity { return severity(b.Hard) }

// Needs a claim with every hard check passed: it takes as long as they do.
func (*BaseTests) Needs() Need { return HardGreen | Quiet }

// replay is one comparison on its way.
type replay struct {
	*BaseTests
	at    Input
	files diffscan.TestFiles
	aside map[string]bool // files of the base commit that cannot be loaded with the change
	kept  []string        // new files that what is run cannot do without
	found []loop.Concern
	green map[string]bool // the commands that ran with the base commit's tests, and whether they passed
	laid  bool            // the tree is not what is judged
	patch string          // the change of the tests, read on first use
	said  []string        // of what passes now and of the new tests
}

// withTree does something that lays files over a commit, and puts the tree back.
func (r *replay) withTree(ctx context.Context, do func() error) error {
	err := do()
	if ctx.Err() == nil && r.laid {
		_, back := r.Tree.Prepare(ctx, r.at, true)
		err, r.laid = errors.Join(err, back), false
	}
	return err
}

// lay makes the tree what a commit is with files of another one.
func (r *replay) lay(ctx context.Context, onto, from string, names []string, contents map[string][]byte) (*loop.Verdict, error) {
	commit := *r.at.Iteration.Commit
	made, err := r.Overlay(ctx, onto, from, names, contents)
	if err != nil {
		return nil, err
	}
	commit.SHA, r.laid = made, true
	at := r.at
	at.Iteration.Commit = &commit
	return r.Tree.Prepare(ctx, at, true)
}

// testOverlay is files of tests that replace those of a commit: as another one has them, by name, or with contents.
type testOverlay struct {
	names    []string
	contents map[string][]byte
}

// ofBase is the base commit's tests without those that cannot be loaded.
func (r *replay) ofBase() (o testOverlay) {
	for _, name := range slices.Concat(r.files.Edited, r.files.Deleted, r.files.Added) {
		if !r.aside[name] && !slices.Contains(r.kept, name) {
			o.names = append(o.names, name)
		}
	}
	o.contents = maps.Clone(r.files.Within)
	maps.DeleteFunc(o.contents, func(name string, _ []byte) bool { return r.aside[name] })
	return o
}

// commands are those to run: the hard ones that are known to run tests, or all hard ones where none is.
func (r *replay) commands() (list []*Command, known bool) {
	var others []*Command
	for _, c := range r.Commands {
		now := findVerdict(r.at.Verdicts, c.Name())
		if !c.Hard || now == nil || now.Skipped != "" {
			continue
		}
		base := onBase(r.at, c.Name())
		if now.Ran != nil || base != nil && base.Ran != nil {
			list = append(list, c)
		} else {
			others = append(others, c)
		}
	}
	if len(list) > 0 {
		return list, true
	}
	return others, false
}

var testWords = lazy(`(?i)test|spec|prove|bats|busted|check|tox|nox|rake|verify`)

func soundsLikeTests(c *Command) bool { return testWords.MatchString(c.Title + " " + c.Line) }

// flips reports whether a command failed on the base commit and passes now.
func (r *replay) flips(c *Command) bool {
	base, now := onBase(r.at, c.Name()), findVerdict(r.at.Verdicts, c.Name())
	return base != nil && !base.Pass && !base.Missing && base.Skipped == "" && now.Pass
}

// addedNames are the tests, by their own names, that the change has and the base commit has not, where both name theirs.
// As many as are gone may be the same ones under other names.
func (r *replay) addedNames(c *Command) []string {
	base, now := onBase(r.at, c.Name()), findVerdict(r.at.Verdicts, c.Name())
	if base == nil || !named(base.Tests) || !named(now.Tests) {
		return nil
	}
	had, has := ownNames(base.Tests), ownNames(now.Tests)
	added, gone := lacking(has, had), lacking(had, has)
	return added[:max(0, len(added)-len(gone))]
}

// deed says in words what the change does to a file of tests; "": to all of them.
func (r *replay) deed(file string) string {
	switch {
	case slices.Contains(r.files.Deleted, file):
		return "the change deletes " + shownName(file)
	case file != "":
		return "the change edits " + shownName(file)
	case len(r.files.Touched()) > 0:
		return "the change edits or deletes " + few(r.files.Touched())
	}
	return "the change adds " + few(r.files.Added)
}

// fileOf is the file of tests that the change touches and that a failing test belongs to; "" if it is unknown.
func (r *replay) fileOf(ctx context.Context, f loop.Finding) (string, error) {
	touched := r.files.Touched()
	for _, name := range touched {
		if f.File != "" && samePath(f.File, name) {
			return name, nil
		}
	}
	for _, name := range touched {
		content, ok, err := r.Changes.File(ctx, r.at.State.Start.Base, name)
		if err != nil {
			return "", err
		}
		if ok && slices.ContainsFunc(namesOf(f.Test), func(word string) bool { return holdsWord(string(content), word) }) {
			return name, nil
		}
	}
	if len(touched) == 1 {
		return touched[0], nil
	}
	return "", nil
}

// diff is what the change does to a file of tests.
func (r *replay) diff(ctx context.Context, name string) (string, error) {
	if r.patch == "" {
		text, _, err := r.Changes.Patch(ctx, r.at.State.Start.Base, r.at.Iteration.Commit.SHA)
		if err != nil {
			return "", err
		}
		r.patch = "\n" + text
	}
	_, rest, ok := strings.Cut(r.patch, "\ndiff --git a/"+name+" ")
	if !ok {
		return "", nil
	}
	section, _, _ := strings.Cut(rest, "\ndiff --git ")
	if at := strings.Index(section, "\n--- "); at >= 0 {
		section = section[at+1:]
	}
	return strings.ToValidUTF8(section, "\uFFFD") + "\n", nil
}

// find adds what has to be accepted; it is of a test of the base commit where its kind does not say otherwise.
func (r *replay) find(c loop.Concern) {
	c.Kind = cmp.Or(c.Kind, loop.BaseTest)
	if slices.Contains(r.files.Touched(), c.Name) {
		c.File = c.Name
	}
	r.found = addConcern(r.found, c)
}

// alreadyReported reports whether something must be accepted of a test already.
func (r *replay) alreadyReported(test string) bool {
	return slices.ContainsFunc(r.found, func(c loop.Concern) bool { return c.Name == loop.ConcernName(test) })
}
