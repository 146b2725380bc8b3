package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/hook"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// Agents readies the agent and the reviewer, and finds out that one of them is missing before anything is spent. The
// reviewer is nil when there is no review.
func (run *Run) Agents() (Coder, *agent.Options, error) {
	set := run.Settings
	options := agent.Options{
		Command: run.agentCommand(set.Agent.Command), Flags: set.Agent.Args(), Model: set.Agent.Model, Dir: run.agentDir(),
		Host: run.host(run.box(sandbox.Works)),
		Bounds: agent.Bounds{
			Timeout: set.TurnTimeout(), Idle: set.IdleTimeout(), Grace: run.grace(), Limits: run.limits(),
		},
		Rights: agent.Rights{AgentSettings: set.AgentSettings},
		Answer: agent.Answer{
			Completion: set.CompletionResponse, Text: run.OfPrompt && !set.StreamAgentOutput && !spendingLimits(set),
		},
		Display: agent.Display{Format: run.Format, Groups: run.Groups},
	}
	options = run.warned(options, "turn") // after 12 of 20 minutes
	if set.StreamAgentOutput {
		options.Console = run.Console
	}
	coder, _, err := run.withGateway(options, &run.logged)
	c := Coder{coder, run}
	if err != nil {
		return c, nil, err
	}
	if _, err := agent.New(c.Options); err != nil || !run.reviewed() {
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
	if options, _, err = run.withGateway(options, &run.logged); err == nil {
		_, err = agent.New(options)
	}
	return c, &options, err
}

// warned lets the log warn when 60% of a turn's time are over.
func (spec *Spec) warned(o agent.Options, what string) agent.Options {
	soft, hard := o.Timeout*3/5, o.Timeout
	o.Soft = soft
	o.OnSoft = func() { spec.Log("warning: the %s has taken %s; it is stopped at %s", what, soft, hard) }
	return o
}

// reviewed reports whether any role of the run reads the work.
func (run *Run) reviewed() bool {
	pipeline := run.Goal.Pipeline
	if run.Journal != nil {
		pipeline = run.Journal.State().Start.Pipeline
	}
	return run.Settings.Review || slices.ContainsFunc(pipeline, func(r task.Role) bool { return r == task.QA })
}

// Hooks are the settings by which an agent calls this very program while it works: to hear how full its context is,
// that it may not stop yet, that a command is dangerous. nil for an agent that knows no hooks, and where our program is
// not to be had: in a virtual machine.
func (run *Run) Hooks(command string) ([]byte, error) {
	name := strings.TrimSuffix(filepath.Base(command), ".exe")
	if s := run.boxes.sandbox; run.OfPrompt || !slices.Contains(hook.Agents, name) ||
		s != nil && s.Mode == sandbox.DockerSandbox {
		return nil, nil
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding our own program for the agent's hooks: %w", err)
	}
	kinds := slices.Clone(hook.Kinds)
	// in a folder that it does not trust it runs no git, so it could never commit as the hook asks it to
	if name == "gemini" {
		kinds = slices.DeleteFunc(kinds, func(kind string) bool { return kind == hook.StopReminder })
	}
	return hook.Settings(name, program, true, kinds...)
}

// keptTurns is how many turns' files are kept, so that a long run does not fill the disk.
const keptTurns = 100

// State is that of the agent's run.
func (c Coder) State() loop.State { return c.run.Journal.State() }

// Turn implements loop.Agent.
func (c Coder) Turn(ctx context.Context, asked string) (loop.Turn, error) {
	s := c.State()
	n := s.Turning.Iteration
	o, run := c.Options, c.run
	o.Completion, o.Promises = s.Claims(s.Turning.Role, o.Completion)
	o.LogFile, o.PromptFile = filepath.Join(run.Dir, agentLog(n)), filepath.Join(run.Logs, promptFile(n))
	o.Title = "Iteration " + s.Of(n)
	defer loop.BeginStep(ctx, "the agent's turn of iteration "+s.Of(n), o.Timeout)()
	run.aside(run.Dir).remove(agentLog(n-keptTurns), wordsFile(n-keptTurns))
	run.aside(run.Logs).remove(promptFile(n - keptTurns))
	if run.Shown.Prompt != nil {
		run.Shown.Prompt(n, safetext.FirstBytes(run.Redact(asked), promptBytes))
	}
	if err := c.Write(promptFile(n), asked); err != nil {
		return loop.Turn{}, err
	}
	if err := c.stray(); err != nil {
		return loop.Turn{}, err
	}
	if err := c.forgetDone(); err != nil {
		return loop.Turn{}, err
	}
	c.tell("Iteration %s starting", s.Of(n))
	c.tell("Prompt: %s", safetext.Shorten(asked, 200))
	t, err := run.budget.Turn(ctx, o, asked)
	if err == nil && !t.Claim.Done && s.Promise(s.Turning.Role) == "" {
		t.Claim = c.claim(t)
	}
	if took := t.Duration.Round(100 * time.Millisecond); t.Exit < 0 {
		c.tell("Agent did not end by itself (%s), class %s", took, t.Class)
	} else {
		c.tell("Agent exited with code %d (%s), class %s", t.Exit, took, t.Class)
	}
	c.tell("Completion: %s", describe(t.Claim))
	return t, errors.Join(err, c.keepWords(&t, n))
}

func agentLog(n int) string { return fmt.Sprintf("agent_%d.log", n) }

func promptFile(n int) string { return fmt.Sprintf("prompt_%03d.txt", n) }

// Write puts the prompt where people look for it, and the agent when its prompt is too long for its command line.
func (c Coder) Write(name, asked string) error {
	mode := os.FileMode(0o600)
	if c.Options.As != nil { // the agent is another user, and may have to read it there
		mode = 0o644
	}
	if err := c.run.aside(c.run.Logs).write(name, []byte(c.run.Redact(asked)), mode); err != nil {
		return fmt.Errorf("writing the prompt down: %w", err)
	}
	return nil
}

// stray says why nothing may run in the agent's directory; nil when something may. In a run of a plan it is the top.
func (c Coder) stray() error {
	if c.run.Plan != nil {
		return nil
	}
	return c.run.CheckWorkingDir()
}

// forgetDone removes the marker of an earlier turn: only what this one leaves is its word.
func (c Coder) forgetDone() error {
	if c.run.Settings.DoneFile == "" {
		return nil
	}
	at, name, err := c.done()
	if err == nil {
		err = errors.Join(at.Remove(name), at.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return invalid.Mark(fmt.Errorf("removing the setting doneFile of an earlier turn: %w", err))
	}
	return nil
}

// done is where the marker is: a directory, and a path in it. A link leads nowhere else.
func (c Coder) done() (*os.Root, string, error) {
	name := c.run.Settings.DoneFile
	if filepath.IsAbs(name) {
		at, err := os.OpenRoot(filepath.Dir(name))
		return at, filepath.Base(name), err
	}
	at, err := os.OpenRoot(c.Options.Dir)
	return at, filepath.Clean(name), err
}

// isDone reports whether the marker is there.
func (c Coder) isDone() bool {
	at, name, err := c.done()
	if err != nil {
		return false
	}
	defer at.Close()
	info, err := at.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// claim is what a turn claims without a tag that says so: by its marker file, or by its exit code.
func (c Coder) claim(t loop.Turn) loop.Claim {
	set := c.run.Settings
	if set.DoneFile != "" && c.stray() == nil && c.isDone() {
		return loop.Claim{Done: true, Tag: "file", Text: set.DoneFile}
	}
	if set.ClaimByExit && t.Class == loop.OK && t.Exit == 0 && t.Claim.Tag == "" {
		return loop.Claim{Done: true, Tag: "exit", Text: "0"}
	}
	return t.Claim
}

func describe(c loop.Claim) string {
	switch {
	case c.Done:
		return fmt.Sprintf("matched by <%s>%s", c.Tag, c.Text)
	case c.Tag != "":
		return fmt.Sprintf("not matched by <%s>%s", c.Tag, c.Text)
	}
	return "none found"
}

func (c Coder) tell(format string, args ...any) {
	if c.run.Verbose != nil {
		c.run.Verbose(format, args...)
	}
}

// CommandLine is what the agent is run with, as a shell would write it, for people to read: without secrets among the
// flags.
func CommandLine(c Coder) (string, error) {
	a, err := agent.New(c.Options)
	if err != nil {
		return "", err
	}
	return config.Redact(a.CommandLine()), nil
}
