package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/lease"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/planrun"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// jobOpening opens the run of a job: its lease keeps others out, its checkout is made of the remote, and its record is
// there.
type jobOpening struct {
	*Action
	request event.Request
	wanted  *workRequest
	root    string // the directory that everything of this job is in
	work    *job
}

// job is the run of a job: what every run has, and how it is shown on GitHub.
type job struct {
	*engine.Run
	publisher *publisher
	view      func(loop.State) report.View
}

// open takes the task's lease, makes the checkout, and finds the run or starts one. But for the lease nothing has been
// written anywhere until then, so a mistake in the settings costs nothing. The run continues in the context that comes
// back, which ends when someone asks the run to stop.
func (a *Action) open(ctx context.Context, request event.Request, wanted *workRequest) (running context.Context,
	work *job, err error) {
	work = &job{}
	running, work.Run, err = engine.Open(ctx, &jobOpening{Action: a, request: request, wanted: wanted, work: work})
	if err = a.stopped(running, work, err); err != nil {
		work.Close()
		return running, work, err
	}
	work.Journal.Watch = work.publisher.watch
	return running, work, nil
}

// Hold implements opener: it takes the task's lease.
func (o *jobOpening) Hold(ctx context.Context, work *engine.Run) (running context.Context, err error) {
	o.work.Run = work
	running, o.root, err = o.lease(ctx, work, o.wanted.ID)
	return running, err
}

// stopped notes of a run that was told to stop while it was being opened that it was stopped, so that no sweep takes it
// up.
func (a *Action) stopped(running context.Context, work *job, err error) error {
	var stop *lease.StoppedError
	if err == nil || !errors.As(context.Cause(running), &stop) {
		return err
	}
	if work.Journal != nil && work.Journal.State().Records > 0 {
		late, cancel := context.WithTimeout(context.WithoutCancel(running), lease.Patience)
		defer cancel()
		end := &loop.End{Outcome: loop.Interrupted, Reason: stop.Error()}
		_, ended := work.Journal.Append(late, loop.Record{Type: loop.Ended, At: a.Clock(), End: end})
		a.warn("ending the run", ended)
	}
	return stop
}

// lease takes the task's lease, and the directory that everything of this job is in.
func (a *Action) lease(ctx context.Context, work *engine.Run, id string) (running context.Context, root string,
	err error) {
	if root, err = a.root(work); err != nil {
		return ctx, root, err
	}
	running, work.Heartbeat, err = a.holdLease(ctx, id, root)
	if err == nil {
		work.Cleanup = append(work.Cleanup, func() {
			late, cancel := a.afterCancel(ctx) // a job that was cancelled has little time
			defer cancel()
			work.Heartbeat.Close(late)
		})
	}
	return running, root, err
}

// Prepare implements engine.Opener: it makes the checkout, and finds the run or starts one.
func (o *jobOpening) Prepare(ctx context.Context, work *engine.Run) (b engine.Beginning, err error) {
	branch, err := o.branch(ctx, *o.wanted)
	if err != nil {
		return b, err
	}
	at, err := o.prepareWorkspace(ctx, work, workplace{o.request, o.wanted.ID, branch, o.root})
	if err != nil {
		return b, err
	}
	if o.wanted.ID == promptFileTask {
		if o.wanted.Task, err = o.promptFile(ctx, at.Tree, o.request); err != nil {
			return b, err
		}
	}
	before, err := o.before(ctx, at.Tree, o.request.Event, o.request.Fresh)
	if err != nil {
		return b, err
	}
	commands, err := o.planCommands(ctx, at.Tree, o.wanted, before)
	if err != nil {
		return b, err
	}
	rules, err := o.settings(ctx, at.Place, commands)
	if err != nil {
		return b, err
	}
	way, err := o.resumeMode(ctx, at.Tree, rules.Settings, before)
	if err != nil {
		return b, err
	}
	doing, rules, err := o.aim(ctx, at, rules, before, way)
	if err != nil {
		return b, err
	}
	own, err := engine.PromptsOf(ctx, at.Tree, at.Tree.Base())
	if err != nil {
		return b, err
	}
	work.Spec = at.spec(doing, rules)
	work.Prompts = work.Prompt(ctx, own, o.wanted.Comments)
	return o.beginning(ctx, o.work, before, way)
}

