package serve

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"net/url"
	"os"
	"sync"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/launch"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

// setup gets the App from GitHub, for the person who has the code that was printed at the start.
type setup struct {
	*parts
	runners   *launch.Runners // nil: none
	workspace string          // where checkouts are made

	mu   sync.Mutex
	code string // printed where only who has started ralph reads it; "" once it was used
}

// Redeem implements web.Setup.
func (s *setup) Redeem(_ context.Context, code string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.code == "" || subtle.ConstantTimeCompare([]byte(code), []byte(s.code)) != 1 {
		return false
	}
	s.code = ""
	return true
}

// Standing implements web.Setup.
func (s *setup) Standing(ctx context.Context) (web.SetupStanding, error) {
	app, err := s.in.current(ctx)
	if errors.Is(err, errNoApp) {
		return web.SetupStanding{}, nil
	}
	if err != nil {
		return web.SetupStanding{}, err
	}
	c, _ := s.in.credentials(ctx) // of the current App
	out := web.SetupStanding{App: c.Name, AppURL: c.Page, OwnSecret: s.in.o.App == nil}
	soon, cancel := context.WithTimeout(ctx, examineTime)
	defer cancel()
	self, err := app.Self(soon)
	add := func(level, what, advice string) {
		out.Credentials = append(out.Credentials, s.found(level, what, advice))
	}
	if soon.Err() != nil && ctx.Err() == nil {
		add("warning", "GitHub doesn't answer", inAMoment)
		return out, nil
	}
	if err != nil {
		add("error", err.Error(), "Look at the App's page on GitHub, and make a new private key there if this one was removed.")
		return out, nil
	}
	out.App, out.AppURL, out.InstallURL = self.Name, self.Page, app.InstallPage(self.Slug, "setup")
	add("ok", "GitHub knows the App by its key", "")
	if len(c.WebhookSecrets) == 0 {
		add("error", "the webhook secret is missing", "Set RALPH_WEBHOOK_SECRET to the secret on the App's page.")
	}
	if c.ClientID == "" {
		add("warning", "no one can sign in", "Set RALPH_CLIENT_ID and RALPH_CLIENT_SECRET; both are on the App's page.")
	}
	out.Credentials = append(append(out.Credentials, reached(s.o.Public)...), s.operators(ctx, app, self), s.hook(ctx, app),
		s.sandboxFinding(ctx))
	if s.runners != nil {
		out.Credentials = append(out.Credentials, s.facts(s.runners.Workflow.Examine(ctx, app, self))...)
	}
	out.Doctor = s.doctorOfAll(ctx)
	return out, nil
}

// reached is what does not work with the address that GitHub and people reach the server by.
func reached(public *url.URL) []web.Finding {
	const advice = "Put a proxy with a certificate in front and pass its address with --url, such as https://ralph.example.com."
	switch {
	case web.Loopback(public.Hostname()):
		return []web.Finding{{Level: "warning", What: public.String() + " is this machine: GitHub cannot deliver webhooks " +
			"to it, and people sign in on this machine only", Advice: advice}}
	case public.Scheme == "http":
		return []web.Finding{{Level: "warning", What: public.String() + " is not encrypted: everyone on the way can read " +
			"deliveries and take over sign-ins", Advice: advice}}
	}
	return nil
}

// operators reports who is an operator without being named by --operators.
func (s *setup) operators(ctx context.Context, app *github.App, self github.Self) web.Finding {
	const others = "Name others with --operators LOGINS."
	if !self.Organization {
		return s.found("ok", self.Owner+" owns the App and is its operator", others)
	}
	_, err := app.MembersOf(ctx, self.Owner)
	switch {
	case errors.Is(err, github.ErrNoMembers):
		return s.found("warning", "the owners of "+self.Owner+" cannot be read, so they are no operators", "Install the App on "+
			self.Owner+" with the permission Members: read at "+self.Settings+"/permissions, or start the server with --operators LOGINS.")
	case err != nil:
		return wrong(err)
	}
	return s.found("ok", "the owners of "+self.Owner+" are operators", others)
}

