package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

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

// workplace makes the checkout of a job.
type workplace struct {
	*Action
	request      event.Request
	task, branch string
	root         string // the directory that everything of this job is in
}

// prepare makes the checkout and the user who works in it, below the job's directory.
func (w workplace) prepare(ctx context.Context) (at site, err error) {
	format := stream.FormatFor(stream.Place{CI: true, Environ: w.Parent})
	format.Redact = w.redact // before a line is cut: half a secret is one too
	user, home, err := w.user()
	if err != nil {
		return at, err
	}
	tree, err := w.checkout(ctx, user)
	if err != nil {
		return at, err
	}
	// the one credential that the agent's process gets: inputs before the environment, an API key before a subscription
	keys := engine.AgentKeys(w.Parent, map[string]string{
		"ANTHROPIC_API_KEY": w.Inputs.AnthropicAPIKey, "CLAUDE_CODE_OAUTH_TOKEN": w.Inputs.ClaudeCodeOAuthToken,
		"OPENAI_API_KEY": w.Inputs.OpenAIAPIKey, "GEMINI_API_KEY": w.Inputs.GeminiAPIKey})
	at = site{
		Place: engine.Place{
			Workspace: tree, Tree: tree, JudgeName: w.Env.Repository, Scratch: w.root, Caches: filepath.Join(w.root, "caches"), Logs: filepath.Join(w.root, "logs"),
			InJob: true, LastCommit: w.patience(), InstallSandbox: w.Inputs.InstallSandbox && w.Runner.Inside(),
		},
		Identity: engine.Identity{User: user, Home: home, Parent: w.Parent, Keys: keys},
		Output: engine.Output{
			Console: engine.RedactingWriter{To: w.Runner.Console(), Redact: w.redact}, Format: format, Groups: w.Runner, Redact: w.redact, Clock: w.Clock, Log: w.log,
		},
	}
	if w.Server != nil {
		at.Shown = w.Server.Shown
	}
	return at, nil
}

// jobDir makes the directory that everything of this job is in.
func (a *Action) jobDir(work *engine.Run) (string, error) {
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
func (w workplace) user() (as *proc.User, home string, err error) {
	name := w.Env.AgentUser
	if os.Geteuid() != 0 {
		if name != "" {
			w.log("RALPH_AGENT_USER is ignored: only root can run the agent as another user")
		}
		w.warn("hiding our environment from the agent", proc.HideSelf())
		return nil, "", nil
	}
	as, err = proc.LookupUser(cmp.Or(name, "65534:65534"))
	if err != nil {
		return nil, "", invalid.Errorf("RALPH_AGENT_USER: %w; name a user that exists", err)
	}
	if as.UID == 0 {
		return nil, "", invalid.Errorf("RALPH_AGENT_USER is %q, which is root; name a user without its rights", name)
	}
	home = as.Home
	if info, err := os.Stat(as.Home); err != nil || !info.IsDir() || as.Home == "/" || as.Home == "/nonexistent" {
		home = filepath.Join(w.root, "home")
		if err := errors.Join(os.Mkdir(home, 0o700), os.Chown(home, int(as.UID), int(as.GID))); err != nil {
			return nil, "", fmt.Errorf("making the agent's home: %w", err)
		}
	}
	return as, home, nil
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

func (w workplace) checkout(ctx context.Context, user *proc.User) (*git.Tree, error) {
	o, err := w.gitOptions(ctx, w.task)
	if err != nil {
		return nil, err
	}
	if o.Sign != nil {
		w.log("commits are signed with the key %s", o.Sign.Fingerprint())
	}
	o.Root, o.As, o.Fresh = w.root, user, w.request.Fresh
	base := w.baseBranch(w.request.Event)
	tree, err := git.Checkout(ctx, o, base, w.branch)
	if err != nil {
		return nil, fmt.Errorf("checking out %s of %s: %w", base, w.Env.Repository, err)
	}
	return tree, nil
}

// settings are the rules of a job's run: from the base commit, where the agent cannot have touched them, and from the
// workflow's inputs. commands are a plan's.
func (a *Action) settings(ctx context.Context, at engine.Place, commands []string) (engine.Rules, error) {
	set, err := a.readSettings(ctx, at.Tree)
	if err != nil {
		return engine.Rules{}, err
	}
	rules := engine.Rules{Settings: set, PlanCommands: commands, Wall: cmp.Or(a.wall, set.Timeout())}
	if set.CIGate == config.WaitForCI && !a.Inputs.DryRun { // before the reviewer, who costs money
		ci := a.ciCheck()
		rules.CI, ci.Limit = ci, time.Duration(set.CITimeoutMinutes)*time.Minute
	}
	return engine.DetectChecks(ctx, at, rules, a.log)
}

func (a *Action) readSettings(ctx context.Context, tree *git.Tree) (config.Settings, error) {
	content, ok, err := tree.File(ctx, tree.Base(), config.SettingsFile)
	if err != nil {
		return config.Settings{}, fmt.Errorf("reading %s of the base commit: %w", config.SettingsFile, err)
	}
	return a.settingsWith(content, ok)
}

// settingsWith are the settings with those of a file, if there is one, within what a server allows.
func (a *Action) settingsWith(content []byte, ok bool) (config.Settings, error) {
	layers := a.Inputs.Layers()
	if ok {
		layers = append([]config.Layer{{Name: config.SettingsFile, JSON: content}}, layers...)
	}
	if a.Server == nil {
		return config.Load(layers...)
	}
	asked, err := config.Explain(slices.Concat(a.Server.Layers, layers)...)
	if err != nil {
		return config.Settings{}, err
	}
	given, notes, err := a.Server.Allow.Apply(asked)
	for _, note := range notes {
		a.log("%s", note)
	}
	return given.Settings, err
}
