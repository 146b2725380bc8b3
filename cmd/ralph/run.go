package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/actions"
	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/local"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
	"github.com/ralph-loop/ralph/internal/task"
)

type runCommand struct {
	Prompt     string `short:"p" placeholder:"TEXT" help:"The agent's prompt, unchanged."`
	PromptFile string `short:"f" placeholder:"FILE" help:"A file with the agent's prompt. It is read again before every iteration. With -: standard input, read once."`
	Issue      string `group:"what" placeholder:"FILE|NUMBER" help:"An issue: a Markdown file whose first line is the title, or the number of an issue of this repository (needs GITHUB_TOKEN)."`
	Task       string `group:"what" placeholder:"FILE|ID" help:"A task file, or the id of a task under .ralph/tasks; see ralph task --help."`
	Tasks      string `group:"what" placeholder:"DIR" help:"Every task file of a directory, one after another, or with --parallel several at once. A failed task keeps its branch, and the next one starts."`

	runFlags
	settingFlags
	promptFlags
	Parallel int  `default:"1" placeholder:"N" help:"With --tasks: how many tasks may run at once, 1 to 16. Every one takes the memory of an agent and of its checks. Default: 1."`
	Web      bool `help:"Show the run in a browser on this machine while it runs: an address that can be opened once is printed first. Not with --tasks."`

	criteriaFlags `group:"done"`
}

// settingFlags only override settings.
type settingFlags struct {
	CompletionResponse *string `short:"c" placeholder:"TEXT" setting:"completionResponse" help:"{completionResponse} Default: DONE."`
	StreamAgentOutput  *bool   `negatable:"" setting:"streamAgentOutput" help:"{streamAgentOutput} Default: yes."`
	TimeoutMultiplier  *finite `placeholder:"FACTOR" setting:"timeoutMultiplier" help:"{timeoutMultiplier}"`
	WaitForLimits      *bool   `negatable:"" setting:"waitForLimits" help:"{waitForLimits} Default: yes."`
	Review             *bool   `setting:"review" help:"{review} Default: for an issue, not for a prompt."`
	Gateway            string  `placeholder:"MODE" setting:"gateway" help:"{gateway} One of auto, require, off. Default: auto."`
	Sandbox            string  `placeholder:"MODE" setting:"sandbox" help:"{sandbox} One of auto, bwrap, landlock, container, docker-sandbox, require, off. Default: auto."`
	WorkingDirectory   string  `name:"dir" aliases:"working-directory" placeholder:"DIR" setting:"workingDirectory" help:"The directory that the agent and the checks work in, by its path from the settings. Default: where those are."`
	Strict             bool    `setting:"strict" help:"{strict}"`
}

// promptFlags are for a run of a prompt only, except Check, which is for every run.
type promptFlags struct {
	Text     []string `arg:"" optional:"" placeholder:"TEXT" help:"The agent's prompt, to which ralph adds how to finish: ralph 'fix the failing test'. Without quotes only after run or --."`
	Check    []string `placeholder:"COMMAND" sep:"none" xor:"checks" help:"A command that judges the work, in place of the guardrails of the settings or of what is found here. Repeatable."`
	Commit   bool     `help:"With -p or -f: commit every iteration whose guardrails have passed."`
	NoChecks bool     `xor:"checks" help:"With -p or -f: no checks, neither those of the settings nor those that are found here."`
	DryRun   bool     `help:"With -p or -f: print what would run, and run nothing."`
}

