package check

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/diffscan"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Tests that ran on the base commit are compared with those that run on the change: by name if the output names its
// tests, otherwise by number. A renamed test differs from a removed one in that the base commit's tests pass on the
// change.

// compare says which tests ran on the base commit and do not on the change.
func (r *replay) compare() {
	for _, c := range r.Commands {
		base, now := onBase(r.at, c.Name()), findVerdict(r.at.Verdicts, c.Name())
		if base == nil || now == nil || base.Skipped != "" || now.Skipped != "" {
			continue
		}
		if named(base.Tests) && named(now.Tests) {
			r.byName(c, *base.Tests, *now.Tests)
		} else if len(r.found) == 0 { // missing tests have not been reported already
			r.fewer(c, *base, *now, "this change")
		}
	}
}

// mostGone is how many tests that run no more are named, each for itself.
const mostGone = 20

func (r *replay) byName(c *Command, base, now loop.TestNames) {
	ran, runs := setOf(base.Passed, base.Failed), setOf(now.Passed, now.Failed)
	skipped := setOf(now.Skipped)
	added := map[string]int{} // tests that the base commit does not have, by their own names
	fresh := 0
	for name := range runs {
		if !ran[name] && !slices.Contains(base.Skipped, name) {
			added[testOf(name)]++
			fresh++
		}
	}
	var gone, skips []string
	for _, name := range slices.Sorted(maps.Keys(ran)) {
		switch {
		case runs[name]:
		case skipped[name]:
			skips = append(skips, name)
		case added[testOf(name)] > 0: // it has moved
			added[testOf(name)]--
			fresh--
		default:
			gone = append(gone, name)
		}
	}
	r.tell(c, skips, "it ran on the base commit and is skipped on this change")
	if len(gone) > fresh || !r.green[c.Name()] {
		r.tell(c, gone, "it ran on the base commit and does not run on this change")
	}
}

// tell reports the same about several tests, once for a test and its subtests.
func (r *replay) tell(c *Command, tests []string, what string) {
	all := setOf(tests)
	tests = slices.DeleteFunc(tests, func(name string) bool {
		i := strings.LastIndexByte(name, '/')
		return i > 0 && all[name[:i]] || r.alreadyReported(testOf(name))
	})
	if len(tests) > mostGone {
		names := safetext.Map(tests, testOf)
		r.find(loop.Concern{Name: c.Name(), Message: fmt.Sprintf("of %d tests: %s (%s)", len(tests), what, safetext.FirstN(names, 5))})
		return
	}
	for _, name := range tests {
		r.find(loop.Concern{Name: testOf(name), Message: what})
	}
}

// fewer compares numbers, where tests have no names.
func (r *replay) fewer(c *Command, base, now loop.Verdict, where string) {
	switch {
	case base.Ran == nil || *base.Ran == 0:
	case now.AtLeast && now.Ran != nil && *now.Ran > 0: // no one has counted them
	case now.Ran == nil:
		r.find(loop.Concern{Name: c.Name(), Message: fmt.Sprintf("it reported %s on the base commit and none on %s",
			safetext.Count(*base.Ran, "test"), where)})
	case *now.Ran < *base.Ran:
		r.find(loop.Concern{Name: c.Name(), Message: fmt.Sprintf("%s ran on the base commit, and %d on %s",
			safetext.Count(*base.Ran, "test"), *now.Ran, where)})
	}
}

// passed looks whether the base commit's tests really ran on the change where none of them failed.
func (r *replay) passed(c *Command, v loop.Verdict) {
	base := onBase(r.at, c.Name())
	if base == nil || len(r.aside) > 0 {
		return
	}
	if !named(base.Tests) || !named(v.Tests) {
		r.fewer(c, *base, v, "this change with the tests as they were in the base")
		return
	}
	ran := setOf(v.Tests.Passed, v.Tests.Failed)
	missing := slices.DeleteFunc(slices.Clone(base.Tests.Passed), func(name string) bool { return ran[name] })
	r.tell(c, missing, "as it was in the base it does not run on this change")
}

// unrun finds the touched files of tests of which no check ran a test on the base commit, so that nothing was compared.
// That is known only where every check that runs tests names them all.
func (r *replay) unrun(ctx context.Context) error {
	var ran []string
	for _, c := range r.Commands {
		switch base := onBase(r.at, c.Name()); {
		case base == nil || base.Ran == nil && base.Tests == nil:
		case !named(base.Tests):
			return nil
		default:
			ran = slices.Concat(ran, base.Tests.Passed, base.Tests.Failed, base.Tests.Skipped)
		}
	}
	for _, file := range slices.Concat(r.files.Edited, r.files.Deleted) {
		if len(ran) == 0 || !diffscan.HoldsTests(file) {
			continue
		}
		content, ok, err := r.Changes.File(ctx, r.at.State.Start.Base, file)
		if err != nil {
			return err
		}
		if ok && !slices.ContainsFunc(ran, func(name string) bool { return testIn(name, file, string(content)) }) {
			r.find(loop.Concern{Name: file,
				Message: "no check runs " + shownName(file) + ", so it was not compared; " + r.deed(file)})
		}
	}
	return nil
}

// testIn reports whether a test is of a file: its name or group names the file or the file's directory, or the file holds
// its name.
func testIn(name, file, content string) bool {
	group, _, grouped := strings.Cut(name, "\t")
	dir := path.Dir(file)
	return mentionsFile(name, file) || grouped && dir != "." && strings.HasSuffix("/"+group, "/"+dir) ||
		slices.ContainsFunc(namesOf(testOf(name)), func(word string) bool { return holdsWord(content, word) })
}

// unnamedBefore runs a command on the change as it is, where it named its tests only with those of the base commit: a test
// that ran there and does not run on the change is gone.
func (r *replay) unnamedBefore(ctx context.Context, c *Command, replayed loop.Verdict) error {
	base := onBase(r.at, c.Name())
	if len(r.files.Touched()) == 0 || base != nil && named(base.Tests) || !named(replayed.Tests) {
		return nil
	}
	if unfit, err := r.Tree.Prepare(ctx, r.at, true); err != nil || unfit != nil || ctx.Err() != nil {
		return err
	}
	again := naming(c, "names")
	now, err := again.Run(ctx, r.at)
	if err == nil && now.Pass && named(now.Tests) {
		r.byName(c, *replayed.Tests, *now.Tests)
	}
	return err
}
