package bot

import (
	"cmp"
	"context"
	"os"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/proc"
)

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
	if as := a.installation(); as != nil {
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
	a.secrets.hide(secrets...)
	a.rules = event.Rules{
		TriggerLabel: a.Inputs.TriggerLabel, TriggerPhrase: a.Inputs.TriggerPhrase, AllowedBots: a.Inputs.AllowedBots,
		CommentsBy: a.Inputs.CommentsBy, CIGate: a.Inputs.Set["ciGate"] == config.WaitForCI,
	}
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
	token := cmp.Or(a.Inputs.GitHubToken, a.Env.Token)
	options := github.Options{
		Server: github.Server{APIURL: a.Env.APIURL, Log: a.log}, GraphQLURL: a.Env.GraphQLURL, Repo: ev.Repo, Token: token,
		AppID: a.Inputs.AppID, AppKey: []byte(a.Inputs.AppPrivateKey), DryRun: a.Inputs.DryRun,
		JobToken: a.Env.Token, CommentsBy: a.rules.CommentsBy, As: a.installation(), Patience: whileAPIAway,
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

// installation makes GitHub's client write as the server's App; nil for a step of a workflow.
func (a *Action) installation() *github.Installation {
	if a.Server == nil || a.Server.As == nil {
		return nil
	}
	as, last := *a.Server.As, ""
	var mu sync.Mutex
	as.Token = func(ctx context.Context, refused string) (string, error) {
		token, err := a.Server.As.Token(ctx, refused)
		mu.Lock()
		defer mu.Unlock()
		if err == nil && token != last {
			last = token
			a.secrets.hide(token)
		}
		return token, err
	}
	return &as
}

// disconnect revokes the tokens that were made for what is done now, however it has ended.
func (a *Action) disconnect(ctx context.Context) {
	for _, hub := range a.connected {
		a.warn("ending", hub.Revoke(ctx))
	}
	a.connected = nil
}
