package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/local"
	"github.com/ralph-loop/ralph/internal/session"

	"golang.org/x/term"

	"github.com/ralph-loop/ralph/internal/actions"
	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/status"
	"github.com/ralph-loop/ralph/internal/safetext"
)

type runCommand struct {
	Prompt     string `short:"p" placeholder:"TEXT" help:"The agent's prompt, unchanged."`
	PromptFile string `short:"f" placeholder:"FILE" help:"A file with the agent's prompt. It is read again before every iteration. With -: standard input, read once."`
	Issue      string `group:"what" placeholder:"FILE|NUMBER" help:"An issue: a Markdown file whose first line is the title, or the number of an issue of this repository (needs GITHUB_TOKEN)."`
	Task       string `group:"what" placeholder:"FILE|ID" help:"A task file, or the id of a task under .ralph/tasks; see ralph task --help."`
	Tasks      string `group:"what" placeholder:"DIR" help:"Every task file of a directory, one after another, or with --parallel several at once. A failed task keeps its branch, and the next one starts."`

	MaximumIterations  *int    `name:"max-iterations" short:"m" aliases:"maximum-iterations" placeholder:"N" help:"{maximumIterations} Default: 10 for a prompt, 5 for an issue. 0 needs --timeout."`
	N                  *int    `short:"n" hidden:"" placeholder:"N" help:"The same as --max-iterations."`
	CompletionResponse *string `short:"c" placeholder:"TEXT" help:"{completionResponse} Default: DONE."`
	StreamAgentOutput  *bool   `negatable:"" help:"{streamAgentOutput} Default: yes."`
	Verbose            bool    `short:"V" xor:"loud" help:"Verbose logging on standard error."`
	Quiet              bool    `short:"q" xor:"loud" help:"Print nothing but warnings and how the run ends."`

	Agent             *string        `placeholder:"NAME" help:"The coding agent: {agent_command}"`
	Model             *string        `placeholder:"NAME" help:"{agent_model} Default: the agent's own."`
	Timeout           *time.Duration `placeholder:"TIME" help:"How long the whole run may take, in whole minutes: 90m. Default: no limit for a prompt, 60m for an issue."`
	AgentTimeout      *time.Duration `placeholder:"TIME" help:"{agent_timeout} Default: 20m."`
	MaxCostUSD        *float64       `name:"max-cost-usd" placeholder:"AMOUNT" help:"{maxCostUsd}"`
	MaxTokens         *int64         `name:"max-tokens" placeholder:"N" help:"{maxTokens}"`
	TimeoutMultiplier *float64       `placeholder:"FACTOR" help:"{timeoutMultiplier}"`
	WaitForLimits     *bool          `negatable:"" help:"{waitForLimits} Default: yes."`
	Review            *bool          `help:"{review} Default: for an issue, not for a prompt."`
	SkipReview        bool           `help:"Accept the work without a reviewer."`
	promptFlags
	Resume           bool     `xor:"again" help:"Continue this task's last run, even when it has ended."`
	Fresh            bool     `xor:"again" help:"Start over, even when there is a run to continue."`
	Gateway          string   `placeholder:"MODE" help:"{gateway} One of auto, require, off. Default: auto."`
	Sandbox          string   `placeholder:"MODE" help:"{sandbox} One of auto, bwrap, landlock, container, docker-sandbox, require, off. Default: auto."`
	WorkingDirectory string   `name:"dir" aliases:"working-directory" placeholder:"DIR" help:"The directory that the agent and the checks work in, by its path from the settings. Default: where those are."`
	Strict           bool     `help:"{strict}"`
	Answer           string   `placeholder:"TEXT" help:"Answer the agent's question, or describe what is missing."`
	Accept           []string `placeholder:"NAME" sep:"none" help:"Accept a finding about the change by its name, or that a path which the checks share with the clone was changed during the run; all accepts every one. Repeatable; together with --resume. With a prompt: clone-credentials lets agents read the git credentials of the clone in a job whose sandbox cannot hide them."`
	Parallel         int      `default:"1" placeholder:"N" help:"With --tasks: how many tasks may run at once, 1 to 16. Every one takes the memory of an agent and of its checks. Default: 1."`
	showFlags

	criteriaFlags `group:"done"`

	ReviewCap *int   `kong:"-"` // of a plan
	FailAtCap bool   `kong:"-"` // of a plan
	plan      string // its directory
	lanes     lanes
}

