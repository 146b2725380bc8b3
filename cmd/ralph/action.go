package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/ralph-loop/ralph/internal/bot"

	"github.com/ralph-loop/ralph/internal/actions"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
	jobs "github.com/ralph-loop/ralph/internal/work"
)

type actionCommand struct {
	EventName string `placeholder:"NAME" help:"With --dry-run: the name of the event, such as issues or issue_comment. Default: GITHUB_EVENT_NAME."`
	Event     string `placeholder:"FILE" help:"With --dry-run: the payload of the event. Default: the file that GITHUB_EVENT_PATH names."`
	DryRun    bool   `help:"Print what ralph would do with the event, and why: nothing is written, and no agent runs. Set GITHUB_TOKEN or GH_TOKEN to read permissions and the status of the run from GitHub."`
	JSON      bool   `name:"json" help:"With --dry-run: print it as one JSON object."`
}

// Run implements ralph action. In a job, waiting and refusals are no failures: the exit code is 0 for them.
func (c *actionCommand) Run(ctx context.Context, p process) error {
	switch {
	case c.DryRun:
		return c.explain(ctx, p)
	case c.EventName != "" || c.Event != "" || c.JSON:
		return invalid.Errorf("flags --event-name, --event and --json go with --dry-run: a run from a payload of your own " +
			"would be one for real; the event of a job is read from its environment")
	}
	environ := environment(p.environ)
	runner := actions.New(func(name string) string { return environ[name] }, safetext.Raw(p.out))
	a, err := p.action(environ, runner)
	switch {
	case a == nil:
		return err
	case err != nil:
		return &endedError{loop.Invalid.ExitCode(), bot.WrongInputs(runner, err)}
	case a.Inputs.Server != "":
		return workOnRunner(ctx, a.Inputs, runner, p.environ)
	}
	result, err := a.Run(ctx)
	outcome := result.Outcome
	switch {
	case err == nil && outcome == "", outcome == loop.Waiting, outcome == loop.Refused:
		return nil
	case err != nil && (outcome == "" || outcome == loop.Done || outcome == loop.Failed):
		if outcome = loop.Failed; invalid.Is(err) {
			outcome = loop.Invalid
		}
	}
	return &endedError{outcome.ExitCode(), logged(runner, err)}
}

// action is the bot with what the environment says; nil without that, and with an error of the inputs it has none.
func (p process) action(environ map[string]string, runner *actions.Runner) (*bot.Action, error) {
	env, err := config.ReadEnvironment(environ)
	if err != nil {
		return nil, err
	}
	inputs, err := config.ReadInputs(environ)
	return &bot.Action{Env: env, Inputs: inputs, Parent: p.environ, Runner: runner, Clock: now}, err
}

// logged prints an error in the job's log in a form that the runner does not obey: what git and GitHub say can have
// names of files in it. On standard error the runner would obey it. Outside of a runner the error is returned, to be
// printed by the caller.
func logged(runner *actions.Runner, err error) error {
	if err == nil || invalid.Reported(err) || !runner.Inside() {
		return err
	}
	_, _ = fmt.Fprintln(runner, "ralph:", strings.TrimSpace(err.Error()))
	return nil
}

// explain says what ralph would do with an event. Its exit code says whether the payload could be read.
func (c *actionCommand) explain(ctx context.Context, p process) error {
	found, err := c.decide(ctx, p)
	if err != nil {
		return invalid.Mark(err)
	}
	if c.JSON {
		_, err = p.out.Write(plainJSON(found))
		return err
	}
	return found.Print(p.out)
}

func (c *actionCommand) decide(ctx context.Context, p process) (bot.Preview, error) {
	environ := environment(p.environ)
	environ["GITHUB_EVENT_NAME"] = cmp.Or(c.EventName, environ["GITHUB_EVENT_NAME"])
	if c.Event != "" {
		environ["GITHUB_EVENT_PATH"] = p.path(c.Event)
	}
	if environ["GITHUB_EVENT_NAME"] == "workflow_dispatch" {
		dispatched(environ, environ["GITHUB_EVENT_PATH"])
	}
	a, err := p.action(environ, actions.New(func(string) string { return "" }, io.Discard)) // a dry run says nothing to a runner
	switch {
	case err != nil:
		return bot.Preview{}, err
	case a.Env.EventName == "" || a.Env.EventPath == "":
		return bot.Preview{}, errors.New("the event is not known: pass --event-name NAME and --event FILE, " +
			"such as --event-name issues --event payload.json")
	}
	return a.DryRun(ctx, p.dir)
}

// dispatched gives ralph the inputs that a workflow was dispatched with, as the workflow of docs/github.md hands them
// on. What is wrong with the payload its reader tells.
func dispatched(environ map[string]string, file string) {
	var payload struct{ Inputs map[string]any }
	text, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(text, &payload) != nil {
		return
	}
	for _, name := range []string{"issue", "prompt", "prompt_file", "plan"} {
		variable := "INPUT_" + strings.ToUpper(name)
		if value, there := payload.Inputs[name]; there && environ[variable] == "" {
			environ[variable] = fmt.Sprint(value)
		}
	}
}

// workCLI is the grammar of what ralph serve starts for each job. No person calls it, so no help reports it.
type workCLI struct {
	Work workCommand `cmd:""`
}

type workCommand struct{}

// Run implements ralph work. The server gets the job's outcome, so the exit code says only whether that worked.
func (*workCommand) Run(ctx context.Context, p process) error {
	if err := jobs.Run(ctx, p.in, p.environ, now); err != nil {
		return &endedError{loop.Failed.ExitCode(), err}
	}
	return nil
}

// workOnRunner does a job of a server in a job of GitHub Actions. The log says nothing of it: its readers might not
// have access to the repository that the job is for.
func workOnRunner(ctx context.Context, in config.Inputs, runner *actions.Runner, environ []string) error {
	runner.Mask(in.Request)
	_, _ = fmt.Fprintf(runner, "This job works for %s, whose pages show what it does.\n", in.Server)
	err := jobs.Runner{Server: in.Server, Request: in.Request, Token: runner.IDToken}.Run(ctx, environ, now)
	switch {
	case errors.Is(err, jobs.ErrGone):
		runner.Notice("There is nothing to do: " + err.Error())
	case err != nil:
		return &endedError{loop.Failed.ExitCode(), logged(runner, err)}
	}
	return nil
}

type sweepCommand struct {
	List bool `required:"" help:"Print the work of a sweep as a matrix of a workflow's jobs, in JSON, and start nothing. Each job then runs ralph action with the input issue."`
}

// Run implements ralph sweep --list. Standard output is the matrix alone; the log goes to standard error.
func (sweepCommand) Run(ctx context.Context, p process, stderr io.Writer) error {
	environ := environment(p.environ)
	a, err := p.action(environ, actions.New(func(name string) string { return environ[name] }, safetext.Raw(stderr)))
	if err != nil {
		return err
	}
	matrix, err := a.List(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "%s\n", matrix)
	return err
}
