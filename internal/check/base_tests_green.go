package check

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/diffscan"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// A command that failed on the base commit and passes now is run without one changed file after the other: what it
// cannot do without made it pass. A reader learns that. If all of it seems to be something other than the product, it
// must be accepted by name. A command that has passed all the time is run without the change of what it may judge by:
// if it fails then, the change has loosened it.

// How much is run for one command: files that are taken away each for itself, runs, and time, in runs of the command and
// at least.
const (
	mostTakenAway  = 8
	mostGreenRuns  = 12
	greenTimes     = 3
	leastGreenTime = time.Minute
)

// greenTime is how long a command may run in all, by how long it took on the change, which can make it quick, and on the
// base commit.
func greenTime(now, base time.Duration) time.Duration {
	return max(greenTimes*max(now, base), leastGreenTime)
}

// green is what one command passes because of, on its way.
type green struct {
	*replay
	c     *Command
	base  loop.Verdict // of the command; the zero value: it is not known
	left  int          // runs
	time  time.Duration
	tests testOverlay // with which the command passes on the change; the zero value: its own
}

// needed is a changed file without which a command fails, and what the command says then; nil: only the others were tried.
type needed struct {
	name string
	red  *loop.Verdict
}

// attribute tries the changed files. foreign are those that have to be accepted by name.
func (g *green) attribute(ctx context.Context, names []string) (said string, foreign []string, err error) {
	who := quote(g.c.Name())
	if failing := g.base.Failing(); g.base.Findings != nil && failing[0] != loop.ConcernName(g.c.Name()) {
		who = safetext.FirstN(failing, 3) + " (" + who + ")"
	}
	configures := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !diffscan.Configures(name) })
	if len(names) > 1 || len(configures) > 0 {
		g.Log("base tests: %s runs without the changed files, to find out which of them it passes because of", g.c.Name())
		again, err := g.run(ctx, g.at.State.Start.Base, g.at.State.Start.Base, nil, nil)
		if err != nil || ctx.Err() != nil {
			return "", nil, err
		}
		if again != nil && again.Pass {
			said = who + " fails only now and then on the base commit"
			if len(configures) > 0 {
				said += ", and the change configures tools in " + few(configures)
			}
			return said, nil, nil
		}
	}
	all, unnoticed, err := g.needed(ctx, names)
	if err != nil || ctx.Err() != nil {
		return "", nil, err
	}
	if len(all) == 0 { // it may be any of them
		return fmt.Sprintf("%s failed on the base commit and passes now; which of %s it passes because of was not found out", who,
			safetext.Count(len(names), "changed file")), slices.DeleteFunc(configures, g.isSettled), nil
	}
	files := safetext.Map(all, func(n needed) string { return n.name })
	said = fmt.Sprintf("%s failed on the base commit and passes because of %s", who, few(files))
	if len(unnoticed) > 0 {
		said += fmt.Sprintf(" alone; it does not notice the change of %s", few(unnoticed))
	}
	ran := len(g.base.MissingNames) == 0 && slices.ContainsFunc(g.base.Findings, func(f loop.Finding) bool { return f.Test != "" })
	foreign, err = g.foreign(ctx, all, ran || len(unnoticed) > 0 && strings.TrimSpace(g.base.Output) != "")
	switch {
	case err != nil || len(foreign) == 0 && len(names) == 1: // the diff says it all
		return "", nil, err
	case len(foreign) > 0 && len(names) > 1: // what decides is tried twice
		again, err := g.run(ctx, g.at.State.Start.Base, g.at.Iteration.Commit.SHA, files, nil)
		if err != nil || ctx.Err() != nil || again != nil && !again.Pass {
			return "", nil, err
		}
	}
	return said, foreign, nil
}

