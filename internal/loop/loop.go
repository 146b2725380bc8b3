// Package loop is the heart of ralph: it turns a task into iterations and decides, from recorded facts alone, when to
// stop.
package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// Agent runs one fresh agent process: a prompt in, a turn out. An error means that the harness could not do its part;
// Turn.Class says everything that the agent itself does wrong.
type Agent interface {
	Turn(ctx context.Context, prompt string) (Turn, error)
}

// Tree is the run's working tree.
type Tree interface {
	// Commit makes one commit of everything that changed since the commit `since`, keeping commits the agent made itself.
	Commit(ctx context.Context, since string, s State) (Commit, error)
}

// Checks judge a commit. The verdicts come in the order in which the checks are listed.
type Checks interface {
	Judge(ctx context.Context, s State) ([]Verdict, error)
}

// Journal keeps records. Append returns the state after the record, and whatever was recorded because of it.
type Journal interface {
	State() State
	Append(ctx context.Context, r Record) (State, error)
}

// Prompt writes the agent's next prompt.
type Prompt interface {
	For(s State, step Step) (string, error)
}

// PlanFile corrects a plan's file.
type PlanFile interface {
	// Correct commits the file as s.Plan has it; Empty when it says so already.
	Correct(ctx context.Context, s State) (Commit, error)
}

// Ports are what a run works through.
type Ports struct {
	Agent   Agent
	Tree    Tree
	Checks  Checks
	Journal Journal
	Prompt  Prompt
	Plan    PlanFile // nil for a run without a plan
	Clock   func() time.Time
	// Sleep waits until a time or until ctx is done, and shows why.
	Sleep func(ctx context.Context, pause Pause)
	// Hear records the hints since the last call, and reports whether there are any; nil: the run takes no hints.
	Hear func(ctx context.Context) bool
	// Back puts the tree from one commit back to an earlier one, and names the branch that keeps what came after.
	Back func(ctx context.Context, from, to string) (branch string, err error)
	// Log gets one line a step, for the console.
	Log func(format string, args ...any)
	// Grace is how long a canceled run may take to commit what the agent left.
	Grace time.Duration
}

// Result is how a run ended.
type Result struct {
	Outcome Outcome
	Reason  string
	Until   time.Time // of Waiting: when it may continue by itself
	State   State
	ForPull bool // of Waiting: all is done but for the pull request, which GitHub does not open
	// Mistake is the error that Reason tells, of an Invalid that came of one: it knows where the docs have the message.
	Mistake error
}

// Run drives a run from where its journal stands to an outcome. Every step is one record, so a process that dies
// anywhere continues from there: the next one folds the same records and Next says the same thing. The outcome itself is
// not recorded here, because keeping a failed run's work comes first. An error is the harness's own failure; the state
// reached so far is in the result.
//
// When ctx is done, nothing new is begun; a step that is being done continues until hard is done too.
func Run(ctx, hard context.Context, limits Limits, p Ports) (Result, error) {
	for {
		s := p.Journal.State()
		step := Next(s, limits, p.Clock())
		stopped := ctx.Err() != nil
		switch {
		case !stopped && (step.Do == TakeTurn || step.Do == Stop) && p.Hear != nil && p.Hear(hard):
			continue
		case stopped && step.Do != Stop && step.Do != MakeCommit && step.Do != GoBack:
			return Result{Outcome: Interrupted, Reason: cause(ctx), State: s}, nil
		}
		var err error
		switch step.Do {
		case TakeTurn:
			if s, err = warn(hard, s, limits, p); err == nil {
				err = turn(ctx, hard, s, step, p)
			}
		case Wait:
			err = pause(ctx, s, step, p)
		case MakeCommit, GoBack:
			err = keep(ctx, hard, s, step, p)
		case Judge:
			err = judge(ctx, hard, s, step, p)
		case Correct:
			err = correct(hard, s, step, p)
		case Stop:
			return Result{Outcome: step.Outcome, Reason: step.Reason, Until: step.Until, State: s}, nil
		}
		s = p.Journal.State()
		if err != nil && ctx.Err() == nil && s.DoneAt > 0 && step.Do != GoBack && back(hard, s, err.Error(), p) == nil {
			err = nil
		}
		switch {
		case err != nil && stopped:
			return Result{Outcome: Interrupted, Reason: cause(ctx), State: s}, err
		case err != nil && ctx.Err() == nil:
			return Result{Outcome: Failed, Reason: err.Error(), State: s}, err
		}
	}
}

// pause waits, and says so first: the record keeps the run for us as long.
func pause(ctx context.Context, s State, step Step, p Ports) error {
	wait := Pause{Until: step.Until, Reason: step.Reason}
	if s.Pause == nil || !s.Pause.Until.Equal(wait.Until) {
		if _, err := p.Journal.Append(ctx,
			Record{Type: Paused, At: p.Clock(), Iteration: step.Iteration, Pause: &wait}); err != nil {
			return err
		}
	}
	p.Sleep(ctx, wait)
	return ctx.Err()
}

// warn records once that the run's soft time limit is over; what was done is on the remote by then.
func warn(ctx context.Context, s State, limits Limits, p Ports) (State, error) {
	now := p.Clock()
	if s.Warning != "" || limits.Soft.IsZero() || now.Before(limits.Soft) {
		return s, nil
	}
	warning := fmt.Sprintf("the run has %s of its %s left; it is stopped then", safetext.Duration(limits.Deadline.Sub(now)),
		safetext.Duration(limits.Wall))
	return p.Journal.Append(ctx, Record{Type: Warned, At: now, Warning: warning})
}

