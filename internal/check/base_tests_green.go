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
// must be accepted by name.

// How much is run for one command: files that are taken away each for itself, runs, and time, in runs of the command and
// at least.
const (
	mostTakenAway  = 8
	mostGreenRuns  = 12
	greenTimes     = 3
	leastGreenTime = 10 * time.Second
)

// green is what one command passes because of, on its way.
type green struct {
	at      Input
	changes *diffscan.Changes
	// lay makes the tree what a commit is with files of another one, as replay does.
	lay    func(ctx context.Context, onto, from string, names []string, contents map[string][]byte) (*loop.Verdict, error)
	c      *Command
	log    func(format string, args ...any)
	base   loop.Verdict // of the command
	judged []string     // files that the base commit's tests are compared of
	left   int          // runs
	time   time.Duration
}

// attribute tries the changed files. foreign are those that have to be accepted by name.
func (g *green) attribute(ctx context.Context, names []string) (said string, foreign []string, err error) {
	who := quote(g.c.Name())
	if failing := g.base.Failing(); g.base.Findings != nil && failing[0] != loop.ConcernName(g.c.Name()) {
		who = safetext.FirstN(failing, 3) + " (" + who + ")"
	}
	configures := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !diffscan.Configures(name) })
	if len(names) > 1 || len(configures) > 0 {
		g.log("base tests: %s runs without the changed files, to find out which of them it passes because of", g.c.Name())
		again, ran, err := g.passes(ctx, g.at.State.Start.Base, g.at.State.Start.Base, nil)
		if err != nil || !ran || ctx.Err() != nil {
			return "", nil, err
		}
		if again {
			said = who + " fails only now and then on the base commit"
			if len(configures) > 0 {
				said += ", and the change configures tools in " + few(configures)
			}
			return said, nil, nil
		}
	}
	needed, unnoticed, found, err := g.needed(ctx, names)
	if err != nil || ctx.Err() != nil {
		return "", nil, err
	}
	if !found {
		return fmt.Sprintf("%s failed on the base commit and passes now; which of %s it passes because of was not found out", who,
			safetext.Count(len(names), "changed file")), nil, nil
	}
	said = fmt.Sprintf("%s failed on the base commit and passes because of %s", who, few(needed))
	if len(unnoticed) > 0 {
		said += fmt.Sprintf(" alone; it does not notice the change of %s", few(unnoticed))
	}
	is, err := g.foreign(ctx, needed, len(unnoticed) > 0 && strings.TrimSpace(g.base.Output) != "")
	switch {
	case err != nil || !is && len(names) == 1: // the diff says it all
		return "", nil, err
	case !is:
		return said, nil, nil
	case len(names) > 1: // what decides is tried twice
		again, ran, err := g.passes(ctx, g.at.State.Start.Base, g.at.Iteration.Commit.SHA, needed)
		if err != nil || !ran || !again || ctx.Err() != nil {
			return "", nil, err
		}
	}
	return said, needed, nil
}

// needed takes changed files away, first those that are the least likely to be the product, and keeps away what the
// command passes without. found is false if that remains open, or takes too long.
func (g *green) needed(ctx context.Context, names []string) (needed, away []string, found bool, err error) {
	if len(names) == 1 {
		return names, nil, true, nil
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
	without := func(more []string) (passes, ran bool, err error) {
		return g.passes(ctx, g.at.Iteration.Commit.SHA, g.at.State.Start.Base, slices.Concat(away, more))
	}
	for len(names) > mostTakenAway {
		half := len(names) / 2
		passes, ran, err := without(names[:half])
		if passes {
			away, names = append(away, names[:half]...), names[half:]
			continue
		}
		if ran && err == nil {
			passes, ran, err = without(names[half:])
		}
		if err != nil || !ran || !passes {
			return nil, nil, false, err
		}
		away, names = append(away, names[half:]...), names[:half]
	}
	for i, name := range names {
		if len(needed) == 0 && i == len(names)-1 {
			return []string{name}, away, true, nil // it fails with none of them
		}
		passes, ran, err := without([]string{name})
		switch {
		case err != nil || !ran:
			return nil, nil, false, err
		case passes:
			away = append(away, name)
		default:
			needed = append(needed, name)
		}
	}
	return needed, away, len(needed) > 0, nil
}

// passes runs the command on a commit with files of another one; ran is false when there was no more time for that, or
// nothing could be run there.
func (g *green) passes(ctx context.Context, onto, from string, names []string) (passes, ran bool, err error) {
	if g.left == 0 || g.time <= 0 {
		return false, false, nil
	}
	began := time.Now()
	defer func() { g.left, g.time = g.left-1, g.time-time.Since(began) }()
	unfit, err := g.lay(ctx, onto, from, names, nil)
	if err != nil || unfit != nil || ctx.Err() != nil {
		return false, false, err
	}
	again := naming(g.c, "green")
	v, err := again.Run(ctx, g.at)
	return v.Pass, err == nil && !v.Killed, err
}

// undefined matches how compilers and loaders report a missing name, as absent does a missing file.
var undefined = lazy(`(?i)undefined|undeclared|cannot import|unknown`)

// foreign reports whether every file is something other than the product: it holds a test that failed, it configures
// tools, or, where new files may count, it is new and nothing missed it. What the task names is the product, what the base commit's tests are
// compared of has been judged by them, and what has to be accepted anyway is not asked twice.
func (g *green) foreign(ctx context.Context, names []string, fresh bool) (bool, error) {
	task := g.at.State.Start.Title + "\n" + g.at.State.Start.Spec
	for _, name := range names {
		stem := strings.TrimSuffix(path.Base(name), path.Ext(name))
		if holdsWord(task, path.Base(name)) || len(stem) > 3 && holdsWord(task, stem) || slices.Contains(g.judged, name) ||
			slices.ContainsFunc(g.at.Verdicts, func(v loop.Verdict) bool {
				return !v.Pass && slices.ContainsFunc(v.Concerns, func(c loop.Concern) bool { return c.File == name })
			}) {
			return false, nil
		}
		before, had, err := g.changes.File(ctx, g.at.State.Start.Base, name)
		if err != nil {
			return false, err
		}
		missed := slices.ContainsFunc(strings.Split(g.base.Output, "\n"), func(line string) bool {
			line = clipped(line)
			return (absent.MatchString(line) || undefined.MatchString(line)) && strings.Contains(strings.ToLower(line), strings.ToLower(stem))
		})
		configures := diffscan.Configures(name) && (diffscan.Judges(name) || !strings.Contains(g.base.Output, path.Base(name)))
		if foreign := configures || fresh && !had && !missed || had && g.holdsFailing(name, string(before)); !foreign {
			return false, nil
		}
	}
	return true, nil
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
