package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

// outside is what people may do who read a public repository and do not work on it, by what --outsiders says.
var outside = map[string]web.Permission{"nothing": web.NoPermission, "runs": web.MaySeeRuns, "all": web.MayRead}

// people reports what users can see and do, from GitHub. Answers are remembered for a minute, so a user who loses access
// sees nothing after that.
type people struct {
	*parts

	may      lookups[web.Permission]
	readable lookups[[]string]
	owns     lookups[bool]
}

func newPeople(p *parts) *people {
	return &people{p, lookups[web.Permission]{clock: p.o.Clock}, lookups[[]string]{clock: p.o.Clock}, lookups[bool]{clock: p.o.Clock}}
}

// AuthorizeURL implements web.SignIn; "" when the App cannot be asked.
func (p *people) AuthorizeURL(state, verifier, redirect string) string {
	app, err := p.in.current(context.Background())
	if err != nil {
		return ""
	}
	address, _ := app.SignInAddress(redirect, state, verifier)
	return address
}

// Exchange implements web.SignIn.
func (p *people) Exchange(ctx context.Context, code, verifier, redirect string) (web.Identity, error) {
	app, err := p.in.current(ctx)
	if err != nil {
		return web.Identity{}, err
	}
	token, err := app.CompleteSignIn(ctx, redirect, code, verifier)
	if err != nil {
		return web.Identity{}, err
	}
	who, err := app.Person(ctx, token)
	if err != nil {
		return web.Identity{}, err
	}
	audited := p.s.Audit(ctx, store.Entry{Person: who, Action: "session.begin", Result: "done"})
	return web.Identity{Login: who, Token: token}, audited
}

// Start implements web.Sessions.
func (p *people) Start(ctx context.Context, token string, who web.Identity) error {
	return p.s.PutSession(ctx, token, store.Session{Login: who.Login, OAuth: []byte(who.Token),
		Expires: p.o.Clock().Add(web.SessionLife)})
}

// Find implements web.Sessions.
func (p *people) Find(ctx context.Context, token string) (web.Identity, error) {
	found, err := p.s.Session(ctx, token)
	return web.Identity{Login: found.Login, Token: string(found.OAuth)}, err
}

// End implements web.Sessions.
func (p *people) End(ctx context.Context, token string, everywhere bool) error {
	who, err := p.Find(ctx, token)
	if err != nil {
		return err
	}
	if err := p.s.EndSession(ctx, token, everywhere); err != nil {
		return err
	}
	return p.s.Audit(ctx, store.Entry{Person: who.Login, Result: "done",
		Action: map[bool]string{false: "session.end", true: "session.end everywhere"}[everywhere]})
}

// Permission implements web.Access. GitHub is asked with the person's own token, so that it says what it says to them.
func (p *people) Permission(ctx context.Context, who web.Identity, repository string) (web.Permission, error) {
	return p.may.of(ctx, who.Login+" "+repository, func(ctx context.Context) (web.Permission, error) {
		app, err := p.in.current(ctx)
		if err != nil {
			return web.NoPermission, err
		}
		return p.personMay(ctx, app, who, repositoryOf(repository))
	})
}

func (p *people) personMay(ctx context.Context, app *github.App, who web.Identity, repository event.Repo) (web.Permission, error) {
	r, err := app.PersonRepository(ctx, who.Token, repository)
	switch {
	case errors.Is(err, github.ErrSignedOut):
		return web.NoPermission, web.ErrSignedOut
	case err != nil || r.Access == github.None:
		return web.NoPermission, err
	case r.Access >= github.Write:
		return web.MayWrite, nil
	case r.Private || outside[p.o.Outsiders] == web.MayRead:
		return web.MayRead, nil
	}
	works, err := app.Collaborates(ctx, repository, who.Login)
	switch {
	case errors.Is(err, github.ErrNotInstalled):
		return web.NoPermission, nil
	case err != nil || !works:
		return outside[p.o.Outsiders], err
	}
	return web.MayRead, nil
}