// promptFlags are for a run of a prompt alone, but Check, which is for every run.
type promptFlags struct {
	Text     []string `arg:"" optional:"" placeholder:"TEXT" help:"The agent's prompt, to which ralph adds how to finish: ralph 'fix the failing test'. Without quotes only after run or --."`
	Check    []string `placeholder:"COMMAND" sep:"none" help:"A command that judges the work, in place of the guardrails of the settings or of what is found here. Repeatable."`
	Commit   bool     `help:"With -p or -f: commit every iteration whose guardrails have passed."`
	NoChecks bool     `help:"With -p or -f: no checks, neither those of the settings nor those that are found here."`
	DryRun   bool     `help:"With -p or -f: print what would run, and run nothing."`
}

// Run implements ralph run.
func (c *runCommand) Run(ctx context.Context, hard hardContext, p process, stderr io.Writer) error {
	if len(p.args) == 0 {
		return firstScreen(ctx, p)
	}
	env, err := config.ReadEnvironment(environment(p.environ))
	if err == nil {
		err = c.validate()
	}
	if err == nil {
		err = c.promptFromWords(ctx, p)
	}
	if err != nil {
		return c.end(p, loop.Result{Outcome: loop.Invalid}, err)
	}
	out := p.out
	if c.JSON {
		out = stderr
	}
	criteria, err := c.completion()
	if err == nil && criteria != nil && c.Prompt+c.PromptFile != "" {
		err = errors.New("criteria are for an issue or a task; a run of a prompt is done when the agent says so and its " +
			"guardrails pass")
	}
	if err != nil {
		return c.end(p, loop.Result{Outcome: loop.Invalid}, err)
	}
	c.Agent = fromHere(p.dir, c.Agent)
	seat := c.session(ctx, env, p, out, stderr)
	defer keepOutput()()
	closePage, err := c.page(&seat, out)
	if err != nil {
		return c.end(p, loop.Result{Outcome: loop.Failed}, err)
	}
	defer closePage()
	defer stamp(env, out)()
	c.begin(out)
	defer c.live(ctx, &seat, p, out, stderr)()
	var result loop.Result
	switch {
	case c.Tasks != "":
		l := &local.List{IssueRun: local.IssueRun{Session: seat, Criteria: criteria, Accept: c.Accept}, Tasks: c.Tasks, Parallel: c.Parallel, Lanes: c.lanes.begin}
		list, err := l.Run(ctx, hard)
		if err != nil && ctx.Err() != nil && len(list.Entries) == 0 {
			list.Outcome, err = loop.Interrupted, nil
		}
		return c.endList(p, list, err)
	case c.Issue != "" || c.Task != "":
		l := &local.IssueRun{Session: seat, Issue: c.Issue, Task: c.Task, Criteria: criteria, Accept: c.Accept, Answer: c.Answer}
		result, err = l.Run(ctx, hard)
	default:
		l := &local.PromptRun{Session: seat, Prompt: c.Prompt, PromptFile: c.PromptFile, Words: len(c.Text) > 0,
			Commit: c.Commit, DryRun: c.DryRun, AcceptCredentials: len(c.Accept) > 0}
		result, err = l.Run(ctx, hard)
	}
	result, err = notBegun(ctx, result, err)
	return c.end(p, result, err)
}

// acceptCredentials is what --accept takes for a prompt.
const acceptCredentials = "clone-credentials"

// promptFromWords makes a prompt of words, and of standard input.
func (c *runCommand) promptFromWords(ctx context.Context, p process) (err error) {
	switch {
	case len(c.Text) > 0:
		c.Prompt = strings.Join(c.Text, " ")
	case c.PromptFile == "-":
		c.PromptFile = ""
		c.Prompt, err = readPrompt(ctx, p.in)
	}
	return err
}

// notBegun makes of an error that came of a signal before the run began what it is: the run was interrupted.
func notBegun(ctx context.Context, result loop.Result, err error) (loop.Result, error) {
	if err == nil || ctx.Err() == nil || result.State.Start.Run != "" {
		return result, err
	}
	return loop.Result{Outcome: loop.Interrupted, Reason: "interrupted before the run began"}, nil
}

