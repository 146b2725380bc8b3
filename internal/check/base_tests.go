package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/diffscan"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// BaseTests says no when the tests as they were in the base commit fail on the change, or fewer of them run. Where the
// change touches tests, what they need, or what a test runner is told by, it lays those files of the base commit over
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
func (b *BaseTests) Severity() loop.Severity {
	if b.Hard {
		return loop.Hard
	}
	return loop.Soft
}

// Needs a claim with every hard check passed: it takes as long as they do.
func (*BaseTests) Needs() Need { return HardGreen }

// Quiet implements Quiet: it leaves the tree as it found it.
func (*BaseTests) Quiet() {}

// Run compares what ran, and runs the base commit's tests where the change touches any.
func (b *BaseTests) Run(ctx context.Context, at Input) (v loop.Verdict, err error) {
	d, err := changeOf(ctx, b.Changes, at)
	if err != nil || d == nil {
		return loop.Verdict{Pass: true}, err
	}
	files, err := d.TestFiles(ctx)
	if err != nil {
		return loop.Verdict{}, err
	}
	r := &replay{BaseTests: b, at: at, files: files, aside: map[string]bool{}, green: map[string]bool{}}
	if files.Any() {
		if err := r.withTree(ctx, func() error { return r.all(ctx) }); err != nil || ctx.Err() != nil {
			return loop.Verdict{Pass: true}, err
		}
	}
	r.compare()
	if err := r.unrun(ctx); err != nil {
		return loop.Verdict{}, err
	}
	show := func() error {
		for _, c := range b.Commands {
			if now := findVerdict(at.Verdicts, c.Name()); !c.Hard || now == nil || now.Skipped != "" || !now.Pass {
				continue
			}
			if err := r.attribute(ctx, c, d.Names); err != nil || ctx.Err() != nil {
				return err
			}
		}
		return r.prove(ctx, d)
	}
	if err := r.withTree(ctx, show); err != nil || ctx.Err() != nil {
		return loop.Verdict{Pass: true}, err
	}
	return r.verdict(), nil
}

// verdict is what was found.
func (r *replay) verdict() loop.Verdict {
	if len(r.found) == 0 {
		return loop.Verdict{Pass: true, Reason: strings.Join(r.said, "; ")}
	}
	v := loop.Verdict{Concerns: r.found}
	var b strings.Builder
	var old, unproven, green []loop.Concern
	var said []string
	for _, c := range r.found {
		switch c.Kind {
		case loop.Unproven:
			b.WriteString("unproven test ")
			unproven = append(unproven, c)
		case loop.MakesGreen:
			green = append(green, c)
		default:
			old = append(old, c)
		}
		fmt.Fprintf(&b, "%s: %s\n", c.Name, c.Message)
		if len(v.Findings) < loop.MaxFindings {
			v.Findings = append(v.Findings,
				loop.Finding{File: c.File, Line: c.Line, Test: c.Name, Level: "warning", Message: c.Message})
		}
	}
	v.Output = loop.Excerpt(b.String())
	v.PromptText = "Tests were run with and without your change:\n\n" + v.Output
	if len(old) > 0 {
		said = append(said, "the tests as they were in the base do not all agree with this change: "+
			safetext.FirstN(loop.Names(old), 5))
		v.PromptText += "\nMake the code pass the tests of the base as they were. If the task itself asks for them to be changed, " +
			"explain why in your last message.\n"
	}
	if len(unproven) > 0 {
		said = append(said, "no new test fails without the change: "+safetext.FirstN(loop.Names(unproven), 5))
		v.PromptText += "\nMake an unproven test fail on the code as it was. If it is meant to pass there, explain why in your " +
			"last message.\n"
	}
	if len(green) > 0 {
		v.PromptText += "\nMake the product itself pass. If the task asks for the change of " + few(loop.Names(green)) + ", explain " +
			"why in your last message.\n"
	}
	v.Reason = strings.Join(slices.Concat(r.said, said), "; ")
	return v
}

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
	patch string          // the change of the tests, once it was asked for
	said  []string        // of what passes now and of the new tests
}

// mostReplays is how often a command is run at most, each time without files that could not be loaded.
const mostReplays = 4

// withTree does something that lays files over a commit, and puts the tree back.
func (r *replay) withTree(ctx context.Context, do func() error) error {
	err := do()
	if ctx.Err() == nil && r.laid {
		_, back := r.Tree.Prepare(ctx, r.at, true)
		err, r.laid = errors.Join(err, back), false
	}
	return err
}