// Run implements ralph run.
func (c *runCommand) Run(ctx context.Context, hard hardContext, p process, stderr io.Writer) error {
	if len(p.args) == 0 {
		return firstScreen(ctx, p)
	}
	err := c.validate()
	if err == nil && c.PromptFile == "-" {
		c.PromptFile = ""
		c.Prompt, err = readPrompt(ctx, p.in)
	}
	var criteria *task.Completion
	if err == nil {
		criteria, err = c.completion()
	}
	if err == nil && criteria != nil && c.ofPrompt() {
		err = errors.New("criteria are for an issue or a task; a run of a prompt is done when the agent says so and its " +
			"guardrails pass")
	}
	if err != nil {
		return c.end(p, loop.Result{Outcome: loop.Invalid}, err)
	}
	c.fromHere(p)
	s, shown, err := c.open(ctx, p, stderr, display{title: c.title(), web: c.Web, several: c.Parallel > 1}, c.layer())
	defer shown.close()
	if err != nil {
		return c.end(p, loop.Result{Outcome: outcomeOf(err)}, err)
	}
	issue := local.IssueRun{Session: s, Issue: c.Issue, Task: c.Task, Criteria: criteria, Accept: c.Accept, Answer: c.Answer}
	var result loop.Result
	switch {
	case c.Tasks != "":
		list, err := (&local.List{IssueRun: issue, Tasks: c.Tasks, Parallel: c.Parallel, Lanes: shown.begin}).Run(ctx, hard)
		if err != nil && ctx.Err() != nil && len(list.Entries) == 0 {
			list.Outcome, err = loop.Interrupted, nil
		}
		return c.endWith(p, list.Outcome, err, func(code int) any { return newListJSON(list, code, err) })
	case c.Issue != "" || c.Task != "":
		result, err = issue.Run(ctx, hard)
	default:
		result, err = (&local.PromptRun{Session: s, Prompt: c.Prompt, PromptFile: c.PromptFile, Words: len(c.Text) > 0,
			Commit: c.Commit, DryRun: c.DryRun, AcceptCredentials: len(c.Accept) > 0}).Run(ctx, hard)
	}
	result, err = notBegun(ctx, result, err)
	return c.end(p, result, err)
}

// acceptCredentials is what --accept takes for a prompt.
const acceptCredentials = "clone-credentials"

// ofPrompt reports whether the run is one of a prompt.
func (c *runCommand) ofPrompt() bool { return c.Issue+c.Task+c.Tasks == "" }

// title says in a few words what the run is of.
func (c *runCommand) title() string {
	return cmp.Or(safetext.FirstLine(c.Prompt), c.PromptFile, c.Issue, c.Task, c.Tasks)
}

// said is how many of the texts are not empty.
func said(texts ...string) int {
	return len(slices.DeleteFunc(texts, func(text string) bool { return text == "" }))
}

// maxParallel is how many tasks may run at once at most: each takes what an agent takes.
const maxParallel = 16

// validate says what is wrong with the flags together, in one sentence. Words become the prompt.
func (c *runCommand) validate() error {
	given := said(strings.Join(c.Text, " "), c.Prompt, c.PromptFile, c.Issue, c.Task, c.Tasks)
	if len(c.Text) > 0 {
		c.Prompt = strings.Join(c.Text, " ")
	}
	if filepath.Clean(c.WorkingDirectory) == "." {
		c.WorkingDirectory = ""
	}
	for _, rule := range []struct {
		broken bool
		says   string
	}{
		{given == 0, "nothing to do; pass a prompt or one of --prompt TEXT, --prompt-file FILE, --issue FILE|NUMBER, " +
			"--task FILE|ID and --tasks DIR; see ralph run --help"},
		{given > 1, "a prompt, --prompt-file, --issue, --task and --tasks exclude each other: pass only one of them"},
		{slices.ContainsFunc(c.Check, func(command string) bool { return strings.TrimSpace(command) == "" }),
			"invalid --check \"\": must be a shell command, such as 'go test ./...'"},
		{!c.ofPrompt() && (c.Commit || c.DryRun), "--commit and --dry-run are for a prompt: a run of an issue or a task commits every iteration, and ralph prompt shows what it says"},
		{!c.ofPrompt() && c.NoChecks, "--no-checks is for a prompt: a run of an issue or a task is judged by checks"},
		{c.ofPrompt() && c.Strict, "--strict is for an issue or a task: a prompt has no acceptance criteria"},
		{c.ofPrompt() && len(c.Accept) > 0 && !slices.Equal(c.Accept, []string{acceptCredentials}),
			"--accept is for an issue or a task, but for --accept " + acceptCredentials + ": a run of a prompt works with the files in place, and so do its checks"},
		{c.ofPrompt() && c.Answer != "", "--answer is for an issue or a task: write what a prompt lacks into the prompt"},
		{c.Parallel < 1 || c.Parallel > maxParallel, fmt.Sprintf("invalid --parallel \"%d\": must be a number from 1 to %d", c.Parallel, maxParallel)},
		{c.Parallel > 1 && c.Tasks == "", "--parallel is for --tasks DIR: what else is run is one task"},
		{c.Web && c.Tasks != "", "--web shows one run, and --tasks has several: run one task with --task, or without --web"},
		{c.SkipReview && c.Review != nil, "--review and --skip-review exclude each other"},
	} {
		if rule.broken {
			return errors.New(rule.says)
		}
	}
	return nil
}