// needed takes changed files away, first those that are the least likely to be the product, and keeps away what the
// command passes without. It returns no needed file if that remains open, or takes too long.
func (g *green) needed(ctx context.Context, names []string) (all []needed, away []string, err error) {
	if len(names) == 1 {
		return []needed{{name: names[0]}}, nil, nil
	}
	likely := func(name string) int {
		switch {
		case diffscan.HoldsTests(name):
			return 0
		case diffscan.Configures(name):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(likely(a), likely(b)) })
	without := func(more []string) (*loop.Verdict, error) {
		return g.run(ctx, g.at.Iteration.Commit.SHA, g.at.State.Start.Base, slices.Concat(away, more), nil)
	}
	for len(names) > mostTakenAway {
		half := len(names) / 2
		v, err := without(names[:half])
		if v != nil && v.Pass {
			away, names = append(away, names[:half]...), names[half:]
			continue
		}
		if v != nil && err == nil {
			v, err = without(names[half:])
		}
		if err != nil || v == nil || !v.Pass {
			return nil, nil, err
		}
		away, names = append(away, names[half:]...), names[:half]
	}
	for i, name := range names {
		if len(all) == 0 && i == len(names)-1 {
			return []needed{{name: name}}, away, nil // it fails with none of them
		}
		v, err := without([]string{name})
		switch {
		case err != nil || v == nil:
			return nil, nil, err
		case v.Pass:
			away = append(away, name)
		default:
			all = append(all, needed{name, v})
		}
	}
	return all, away, nil
}

// run runs the command on a commit with files of another one; nil when there was no more time for that, or nothing could
// be run there.
func (g *green) run(ctx context.Context, onto, from string, names []string, contents map[string][]byte) (*loop.Verdict, error) {
	if g.left == 0 || g.time <= 0 {
		return nil, nil
	}
	began := time.Now()
	defer func() { g.left, g.time = g.left-1, g.time-time.Since(began) }()
	unfit, err := g.lay(ctx, onto, from, names, contents)
	if err != nil || unfit != nil || ctx.Err() != nil {
		return nil, err
	}
	again := naming(g.c, "green")
	v, err := again.Run(ctx, g.at)
	if err != nil || v.Killed {
		return nil, err
	}
	return &v, nil
}

// loosened runs the command without the change of what it may judge by: of all that configures tools at once, and of
// each script. foreign are the files that have to be accepted by name: with one of them as the base commit has it the
// command fails, and not because something is missing. A file that tools are not known to judge by is one of them only
// if the base commit passes with only its change; otherwise it belongs to the product's change.
func (g *green) loosened(ctx context.Context, names []string) (said string, foreign []string, err error) {
	groups, err := g.judging(ctx, names)
	if err != nil {
		return "", nil, err
	}
	without := func(names []string) (*loop.Verdict, error) {
		return g.run(ctx, g.at.Iteration.Commit.SHA, g.at.State.Start.Base, slices.Concat(names, g.tests.names), g.tests.contents)
	}
	why, open := "", loop.Verdict{Reason: "it could not be run to its end"}
	for _, files := range groups {
		g.Log("base tests: %s runs with %s as the base commit has it", g.c.Name(), few(files))
		all, err := without(files)
		if err != nil || ctx.Err() != nil {
			return "", nil, err
		}
		if all != nil && all.Pass {
			continue
		}
		for _, name := range files { // a single one is tried twice: it decides
			v, err := without([]string{name})
			if err != nil || ctx.Err() != nil {
				return "", nil, err
			}
			v = cmp.Or(v, all, &open) // without more time, it may be any of them
			if v.Pass || g.misses(*v) {
				continue
			}
			if !diffscan.Judges(name) {
				alone, err := g.run(ctx, g.at.State.Start.Base, g.at.Iteration.Commit.SHA, []string{name}, nil)
				if err != nil || ctx.Err() != nil {
					return "", nil, err
				}
				if alone != nil && !alone.Pass {
					continue
				}
			}
			foreign, why = append(foreign, name), v.Reason
		}
	}
	if len(foreign) > 0 {
		said = fmt.Sprintf("with %s as the base commit has it, %s fails: %s", few(foreign), quote(g.c.Name()), why)
	}
	return said, foreign, nil
}

// judging are the changed files that the command may judge by: those that configure tools, and each script that its line
// or a manifest of the base commit names, which may be the product.
func (g *green) judging(ctx context.Context, names []string) (groups [][]string, err error) {
	runs := g.c.Line
	for _, name := range manifests {
		content, _, err := g.Changes.File(ctx, g.at.State.Start.Base, path.Join(g.c.Below, name))
		if err != nil {
			return nil, err
		}
		runs += "\n" + string(content)
	}
	var configure []string
	for _, name := range names {
		switch {
		case g.isSettled(name):
		case diffscan.Configures(name):
			configure = append(configure, name)
		case interpreted.MatchString(name) && holdsWord(runs, strings.TrimPrefix(name, g.c.Below+"/")):
			groups = append(groups, []string{name})
		}
	}
	if len(configure) > 0 {
		groups = append(groups, configure)
	}
	return groups, nil
}

