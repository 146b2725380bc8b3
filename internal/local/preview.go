package local

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
	"github.com/ralph-loop/ralph/internal/task"
)

// Preview shows the prompt of a run's next iteration. It only reads: it takes no lock, makes no branch and writes no
// file.
type Preview struct {
	session.Session
	Issue      string // a file, or an issue's number
	Task       string // a task file, or the id of a task of the clone
	Plan       string // the directory of a plan
	Prompt     string
	PromptFile string
	Role       task.Role // whose prompt; empty: the role of the next turn
}

// Show prints the prompt on Out, and notes about it on Err.
func (t *Preview) Show(ctx context.Context) error {
	out := t.Out
	t.Out = t.Err
	t.Begin()
	show := t.ofTask
	if t.Issue == "" && t.Task == "" && t.Plan == "" {
		show = t.ofPrompt
	}
	text, err := show(ctx)
	if err != nil {
		return err
	}
	if t.Live != nil { // a terminal: outputs of tools may hold what would command it
		text = safetext.InertLines(text)
	}
	_, err = io.WriteString(out, text)
	return err
}

// ofTask is the prompt of a run of an issue or a task.
func (t *Preview) ofTask(ctx context.Context) (string, error) {
	l := &IssueRun{Session: t.Session, Issue: t.Issue, Task: t.Task, Plan: t.Plan}
	from := l.Dir
	l.Dir = session.Top(l.Dir)
	given, err := l.read()
	if err != nil {
		return "", err
	}
	wanted, err := l.task(ctx, from)
	if err != nil {
		return "", err
	}
	branch := "ralph/" + wanted.ID
	if t.Plan != "" {
		branch = l.source.Plan.BranchName
	}
	tree, err := git.Look(ctx, l.Dir, l.Parent, branch)
	if err != nil {
		return "", invalid.Mark(err)
	}
	l.bindPlan(ctx, wanted.ID, given.settings)
	spec, err := l.spec(ctx, wanted, given.settings, engine.Place{Workspace: tree, Tree: tree}, nil, l.Output())
	if err != nil {
		return "", err
	}
	before, dir, err := l.NewestRun(wanted.ID)
	if err != nil {
		return "", err
	}
	same := t.Plan != "" || engine.SameRequest(before, given.settings, wanted, nil)
	s, err := t.goOn(l.Session, before, dir != "", same, spec.FirstRecord(engine.NewRunID(t.Clock()), wanted))
	if err != nil {
		return "", err
	}
	words := spec.Prompt(ctx, given.prompts, wanted.Comments)
	if t.Role.ReadOnly() {
		return t.judging(ctx, spec, words, s)
	}
	s, step, err := t.next(s)
	if err != nil {
		return "", err
	}
	if t.Role != "" {
		step.Role = t.Role
	}
	return words.For(s, step)
}

// judging is the prompt of a role that only reads, about the run's current work.
func (t *Preview) judging(ctx context.Context, spec *engine.Spec, words prompt.Writer, s loop.State) (string, error) {
	tree, err := spec.Tree.TreeOf(ctx, s.Head())
	if err != nil {
		return "", invalid.Errorf("%w; the run's work is no longer in this clone", err)
	}
	diff, err := spec.Tree.Diff(ctx, s.Start.Base, s.Head(), engine.MaxDiff)
	if err != nil {
		return "", err
	}
	promise := ""
	if of := s.Start.Completion.For(t.Role); of != nil {
		promise = of.Promise
	}
	var noticed []loop.Verdict
	if last := s.Last(); last != nil {
		noticed = last.Verdicts
	}
	return words.Judge(s, t.Role, tree, diff, promise, noticed)
}

// ofPrompt is the prompt of a run that has one.
func (t *Preview) ofPrompt(context.Context) (string, error) {
	if t.Role != "" && t.Role != task.Coder {
		return "", invalid.Errorf(
			"flag --role is %q; a prompt run has only the coder role",
			t.Role,
		)
	}
	p := &PromptRun{Session: t.Session, Prompt: t.Prompt, PromptFile: t.PromptFile}
	p.settle()
	settings, err := p.Settings()
	if err != nil {
		return "", err
	}
	base, err := p.base()
	if err != nil {
		return "", err
	}
	before, dir, err := p.NewestRun(p.id())
	if err != nil {
		return "", err
	}
	start := p.firstRecord(engine.NewRunID(t.Clock()), base, settings.Iterations(config.PromptIterations))
	s, err := t.goOn(p.Session, before, dir != "", before.Start.Spec == start.Spec, start)
	if err != nil {
		return "", err
	}
	s, step, err := t.next(s)
	if err != nil {
		return "", err
	}
	return prompt.Verbatim{
		Base: p.base, Writer: engine.Rules{Settings: settings}.PlainPrompt(nil),
	}.For(
		s, step,
	)
}

// goOn is the state of the run that would be resumed or started, at that moment. known and unchanged are as of
// ResumeMode.
func (t *Preview) goOn(in session.Session, before loop.State, known, unchanged bool, start *loop.Start) (loop.State, error) {
	in.Ask = nil // only --fresh starts over
	way, why, err := in.ResumeMode(before, known, unchanged)
	switch {
	case err != nil:
		return before, err
	case way == loop.Begin:
		return loop.Fold([]loop.Record{{Type: loop.Started, At: t.Clock(), Start: start}}), nil
	}
	t.Log("%s: %s", way, why)
	resume := loop.Resume{Retry: way == loop.Again}
	if way == loop.Again {
		resume.MaxIterations = start.MaxIterations
	}
	return before.With(loop.Record{Type: loop.Resumed, At: t.Clock(), Resume: &resume}), nil
}

// next is the run's next turn, and the state that it would find. What has yet to be judged counts as judged, with
// nothing said.
func (t *Preview) next(s loop.State) (loop.State, loop.Step, error) {
	now := t.Clock()
	for {
		step := loop.Next(s, loop.Limits{}, now)
		switch step.Do {
		case loop.TakeTurn:
			return s, step, nil
		case loop.Wait:
			now = step.Until.Add(time.Second)
		case loop.MakeCommit:
			s = s.With(loop.Record{Type: loop.Committed, At: s.At, Commit: &loop.Commit{SHA: s.Head(), Empty: true}})
		case loop.Correct:
			s = s.With(loop.Record{Type: loop.Corrected, At: s.At, Commit: &loop.Commit{SHA: s.Head(), Empty: true}})
		case loop.Judge:
			t.Log("iteration %d has yet to be judged: what its checks will say is missing here", step.Iteration)
			s = s.With(loop.Record{Type: loop.Judged, At: s.At})
		case loop.Stop:
			return s, step, invalid.Errorf("there is no next prompt: the run ends %s: %s", step.Outcome, step.Reason)
		default:
			return s, step, fmt.Errorf("working out the next turn: %q is no step", step.Do)
		}
	}
}