// aim settles what "done" means for the run, and the rules of a plan.
func (o *jobOpening) aim(ctx context.Context, at site, rules engine.Rules, before past, way loop.ResumeMode) (work engine.Work,
	_ engine.Rules, err error) {
	// it begins at the newest commit of the base branch
	if way == loop.Begin && o.wanted.plan != nil && o.wanted.Issue == 0 {
		source, err := planrun.ReadPlanAt(ctx, at.Tree, at.Tree.Base(), o.wanted.plan.File)
		if err != nil {
			return work, rules, err
		}
		o.wanted.plan = &source
	}
	if plan := o.planOf(o.request, o.wanted, before, way); plan != nil {
		return planrun.Use(*plan, at.Place, rules, o.host(), at.Output)
	}
	work = engine.WorkOn(at.Tree, o.host())
	work.Goal, err = rules.ResolveGoal(o.wanted.Task, nil, o.wanted.Issue == 0, o.log) // an issue may be a stranger's
	return work, rules, err
}

// site is where a job's run works, as whom, and where it is shown.
type site struct {
	engine.Place
	engine.Identity
	engine.Output
}

// spec is what a run there works with.
func (s site) spec(work engine.Work, rules engine.Rules) *engine.Spec {
	return &engine.Spec{Work: work, Rules: rules, Place: s.Place, Identity: s.Identity, Output: s.Output}
}

// workplace says what a checkout is for, and where it is made.
type workplace struct {
	request      event.Request
	task, branch string
	root         string // the directory that everything of this job is in
}

// prepareWorkspace makes the checkout and who works in it, below a directory of the job's.
func (a *Action) prepareWorkspace(ctx context.Context, work *engine.Run, of workplace) (at site, err error) {
	root := of.root
	format := stream.FormatFor(stream.Place{CI: true, Environ: a.Parent})
	format.Redact = a.redact // before a line is cut: half a secret is one too
	user, home, err := a.user(root)
	if err != nil {
		return at, err
	}
	tree, err := a.checkout(ctx, of, user)
	if err != nil {
		return at, err
	}
	return site{
		Place: engine.Place{
			Workspace: tree, Tree: tree, JudgeName: a.Env.Repository, Scratch: root, Caches: filepath.Join(root, "caches"), Logs: filepath.Join(root, "logs"),
			InJob: true, LastCommit: a.patience(), InstallSandbox: a.Inputs.InstallSandbox && a.Runner.Inside(),
		},
		Identity: engine.Identity{User: user, Home: home, Parent: a.Parent, Keys: a.keys(), Host: a.host()},
		Output: engine.Output{
			Console: a.console(), Format: format, Groups: a.Runner, Redact: a.redact, Clock: a.Clock, Log: a.log,
			Shown: a.Server.shown(),
		},
	}, nil
}

// root is the directory that everything of this job is in.
func (a *Action) root(work *engine.Run) (string, error) {
	parent := a.Env.RalphWorkspace // "" is not RUNNER_TEMP: in a container the agent's user may not pass it
	if parent != "" {
		if err := os.MkdirAll(parent, 0o755); err != nil {
			return "", invalid.Errorf("making RALPH_WORKSPACE: %w", err)
		}
	}
	engine.RemovePartial(a.Env.Workspace)
	proc.ClearTemp("") // what is made elsewhere than in the workspace
	root, remove, err := proc.TempDir(parent)
	if err != nil {
		return "", fmt.Errorf("making a directory for the checkout: %w", err)
	}
	work.OnClose(remove)
	// The agent's user passes through it to the worktree; what is not for that user has a mode of its own.
	if err := errors.Join(os.Chmod(root, 0o755), os.Mkdir(filepath.Join(root, "logs"), 0o755)); err != nil { // said above
		return "", fmt.Errorf("making a directory for the checkout: %w", err)
	}
	return root, nil
}

// user chooses whom the agent and the checks run as. When we are root it is never ourselves: the user RALPH_AGENT_USER
// names, or one without rights.
func (a *Action) user(root string) (as *proc.User, home string, err error) {
	name := a.Env.AgentUser
	if os.Geteuid() != 0 {
		if name != "" {
			a.log("RALPH_AGENT_USER is ignored: only root can run the agent as another user")
		}
		a.warn("hiding our environment from the agent", proc.HideSelf())
		return nil, "", nil
	}
	if name == "" {
		name = "65534:65534"
	}
	as, err = proc.LookupUser(name)
	if err != nil {
		return nil, "", invalid.Errorf("RALPH_AGENT_USER: %w; name a user that exists", err)
	}
	if as.UID == 0 {
		return nil, "", invalid.Errorf("RALPH_AGENT_USER is %q, which is root; name a user without its rights", name)
	}
	home = as.Home
	if info, err := os.Stat(as.Home); err != nil || !info.IsDir() || as.Home == "/" || as.Home == "/nonexistent" {
		home = filepath.Join(root, "home")
		if err := errors.Join(os.Mkdir(home, 0o700), os.Chown(home, int(as.UID), int(as.GID))); err != nil {
			return nil, "", fmt.Errorf("making the agent's home: %w", err)
		}
	}
	return as, home, nil
}