// all runs what runs tests.
func (r *replay) all(ctx context.Context) error {
	commands, known := r.commands()
	touched := r.files.Touched()
	if len(commands) == 0 || !known && !slices.ContainsFunc(commands, soundsLikeTests) {
		if len(touched) > 0 {
			r.uncompared(touched[0], "tests were changed and could not be compared: no check is known to run them")
		}
		return nil
	}
	for _, c := range commands {
		if err := r.command(ctx, c); err != nil || ctx.Err() != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.aside)) {
		r.uncompared(name, "as it was in the base it cannot be loaded with this change, so it could not be compared; "+
			r.deed(name))
	}
	return nil
}

var testWords = lazy(`(?i)test|spec|prove|bats|busted|check|tox|nox|rake|verify`)

func soundsLikeTests(c *Command) bool { return testWords.MatchString(c.Title + " " + c.Line) }

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

// command runs one command over the base commit's tests, again without those that cannot be loaded.
func (r *replay) command(ctx context.Context, c *Command) error {
	r.Log("base tests: %s runs with the tests as they were in the base", c.Name())
	r.green[c.Name()] = false
	again := naming(c, "base")
	for n := 1; ; n++ {
		tests := r.ofBase()
		unfit, err := r.lay(ctx, r.at.Iteration.Commit.SHA, r.at.State.Start.Base, tests.names, tests.contents)
		if err != nil || ctx.Err() != nil {
			return err
		}
		if unfit != nil {
			r.uncompared(c.Name(), "the tests as they were in the base could not be run: "+unfit.Reason)
			return nil
		}
		v, err := again.Run(ctx, r.at)
		switch {
		case err != nil || ctx.Err() != nil:
			return err
		case v.Pass:
			r.green[c.Name()] = true
			r.passed(c, v)
			return r.unnamedBefore(ctx, c, v)
		case n < mostReplays && r.setAside(v.Output):
			continue
		}
		return r.fails(ctx, c, v)
	}
}

// testOverlay is files of tests to be laid over a commit: as another one has them, by name, or with contents.
type testOverlay struct {
	names    []string
	contents map[string][]byte
}

// ofBase is the base commit's tests, but those that were set aside.
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

// setAside takes out the files of the base commit that an output says cannot be loaded, and lets new files stay that it
// misses; false: there are no more of either.
func (r *replay) setAside(output string) (more bool) {
	for _, name := range r.files.Touched() {
		if !r.aside[name] && unloadable(output, name) {
			r.aside[name], more = true, true
		}
	}
	for _, name := range r.files.Added {
		if !slices.Contains(r.kept, name) && misses(output, name) {
			r.kept, more = append(r.kept, name), true
		}
	}
	return more
}

// uncompared finds that something could not be compared.
func (r *replay) uncompared(name, message string) {
	file := ""
	if slices.Contains(r.files.Touched(), name) {
		file = name
	}
	r.found = addConcern(r.found, loop.Concern{Name: name, Kind: loop.BaseTest, File: file, Message: message})
}

// fails says by name what fails as the base commit has it, and not as the change has it.
func (r *replay) fails(ctx context.Context, c *Command, v loop.Verdict) error {
	var now []string
	if said := findVerdict(r.at.Verdicts, c.Name()); said != nil && !said.Pass {
		now = said.Failing()
	}
	var tests []loop.Finding
	for _, f := range v.Findings {
		if f.Test != "" && !slices.Contains(now, f.Name(c.Name())) {
			tests = append(tests, f)
		}
	}
	if v.Tests != nil && len(tests) == 0 {
		for _, name := range v.Tests.Failed[:min(len(v.Tests.Failed), loop.MaxConcerns)] {
			if f := (loop.Finding{Test: testOf(name)}); !slices.Contains(now, f.Name(c.Name())) {
				tests = append(tests, f)
			}
		}
	}
	for _, f := range tests {
		if err := r.test(ctx, c, f); err != nil {
			return err
		}
	}
	if len(tests) > 0 || slices.Contains(now, loop.ConcernName(c.Name())) || len(now) > 0 && allKnown(v, now) {
		return nil
	}
	return r.unnamed(ctx, c, v)
}

// allKnown reports whether a verdict names nothing but what fails in the change as well.
func allKnown(v loop.Verdict, now []string) bool {
	return !slices.ContainsFunc(v.Failing(), func(name string) bool { return !slices.Contains(now, name) })
}

