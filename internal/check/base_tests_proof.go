package check

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/diffscan"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// A test that the change adds, or gives another assertion, should fail on the code of the base commit: one that passes
// there shows nothing about the change. For that, all test files and test data of the change replace those of the base
// commit.

// newTest is such a test, by its own name or by its file where the runner names none.
type newTest struct{ name, file string }

// proof is what new tests do on the code of the base commit.
type proof struct{ fail, pass, skip, unbuilt []newTest }

// prove runs the new tests on the base commit's code. A failure of the base commit that passes now is proof enough, and
// a change of nothing but tests has none to give.
func (r *replay) prove(ctx context.Context, d *diffscan.Change) error {
	grown, err := r.grown(ctx)
	commands, known := r.commands()
	if !known {
		commands = slices.DeleteFunc(commands, func(c *Command) bool { return !soundsLikeTests(c) })
	}
	fresh := slices.ContainsFunc(commands, func(c *Command) bool { return len(r.addedNames(c)) > 0 })
	switch {
	case err != nil || !fresh && len(grown) == 0 || slices.ContainsFunc(commands, r.flips):
		return err
	case d.OnlyJudges():
		r.said = append(r.said, "the change is nothing but tests, so nothing shows what they would fail on")
		return nil
	}
	var all proof
	for _, c := range commands {
		r.Log("base tests: %s runs with the tests of the change on the code of the base", c.Name())
		p, err := r.proof(ctx, c, grown)
		if err == nil && len(p.fail) == 0 && len(p.pass) > 0 { // what passes there now and then proves nothing either way
			var again proof
			again, err = r.proof(ctx, c, grown)
			p.pass = slices.DeleteFunc(p.pass, func(t newTest) bool { return !slices.Contains(again.pass, t) })
		}
		if err != nil || ctx.Err() != nil {
			return err
		}
		all.fail, all.pass = append(all.fail, p.fail...), append(all.pass, p.pass...)
		all.skip, all.unbuilt = append(all.skip, p.skip...), append(all.unbuilt, p.unbuilt...)
	}
	var parts []string
	if n := len(all.fail); n > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s %s without the change", n,
			safetext.Count(n+len(all.pass)+len(all.skip), "new test"), safetext.Plural(n, "fails", "fail")))
	}
	if len(all.unbuilt) > 0 {
		parts = append(parts, "the new tests of "+safetext.FirstN(safetext.Map(all.unbuilt, func(t newTest) string {
			return cmp.Or(t.file, t.name)
		}), 5)+" do not build without the change, which proves nothing")
	}
	r.said = append(r.said, parts...)
	for _, t := range slices.Concat(all.pass, all.skip) {
		message := "passes without the change"
		if slices.Contains(all.skip, t) {
			message = "is skipped without the change"
		}
		if len(all.fail) == 0 && !r.alreadyReported(t.name) {
			r.find(loop.Concern{Name: t.name, Kind: loop.Unproven, File: t.file, Message: message})
		}
	}
	return nil
}

// hunk is lines that took the place of fewer in a file of tests.
type hunk struct {
	file          string
	asserts       int    // how many more of them assert something
	old, new      string // the lines
	before, above string // what the base commit has in the file and in others that lose lines, and the change up to the hunk's last line
}

var (
	hunkHead = lazy(`(?m)^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@.*\n`)
	asserted = lazy(`(?i)\b\w*assert|\bexpect\w*[ (]*\(|\.should\b|\brequire\.|\bt\.(?:error|fatal|fail)|\b(?:fail|is|ok|eq|raises|check)\w*\(`)
)

// grown are the hunks that make files of tests longer.
func (r *replay) grown(ctx context.Context) (list []hunk, err error) {
	gone := map[string]bool{} // lines that a test may have been moved from
	moved := ""
	for _, file := range r.files.Touched() {
		text, err := r.diff(ctx, file)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(text) {
			if line, is := strings.CutPrefix(line, "-"); is {
				gone[line] = true
				moved += line
			}
		}
	}
	files := slices.Concat(r.files.Edited, r.files.Added, slices.Sorted(maps.Keys(r.files.Onto)))
	for _, file := range files {
		if r.files.Onto[file] == nil && !diffscan.HoldsTests(file) {
			continue
		}
		text, err := r.diff(ctx, file)
		if err != nil {
			return nil, err
		}
		before, _, err := r.Changes.File(ctx, r.at.State.Start.Base, file)
		if err != nil {
			return nil, err
		}
		after, _, err := r.Changes.File(ctx, r.at.Iteration.Commit.SHA, file)
		if err != nil {
			return nil, err
		}
		lines := strings.SplitAfter(string(after), "\n")
		heads := hunkHead.FindAllStringSubmatchIndex(text, -1)
		for i, at := range heads {
			end := len(text)
			if i+1 < len(heads) {
				end = heads[i+1][0]
			}
			h := hunk{file: file, before: moved + string(before)}
			longer := 0
			for line := range strings.Lines(text[at[1]:end]) {
				side, by := &h.new, 1
				if line[0] == '-' {
					side, by = &h.old, -1
				}
				*side += line[1:]
				longer += by
				if asserted.MatchString(clipped(line)) && (by < 0 || !gone[line[1:]]) {
					h.asserts += by
				}
			}
			first, _ := strconv.Atoi(text[at[2]:at[3]])
			h.above = strings.Join(lines[:min(len(lines), first+strings.Count(h.new, "\n"))], "")
			if longer > 0 {
				list = append(list, h)
			}
		}
	}
	return list, nil
}