// end is how the command ends, told to programs too when they asked for it: whatever happens, they read one object.
func (c *runCommand) end(p process, result loop.Result, err error) error {
	code := result.Outcome.ExitCode()
	if err != nil && code == 0 {
		code = loop.Failed.ExitCode()
	}
	if c.JSON {
		err = errors.Join(err, printResult(p.out, result, code, err))
	}
	if err == nil && code == 0 {
		return nil
	}
	return &endedError{code, err}
}

// endList is how a list of tasks ended.
func (c *runCommand) endList(p process, list local.ListResult, err error) error {
	code := list.Outcome.ExitCode()
	if err != nil && code == 0 {
		code = loop.Failed.ExitCode()
	}
	if c.JSON {
		err = errors.Join(err, printList(p.out, list, code, err))
	}
	if err == nil && code == 0 {
		return nil
	}
	return &endedError{code, err}
}

// session is where the command line runs.
func (c *runCommand) session(ctx context.Context, env config.Environment, p process, out,
	stderr io.Writer) session.Session {
	place := stream.Place{Terminal: isTerminal(out), CI: env.CI || env.Actions, Environ: p.environ}
	s := session.Session{
		Env: env, Parent: p.environ, Dir: p.dir, Out: out, Err: stderr, Format: stream.FormatFor(place), Clock: now,
		Flags: c.layer(), Verbose: c.Verbose, Quiet: c.Quiet,
		Again: session.Again{Fresh: c.Fresh, Resume: c.Resume, Typed: p.args},
	}
	if place.Terminal && !place.CI {
		s.Live = safetext.Raw(out)
	}
	if env.Actions {
		environ := environment(p.environ)
		s.Groups = actions.New(func(name string) string { return environ[name] }, safetext.Raw(out))
	}
	if p.in != nil && term.IsTerminal(int(p.in.Fd())) && isTerminal(out) {
		s.Ask = func(question string) (string, error) { return askLine(ctx, p.in, out, question) }
	}
	return s
}

// maxParallel is how many tasks may run at once at most: each takes what an agent takes.
const maxParallel = 16

// validate says what is wrong with the flags, one sentence.
func (c *runCommand) validate() error {
	given := 0
	said := strings.Join(c.Text, " ")
	for _, text := range []string{said, c.Prompt, c.PromptFile, c.Issue, c.Task, c.Tasks} {
		if text != "" {
			given++
		}
	}
	switch {
	case given == 0:
		return errors.New("nothing to do; pass a prompt or one of --prompt TEXT, --prompt-file FILE, --issue FILE|NUMBER, " +
			"--task FILE|ID and --tasks DIR; see ralph run --help")
	case given > 1:
		return errors.New("a prompt, --prompt-file, --issue, --task and --tasks exclude each other: pass only one of them")
	case len(c.Check) > 0 && c.NoChecks:
		return errors.New("--check and --no-checks exclude each other")
	case slices.ContainsFunc(c.Check, func(command string) bool { return strings.TrimSpace(command) == "" }):
		return errors.New("invalid --check \"\": must be a shell command, such as 'go test ./...'")
	case said+c.Prompt+c.PromptFile == "" && (c.Commit || c.DryRun):
		return errors.New("--commit and --dry-run are for a prompt: a run of an issue or a task commits every iteration")
	case said+c.Prompt+c.PromptFile == "" && c.NoChecks:
		return errors.New("--no-checks is for a prompt: a run of an issue or a task is judged by checks")
	case said+c.Prompt+c.PromptFile != "" && c.Strict:
		return errors.New("--strict is for an issue or a task: a prompt has no acceptance criteria")
	case said+c.Prompt+c.PromptFile != "" && len(c.Accept) > 0 && !slices.Equal(c.Accept, []string{acceptCredentials}):
		return fmt.Errorf("--accept is for an issue or a task, but for --accept %s: a run of a prompt works with the files in place, and so do its checks", acceptCredentials)
	case said+c.Prompt+c.PromptFile != "" && c.Answer != "":
		return errors.New("--answer is for an issue or a task: write what a prompt lacks into the prompt")
	case c.Parallel < 1 || c.Parallel > maxParallel:
		return fmt.Errorf("invalid --parallel \"%d\": must be a number from 1 to %d", c.Parallel, maxParallel)
	case c.Parallel > 1 && c.Tasks == "":
		return errors.New("--parallel is for --tasks DIR: what else is run is one task")
	case c.Web && c.Tasks != "":
		return errors.New("--web shows one run, and --tasks has several: run one task with --task, or without --web")
	case c.SkipReview && c.Review != nil:
		return errors.New("--review and --skip-review exclude each other")
	case c.TimeoutMultiplier != nil && (math.IsNaN(*c.TimeoutMultiplier) || math.IsInf(*c.TimeoutMultiplier, 0)):
		// which no JSON holds
		return fmt.Errorf("invalid --timeout-multiplier \"%g\": must be a number from 0.1 to 100", *c.TimeoutMultiplier)
	}
	return c.limits()
}

