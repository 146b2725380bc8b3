package engine

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
	"github.com/ralph-loop/ralph/internal/task"
)

// Agents readies the agent and the reviewer, and finds out that one of them is missing before anything is spent. The reviewer is nil
// when there is no review.
func (w *Run) Agents(state func() loop.State) (Coder, *agent.Options, error) {
	set := w.Settings
	options := agent.Options{
		Command: w.fromTop(set.Agent.Command), Flags: set.Agent.Args(), Model: set.Agent.Model, AgentSettings: set.AgentSettings,
		Dir: w.desk(), Parent: w.Parent, Allow: set.Environment, Home: w.Home, As: w.User, Timeout: set.TurnTimeout(), Idle: set.IdleTimeout(), Grace: w.grace(),
		Completion: set.CompletionResponse, Keys: w.Keys, Extra: w.Workspace.Env(), Box: w.box(sandbox.Works), Format: w.Format, Groups: w.Groups,
		Text: w.OfPrompt && !set.StreamAgentOutput && !spendingLimits(set),
	}
	options = w.warned(options, "turn") // after 12 of 20 minutes
	if set.StreamAgentOutput {
		options.Console = w.Console
	}
	c := Coder{Options: options, dir: w.Dir, prompts: w.Logs, State: state, byExit: set.ClaimByExit, doneFile: set.DoneFile, redact: w.Redact, verbose: w.Verbose}
	if w.Plan == nil {
		c.stray = w.Stray
	}
	if _, err := agent.New(options); err != nil || !w.reviewed(state) {
		return c, nil, err
	}
	options.Dir = w.Workspace.Dir() // and later a checkout of its own
	options.Command, options.Flags, options.Model = set.Reviewer.Command, set.Reviewer.Args(), set.Reviewer.Model
	options.ReadOnly, options.Schema, options.Timeout, options.Idle = true, check.ReviewSchema, set.ReviewTimeout(), set.ReviewIdleTimeout()
	options.AgentSettings, options.Text = false, false
	options = w.warned(options, "review") // after 3 of 5 minutes
	_, err := agent.New(options)
	return c, &options, err
}

// warned lets the log warn when three fifths of a turn's time are over.
func (w *Spec) warned(o agent.Options, what string) agent.Options {
	soft, hard := o.Timeout*3/5, o.Timeout
	o.Soft = soft
	o.OnSoft = func() { w.Log("warning: the %s has taken %s; it is stopped at %s", what, soft, hard) }
	return o
}

// reviewed reports whether any role of the run reads the work.
func (w *Spec) reviewed(state func() loop.State) bool {
	pipeline := w.Goal.Pipeline
	if state != nil {
		pipeline = state().Start.Pipeline
	}
	return w.Settings.Review || slices.ContainsFunc(pipeline, func(r task.Role) bool { return r == task.QA })
}
