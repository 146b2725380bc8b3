package engine

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
	"github.com/ralph-loop/ralph/internal/task"
)

// Agents readies the agent and the reviewer, and finds out that one of them is missing before anything is spent. The
// reviewer is nil when there is no review.
func (run *Run) Agents(state func() loop.State) (Coder, *agent.Options, error) {
	set := run.Settings
	options := agent.Options{
		Command: run.agentCommand(set.Agent.Command), Flags: set.Agent.Args(), Model: set.Agent.Model,
		AgentSettings: set.AgentSettings, Dir: run.agentDir(), Parent: run.Parent, Allow: set.Environment,
		Home: run.Home, As: run.User, Timeout: set.TurnTimeout(), Idle: set.IdleTimeout(), Grace: run.grace(),
		Completion: set.CompletionResponse, Keys: run.Keys, Box: run.box(sandbox.Works),
		Limits:  run.limits(),
		Display: agent.Display{Format: run.Format, Groups: run.Groups}, Text: run.OfPrompt && !set.StreamAgentOutput && !spendingLimits(set),
	}
	options = run.warned(options, "turn") // after 12 of 20 minutes
	if set.StreamAgentOutput {
		options.Console = run.Console
	}
	c := Coder{
		Options: options, top: run.Workspace.Dir(), dir: run.Dir, prompts: run.Logs, State: state, byExit: set.ClaimByExit,
		doneFile: set.DoneFile, redact: run.Redact, verbose: run.Verbose,
	}
	if run.Plan == nil {
		c.stray = run.CheckWorkingDir
	}
	var err error
	if c.Options, _, err = run.withGateway(options, &run.told); err != nil {
		return c, nil, err
	}
	if _, err := agent.New(c.Options); err != nil || !run.reviewed(state) {
		return c, nil, err
	}
	options.Dir = run.Workspace.Dir() // and later a checkout of its own
	options.Command, options.Flags, options.Model = set.Reviewer.Command, set.Reviewer.Args(), set.Reviewer.Model
	if run.Clone != "" { // a person's, which no agent writes
		options.Command = run.agentCommand(options.Command)
	}
	options.ReadOnly, options.Schema, options.Timeout, options.Idle = true, check.ReviewSchema, set.ReviewTimeout(),
		set.ReviewIdleTimeout()
	options.AgentSettings, options.Text = false, false
	options = run.warned(options, "review") // after 3 of 5 minutes
	if options, _, err = run.withGateway(options, &run.told); err == nil {
		_, err = agent.New(options)
	}
	return c, &options, err
}

// warned lets the log warn when three fifths of a turn's time are over.
func (spec *Spec) warned(o agent.Options, what string) agent.Options {
	soft, hard := o.Timeout*3/5, o.Timeout
	o.Soft = soft
	o.OnSoft = func() { spec.Log("warning: the %s has taken %s; it is stopped at %s", what, soft, hard) }
	return o
}

// reviewed reports whether any role of the run reads the work.
func (spec *Spec) reviewed(state func() loop.State) bool {
	pipeline := spec.Goal.Pipeline
	if state != nil {
		pipeline = state().Start.Pipeline
	}
	return spec.Settings.Review || slices.ContainsFunc(pipeline, func(r task.Role) bool { return r == task.QA })
}
