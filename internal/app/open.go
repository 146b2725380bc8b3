package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/task"
)

// opened is a run that this process holds.
type opened struct {
	shop      *workshop
	ledger    *ledger
	words     prompt.Writer
	publisher *publisher
	cleanup   []func()
}

func (o *opened) close() {
	for i := len(o.cleanup) - 1; i >= 0; i-- {
		o.cleanup[i]()
	}
}

// heldError is a run that somebody else works on, or one with nothing left to do: the request comes to nothing, and says so.
type heldError struct{ reason string }

func (e *heldError) Error() string { return e.reason }

// open makes the checkout, finds the run or begins one, and takes its lease. Until the lease is taken nothing has been written
// anywhere, so a mistake in the settings costs nothing.
func (a *Action) open(ctx context.Context, request event.Request, wanted task.Task) (work *opened, err error) {
	work = &opened{}
	defer func() {
		if err != nil {
			work.close()
		}
	}()
	root, err := a.root(work)
	if err != nil {
		return work, err
	}
	shop := &workshop{
		parent: a.Parent, host: a.host(), console: a.console(), clock: a.Clock, log: a.log, redact: a.redact,
		logs: filepath.Join(root, "logs"), keys: a.keys(),
	}
	if err := a.user(shop, root); err != nil {
		return work, err
	}
	branch, err := a.branch(ctx, wanted)
	if err != nil {
		return work, err
	}
	shop.tree, err = a.checkout(ctx, request, wanted, shop, root, branch)
	if err != nil {
		return work, err
	}
	work.cleanup = append(work.cleanup, func() { a.warn("closing the checkout", shop.tree.Close()) })
	if wanted.ID == promptFileTask {
		if wanted, err = a.promptFile(ctx, shop.tree, request); err != nil {
			return work, err
		}
	}
	if err := a.settings(ctx, shop); err != nil {
		return work, err
	}
	work.shop, work.words = shop, shop.words(wanted.Comments)
	return work, a.take(ctx, work, request, wanted, root)
}

// root is the directory that everything of this job lies in.
func (a *Action) root(work *opened) (string, error) {
	parent := a.Env.RalphWorkspace
	if parent == "" {
		parent = os.TempDir() // not RUNNER_TEMP: in a container the agent's user may not pass it
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", invalid("making RALPH_WORKSPACE: %w", err)
	}
	root, err := os.MkdirTemp(parent, "ralph-")
	if err != nil {
		return "", fmt.Errorf("making a directory for the checkout: %w", err)
	}
	work.cleanup = append(work.cleanup, func() { _ = os.RemoveAll(root) })
	// The agent's user passes through it to the worktree; what is not for that user has a mode of its own.
	if err := errors.Join(os.Chmod(root, 0o755), os.Mkdir(filepath.Join(root, "logs"), 0o755)); err != nil { //nolint:gosec // said above
		return "", fmt.Errorf("making a directory for the checkout: %w", err)
	}
	return root, nil
}

// user chooses whom the agent and the checks run as. When we are root it is never ourselves: the user RALPH_AGENT_USER names, or one
// without rights.
func (a *Action) user(shop *workshop, root string) error {
	name := a.Env.AgentUser
	if os.Geteuid() != 0 {
		if name != "" {
			a.log("RALPH_AGENT_USER is ignored: only root can run the agent as somebody else")
		}
		a.warn("hiding our environment from the agent", proc.HideSelf())
		return nil
	}
	if name == "" {
		name = "65534:65534"
	}
	as, err := proc.LookupUser(name)
	if err != nil {
		return invalid("RALPH_AGENT_USER: %w; name a user that exists", err)
	}
	if as.UID == 0 {
		return invalid("RALPH_AGENT_USER is %q, which is root; name a user without its rights", name)
	}
	shop.as, shop.home = as, as.Home
	if info, err := os.Stat(as.Home); err != nil || !info.IsDir() || as.Home == "/" || as.Home == "/nonexistent" {
		shop.home = filepath.Join(root, "home")
		if err := errors.Join(os.Mkdir(shop.home, 0o700), os.Chown(shop.home, int(as.UID), int(as.GID))); err != nil {
			return fmt.Errorf("making the agent's home: %w", err)
		}
	}
	return nil
}

