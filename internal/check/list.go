package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
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
	// BaseTree is the tree of the commit that the run begins from, of which Baseline speaks; empty: it is not known.
	BaseTree string
	// MustPass says that what fails on the base commit must pass at the end, whoever would accept it.
	MustPass bool
	// Stopping reports whether no further check should begin; the one that runs is let run. nil: never.
	Stopping func() bool
	// Stopped reports whether a check that someone else's signal has just ended was ended because the run is being
	// stopped. nil: never.
	Stopped func() bool
}

// Judge runs the list on the newest commit. The order of the verdicts is the order of the list.
func (l List) Judge(ctx context.Context, s loop.State) ([]loop.Verdict, error) {
	j := pass{List: l, at: Input{State: s, Iteration: *s.Last()}}
	if words := s.Last().Commit.Declined; words != "" {
		j.add(ctx, nil, declined(words))
		return j.at.Verdicts, nil
	}
	loop.PlanChecks(ctx, l.shown())
	for _, c := range l.Checks {
		if l.Stopping != nil && l.Stopping() {
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

// pass is a list on its way through one iteration.
type pass struct {
	List
	at       Input
	blocked  string // the first hard check that failed
	prepared bool   // the tree is what is judged
	unfit    string // why nothing can run in the tree
}

// shown are the names of the checks that take their time, which people are shown before they run.
func (l List) shown() (names []string) {
	for _, c := range l.Checks {
		if _, review := c.(*Review); review || !onlooks(c) {
			names = append(names, c.Name())
		}
	}
	return names
}

// next asks one check.
func (j *pass) next(ctx context.Context, c Check) error {
	if c.Needs()&AChange != 0 && j.at.Iteration.NothingToDo() {
		return nil
	}
	v, run := j.need(c)
	if _, quiet := c.(Quiet); !run && quiet {
		return nil
	}
	if !run {
		j.add(ctx, c, v)
		return nil
	}
	if !onlooks(c) {
		if err := j.prepare(ctx, c); err != nil || ctx.Err() != nil {
			return err
		}
		if j.unfit != "" {
			v.Skipped = j.unfit + " failed"
			j.add(ctx, c, v)
			return nil
		}
	}
	if command, ok := c.(*Command); ok {
		j.Log("Running guardrail: %s", command.Line)
	}
	v, err := j.run(ctx, c, j.at)
	if _, is := c.(Quiet); is && v.Pass && len(v.Accepted) == 0 && v.Reason == "" {
		return err
	}
	if err == nil && j.stopped(v) {
		return context.Canceled
	}
	if err == nil && ctx.Err() == nil {
		j.add(ctx, c, v)
	}
	return err
}

func (j *pass) add(ctx context.Context, c Check, v loop.Verdict) {
	if v.Skipped == "" && v.Blocks() && j.blocked == "" {
		j.blocked = v.Check
	}
	j.logVerdict(c, v)
	loop.EndCheck(ctx, v)
	j.at.Verdicts = append(slices.Clip(j.at.Verdicts), v)
}

// prepare makes the tree what is judged, once. What keeps it from that is a verdict of its own.
func (j *pass) prepare(ctx context.Context, c Check) error {
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
	if j.at.Iteration.Commit != nil {
		v.Tree = j.at.Iteration.Commit.Tree
	}
	if v.Hash == "" {
		v.Hash = failure.Signature(v.Check, cmp.Or(v.Output, v.Reason))
	}
	if err := j.Tree.Explain(ctx, j.at, v); err != nil {
		return err
	}
	j.unfit = v.Check
	j.add(ctx, nil, *v)
	return nil
}

// stopped reports whether a verdict says nothing of the commit, because the check was ended when the run was.
func (l List) stopped(v loop.Verdict) bool { return v.Killed && l.Stopped != nil && l.Stopped() }

// Baseline runs the command checks alone, on the commit that the run begins from.
func (l List) Baseline(ctx context.Context, s loop.State) ([]loop.Verdict, error) {
	var verdicts []loop.Verdict
	if _, err := l.Tree.Prepare(ctx, Input{State: s}, false); err != nil {
		return nil, err
	}
	commands := slices.DeleteFunc(slices.Clone(l.Checks), func(c Check) bool {
		_, is := c.(*Command)
		return !is
	})
	names := safetext.Map(commands, Check.Name)
	loop.PlanChecks(ctx, names)
	if len(names) > 0 {
		l.Log("baseline: running %s on the code as it is, before the agent's first turn",
			safetext.Count(len(names), "check"))
	}
	for _, c := range commands {
		if l.Stopping != nil && l.Stopping() {
			return nil, context.Canceled
		}
		v, err := l.run(ctx, c, Input{State: s})
		if err != nil {
			return nil, fmt.Errorf("running the check %s on the base commit: %w", c.Name(), err)
		}
		if ctx.Err() != nil { // it was stopped, which says nothing about the commit
			return nil, ctx.Err()
		}
		if l.stopped(v) {
			return nil, context.Canceled
		}
		v.Tree = l.BaseTree
		loop.EndCheck(ctx, v)
		l.Log("baseline %s: %s", v.Check, describe(v))
		verdicts = append(verdicts, v)
	}
	return verdicts, ctx.Err()
}

// need says whether a check is worth running now; if not, v says why it is skipped.
func (j *pass) need(c Check) (v loop.Verdict, run bool) {
	v = loop.Verdict{Check: c.Name(), Severity: c.Severity(), Tree: j.at.Iteration.Commit.Tree}
	if v.Skipped = missing(c, j.at, j.blocked); v.Skipped != "" {
		return v, false
	}
	if w, ok := c.(Waiter); ok {
		v.Skipped = w.Waits(j.at)
		v.Later = v.Skipped != ""
	}
	return v, v.Skipped == ""
}

func (l List) run(ctx context.Context, c Check, at Input) (loop.Verdict, error) {
	began := l.Clock()
	defer loop.BeginCheck(ctx, c.Name(), limitOf(c))()
	v, err := l.once(ctx, c, at)
	if err != nil {
		return v, err
	}
	v.Check, v.Severity, v.Duration = c.Name(), cmp.Or(v.Severity, c.Severity()), l.Clock().Sub(began)
	if at.Iteration.Commit != nil {
		v.Tree = at.Iteration.Commit.Tree
	}
	if !onlooks(c) {
		if err := l.voidIfChanged(ctx, at, &v); err != nil {
			return v, err
		}
	}
	if !v.Pass && v.Hash == "" {
		v.Hash = failure.Signature(v.Check, cmp.Or(v.Output, v.Reason))
	}
	if !onlooks(c) && !v.Pass && ctx.Err() == nil && at.Iteration.Commit != nil {
		if err := l.Tree.Explain(ctx, at, &v); err != nil {
			return v, err
		}
	}
	l.known(c, at, &v)
	byPeople(at.State, &v)
	return v, nil
}

// limitOf is the time limit of a check that has one of its own; 0 is none.
func limitOf(c Check) time.Duration {
	if command, ok := c.(*Command); ok {
		return command.Timeout
	}
	return 0
}

func onlooks(c Check) bool {
	_, looks := c.(readOnlyCheck)
	_, quiet := c.(Quiet)
	return looks || quiet
}

func (Turn) readsOnly()        {}
func (Claim) readsOnly()       {}
func (Diff) readsOnly()        {}
func (*Protected) readsOnly()  {}
func (*Weakened) readsOnly()   {}
func (*Unfinished) readsOnly() {}
func (*Review) readsOnly()     {} // it has a checkout of its own

// voidIfChanged makes sure that the verdict speaks of the committed tree: a check that changed tracked files has judged
// something else. What it changes on the base commit already is its habit, which is undone and nothing more.
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
	dirty = slices.DeleteFunc(dirty, func(name string) bool {
		return slices.ContainsFunc(at.State.Baseline,
			func(b loop.Verdict) bool { return b.Check == v.Check && slices.Contains(b.Rewrites, name) })
	})
	if len(dirty) > 0 {
		v.Pass = false
		v.Reason = fmt.Sprintf("the check changed tracked files (%s), so it did not judge what is committed; let it only "+
			"look, or commit what it makes", strings.Join(dirty[:min(len(dirty), 5)], ", "))
		v.PromptText = fmt.Sprintf("The check `%s` changes tracked files (%s). Run it yourself and leave its result in place, so "+
			"that it changes nothing more.", v.Check, strings.Join(dirty[:min(len(dirty), 5)], ", "))
	}
	return l.Tree.Restore(ctx)
}

// missing says why a check need not run; empty when it must.
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
// changed nothing: the prompt tells it to while tests fail. The check has failed on this tree before, or no one has
// asked it in spite of earlier turns.
func gaveUp(c Check, at Input) bool {
	if _, isCommand := c.(*Command); !isCommand || at.Iteration.Turn.Class != loop.Broke {
		return false
	}
	v := saidBefore(at, c.Name())
	return v == nil && len(at.State.Iterations) > 1 || v != nil && !v.Pass
}

// logVerdict says what resulted from a check: of a command, its exit code and what its failure does to the next prompt.
func (l List) logVerdict(c Check, v loop.Verdict) {
	command, ok := c.(*Command)
	if ok && command.OnClaim && v.Skipped != "" { // turn after turn; who began the run was told once
		return
	}
	if c == nil || !ok || v.Skipped != "" {
		l.Log("check %s: %s", v.Check, describe(v))
		return
	}
	took := v.Duration.Round(100 * time.Millisecond)
	line := fmt.Sprintf("Guardrail exited with code %d (%s)", v.Exit, took)
	if v.Exit < 0 { // it did not end by itself, or did not begin
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
	took := v.Duration.Round(10 * time.Millisecond)
	switch {
	case v.Skipped != "":
		return "skipped, " + v.Skipped
	case v.Pass && v.Reason != "":
		return fmt.Sprintf("passed in %s: %s", took, v.Reason)
	case v.Pass:
		return fmt.Sprintf("passed in %s", took)
	case v.Severity == loop.Soft:
		return fmt.Sprintf("warns in %s: %s", took, v.Reason)
	}
	return fmt.Sprintf("failed in %s: %s", took, v.Reason)
}

// once is a check's run, and one more of a hard command that has failed on a tree it has passed on before (once an
// iteration, since a check runs once an iteration). The first run's log is kept.
func (l List) once(ctx context.Context, c Check, at Input) (loop.Verdict, error) {
	command, isCommand := c.(*Command)
	if !isCommand {
		return c.Run(ctx, at)
	}
	command = l.warned(command)
	first, err := command.Run(ctx, at)
	if err != nil || first.Pass || !command.Hard || ctx.Err() != nil || l.Stopping != nil && l.Stopping() ||
		!passedBefore(at, command.Name()) {
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
	again := *command
	again.rerun = true
	second, err := again.Run(ctx, at)
	if err != nil {
		return first, err
	}
	return flaky(first, second), nil
}

// warned is a command whose soft limit has someone to tell.
func (l List) warned(c *Command) *Command {
	if c.OnSoft != nil {
		return c
	}
	with := *c
	with.OnSoft = func(warning string) { l.Log("%s", warning) }
	return &with
}