// test is a test that fails as the base commit has it.
func (r *replay) test(ctx context.Context, c *Command, f loop.Finding) error {
	file, err := r.fileOf(ctx, f)
	if err != nil {
		return err
	}
	detail := ""
	if f.Message != "" {
		detail = f.Message + "\n"
	}
	if file != "" {
		shown, err := r.diff(ctx, file)
		if err != nil {
			return err
		}
		detail += shown
	}
	r.found = addConcern(r.found, loop.Concern{
		Name: f.Name(c.Name()), Kind: loop.BaseTest, File: cmp.Or(file, f.File), Detail: detail,
		Message: fmt.Sprintf("%s as it was in the base fails on this change; %s", quoted(f.Test), r.deed(file)),
	})
	return nil
}

// unnamed is a failure that names no test: the files that it names stand for them, or the command does.
func (r *replay) unnamed(ctx context.Context, c *Command, v loop.Verdict) error {
	files := slices.DeleteFunc(r.files.Touched(), func(name string) bool { return r.aside[name] })
	named := slices.DeleteFunc(slices.Clone(files), func(name string) bool { return !mentionsFile(v.Output, name) })
	if len(named) == 0 && len(files) == 1 {
		named = files
	}
	if len(named) == 0 {
		r.found = addConcern(r.found, loop.Concern{
			Name: c.Name(), Kind: loop.BaseTest, Detail: v.Output,
			Message: fmt.Sprintf("with the tests as they were in the base it fails (%s); %s", v.Reason, r.deed("")),
		})
	}
	for _, name := range named {
		shown, err := r.diff(ctx, name)
		if err != nil {
			return err
		}
		r.found = addConcern(r.found, loop.Concern{
			Name: name, Kind: loop.BaseTest, File: name, Detail: shown,
			Message: fmt.Sprintf("as it was in the base, %s fails on this change (%s); %s", c.Name(), v.Reason, r.deed(name)),
		})
	}
	return nil
}

// A test that the change adds, or gives another assertion, should fail on the code of the base commit: one that passes
// there shows nothing about the change. All that the change has where tests are is laid over the base commit for that.

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
			r.found = addConcern(r.found, loop.Concern{Name: t.name, Kind: loop.Unproven, File: t.file, Message: message})
		}
	}
	return nil
}

// attribute says why a command passes, if it failed on the base commit or the change touches what it may judge by.
func (r *replay) attribute(ctx context.Context, c *Command, names []string) error {
	now := findVerdict(r.at.Verdicts, c.Name())
	g := &green{at: r.at, changes: r.Changes, lay: r.lay, c: c, log: r.Log,
		judged: slices.Concat(r.files.Touched(), r.files.Added), left: mostGreenRuns, time: max(greenTimes*now.Duration, leastGreenTime)}
	base, find := onBase(r.at, c.Name()), g.loosened
	if base != nil {
		g.base = *base
	}
	switch green, replayed := r.green[c.Name()]; {
	case r.flips(c):
		find = g.attribute
	case base != nil && !base.Pass, replayed && !green: // more has been found than what it may have loosened
		return nil
	case replayed:
		g.tests = r.ofBase()
	}
	said, foreign, err := find(ctx, slices.Clone(names))
	if said != "" {
		r.said = append(r.said, said)
	}
	for _, name := range foreign {
		r.found = addConcern(r.found, loop.Concern{Name: name, Kind: loop.MakesGreen, File: name,
			Message: shownName(name) + " seems to be no part of the product: " + said})
	}
	return err
}

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

// lacking are the names of one set that another has not, in order.
func lacking(from, of map[string]bool) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(from)), func(name string) bool { return of[name] })
}

// ownNames are tests without the groups and files that they are in.
func ownNames(t *loop.TestNames) map[string]bool {
	set := map[string]bool{}
	for name := range setOf(t.Passed, t.Failed, t.Skipped) {
		set[ownName(name)] = true
	}
	return set
}

func ownName(name string) string {
	for _, sep := range []string{"\t", "::", " > ", " › "} {
		name = name[strings.LastIndex(name, sep)+1:]
		name = strings.TrimPrefix(name, sep[1:])
	}
	return name
}

// written are the ways in which a file may write a test's own name.
func written(own string) (words []string) {
	last := own[strings.LastIndexByte(own, '/')+1:]
	bare, _, _ := strings.Cut(strings.ReplaceAll(last, " (", "["), "[")
	for _, w := range []string{own, last, bare, strings.ReplaceAll(bare, "_", " ")} {
		if len(w) > 3 && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return words
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