// keys is the one credential that the agent's process gets: inputs before the environment, an API key before a subscription.
func (a *Action) keys() map[string]string {
	return oneKey([]string{"ANTHROPIC_API_KEY", a.Inputs.AnthropicAPIKey, "CLAUDE_CODE_OAUTH_TOKEN", a.Inputs.ClaudeCodeOAuthToken,
		"ANTHROPIC_API_KEY", a.Env.AnthropicAPIKey, "CLAUDE_CODE_OAUTH_TOKEN", a.Env.ClaudeCodeOAuthToken})
}

// oneKey is the first of names and values in turn that has a value.
func oneKey(pairs []string) map[string]string {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			return map[string]string{pairs[i]: pairs[i+1]}
		}
	}
	return nil
}

// branch is the name of the run's branch (B-17).
func (a *Action) branch(ctx context.Context, t task.Task) (string, error) {
	name := t.ID
	if a.Inputs.BranchNameTemplate != "" {
		var b strings.Builder
		parsed, err := template.New("").Option("missingkey=error").Parse(a.Inputs.BranchNameTemplate)
		if err == nil {
			err = parsed.Execute(&b, map[string]any{"Task": t.ID, "Issue": t.Issue, "Slug": task.Slug(t.Title)})
		}
		if err != nil {
			return "", invalid("input branch_name_template: %w; allowed are text, {{.Task}}, {{.Issue}} and {{.Slug}}", err)
		}
		name = b.String()
	}
	name = a.Inputs.BranchPrefix + name
	if err := git.CheckBranchName(ctx, name); err != nil {
		return "", invalid("inputs branch_prefix and branch_name_template: %w", err)
	}
	return name, nil
}