// Readable implements web.Access. It leaves out public repositories that the user does not work on.
func (p *people) Readable(ctx context.Context, who web.Identity) ([]string, error) {
	return p.readable.of(ctx, who.Login, func(ctx context.Context) ([]string, error) {
		app, err := p.in.current(ctx)
		if err != nil {
			return nil, err
		}
		all, err := app.Installations(ctx)
		if err != nil {
			return nil, err
		}
		names := make([][]string, len(all))
		asking, ctx := errgroup.WithContext(ctx)
		asking.SetLimit(8)
		for i, in := range all {
			if in.Suspended {
				continue
			}
			asking.Go(func() error {
				list, err := app.PersonRepositories(ctx, who.Token, in.ID)
				names[i] = safetext.Map(list, func(r github.Repository) string { return r.Repo.String() })
				return err
			})
		}
		if err = asking.Wait(); errors.Is(err, github.ErrSignedOut) {
			err = web.ErrSignedOut
		}
		return slices.Concat(names...), err
	})
}

// Operator implements web.Access: the owner of the App, the owners of an organization that owns it, and the logins of
// --operators.
func (p *people) Operator(ctx context.Context, who web.Identity) (bool, error) {
	if slices.ContainsFunc(p.o.Operators, func(login string) bool { return strings.EqualFold(login, who.Login) }) {
		return true, nil
	}
	return p.owns.of(ctx, who.Login, func(ctx context.Context) (bool, error) {
		app, err := p.in.current(ctx)
		if err != nil {
			return false, err
		}
		self, err := app.Self(ctx)
		if err != nil || !self.Organization {
			return self.Owner != "" && strings.EqualFold(self.Owner, who.Login), err
		}
		is, err := app.Owns(ctx, self.Owner, who.Login)
		if errors.Is(err, github.ErrNoMembers) { // the setup page reports it
			return false, nil
		}
		return is, err
	})
}

// actions does what people ask for on pages. A request to a running run goes to its process. Everything else is written
// on GitHub, as the person: it is decided there and in the open, as if they had written it themselves.
type actions struct {
	*parts
	again func(ctx context.Context, delivery string) error
}

// Do implements web.Actions.
func (a *actions) Do(ctx context.Context, asks web.Action) error {
	err := a.do(ctx, asks)
	result := "done"
	if err != nil {
		result = brief(err, 500)
	}
	kind, subject := "run.", asks.Run
	if asks.Delivery != "" {
		kind, subject = "delivery.", asks.Delivery
	}
	return errors.Join(err, a.s.Audit(ctx, store.Entry{Person: asks.By.Login, Action: kind + asks.Kind,
		Repository: asks.Repository, Subject: subject, Result: result}))
}

func (a *actions) do(ctx context.Context, asks web.Action) error {
	if asks.Kind == web.Redeliver {
		return a.again(ctx, asks.Delivery)
	}
	run, err := a.s.Run(ctx, asks.Run)
	if err != nil {
		return err
	}
	switch {
	case asks.Kind == web.Stop && (run.State == web.Queued || run.State == web.Running):
		return stopRun(ctx, a.s, run, asks.By.Login)
	case asks.Kind == web.Hint && run.State == web.Running:
		return a.s.Say(ctx, store.Word{Run: run.ID, Kind: asks.Kind, Person: asks.By.Login, Text: asks.Text})
	case asks.Kind == web.Hint:
		return &web.Refusal{Why: "The run is not running, so it gets no hint. Retry it with your text."}
	}
	return a.comment(ctx, run, asks)
}

// comment says it on GitHub, as the person.
func (a *actions) comment(ctx context.Context, run store.Run, asks web.Action) error {
	shown := detailOf(run)
	number := cmp.Or(shown.Issue, shown.Pull)
	if number == 0 {
		return &web.Refusal{Why: "The run is for no issue and has no pull request, so there is nowhere to ask."}
	}
	text := strings.Join(strings.Fields(asks.Text), " ") // a line: what follows a command is a part of it
	body := map[string]string{web.Stop: "stop", web.Retry: "retry " + text, web.Approve: "accept " + text}[asks.Kind]
	if body == "" {
		return fmt.Errorf("handling the request: %q is not an action", asks.Kind)
	}
	app, err := a.in.current(ctx)
	if err != nil {
		return err
	}
	return app.CommentAs(ctx, asks.By.Token, repositoryOf(run.Repository), number,
		strings.TrimSpace(a.o.Rules.TriggerPhrase+" "+body))
}