// limits says what is wrong with the flags of a run, one sentence, and settles which of two names of one was given.
func (c *runCommand) limits() error {
	if c.Timeout != nil && (*c.Timeout <= 0 || *c.Timeout%time.Minute != 0) {
		return fmt.Errorf("invalid --timeout %q: must be whole minutes, such as 90m", c.Timeout)
	}
	if usd := c.MaxCostUSD; usd != nil && (math.IsNaN(*usd) || math.IsInf(*usd, 0)) {
		return fmt.Errorf("invalid --max-cost-usd \"%g\": must be an amount of US dollars, or 0 for no limit", *usd)
	}
	if c.MaximumIterations == nil {
		c.MaximumIterations = c.N
	}
	return nil
}

// fromHere makes a program that lies above a directory one of that directory: whoever works in another tree, such as a
// reviewer, would look for it somewhere else. Other commands stay as they are: a path below is searched for in each tree.
func fromHere(dir string, command *string) *string {
	if command == nil || !strings.HasPrefix(filepath.ToSlash(filepath.Clean(*command)), "../") {
		return command
	}
	path := filepath.Join(dir, *command)
	return &path
}

// layer is the settings that the flags make; they are held against the schema like every other layer.
func (c *runCommand) layer() config.Layer {
	object, agent := map[string]any{}, map[string]any{}
	if c.AgentTimeout != nil {
		agent["timeout"] = c.AgentTimeout.String()
	}
	given(agent, "command", c.Agent)
	given(agent, "model", c.Model)
	if len(agent) > 0 {
		object["agent"] = agent
	}
	if c.Timeout != nil {
		object["timeoutMinutes"] = int(*c.Timeout / time.Minute)
	}
	given(object, "maximumIterations", c.MaximumIterations)
	given(object, "maxCostUsd", c.MaxCostUSD)
	given(object, "maxTokens", c.MaxTokens)
	given(object, "completionResponse", c.CompletionResponse)
	given(object, "streamAgentOutput", c.StreamAgentOutput)
	given(object, "waitForLimits", c.WaitForLimits)
	given(object, "timeoutMultiplier", c.TimeoutMultiplier)
	given(object, "review", c.Review)
	if c.SkipReview {
		object["review"] = false
	}
	if c.Strict {
		object["strict"] = true
	}
	switch {
	case c.NoChecks:
		object["guardrails"] = []any{}
	case len(c.Check) > 0:
		object["guardrails"] = guardrails(c.Check)
	}
	if c.Sandbox != "" {
		object["sandbox"] = c.Sandbox
	}
	if c.Gateway != "" {
		object["gateway"] = c.Gateway
	}
	if filepath.Clean(c.WorkingDirectory) != "." {
		object["workingDirectory"] = c.WorkingDirectory
	}
	given(object, "reviewCap", c.ReviewCap)
	if c.FailAtCap {
		object["atReviewCap"] = config.Fail
	}
	text, err := json.Marshal(object)
	if err != nil { // texts, numbers and booleans
		panic(err)
	}
	return config.Layer{Name: "flags", JSON: text}
}

// guardrails are commands as settings have them.
func guardrails(commands []string) []any {
	made := make([]any, len(commands))
	for i, command := range commands {
		made[i] = map[string]string{"command": command}
	}
	return made
}

// given sets a key to what a flag says, also to nothing: that is a mistake to tell, not a flag to pass over.
func given[T any](object map[string]any, key string, value *T) {
	if value != nil {
		object[key] = *value
	}
}

