package check

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

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
		addFinding(&v, loop.Finding{File: c.File, Line: c.Line, Test: c.Name, Level: "warning", Message: c.Message})
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

// mostReplays is how often a command is run at most, each time without files that could not be loaded.
const mostReplays = 4

// all runs what runs tests.
func (r *replay) all(ctx context.Context) error {
	commands, known := r.commands()
	touched := r.files.Touched()
	if len(commands) == 0 || !known && !slices.ContainsFunc(commands, soundsLikeTests) {
		if len(touched) > 0 {
			r.find(loop.Concern{Name: touched[0], Message: "tests were changed and could not be compared: no check is known to run them"})
		}
		return nil
	}
	for _, c := range commands {
		if err := r.command(ctx, c); err != nil || ctx.Err() != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.aside)) {
		r.find(loop.Concern{Name: name,
			Message: "as it was in the base it cannot be loaded with this change, so it could not be compared; " + r.deed(name)})
	}
	return nil
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
			r.find(loop.Concern{Name: c.Name(), Message: "the tests as they were in the base could not be run: " + unfit.Reason})
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
	r.find(loop.Concern{
		Name: f.Name(c.Name()), File: cmp.Or(file, f.File), Detail: detail,
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
		r.find(loop.Concern{
			Name: c.Name(), Detail: v.Output,
			Message: fmt.Sprintf("with the tests as they were in the base it fails (%s); %s", v.Reason, r.deed("")),
		})
	}
	for _, name := range named {
		shown, err := r.diff(ctx, name)
		if err != nil {
			return err
		}
		r.find(loop.Concern{
			Name: name, Detail: shown,
			Message: fmt.Sprintf("as it was in the base, %s fails on this change (%s); %s", c.Name(), v.Reason, r.deed(name)),
		})
	}
	return nil
}

// attribute says why a command passes, if it failed on the base commit or the change touches what it may judge by.
func (r *replay) attribute(ctx context.Context, c *Command, names []string) error {
	now := findVerdict(r.at.Verdicts, c.Name())
	g := &green{replay: r, c: c, left: mostGreenRuns}
	base, find := onBase(r.at, c.Name()), g.loosened
	g.base = *cmp.Or(base, &loop.Verdict{})
	g.time = greenTime(now.Duration, g.base.Duration)
	switch passed, replayed := r.green[c.Name()]; {
	case r.flips(c):
		find = g.attribute
	case base != nil && !base.Pass, replayed && !passed: // more has been found than what it may have loosened
		return nil
	case replayed:
		g.tests = r.ofBase()
	}
	said, foreign, err := find(ctx, slices.Clone(names))
	if said != "" {
		r.said = append(r.said, said)
	}
	for _, name := range foreign {
		r.find(loop.Concern{Name: name, Kind: loop.MakesGreen, File: name,
			Message: shownName(name) + " seems to be no part of the product: " + said})
	}
	return err
}
