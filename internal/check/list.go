package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/failure"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// List is the checks of a run, in the order they run.
type List struct {
	Checks []Check
	Tree   Tree
	Clock  func() time.Time
	Log    func(format string, args ...any)
	// BaseTree is the tree of the run's base commit, which Baseline judges; empty if it is not known.
	BaseTree string
	// MustPass requires checks to pass that failed on the base commit, without exceptions by acceptance.
	MustPass bool
	// Unpaid says why there is nothing left to pay a model with; empty while there is. If nil, there always is.
	Unpaid func() string
	// Stopping reports whether no further check should start; the active one runs to its end. If nil, all start.
	Stopping func() bool
	// Stopped reports whether a check that a foreign signal has just ended was ended because the run is being
	// stopped. If nil, it was not.
	Stopped func() bool
}

// Judge runs the list on the latest commit. The order of the verdicts is the order of the list.
func (l List) Judge(ctx context.Context, s loop.State) ([]loop.Verdict, error) {
	j := pass{List: l, at: Input{State: s, Iteration: *s.Last()}}
	if words := s.Last().Commit.Declined; words != "" {
		j.add(ctx, nil, declined(words))
		return j.at.Verdicts, nil
	}
	loop.PlanChecks(ctx, l.shown())
	for _, c := range l.Checks {
		if l.stopping() {
			return nil, context.Canceled
		}
		if err := j.next(ctx, c); err != nil {
			return nil, fmt.Errorf("running the check %s: %w", c.Name(), err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	for i := range j.at.Verdicts {
		j.at.Verdicts[i].Tests = nil // they are for the checks of this iteration: a record keeps those of the base commit
	}
	return j.at.Verdicts, nil
}

func (l List) stopping() bool { return l.Stopping != nil && l.Stopping() }

// Push is the check of a commit whose content the remote refuses. No other check runs then.
const Push = "push"

// declined is the verdict on a refused push: the next turn gets the remote's own words.
func declined(words string) loop.Verdict {
	return loop.Verdict{Check: Push, Severity: loop.Hard, Output: loop.Excerpt(words), Hash: failure.Signature(Push, words),
		Reason: "this cannot be pushed: " + safetext.Shorten(safetext.OneLine(words), 200),
		PromptText: words + "\n\nNothing of this was pushed. Your files are as you left them, and not committed. Take out what " +
			"is named above; then they are committed again without it. If a rule on commit messages is named, commit the files " +
			"yourself, with a message that it allows."}
}

// A pass runs a List over one iteration.
type pass struct {
	List
	at       Input
	blocked  string // the first hard check that failed
	prepared bool   // the tree is the one to judge
	unfit    string // the check that says why nothing can run in the tree
}

// shown are the names of the checks that take their time, which people see before they run.
func (l List) shown() (names []string) {
	for _, c := range l.Checks {
		if _, review := c.(*Review); review || !onlooks(c) {
			names = append(names, c.Name())
		}
	}
	return names
}

// next runs one check, if it is worth running.
func (j *pass) next(ctx context.Context, c Check) error {
	if c.Needs()&AChange != 0 && j.at.Iteration.NothingToDo() {
		return nil
	}
	quiet := c.Needs()&Quiet != 0
	v := j.need(c)
	if v.Skipped != "" {
		if !quiet {
			j.add(ctx, c, v)
		}
		return nil
	}
	if !onlooks(c) {
		if err := j.prepare(ctx); err != nil || ctx.Err() != nil {
			return err
		}
		if j.unfit != "" {
			v.Skipped = j.unfit + " failed"
			j.add(ctx, c, v)
			return nil
		}
	}
	v, err := j.run(ctx, c, j.at)
	switch {
	case err != nil || quiet && v.Pass && len(v.Accepted) == 0 && v.Reason == "":
		return err
	case j.stopped(v):
		return context.Canceled
	case ctx.Err() == nil:
		j.add(ctx, c, v)
	}
	return nil
}

func (j *pass) add(ctx context.Context, c Check, v loop.Verdict) {
	if v.Skipped == "" && v.Blocks() && j.blocked == "" {
		j.blocked = v.Check
	}
	j.logVerdict(c, v)
	loop.EndCheck(ctx, v)
	j.at.Verdicts = append(slices.Clip(j.at.Verdicts), v)
}

// prepare makes the tree the one to judge, once. If it cannot be, the reason is a verdict of its own.
func (j *pass) prepare(ctx context.Context) error {
	if j.prepared {
		return nil
	}
	j.prepared = true
	began := j.Clock()
	v, err := j.Tree.Prepare(ctx, j.at, j.at.Iteration.Claimed())
	if err != nil || v == nil || ctx.Err() != nil {
		return err
	}
	v.Duration, v.Severity = j.Clock().Sub(began), loop.Hard
	j.at.sign(v)
	if err := j.Tree.Explain(ctx, j.at, v); err != nil {
		return err
	}
	j.unfit = v.Check
	j.add(ctx, nil, *v)
	return nil
}

// sign binds a verdict to the tree that was judged, and a failure to its signature.
func (at Input) sign(v *loop.Verdict) {
	if at.Iteration.Commit != nil {
		v.Tree = at.Iteration.Commit.Tree
	}
	if !v.Pass && v.Hash == "" {
		v.Hash = failure.Signature(v.Check, cmp.Or(v.Output, v.Reason))
	}
}

// stopped reports whether a verdict says nothing about the commit, because the check was ended when the run was.
func (l List) stopped(v loop.Verdict) bool { return v.Killed && l.Stopped != nil && l.Stopped() }

// Baseline runs only the command checks, on the run's base commit.
func (l List) Baseline(ctx context.Context, s loop.State) (verdicts []loop.Verdict, err error) {
	if _, err := l.Tree.Prepare(ctx, Input{State: s}, false); err != nil {
		return nil, err
	}
	l.Checks = slices.DeleteFunc(slices.Clone(l.Checks), func(c Check) bool {
		_, is := c.(*Command)
		return !is
	})
	loop.PlanChecks(ctx, safetext.Map(l.Checks, Check.Name))
	if n := len(l.Checks); n > 0 {
		l.Log("baseline: running %s on the code as it is, before the agent's first turn", safetext.Count(n, "check"))
	}
	for _, c := range l.Checks {
		if l.stopping() {
			return nil, context.Canceled
		}
		v, err := l.run(ctx, c, Input{State: s})
		switch {
		case err != nil:
			return nil, fmt.Errorf("running the check %s: %w", c.Name(), err)
		case ctx.Err() != nil || l.stopped(v):
			return nil, cmp.Or(ctx.Err(), context.Canceled)
		}
		v.Tree = l.BaseTree
		loop.EndCheck(ctx, v)
		l.Log("baseline %s: %s", v.Check, describe(v))
		verdicts = append(verdicts, v)
	}
	return verdicts, ctx.Err()
}

// Alone runs the checks on a commit that no turn has made: all of them, in their order, and without anything that
// earlier checks have left.
func (l List) Alone(ctx context.Context, s loop.State, c loop.Commit) ([]loop.Verdict, error) {
	claims := loop.Turn{Class: loop.OK, Claim: loop.Claim{Done: true}}
	s.Iterations = []*loop.Iteration{{Commit: &c, Turn: claims}}
	verdicts, err := l.Judge(ctx, s)
	return verdicts, cmp.Or(err, ctx.Err())
}

// need is a verdict that is skipped if the check is not worth running now.
func (j *pass) need(c Check) loop.Verdict {
	v := loop.Verdict{Check: c.Name(), Severity: c.Severity(), Tree: j.at.Iteration.Commit.Tree}
	if v.Skipped = missing(c, j.at, j.blocked); v.Skipped != "" {
		return v
	}
	if m, ok := c.(interface{ asksModel() bool }); ok && m.asksModel() && j.Unpaid != nil {
		v.Skipped = j.Unpaid()
	}
	if w, ok := c.(Waiter); ok && v.Skipped == "" {
		v.Skipped = w.Waits(j.at)
	}
	v.Later = v.Skipped != ""
	return v
}

func (l List) run(ctx context.Context, c Check, at Input) (v loop.Verdict, err error) {
	began := l.Clock()
	command, isCommand := c.(*Command)
	if isCommand {
		defer loop.BeginCheck(ctx, c.Name(), command.Timeout)()
		if at.Iteration.Commit != nil {
			l.Log("Running guardrail: %s", command.Line)
		}
		v, err = l.once(ctx, *command, at)
	} else {
		defer loop.BeginCheck(ctx, c.Name(), 0)()
		v, err = c.Run(ctx, at)
	}
	if err != nil {
		return v, err
	}
	v.Check, v.Severity, v.Duration = c.Name(), cmp.Or(v.Severity, c.Severity()), l.Clock().Sub(began)
	if !onlooks(c) {
		if err := l.voidIfChanged(ctx, at, &v); err != nil {
			return v, err
		}
	}
	at.sign(&v)
	if !onlooks(c) && !v.Pass && ctx.Err() == nil && at.Iteration.Commit != nil {
		if err := l.Tree.Explain(ctx, at, &v); err != nil {
			return v, err
		}
	}
	if isCommand {
		known(at, l.MustPass, &v)
	}
	byPeople(at.State, &v)
	return v, nil
}

func onlooks(c Check) bool { return c.Needs()&(ReadsOnly|Quiet) != 0 }

// voidIfChanged makes sure that the verdict is about the committed tree: a check that changed tracked files has judged
// something else. Files that it also changes on the base commit are only restored.
func (l List) voidIfChanged(ctx context.Context, at Input, v *loop.Verdict) error {
	if ctx.Err() != nil {
		return nil
	}
	dirty, err := l.Tree.Clean(ctx)
	if err != nil {
		return err
	}
	if at.Iteration.Commit == nil {
		if v.Rewrites = dirty; len(dirty) > 0 {
			l.Log("%s changes tracked files by itself (%s); that is undone after each run", v.Check, safetext.FirstN(dirty, 5))
		}
		dirty = nil
	}
	if base := onBase(at, v.Check); base != nil {
		dirty = slices.DeleteFunc(dirty, func(name string) bool { return slices.Contains(base.Rewrites, name) })
	}
	if len(dirty) > 0 {
		names := safetext.FirstN(dirty, 5)
		v.Pass = false
		v.Reason = fmt.Sprintf("the check changed tracked files (%s), so it did not judge what is committed; let it only look, or "+
			"commit what it makes", names)
		v.PromptText = fmt.Sprintf("The check `%s` changes tracked files (%s). Run it yourself and leave its result in place, so "+
			"that it changes nothing more.", v.Check, names)
	}
	return l.Tree.Restore(ctx)
}

// missing says why a check need not run; empty if it must.
func missing(c Check, at Input, blocked string) string {
	it, n := at.Iteration, c.Needs()
	switch {
	case n&SomeWork != 0 && it.Turn.Class != loop.OK && it.Commit.Empty && !gaveUp(c, at):
		return "the turn failed and left nothing to judge"
	case n&AClaim != 0 && !it.Claimed():
		return "the agent does not claim to be done"
	case n&Green != 0 && blocked != "":
		return blocked + " failed"
	}
	return ""
}

// gaveUp reports whether an agent may have ended its turn with a failure because of this very check, although it has
// changed nothing: the prompt asks for that while tests fail. The check has failed on this tree before, or has not run
// on it in spite of earlier turns.
func gaveUp(c Check, at Input) bool {
	if _, isCommand := c.(*Command); !isCommand || at.Iteration.Turn.Class != loop.Broke {
		return false
	}
	said := onThisTree(at, c.Name())
	return len(said) == 0 && len(at.State.Iterations) > 1 || len(said) > 0 && !said[len(said)-1].Pass
}

// logVerdict logs the result of a check: of a command, its exit code and what its failure does to the next prompt.
func (l List) logVerdict(c Check, v loop.Verdict) {
	command, ok := c.(*Command)
	if ok && command.OnClaim && v.Skipped != "" { // turn after turn; the console said so once
		return
	}
	if !ok || v.Skipped != "" {
		l.Log("check %s: %s", v.Check, describe(v))
		return
	}
	took := v.Duration.Round(100 * time.Millisecond)
	line := fmt.Sprintf("Guardrail exited with code %d (%s)", v.Exit, took)
	if v.Exit < 0 { // it did not end by itself, or did not start
		line = fmt.Sprintf("Guardrail has no exit code (%s)", took)
	}
	switch {
	case v.Pass && v.Reason != "":
		line += ": " + v.Reason
	case v.Pass:
	case v.Severity == loop.Soft:
		line += ", which only warns: " + v.Reason
	default:
		line += fmt.Sprintf(", fail action %s: %s", v.FailAction, v.Reason)
	}
	l.Log("%s", line)
}

func describe(v loop.Verdict) string {
	how := "failed"
	switch {
	case v.Skipped != "":
		return "skipped, " + v.Skipped
	case v.Pass:
		how = "passed"
	case v.Severity == loop.Soft:
		how = "warns"
	}
	how = fmt.Sprintf("%s in %s", how, v.Duration.Round(10*time.Millisecond))
	if v.Reason == "" {
		return how
	}
	return how + ": " + v.Reason
}

// once runs a command, and a hard one a second time if it has failed on a tree on which it has passed before. The first
// run's log is kept.
func (l List) once(ctx context.Context, command Command, at Input) (loop.Verdict, error) {
	command.slow = func(warning string) { l.Log("%s", warning) }
	first, err := command.Run(ctx, at)
	if err != nil || first.Pass || !command.Hard || ctx.Err() != nil || l.stopping() || !passedBefore(at, command.Name()) {
		return first, err
	}
	settled := first
	settled.Check = command.Name()
	if err := l.voidIfChanged(ctx, at, &settled); err != nil {
		return first, err
	}
	if settled.Reason != first.Reason { // it changes what it judges: not to be believed either way
		return settled, nil
	}
	l.Log("%s failed on a tree that it has passed on before (%s); it is run once more", command.Name(), first.Reason)
	command.with = "rerun"
	second, err := command.Run(ctx, at)
	if err != nil {
		return first, err
	}
	return flaky(first, second), nil
}
