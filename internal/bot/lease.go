package bot

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/lease"
	"github.com/ralph-loop/ralph/internal/proc"
)

// holdLease takes the lease of a task, so that no one else works on it, and keeps it until the pulse is released. It
// comes before the run record is read, which may have moved while someone else held the task. The run continues in the
// context that comes back: it ends with a *lease.StoppedError as its cause when someone asks for that, and with a
// *lease.LostError when someone else has the task. A *heldError says who has it now. A dry run only looks: its pulse
// is nil, which all methods of a pulse take.
func (a *Action) holdLease(ctx context.Context, id, root string) (context.Context, *lease.Heartbeat, error) {
	door, err := a.leaseDoor(ctx, root)
	if err != nil {
		return ctx, nil, err
	}
	if a.Server != nil {
		door.OfJob(a.Server.Job)
	}
	held, err := door.Take(ctx, lease.Lease{Task: id, Owner: a.owner(), RunURL: a.runURL()})
	if err != nil || a.Inputs.DryRun {
		a.warn("closing the repository of leases", door.Close())
		var taken *lease.HeldError
		if errors.As(err, &taken) {
			err = &heldError{taken.Error() + ". This request was dropped; ask again when it has ended"}
		}
		return ctx, nil, err
	}
	running, p := lease.NewHeartbeat(ctx, door, held, a.Clock, a.github.Token, a.log)
	if a.Server != nil {
		p.Long()
		go a.Server.watchStop(running, p)
	}
	p.Listen(ctx, a.beats())
	return running, p, nil
}

// beats are when a held lease is examined.
func (a *Action) beats() <-chan time.Time {
	switch {
	case a.beat != nil:
		return a.beat
	case a.Server != nil:
		return lease.LongBeats()
	}
	return lease.Beats()
}

// askStop asks whoever works on a task to stop. by is a login; why goes before it: "asked to stop", "issue closed".
// heard is false when no one works on it.
func (a *Action) askStop(ctx context.Context, id, by, why string) (heard bool, err error) {
	door, err := a.leaseDoor(ctx, "")
	if err != nil {
		return false, err
	}
	defer func() { a.warn("closing the repository of leases", door.Close()) }()
	heard, _, err = door.AskStop(ctx, id, lease.Stop{By: by, Why: a.mask(why), At: a.Clock()})
	return heard, err
}

// leaseDoor opens the way to the leases below a directory, or in a temporary one.
func (a *Action) leaseDoor(ctx context.Context, root string) (*lease.Client, error) {
	o, err := a.gitOptions(ctx, "")
	if err != nil {
		return nil, err
	}
	o.Root = root
	return lease.Open(ctx, o, a.Clock)
}

func (a *Action) gitOptions(ctx context.Context, taskID string) (git.Options, error) {
	token, err := a.github.Token(ctx)
	if err != nil {
		return git.Options{}, err
	}
	sign, err := git.NewSigner(a.Inputs.SigningKey)
	if err != nil {
		return git.Options{}, invalid.Errorf("input signing_key %w", err)
	}
	remote := git.Remote{URL: strings.TrimSuffix(a.Env.ServerURL, "/") + "/" + a.Env.Repository + ".git", Token: token, Log: a.log,
		Patience: whileAway}
	if as := a.Server.installation(); as != nil {
		remote.Renew, remote.Mirror, remote.Patience = as.Token, a.Server.Mirror, as.Patience
	}
	return git.Options{
		Remote:   remote,
		Env:      proc.Environment(a.Parent, proc.Allowed), // a git process needs none of the job's secrets
		Identity: git.Identity{Name: "ralph", Email: a.github.Self() + "@users.noreply." + a.host()},
		Task:     taskID, Log: a.log, DryRun: a.Inputs.DryRun, Sign: sign,
		Secrets: append(append(engine.Secrets(a.Env, a.Parent), a.Inputs.Secrets()...), token),
	}, nil
}

func (a *Action) prepare() {
	secrets := append(engine.Secrets(a.Env, a.Parent), a.Inputs.Secrets()...)
	for _, s := range secrets {
		a.Runner.Mask(s)
	}
	a.redact = a.Server.redactor(secrets)
	a.rules = event.Rules{
		TriggerLabel: a.Inputs.TriggerLabel, TriggerPhrase: a.Inputs.TriggerPhrase, AllowedBots: a.Inputs.AllowedBots,
		CommentsBy: commentsBy(a.Inputs.CommentsBy), CIGate: a.Inputs.Set["ciGate"] == config.WaitForCI,
	}
}

// commentsBy reads the input include_comments_by.
func commentsBy(names []string) event.CommentsBy {
	out := event.CommentsBy{Only: len(names) > 0}
	for _, name := range names {
		switch strings.ToLower(name) {
		case "none":
			return event.CommentsBy{Nobody: true}
		case "writers":
			out.Only = false
		default:
			out.Logins = append(out.Logins, name)
		}
	}
	return out
}

func (a *Action) event() (event.Event, error) {
	var payload []byte
	switch {
	case a.Server != nil:
		payload = a.Server.Payload
	case a.Env.EventPath != "":
		var err error
		if payload, err = os.ReadFile(a.Env.EventPath); err != nil {
			return event.Event{}, invalid.Errorf(
				"reading the event: %w; ralph action runs in a workflow, where GITHUB_EVENT_PATH names a file", err)
		}
	}
	if a.Env.EventName == "" {
		return event.Event{}, invalid.Errorf(
			"GITHUB_EVENT_NAME is not set; ralph action runs in a workflow. On a laptop use: ralph run --issue FILE")
	}
	ev, err := github.ParseEvent(github.Delivery{
		Name: a.Env.EventName, Payload: payload, Repository: a.Env.Repository, TriggeringActor: a.Env.TriggeringActor,
		At: a.Clock(),
	})
	if err != nil {
		return ev, invalid.Mark(err)
	}
	if ev.Name == "repository_dispatch" { // it brings its own
		return ev, nil
	}
	ev.Ask = event.DispatchRequest{Issue: a.Inputs.Issue, Prompt: a.Inputs.Prompt, Plan: a.Inputs.Plan}
	if in := a.Inputs; ev.Kind == event.Dispatched && in.Issue == 0 &&
		in.Prompt+in.PromptFile+in.Plan+in.Request == "" {
		return ev, invalid.Errorf("workflow_dispatch asks for nothing: give one of the inputs issue, plan, prompt and " +
			"prompt_file")
	}
	return ev, nil
}

func (a *Action) connect(ctx context.Context, ev event.Event) (*github.Client, error) {
	token := a.Inputs.GitHubToken
	if token == "" {
		token = a.Env.Token
	}
	options := github.Options{
		APIURL: a.Env.APIURL, GraphQLURL: a.Env.GraphQLURL, Repo: ev.Repo, Token: token,
		AppID: a.Inputs.AppID, AppKey: []byte(a.Inputs.AppPrivateKey), DryRun: a.Inputs.DryRun, Log: a.log,
		JobToken: a.Env.Token, CommentsBy: a.rules.CommentsBy, As: a.Server.installation(), Patience: whileAPIAway,
	}
	if a.tune != nil {
		a.tune(&options)
	}
	hub, err := github.New(ctx, options)
	if hub != nil {
		a.connected = append(a.connected, hub)
	}
	if err != nil {
		return nil, invalid.Mark(err)
	}
	return hub, nil
}

// disconnect revokes the tokens that were made for what is done now, however it has ended.
func (a *Action) disconnect(ctx context.Context) {
	for _, hub := range a.connected {
		a.warn("ending", hub.Revoke(ctx))
	}
	a.connected = nil
}