// misses reports whether a failure comes of something that is missing, and not of a test that the base commit has.
func (g *green) misses(v loop.Verdict) bool {
	known := ownNames(cmp.Or(g.base.Tests, &loop.TestNames{}))
	return len(v.MissingNames) > 0 && !slices.ContainsFunc(v.Findings, func(f loop.Finding) bool {
		return f.Test != "" && (len(known) == 0 || known[ownName(f.Test)])
	})
}

// undefined matches how compilers and loaders report a missing name, as absent does a missing file.
var undefined = lazy(`(?i)undefined|undeclared|cannot import|unknown`)

// foreign are the needed files that have to be accepted by name: all of them if each is something other than the
// product, because it holds a test that failed, configures tools or, where new files may count, is new and nothing
// missed it; else those that tools judge by, if the failure without them is not that something is missing.
func (g *green) foreign(ctx context.Context, all []needed, fresh bool) (files []string, err error) {
	var loose []string
	for _, n := range all {
		if g.isSettled(n.name) {
			continue
		}
		if n.red != nil && diffscan.Judges(n.name) && !g.misses(*n.red) {
			loose = append(loose, n.name)
		}
		before, had, err := g.Changes.File(ctx, g.at.State.Start.Base, n.name)
		if err != nil {
			return nil, err
		}
		stem := strings.ToLower(strings.TrimSuffix(path.Base(n.name), path.Ext(n.name)))
		missed := slices.ContainsFunc(strings.Split(g.base.Output, "\n"), func(line string) bool {
			line = clipped(line)
			return (absent.MatchString(line) || undefined.MatchString(line)) && strings.Contains(strings.ToLower(line), stem)
		})
		configures := diffscan.Configures(n.name) && (diffscan.Judges(n.name) || !strings.Contains(g.base.Output, path.Base(n.name)))
		if configures || fresh && !had && !missed || had && g.holdsFailing(n.name, string(before)) {
			files = append(files, n.name)
		}
	}
	if len(files) < len(all) {
		return loose, nil
	}
	return files, nil
}

// isSettled reports whether a file needs no question: the task names it, its tests of the base commit are compared, or
// something else about it has to be accepted anyway.
func (g *green) isSettled(name string) bool {
	task := g.at.State.Start.Title + "\n" + g.at.State.Start.Spec
	stem := strings.TrimSuffix(path.Base(name), path.Ext(name))
	return holdsWord(task, path.Base(name)) || len(stem) > 3 && holdsWord(task, stem) ||
		slices.Contains(g.files.Touched(), name) || slices.Contains(g.files.Added, name) ||
		slices.ContainsFunc(g.at.Verdicts, func(v loop.Verdict) bool {
			return !v.Pass && slices.ContainsFunc(v.Concerns, func(c loop.Concern) bool { return c.File == name })
		})
}

// holdsFailing reports whether a file of the base commit holds a test that failed there. Rust has tests in the product's
// files, and a title of one word may be the name of what is tested.
func (g *green) holdsFailing(name, content string) bool {
	return path.Ext(name) != ".rs" && slices.ContainsFunc(g.base.Findings, func(f loop.Finding) bool {
		return slices.ContainsFunc(namesOf(f.Test), func(word string) bool {
			return (strings.Contains(strings.ToLower(word), "test") || strings.Contains(word, " ")) && holdsWord(content, word)
		})
	})
}

// manifests name what a project depends on.
var manifests = []string{
	"package.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "pyproject.toml", "requirements*.txt",
	"uv.lock", "poetry.lock",
	"Pipfile", "Pipfile.lock", "setup.py", "setup.cfg", "tox.ini", "noxfile.py", "Gemfile", "Gemfile.lock",
	"composer.json", "composer.lock", "go.mod",
	"Cargo.toml", "Cargo.lock", "pom.xml", "build.gradle", "build.gradle.kts", "mix.exs", "Makefile", "justfile",
	"Taskfile.yml",
}

// interpreted matches scripts, by their extensions.
var interpreted = lazy(`\.(?:sh|bash|py|[cm]?[jt]s|rb|pl|php|lua|ps1|tcl)$`)
