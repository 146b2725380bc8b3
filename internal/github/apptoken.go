package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/event"
)

// Token is an installation token. It shows its value nowhere: not in logs, errors or JSON.
type Token struct {
	Value string    `json:"-"`
	Ends  time.Time // by GitHub's clock; an hour after it was made
	// Permissions are what it may do, and Lacks what was wanted and the installation has not been granted: "checks:
	// write".
	Permissions Permissions
	Lacks       []string
}

// String hides the value.
func (t Token) String() string { return "[a token until " + t.Ends.UTC().Format(time.RFC3339) + "]" }

// GoString hides the value.
func (t Token) GoString() string { return t.String() }

// Token makes a token of an installation that is for one repository ("demo", or "alice/demo") and for what is needed
// alone. Where less was granted, it may do as much as was.
func (a *App) Token(ctx context.Context, installation int64, repository string, want Permissions) (Token, error) {
	if _, short, ok := strings.Cut(repository, "/"); ok {
		repository = short
	}
	if repository == "" || len(want) == 0 {
		return Token{}, errors.New("getting an installation token: it must name a repository and permissions; without them " +
			"it would be for everything")
	}
	return a.make(ctx, installation, []string{repository}, want)
}

// make asks for a token; without repositories it is for all of the installation's.
func (a *App) make(ctx context.Context, installation int64, repositories []string, want Permissions) (Token, error) {
	doing := fmt.Sprintf("getting a token of the installation %d", installation)
	if len(repositories) > 0 {
		doing += " for " + oneLine(strings.Join(repositories, ", "))
	}
	opts := &github.InstallationTokenOptions{Repositories: repositories, Permissions: want.shape()}
	made, _, err := a.api.Apps.CreateInstallationToken(ctx, installation, opts)
	var lacks []string
	if refused(err) {
		in, inErr := a.Installation(ctx, installation)
		if inErr != nil {
			return Token{}, inErr
		}
		if lacks = want.Lacks(in.Permissions); len(lacks) > 0 {
			opts.Permissions = want.within(in.Permissions).shape()
			made, _, err = a.api.Apps.CreateInstallationToken(ctx, installation, opts)
		}
	}
	switch {
	case refused(err):
		return Token{}, fmt.Errorf("%s: GitHub refuses it: the repository is not, or no longer, one of the installation's; "+
			"add it on the installation's page: %w", doing, briefly(err))
	case statusIs(err, http.StatusNotFound):
		return Token{}, fmt.Errorf("%s: %w; it was removed", doing, ErrNotInstalled)
	case statusIs(err, http.StatusForbidden):
		return Token{}, fmt.Errorf("%s: GitHub gives none; look whether the installation is suspended: %w", doing,
			briefly(err))
	case err != nil:
		return Token{}, a.explain(doing, err)
	case made.GetToken() == "":
		return Token{}, missingFieldError(doing, "a token")
	}
	return Token{Value: made.GetToken(), Ends: made.GetExpiresAt().Time, Permissions: permissionsOf(made.Permissions),
		Lacks: lacks}, nil
}

// Revoke shuts a token out. One that has expired is none to shut out, and no error.
func (a *App) Revoke(ctx context.Context, t Token) error {
	if err := revokeAt(ctx, rootOf(a.o.APIURL), t.Value); err != nil {
		return fmt.Errorf("revoking an installation token, which expires by itself within the hour: %w", err)
	}
	return nil
}

// Source gives tokens for one repository and renews them. Its methods may be called by several goroutines.
type Source struct {
	fresh func(context.Context) (Token, error)
	end   func(context.Context, Token) error
	now   func() time.Time
	turn  chan struct{} // holds one element while no one is making a token

	mu    sync.Mutex
	token Token
	made  time.Time
	old   []Token // which may be in use still
}

// A token counts for an hour. It is replaced before, by how long it is known: clocks may differ, and may be set.
const (
	tokenUse  = 50 * time.Minute
	tokenLeft = 5 * time.Minute
)

// Source makes a source of tokens. It calls no one before it is asked.
func (a *App) Source(installation int64, repository string, want Permissions) *Source {
	return a.source(func(ctx context.Context) (Token, error) { return a.Token(ctx, installation, repository, want) })
}

func (a *App) source(fresh func(context.Context) (Token, error)) *Source {
	s := &Source{fresh: fresh, end: a.Revoke, now: a.o.Now, turn: make(chan struct{}, 1)}
	s.turn <- struct{}{}
	return s
}

// Token is the value of a token that counts for five more minutes at least, and is not the one that was refused ("":
// none was). It is what a client's Installation has.
func (s *Source) Token(ctx context.Context, refused string) (string, error) {
	if refused != "" {
		s.forget(refused)
	}
	t, err := s.Current(ctx)
	return t.Value, err
}

// Current is a token that counts for five more minutes at least.
func (s *Source) Current(ctx context.Context) (Token, error) {
	if t, ok := s.known(); ok {
		return t, nil
	}
	select {
	case <-s.turn:
		defer func() { s.turn <- struct{}{} }()
	case <-ctx.Done():
		return Token{}, ctx.Err()
	}
	if t, ok := s.known(); ok { // someone else has made it meanwhile
		return t, nil
	}
	begun := s.now()
	t, err := s.fresh(ctx)
	if err != nil {
		return Token{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token.Value != "" {
		s.old = append(s.old[max(0, len(s.old)-1):], s.token) // an older one has expired
	}
	s.token, s.made = t, begun
	return t, nil
}

func (s *Source) known() (Token, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	return s.token, s.token.Value != "" && now.Sub(s.made).Abs() < tokenUse && s.token.Ends.Sub(now) > tokenLeft
}

// forget makes the next call ask for another token: GitHub did not accept this one.
func (s *Source) forget(refused string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token.Value == refused {
		s.made = time.Time{}
	}
}

// Revoke shuts out all tokens that the source has made. It can be used again.
func (s *Source) Revoke(ctx context.Context) error {
	s.mu.Lock()
	tokens := s.old
	if s.token.Value != "" {
		tokens = append(tokens, s.token)
	}
	s.token, s.old = Token{}, nil
	s.mu.Unlock()
	var errs []error
	for _, t := range tokens {
		errs = append(errs, s.end(ctx, t))
	}
	return errors.Join(errs...)
}

// Client is a client for one repository of an installation that may do what is needed. Its tokens are the source's, who
// is to be revoked when the client is no longer used.
func (a *App) Client(ctx context.Context, installation int64, repo event.Repo, want Permissions) (*Client, *Source,
	error) {
	login, err := a.Login(ctx)
	if err != nil {
		return nil, nil, err
	}
	source := a.Source(installation, repo.Name, want)
	first, err := source.Current(ctx)
	if err != nil {
		return nil, nil, err
	}
	c, err := New(ctx, Options{APIURL: a.o.APIURL, Repo: repo, Log: a.o.Log, Sleep: a.o.Sleep, Timeout: a.o.Timeout,
		As: &Installation{Login: login, Lacks: first.Lacks, Token: source.Token}})
	return c, source, err
}