// what an iteration is for, and who takes its turn when that is not the coder.
func (step Step) what() string {
	if step.Story != "" {
		return string(step.Mode) + " " + step.Story
	}
	if step.Role == task.Coder || step.Role == "" {
		return string(step.Mode)
	}
	return string(step.Role) + ", " + string(step.Mode)
}

func turn(ctx, hard context.Context, s State, step Step, p Ports) error {
	prompt, err := p.Prompt.For(s, step)
	if err != nil {
		return fmt.Errorf("writing the prompt of iteration %d: %w", step.Iteration, err)
	}
	p.Log("Ralph Loop: Iteration %s for %s (%s)", s.Of(step.Iteration), s.Start.Name(), step.what())
	if step.Tier > Moving {
		p.Log("STUCK: Escalating to strategy shift")
	}
	begun := Record{Type: TurnBegun, At: p.Clock(), Iteration: step.Iteration, Mode: step.Mode, Story: step.Story,
		Tier: step.Tier}
	if step.Role != task.Coder {
		begun.Role = step.Role
	}
	if _, err := p.Journal.Append(hard, begun); err != nil {
		return err
	}
	t, err := p.Agent.Turn(hard, prompt)
	if err != nil {
		return fmt.Errorf("running the agent in iteration %d: %w", step.Iteration, err)
	}
	if t.Class == Killed && Stopping(ctx) {
		t.Class, t.Reason = Stopped, "the agent was ended by a signal while the run was being stopped"
	}
	p.Log("agent: %s (%s)", t.Describe(), t.Duration.Round(100*time.Millisecond))
	_, err = p.Journal.Append(context.WithoutCancel(hard),
		Record{Type: Turned, At: p.Clock(), Iteration: step.Iteration, Turn: &t})
	return err
}

// sameSignal is how long the signal that has ended an agent or a check may take to reach us, too.
const sameSignal = 250 * time.Millisecond

// keep commits or goes back. If ctx is done, it still has Grace.
func keep(ctx, hard context.Context, s State, step Step, p Ports) error {
	if ctx.Err() != nil {
		late, cancel := context.WithTimeout(context.WithoutCancel(hard), p.Grace)
		defer cancel()
		hard = late
	}
	if step.Do == GoBack {
		return back(hard, s, step.Reason, p)
	}
	return commit(hard, s, step, p)
}

// Stopping reports whether a run is being stopped whose agent, or whose check, was ended by a signal of someone else: a
// supervisor that stops a run asks all of its processes to end.
func Stopping(ctx context.Context) bool {
	late := time.NewTimer(sameSignal)
	defer late.Stop()
	select {
	case <-ctx.Done():
	case <-late.C:
	}
	return ctx.Err() != nil
}

func commit(ctx context.Context, s State, step Step, p Ports) error {
	defer BeginStep(ctx, "the commit of iteration "+s.Of(step.Iteration), 0)()
	c, err := p.Tree.Commit(ctx, s.Head(), s)
	if err != nil {
		return fmt.Errorf("committing iteration %d: %w", step.Iteration, err)
	}
	switch {
	case c.Unchecked:
	case c.Empty:
		p.Log("commit: nothing changed")
	default:
		p.Log("commit: %.12s, %s", c.SHA, safetext.Count(len(c.Files)+c.MoreFiles, "file"))
	}
	if c.Note != "" {
		p.Log("git: %s", c.Note)
	}
	_, err = p.Journal.Append(ctx, Record{Type: Committed, At: p.Clock(), Iteration: step.Iteration, Commit: &c})
	return err
}

// correct makes a plan's file say what counts.
func correct(ctx context.Context, s State, step Step, p Ports) error {
	defer BeginStep(ctx, "the commit that corrects the plan", 0)()
	c, err := p.Plan.Correct(ctx, s)
	if err != nil {
		return fmt.Errorf("correcting the plan after iteration %d: %w", step.Iteration, err)
	}
	if failure := s.Failure(); failure != nil && !c.Empty {
		p.Log("plan: %s is not approved yet, because the check %q failed: %s", step.Story, failure.Check, failure.Reason)
	} else if !c.Empty {
		p.Log("plan: %s: %s", step.Story, s.Plan.Standing(step.Story))
	}
	_, err = p.Journal.Append(ctx, Record{Type: Corrected, At: p.Clock(), Iteration: step.Iteration, Commit: &c})
	return err
}

func judge(ctx, hard context.Context, s State, step Step, p Ports) error {
	verdicts, err := p.Checks.Judge(hard, s)
	if err == nil {
		err = hard.Err() // a check that was stopped has said nothing: judge the same commit again when the run continues
	}
	if err != nil {
		return fmt.Errorf("checking iteration %d: %w", step.Iteration, err)
	}
	_, err = p.Journal.Append(context.WithoutCancel(ctx),
		Record{Type: Judged, At: p.Clock(), Iteration: step.Iteration, Verdicts: verdicts})
	return err
}

func cause(ctx context.Context) string {
	if c := context.Cause(ctx); c != nil && !errors.Is(c, context.Canceled) {
		return c.Error()
	}
	return "the run was canceled"
}

// back puts the run's tree back to the iteration that was done, and records it.
func back(ctx context.Context, s State, reason string, p Ports) error {
	to := s.Iterations[slices.IndexFunc(s.Iterations, func(it *Iteration) bool { return it.N == s.DoneAt })]
	branch, err := p.Back(ctx, s.Head(), to.Commit.SHA)
	if err != nil {
		return fmt.Errorf("going back to the commit of iteration %d: %w", to.N, err)
	}
	p.Log("the run goes back to iteration %d, which is done: %s", to.N, reason)
	_, err = p.Journal.Append(ctx, Record{Type: WentBack, At: p.Clock(), Iteration: to.N,
		Back: &Back{Reason: reason, Branch: branch}})
	return err
}
