package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

// people is who may see and do what, as GitHub says.
type people struct {
	in        *installed
	s         *store.Store
	operators []string // logins, beside whoever owns the App
	clock     func() time.Time
}

// AuthorizeURL implements web.SignIn; "" when the App cannot be asked.
func (p *people) AuthorizeURL(state, verifier, redirect string) string {
	app, _, err := p.in.current(context.Background())
	if err != nil {
		return ""
	}
	address, _ := app.SignInAddress(redirect, state, verifier)
	return address
}

// Exchange implements web.SignIn.
func (p *people) Exchange(ctx context.Context, code, verifier, redirect string) (web.Identity, error) {
	app, _, err := p.in.current(ctx)
	if err != nil {
		return web.Identity{}, err
	}
	token, err := app.CompleteSignIn(ctx, redirect, code, verifier)
	if err != nil {
		return web.Identity{}, err
	}
	who, err := app.Person(ctx, token.Value)
	if err != nil {
		return web.Identity{}, err
	}
	audited := p.s.Audit(ctx, store.Entry{Person: who.Login, Action: "session.begin", Result: "done"})
	return web.Identity{Person: web.Person{Login: who.Login}, Token: token.Value}, audited
}

// session is what is sealed of a person beside what the database knows by itself.
type session struct {
	Login string `json:"login"` // as GitHub spells it
	Token string `json:"token"`
}

// Start implements web.Sessions.
func (p *people) Start(ctx context.Context, token string, who web.Identity) error {
	sealed, err := json.Marshal(session{Login: who.Login, Token: who.Token})
	if err != nil {
		return fmt.Errorf("beginning a session: %w", err)
	}
	return p.s.PutSession(ctx, token, store.Session{Login: who.Login, OAuth: sealed,
		Expires: p.clock().Add(web.SessionLife)})
}

// Find implements web.Sessions.
func (p *people) Find(ctx context.Context, token string) (web.Identity, error) {
	found, err := p.s.Session(ctx, token)
	if err != nil {
		return web.Identity{}, notFound(err)
	}
	var of session
	if err := json.Unmarshal(found.OAuth, &of); err != nil {
		return web.Identity{}, web.ErrNotFound
	}
	return web.Identity{Person: web.Person{Login: of.Login}, Token: of.Token}, nil
}

// End implements web.Sessions.
func (p *people) End(ctx context.Context, token string) error {
	who, err := p.Find(ctx, token)
	if err != nil {
		return err
	}
	if err := p.s.EndSession(ctx, token); err != nil {
		return err
	}
	return p.s.Audit(ctx, store.Entry{Person: who.Login, Action: "session.end", Result: "done"})
}

// EndAll implements web.Sessions.
func (p *people) EndAll(ctx context.Context, login string) error {
	if _, err := p.s.EndSessions(ctx, login); err != nil {
		return err
	}
	return p.s.Audit(ctx, store.Entry{Person: login, Action: "session.end everywhere", Result: "done"})
}

// Permission implements web.Access. GitHub is asked with the person's own token, so that it says what it says to them.
func (p *people) Permission(ctx context.Context, who web.Identity, repository string) (web.Permission, error) {
	app, _, err := p.in.current(ctx)
	if err != nil {
		return web.NoPermission, err
	}
	if who.Guest {
		return guestMay(ctx, app, repository)
	}
	owner, name, ok := strings.Cut(repository, "/")
	if !ok || who.Token == "" {
		return web.NoPermission, nil
	}
	may, err := app.PersonPermission(ctx, who.Token, event.Repo{Owner: owner, Name: name})
	switch {
	case err != nil:
		return web.NoPermission, err
	case may >= github.Write:
		return web.MayWrite, nil
	case may >= github.Read:
		return web.MayRead, nil
	}
	return web.NoPermission, nil
}

// guestMay is what a guest may do: read what the App is installed on.
func guestMay(ctx context.Context, app *github.App, repository string) (web.Permission, error) {
	in, err := app.InstallationOf(ctx, repositoryOf(repository))
	switch {
	case errors.Is(err, github.ErrNotInstalled):
		return web.NoPermission, nil
	case err != nil || in.Suspended:
		return web.NoPermission, err
	}
	return web.MayRead, nil
}

// Readable implements web.Access.
func (p *people) Readable(ctx context.Context, who web.Identity) (names []string, err error) {
	app, _, err := p.in.current(ctx)
	if err != nil {
		return nil, err
	}
	all, err := app.Installations(ctx)
	if err != nil {
		return nil, err
	}
	for _, in := range all {
		if in.Suspended {
			continue
		}
		if who.Guest {
			list, err := app.Repositories(ctx, in.ID)
			if err != nil {
				return nil, err
			}
			for _, r := range list {
				names = append(names, r.Repo.String())
			}
			continue
		}
		list, err := app.PersonRepositories(ctx, who.Token, in.ID)
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			names = append(names, r.Repo.String())
		}
	}
	return names, nil
}

// Operator implements web.Access: whoever owns the App, or was named at the start.
func (p *people) Operator(ctx context.Context, who web.Identity) (bool, error) {
	if who.Guest {
		return false, nil
	}
	for _, login := range p.operators {
		if strings.EqualFold(login, who.Login) {
			return true, nil
		}
	}
	_, c, err := p.in.current(ctx)
	if err != nil {
		return false, err
	}
	return c.Owner != "" && strings.EqualFold(c.Owner, who.Login), nil
}