// resultJSON is how a run ended, for programs. Every key is always there: empty or null where there is nothing to say.
type resultJSON struct {
	Outcome    loop.Outcome      `json:"outcome"`
	ExitCode   int               `json:"exit_code"`
	Reason     string            `json:"reason"`
	Until      status.Moment     `json:"until"` // of waiting: when it may continue by itself
	Run        string            `json:"run"`
	Task       string            `json:"task"`
	Iterations int               `json:"iterations"`
	Verified   *bool             `json:"verified"` // of done: whether anything but the agent's word says so
	Branch     string            `json:"branch"`
	JudgedWith []string          `json:"judged_with"` // paths of the clone that the checks had besides the commit
	LeftOut    []string          `json:"left_out"`    // modified files of the clone that the run left alone
	Conflicts  []string          `json:"conflicts"`   // files in which tasks that it depends on conflict
	ToAccept   []loop.Concern    `json:"to_accept"`   // findings for which the run waits
	Accepted   []loop.Acceptance `json:"accepted"`    // by whom, and why
	AtCap      []string          `json:"at_cap"`      // of a plan: the stories that only the review cap approved
	ByHand     []string          `json:"by_hand"`     // of a plan: the stories that a person approved
	usageJSON
}

// usageJSON is loop.Usage with every key.
type usageJSON struct {
	CostUSD    float64 `json:"cost_usd"`
	Input      int64   `json:"input_tokens"`
	Output     int64   `json:"output_tokens"`
	CacheRead  int64   `json:"cache_read_tokens"`
	CacheWrite int64   `json:"cache_write_tokens"`
}

// newResultJSON is what the end of a run says of it; conflicts are files.
func newResultJSON(r loop.Result, code int, conflicts []string) resultJSON {
	s := r.State
	out := resultJSON{
		Outcome: r.Outcome, ExitCode: code, Reason: r.Reason, Until: status.Moment{Time: r.Until}, Run: s.Start.Run,
		Task: s.Start.Task, Iterations: len(s.Iterations), Branch: s.Start.Branch, JudgedWith: list(s.JudgedWith()),
		LeftOut: list(s.Start.LeftOut), Conflicts: list(conflicts), ToAccept: list(s.ToAccept()), Accepted: list(s.Taken()),
		AtCap: []string{}, ByHand: []string{}, usageJSON: usageJSON(s.Usage),
	}
	if r.Outcome == loop.Done && s.Start.Run != "" {
		by := s.Verified()
		out.Verified = &by
	}
	if p := s.Plan; p != nil {
		out.AtCap, out.ByHand = list(p.AtCap()), list(p.ByHand())
	}
	return out
}

// list is a list that JSON shows as one also when it is empty.
func list[T any](entries []T) []T { return append([]T{}, entries...) }

// printResult prints how a run ended.
func printResult(to io.Writer, r loop.Result, code int, failed error) error {
	if failed != nil {
		r.Reason = failed.Error()
	}
	return printJSON(to, newResultJSON(r, code, local.Conflicts(failed)))
}

// printList prints how a list of tasks ended: the outcome of all, and that of each.
func printList(to io.Writer, ended local.ListResult, code int, failed error) error {
	type entryJSON struct {
		resultJSON
		Skipped string `json:"skipped"` // why it did not run
	}
	type allJSON struct {
		Outcome loop.Outcome `json:"outcome"`
		Reason  string       `json:"reason"`
		Branch  string       `json:"branch"`
		Commit  string       `json:"commit"` // empty: it could not be put together
		Tasks   []string     `json:"tasks"`
		Apart   []string     `json:"apart"` // tasks that do not go together
		Files   []string     `json:"files"` // that they conflict in
	}
	out := struct {
		Outcome  loop.Outcome `json:"outcome"`
		ExitCode int          `json:"exit_code"`
		Reason   string       `json:"reason"`
		Tasks    []entryJSON  `json:"tasks"`
		Left     int          `json:"left"` // tasks that the list did not come to
		All      *allJSON     `json:"all"`  // what holds all that is done; null: nothing does
	}{Outcome: ended.Outcome, ExitCode: code, Tasks: []entryJSON{}, Left: ended.Left}
	if a := ended.All; a != nil {
		out.All = &allJSON{a.Outcome, a.Reason, a.Branch, a.Commit, list(a.Tasks), list(a.Apart), list(a.Files)}
	}
	if failed != nil {
		out.Reason = failed.Error()
	}
	for _, e := range ended.Entries {
		one := newResultJSON(loop.Result{Outcome: e.Outcome, Reason: e.Reason, State: e.State}, e.Outcome.ExitCode(), e.Conflicts)
		one.Task = e.Task.ID
		out.Tasks = append(out.Tasks, entryJSON{one, e.Skipped})
	}
	return printJSON(to, out)
}

func printJSON(to io.Writer, value any) error {
	encoder := json.NewEncoder(to)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
