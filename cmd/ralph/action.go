package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/bot"

	"github.com/ralph-loop/ralph/internal/actions"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

type actionCommand struct {
	EventName string `placeholder:"NAME" help:"With --dry-run: the name of the event, such as issues or issue_comment. Default: GITHUB_EVENT_NAME."`
	Event     string `placeholder:"FILE" help:"With --dry-run: the payload of the event; - is standard input. Default: the file that GITHUB_EVENT_PATH names."`
	DryRun    bool   `help:"Print what ralph would do with the event, and why: nothing is written, and no agent runs. Set GITHUB_TOKEN or GH_TOKEN to read permissions and the status of the run from GitHub."`
	JSON      bool   `name:"json" help:"With --dry-run: print it as one JSON object."`
}

// Run implements ralph action. In a job, waiting and refusals are no failures: the exit code is 0 for them.
func (c *actionCommand) Run(ctx context.Context, p process) error {
	switch {
	case c.DryRun:
		return c.replay(ctx, p)
	case c.EventName != "" || c.Event != "" || c.JSON:
		return &endedError{loop.Invalid.ExitCode(), errors.New("flags --event-name, --event and --json go with --dry-run: " +
			"a run from a payload of your own would be one for real; the event of a job is read from its environment")}
	}
	environ := environment(p.environ)
	runner := actions.New(func(name string) string { return environ[name] }, safetext.Raw(p.out))
	env, err := config.ReadEnvironment(environ)
	if err != nil {
		return &endedError{loop.Invalid.ExitCode(), err}
	}
	inputs, err := config.ReadInputs(environ)
	if err != nil {
		return &endedError{loop.Invalid.ExitCode(), bot.WrongInputs(runner, err)}
	}
	if inputs.Server != "" {
		return workOnRunner(ctx, inputs, runner, p.environ)
	}
	a := &bot.Action{Env: env, Inputs: inputs, Parent: p.environ, Runner: runner, Clock: now}
	result, err := a.Run(ctx)
	switch {
	case err != nil && (result.Outcome == "" || result.Outcome == loop.Done || invalid.Is(err) &&
		result.Outcome == loop.Failed):
		code := loop.Failed.ExitCode()
		if invalid.Is(err) {
			code = loop.Invalid.ExitCode()
		}
		return &endedError{code, logged(runner, err)}
	case result.Outcome == "", result.Outcome == loop.Waiting, result.Outcome == loop.Refused:
		return nil
	}
	return &endedError{result.Outcome.ExitCode(), logged(runner, err)}
}

// logged tells an error that no one was told of by the job's log, where the runner obeys nothing of it: what git and
// GitHub say may hold the names of files and the like. On standard error the runner would. Outside of a runner it is
// returned to be told there.
func logged(runner *actions.Runner, err error) error {
	if err == nil || invalid.Reported(err) || !runner.Inside() {
		return err
	}
	_, _ = fmt.Fprintln(runner, "ralph:", strings.TrimSpace(err.Error()))
	return nil
}

// replay says what an event would come to. Its exit code says whether the payload could be read, whatever that comes
// to.
func (c *actionCommand) replay(ctx context.Context, p process) error {
	told, err := c.explain(ctx, p)
	switch {
	case ctx.Err() != nil:
		return &endedError{loop.Interrupted.ExitCode(), nil}
	case err != nil:
		return &endedError{loop.Invalid.ExitCode(), err}
	case c.JSON:
		_, err = p.out.Write(plainJSON(told))
		return err
	}
	return told.Print(p.out)
}

func (c *actionCommand) explain(ctx context.Context, p process) (bot.Preview, error) {
	environ := environment(p.environ)
	env, err := config.ReadEnvironment(environ)
	if err != nil {
		return bot.Preview{}, err
	}
	if c.EventName != "" {
		env.EventName = c.EventName
	}
	switch c.Event {
	case "":
	case "-":
		dir, remove, err := proc.TempDir("")
		if err != nil {
			return bot.Preview{}, err
		}
		defer remove()
		env.EventPath = filepath.Join(dir, "event.json")
		if err := keepPayload(until{ctx, p.in}, env.EventPath); err != nil {
			return bot.Preview{}, err
		}
	default:
		env.EventPath = from(p.dir, c.Event)
	}
	if env.EventName == "" || env.EventPath == "" {
		return bot.Preview{}, errors.New("the event is not known: pass --event-name NAME and --event FILE, " +
			"such as --event-name issues --event payload.json")
	}
	if env.EventName == "workflow_dispatch" {
		dispatched(environ, env.EventPath)
	}
	inputs, err := config.ReadInputs(environ)
	if err != nil {
		return bot.Preview{}, err
	}
	runner := actions.New(func(string) string { return "" }, io.Discard) // a dry run says nothing to a runner
	a := &bot.Action{Env: env, Inputs: inputs, Parent: p.environ, Runner: runner, Clock: now}
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

// mostPayload is more than GitHub sends.
const mostPayload = 32 << 20

// keepPayload copies standard input to a file.
func keepPayload(in io.Reader, name string) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, io.LimitReader(in, mostPayload))
	return errors.Join(err, file.Close())
}