// layer is the settings that the flags make.
func (c *runCommand) layer() config.Layer {
	others := c.others()
	if c.NoChecks {
		others["guardrails"] = []any{}
	}
	if len(c.Check) > 0 {
		others["guardrails"] = safetext.Map(c.Check, func(command string) map[string]string { return map[string]string{"command": command} })
	}
	return setBy(c, others)
}

// others are the settings that flags make which are no settings themselves.
func (f *runFlags) others() map[string]any {
	others := map[string]any{}
	if f.SkipReview {
		others["review"] = false
	}
	return others
}

// open makes the session of a run with its settings, and shows the run there.
func (f *runFlags) open(ctx context.Context, p process, stderr io.Writer, d display, flags config.Layer) (session.Session, *shownRun, error) {
	if f.JSON {
		p.out = stderr // the outcome is alone on standard output
	}
	s, err := p.session()
	if err != nil {
		return s, &shownRun{}, err
	}
	place := p.place()
	s.Err, s.Format, s.Flags, s.Verbose, s.Quiet = stderr, stream.FormatFor(place), flags, f.Verbose, f.Quiet
	s.Again = session.Again{Fresh: f.Fresh, Resume: f.Resume, Typed: p.args}
	if place.Terminal && !place.CI {
		s.Live = safetext.Raw(p.out)
	}
	if s.Env.Actions {
		environ := environment(p.environ)
		s.Groups = actions.New(func(name string) string { return environ[name] }, safetext.Raw(p.out))
	}
	if p.terminal() && isTerminal(p.out) {
		s.Ask = func(question string) (string, error) { return askLine(ctx, p.in, p.out, question) }
	}
	d.title = safetext.Shorten(d.title, 80)
	shown, err := d.show(ctx, &s, p, stderr)
	return s, shown, err
}

// outcomeOf is the outcome of a run that could not begin.
func outcomeOf(err error) loop.Outcome {
	if invalid.Is(err) {
		return loop.Invalid
	}
	return loop.Failed
}

// notBegun is the outcome of a run: interrupted, if a signal before its start is what an error results from.
func notBegun(ctx context.Context, result loop.Result, err error) (loop.Result, error) {
	if err == nil || ctx.Err() == nil || result.State.Start.Run != "" {
		return result, err
	}
	return loop.Result{Outcome: loop.Interrupted, Reason: "interrupted before the run began"}, nil
}

// end is how a run's command ends.
func (f *runFlags) end(p process, result loop.Result, err error) error {
	return f.endWith(p, result.Outcome, err, func(code int) any { return newResultJSON(result, code, err) })
}

// endWith prints the object of an outcome with --json. A program always reads exactly one.
func (f *runFlags) endWith(p process, outcome loop.Outcome, err error, object func(code int) any) error {
	code := outcome.ExitCode()
	if err != nil && code == 0 {
		code = loop.Failed.ExitCode()
	}
	if f.JSON {
		_, failed := p.out.Write(plainJSON(object(code)))
		err = errors.Join(err, failed)
	}
	if err == nil && code == 0 {
		return nil
	}
	return &endedError{code, err}
}