func (a *Action) checkout(ctx context.Context, request event.Request, t task.Task, shop *workshop, root, branch string) (*git.Tree, error) {
	o, err := a.gitOptions(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	o.Root, o.As, o.Fresh = root, shop.as, request.Fresh
	base := a.Inputs.BaseBranch
	if base == "" {
		base = request.Event.Repo.DefaultBranch
	}
	tree, err := git.Checkout(ctx, o, base, branch)
	if err != nil {
		return nil, fmt.Errorf("checking out %s of %s: %w", base, a.Env.Repository, err)
	}
	return tree, nil
}

func (a *Action) gitOptions(ctx context.Context, taskID string) (git.Options, error) {
	token, err := a.hub.Token(ctx)
	if err != nil {
		return git.Options{}, err
	}
	return git.Options{
		Remote:   git.Remote{URL: strings.TrimSuffix(a.Env.ServerURL, "/") + "/" + a.Env.Repository + ".git", Token: token},
		Env:      a.Parent,
		Identity: git.Identity{Name: "ralph", Email: a.hub.Self() + "@users.noreply." + a.host()},
		Task:     taskID, Log: a.log, DryRun: a.Inputs.DryRun,
		Secrets: append(append(a.Env.Secrets(), a.Inputs.Secrets()...), token),
	}, nil
}

func (a *Action) host() string {
	if u, err := url.Parse(a.Env.ServerURL); err == nil && u.Hostname() != "" {
		return u.Hostname()
	}
	return "github.com"
}

func (a *Action) promptFile(ctx context.Context, tree *git.Tree, request event.Request) (task.Task, error) {
	content, ok, err := tree.File(ctx, tree.Base(), a.Inputs.PromptFile)
	if err != nil {
		return task.Task{}, fmt.Errorf("reading the input prompt_file: %w", err)
	}
	if !ok {
		return task.Task{}, invalid("input prompt_file is %q, which is no file on %s; give the path of one from the top of the repository", a.Inputs.PromptFile, tree.BaseBranch())
	}
	t, err := task.FromFile(a.Inputs.PromptFile, string(content))
	if err != nil {
		return t, &invalidError{err}
	}
	t.ID, t.Asked = promptFileTask, request.Event.Sender.Login
	return t, nil
}

// settings come from the base commit, where the agent cannot have touched them, and from the workflow's inputs (C29).
func (a *Action) settings(ctx context.Context, shop *workshop) error {
	var layers []config.Layer
	content, ok, err := shop.tree.File(ctx, shop.tree.Base(), config.SettingsFile)
	if err != nil {
		return fmt.Errorf("reading %s of the base commit: %w", config.SettingsFile, err)
	}
	if ok {
		layers = append(layers, config.Layer{Name: config.SettingsFile, JSON: content})
	}
	if shop.settings, err = config.Load(append(layers, a.Inputs.Layers()...)...); err != nil {
		return err
	}
	return shop.guard(ctx, shop.tree.Base())
}

// take decides between a new run and the one that is there, and holds it.
func (a *Action) take(ctx context.Context, work *opened, request event.Request, t task.Task, root string) error {
	shop, now := work.shop, a.Clock()
	saved, known, err := shop.tree.LoadRecord(ctx)
	if err != nil {
		return fmt.Errorf("reading the run record of %s: %w", t.ID, err)
	}
	raw := saved.Files[journal.File]
	var before loop.State
	if known {
		records, _, err := journal.Read(bytes.NewReader(raw))
		if err != nil {
			return fmt.Errorf("reading the run record of %s: %w; begin again with %s retry --fresh", t.ID, err, a.rules.TriggerPhrase)
		}
		before = loop.Fold(records)
	}
	retry := request.Verb == event.Retry || request.Event.Kind == event.Labeled && !endedDone(before)
	way, why := loop.TakeUp(before, known, loop.Asked{Retry: retry, Fresh: request.Fresh, Hint: request.Hint != "", Owner: a.owner()}, now)
	a.log("%s: %s", way, why)
	switch way {
	case loop.Held:
		return &heldError{why + ". This request was dropped; ask again when it has ended"}
	case loop.Nothing:
		return &heldError{why}
	}
	run := newRun(now)
	if way != loop.Begin {
		run = before.Start.Run
	}
	if way == loop.Begin && known {
		shop.tree.BeginFresh()
		a.warn("archiving old failure branches", shop.tree.Archive(ctx))
	}
	shop.dir, shop.wall = filepath.Join(root, "runs", run), a.wall
	shop.reports = a.reportDir(run)
	book, err := a.book(shop, way, raw)
	if err != nil {
		return err
	}
	work.cleanup = append(work.cleanup, func() { _ = book.Close() })
	// A missing executable is found before anything is written; one of the repository's own is there only after the checkout.
	if _, _, err := shop.agents(nil); err != nil && !inTree(shop.settings.Agent.Command) && !inTree(shop.settings.Reviewer.Command) {
		return err
	}
	work.ledger = &ledger{journal: book, tree: shop.tree, clock: a.Clock, lease: shop.lease(), remote: !a.Inputs.DryRun, redact: a.redact, stored: a.stored}
	work.publisher = &publisher{hub: a.hub, view: a.view, trigger: a.rules.TriggerLabel, onto: shop.tree.BaseBranch(), log: a.log}
	if err := a.hold(ctx, work, way, run, request, t); err != nil {
		return err
	}
	work.ledger.watch = work.publisher.watch
	return nil
}

// inTree reports whether a program is named by its path in the checkout.
func inTree(command string) bool { return strings.Contains(command, "/") && !filepath.IsAbs(command) }

func endedDone(s loop.State) bool { return s.End != nil && s.End.Outcome == loop.Done }

func (a *Action) book(shop *workshop, way loop.Way, raw []byte) (*journal.Journal, error) {
	if way == loop.Begin {
		return journal.Open(shop.dir)
	}
	return journal.Import(shop.dir, raw)
}

// hold records the beginning, which takes the lease, and puts the worktree where the run stands.
func (a *Action) hold(ctx context.Context, work *opened, way loop.Way, run string, request event.Request, t task.Task) error {
	shop := work.shop
	record := loop.Record{Type: loop.Started, At: a.Clock(), Start: shop.start(run, t)}
	if way == loop.Begin {
		record.Start.Owner, record.Start.RunURL = a.owner(), a.Env.RunURL()
	} else {
		if err := shop.tree.UseBase(ctx, work.ledger.State().Start.Base); err != nil {
			return &invalidError{err}
		}
		record = loop.Record{Type: loop.Resumed, At: a.Clock(), Resume: a.resume(work, way, request, t)}
	}
	if err := work.ledger.hold(ctx, record); err != nil {
		var taken *git.TakenError
		if errors.As(err, &taken) {
			return &heldError{taken.Error()}
		}
		return err
	}
	return shop.tree.Start(ctx)
}

func (a *Action) resume(work *opened, way loop.Way, request event.Request, t task.Task) *loop.Resume {
	r := &loop.Resume{Owner: a.owner(), Hint: t.Hint, RunURL: a.Env.RunURL(), Retry: way == loop.Again}
	if way == loop.Again {
		r.MaxIterations = work.shop.settings.Iterations(config.TaskIterations)
	}
	if way == loop.Again && request.Event.On == 0 { // the text as it stands at this trigger (B-13); a comment on the pull request carries none
		r.Title, r.Spec = t.Title, t.Spec
	}
	if request.MaxIterations > 0 {
		r.MaxIterations = request.MaxIterations
	}
	return r
}

// start is the first record of a run.
func (w *workshop) start(run string, t task.Task) *loop.Start {
	return &loop.Start{
		Run: run, Task: t.ID, Title: t.Title, Issue: t.Issue, Asked: t.Asked, Spec: t.Spec, Hint: t.Hint,
		Base: w.tree.Base(), Onto: w.tree.BaseBranch(), Branch: w.tree.Branch(), Agent: w.settings.Agent.Command,
		Checks: commandLines(w.settings.Guardrails), Review: w.settings.Review, Detected: w.detected,
		MaxIterations: w.settings.Iterations(config.TaskIterations),
	}
}

// owner names this process among those that may hold a run.
func (a *Action) owner() string {
	if a.Env.RunID == 0 {
		return fmt.Sprintf("process %d", os.Getpid())
	}
	return fmt.Sprintf("workflow run %d, attempt %d", a.Env.RunID, a.Env.RunAttempt)
}

// notOpened answers a request that came to nothing.
func (a *Action) notOpened(ctx context.Context, ev event.Event, err error) (loop.Result, error) {
	var held *heldError
	switch {
	case errors.As(err, &held):
		a.Runner.Notice(a.mask(held.reason))
		a.warn("answering", a.answer(ctx, ev, upperFirst(held.reason)+"."))
		if ev.Issue != nil && ev.Kind == event.Labeled {
			a.warn("changing labels", a.hub.RemoveLabel(ctx, ev.Issue.Number, a.rules.TriggerLabel))
		}
		return loop.Result{}, nil
	case Invalid(err):
		return a.reject(ctx, ev, err)
	case ctx.Err() != nil:
		return loop.Result{Outcome: loop.Interrupted, Reason: "cancelled before the run began"}, nil
	}
	result := loop.Result{Outcome: loop.Failed, Reason: err.Error()}
	return result, errors.Join(err, a.outputs(result, ""))
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// console is where the agent's and the checks' output is shown, without what could command the runner.
func (a *Action) console() io.Writer { return redacting{a.Runner, a.redact} }

// redacting hides secrets in whole lines on their way to a log.
type redacting struct {
	to     io.Writer
	redact func(string) string
}

func (r redacting) Write(p []byte) (int, error) {
	if _, err := io.WriteString(r.to, r.redact(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