// keys is the one credential that the agent's process gets: inputs before the environment, an API key before a
// subscription.
func (a *Action) keys() map[string]string {
	return engine.AgentKeys(a.Parent, map[string]string{
		"ANTHROPIC_API_KEY": a.Inputs.AnthropicAPIKey, "CLAUDE_CODE_OAUTH_TOKEN": a.Inputs.ClaudeCodeOAuthToken,
		"OPENAI_API_KEY": a.Inputs.OpenAIAPIKey, "GEMINI_API_KEY": a.Inputs.GeminiAPIKey})
}

// branch is the name of the run's branch.
func (a *Action) branch(ctx context.Context, t workRequest) (string, error) {
	if t.branch != "" {
		return t.branch, nil
	}
	name := t.ID
	if a.Inputs.BranchNameTemplate != "" {
		var b strings.Builder
		parsed, err := template.New("").Option("missingkey=error").Parse(a.Inputs.BranchNameTemplate)
		if err == nil {
			err = parsed.Execute(&b, map[string]any{"Task": t.ID, "Issue": t.Issue, "Slug": safetext.Slug(t.Title, 40)})
		}
		if err != nil {
			return "", invalid.Errorf("input branch_name_template: %w; must be text, {{.Task}}, {{.Issue}} and {{.Slug}}",
				err)
		}
		name = b.String()
	}
	name = a.Inputs.BranchPrefix + name
	if err := git.CheckBranchName(ctx, name); err != nil {
		return "", invalid.Errorf("inputs branch_prefix and branch_name_template: %w", err)
	}
	return name, nil
}

func (a *Action) checkout(ctx context.Context, of workplace, user *proc.User) (*git.Tree, error) {
	o, err := a.gitOptions(ctx, of.task)
	if err != nil {
		return nil, err
	}
	if o.Sign != nil {
		a.log("commits are signed with the key %s", o.Sign.Fingerprint())
	}
	o.Root, o.As, o.Fresh = of.root, user, of.request.Fresh
	base := a.Inputs.BaseBranch
	if base == "" {
		base = of.request.Event.Repo.DefaultBranch
	}
	tree, err := git.Checkout(ctx, o, base, of.branch)
	if err != nil {
		return nil, fmt.Errorf("checking out %s of %s: %w", base, a.Env.Repository, err)
	}
	return tree, nil
}

func (a *Action) promptFile(ctx context.Context, tree *git.Tree, request event.Request) (task.Task, error) {
	content, ok, err := tree.File(ctx, tree.Base(), a.Inputs.PromptFile)
	if err != nil {
		return task.Task{}, fmt.Errorf("reading the input prompt_file: %w", err)
	}
	if !ok {
		return task.Task{}, invalid.Errorf(
			"input prompt_file is %q, which is not a file on %s; give the path of one from the top of the repository",
			a.Inputs.PromptFile, tree.BaseBranch())
	}
	t, err := task.FromFile(a.Inputs.PromptFile, string(content))
	if err != nil {
		return t, invalid.Mark(err)
	}
	t.ID, t.Asked = promptFileTask, request.Event.Sender.Login
	return t, nil
}

// settings are the rules of a job's run: from the base commit, where the agent cannot have touched them, and from the
// workflow's inputs. commands are a plan's.
func (a *Action) settings(ctx context.Context, at engine.Place, commands []string) (engine.Rules, error) {
	set, err := a.readSettings(ctx, at.Tree)
	if err != nil {
		return engine.Rules{}, err
	}
	rules := engine.Rules{Settings: set, PlanCommands: commands, Wall: cmp.Or(a.wall, set.Timeout()), CI: a.gate(set)}
	return engine.DetectChecks(ctx, at, rules, a.log)
}

func (a *Action) readSettings(ctx context.Context, tree *git.Tree) (config.Settings, error) {
	layers := a.Server.layers()
	content, ok, err := tree.File(ctx, tree.Base(), config.SettingsFile)
	if err != nil {
		return config.Settings{}, fmt.Errorf("reading %s of the base commit: %w", config.SettingsFile, err)
	}
	if ok {
		layers = append(layers, config.Layer{Name: config.SettingsFile, JSON: content})
	}
	return a.allowed(append(layers, a.Inputs.Layers()...))
}

// allowed are settings, held against what whoever runs a server allows.
func (a *Action) allowed(layers []config.Layer) (config.Settings, error) {
	if a.Server == nil {
		return config.Load(layers...)
	}
	asked, err := config.Explain(layers...)
	if err != nil {
		return config.Settings{}, err
	}
	given, notes, err := a.Server.Allow.Apply(asked)
	for _, note := range notes {
		a.log("%s", note)
	}
	return given.Settings, err
}