// hook says whether GitHub delivers here. Its address is for operators alone: who knows that of a service which passes
// deliveries on may be able to read them there.
func (s *setup) hook(ctx context.Context, app *github.App) web.Finding {
	h, err := app.Hook(ctx)
	switch here := s.o.Public.String() + "/webhook"; {
	case err != nil:
		return wrong(err)
	case h.URL != here:
		return s.found("warning", "GitHub delivers to "+h.URL+", and not to "+here,
			"Set the webhook's address on the App's page, unless something passes the deliveries on.")
	case !h.JSON || !h.Signed:
		return s.found("error", "GitHub delivers forms, or does not sign what it delivers",
			"Set the content type application/json and a secret on the App's page.")
	}
	return s.found("ok", "GitHub delivers here", "")
}

// Manifest implements web.Setup.
func (s *setup) Manifest(organization, state string) (web.ManifestForm, error) {
	form, err := github.Manifest{BaseURL: s.o.Public.String(), Name: s.o.AppName, Organization: organization, State: state,
		Dispatch: s.o.Runner != "" || s.o.Allow.Name(config.InWorkflow)}.On(s.o.GitHub)
	return web.ManifestForm{Address: form.Action, Manifest: form.Manifest}, err
}

// Complete implements web.Setup.
func (s *setup) Complete(ctx context.Context, code string, by string) error {
	made, err := github.CompleteManifest(ctx, s.o.GitHub, code)
	if err != nil {
		return err
	}
	if err := s.in.store(ctx, App{ID: made.ID, Slug: made.Slug, Name: made.Name, Owner: made.Owner,
		Page: made.Page, Key: string(made.Key.PEM()), ClientID: made.ClientID, ClientSecret: made.ClientSecret,
		WebhookSecrets: []string{made.WebhookSecret}}); err != nil {
		return err
	}
	return s.s.Audit(ctx, store.Entry{Person: cmp.Or(by, made.Owner), Action: "app.create",
		Subject: made.Slug, Result: "done"}) // with the code alone, no one is signed in
}

// sandboxFinding says whether a sandbox works here in which everything holds. Without one a job ends before its first
// turn, unless a workflow does it.
func (s *setup) sandboxFinding(ctx context.Context) web.Finding {
	o := sandbox.Options{Mode: "require", Home: proc.Value(s.o.Environ, "HOME"), Parent: s.o.Environ, Log: s.logf,
		Image: proc.Value(s.o.Environ, config.SandboxImage)}
	dir, err := os.MkdirTemp(s.workspace, "")
	if err == nil {
		defer os.RemoveAll(dir)
		o.Dir, o.Scratch, err = dir, dir, os.Chmod(dir, 0o711)
	}
	if os.Geteuid() == 0 && err == nil {
		o.As, err = proc.LookupUser(cmp.Or(s.o.Base.AgentUser, "65534:65534"))
	}
	var box *sandbox.Sandbox
	if err == nil {
		box, err = sandbox.Open(ctx, o)
	}
	if err != nil {
		return s.found("error", brief(err, 300), "Runs are refused here until then, but for those with dispatch: workflow.")
	}
	box.Close()
	return s.found("ok", "runs are kept in the sandbox "+box.Mode, "")
}

// RotateSecret implements web.Setup. The new secret holds before GitHub has it, so that nothing is lost.
func (s *setup) RotateSecret(ctx context.Context, by string) error {
	err := s.in.rotate(ctx)
	result := "done"
	if err != nil {
		result = wrong(err).What
	}
	return errors.Join(err, s.in.s.Audit(ctx, store.Entry{Person: by, Action: "app.rotate secret", Result: result}))
}

// runnerFile is the workflow of the runner repository.
const runnerFile = "runner.yml"