// proof runs one command on the base commit's code with the tests of the change.
func (r *replay) proof(ctx context.Context, c *Command, grown []hunk) (p proof, err error) {
	files := slices.Concat(r.files.Edited, r.files.Deleted, r.files.Added, r.files.Beside)
	unfit, err := r.lay(ctx, r.at.State.Start.Base, r.at.Iteration.Commit.SHA, files, r.files.Onto)
	if err != nil || unfit != nil || ctx.Err() != nil {
		return p, err
	}
	again := naming(c, "new")
	v, err := again.Run(ctx, r.at)
	if err != nil || ctx.Err() != nil {
		return p, err
	}
	names := cmp.Or(v.Tests, &loop.TestNames{})
	unbuilt := func(file string) bool { return !v.Pass && unloadable(v.Output, file) }
	tests := r.newTests(c, names, grown, unbuilt)
	switch base := onBase(r.at, c.Name()); {
	case len(ownNames(names)) > 0:
	case v.Pass && (base == nil || base.Ran == nil || v.Ran == nil || *v.Ran <= *base.Ran): // those of new files may not have run
		tests = slices.DeleteFunc(tests, func(t newTest) bool { return slices.Contains(r.files.Added, t.file) })
	case !v.Pass && (base == nil || !base.Pass):
		return p, nil
	}
	fails, skips := ownNames(&loop.TestNames{Failed: names.Failed}), ownNames(&loop.TestNames{Skipped: names.Skipped})
	ran := ownNames(names)
	for _, t := range tests {
		switch byName := len(ran) > 0; {
		case unbuilt(t.file), byName && !ran[t.name]:
			p.unbuilt = append(p.unbuilt, t)
		case fails[t.name], !byName && !v.Pass:
			p.fail = append(p.fail, t)
		case skips[t.name]:
			p.skip = append(p.skip, t)
		default:
			p.pass = append(p.pass, t)
		}
	}
	return p, nil
}

// newTests are the new tests of a command: those that only the change has by what both commits name, or else those whose
// names are in new lines alone, and those that new assertions are in.
func (r *replay) newTests(c *Command, names *loop.TestNames, grown []hunk, unbuilt func(string) bool) (tests []newTest) {
	base := onBase(r.at, c.Name())
	ran := ownNames(names)
	add := func(t newTest) {
		if unbuilt(t.file) {
			t.name = t.file
		}
		parent := t.name[:max(0, strings.LastIndexByte(t.name, '/'))]
		same := func(o newTest) bool { return o.name == t.name || o.name == parent }
		if !slices.ContainsFunc(tests, same) {
			tests = append(tests, t)
		}
	}
	added := r.addedNames(c)
	for _, name := range slices.Sorted(maps.Keys(setOf(added, slices.Collect(maps.Keys(ran))))) {
		file, is := "", slices.Contains(added, name)
		for _, h := range grown {
			for _, w := range written(name) {
				if holdsWord(h.new, w) && !holdsWord(h.before, w) {
					file, is = h.file, is || base == nil || !named(base.Tests)
				}
			}
		}
		if is {
			add(newTest{name, file})
		}
	}
	for _, h := range grown {
		owner, at := h.file, -1
		for name := range ran {
			for _, w := range written(name) {
				if i := strings.LastIndex(h.above, w); i > at || i == at && i >= 0 && len(name) > len(owner) {
					owner, at = name, i
				}
			}
		}
		if h.asserts > 0 && (len(ran) == 0 || at >= 0 || unbuilt(h.file)) {
			add(newTest{owner, h.file})
		}
	}
	return tests
}
