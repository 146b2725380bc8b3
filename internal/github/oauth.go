package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"golang.org/x/oauth2"
)

// SignIn is someone on their way to GitHub and back. All of it but Address stays with us, in the session.
type SignIn struct {
	Address  string // where the browser goes
	State    string // what comes back with the browser must equal this
	Verifier string // proves at the end that it was us who sent the browser
}

// PersonToken is what someone's sign-in gives. It shows its values nowhere: not in logs, errors or JSON.
type PersonToken struct {
	Value   string    `json:"-"`
	Refresh string    `json:"-"` // gets the next one, once; empty: not possible
	Ends    time.Time // of Value; zero: it does not
	// RefreshEnds is when Refresh ends; zero: it is not known.
	RefreshEnds time.Time
}

// String hides the values.
func (PersonToken) String() string { return "[a person's token]" }

// GoString hides the values.
func (t PersonToken) GoString() string { return t.String() }

// ErrRefusedSignIn is a sign-in that GitHub does not complete: the code is used or old, or not meant for us.
var ErrRefusedSignIn = errors.New("GitHub does not complete this sign-in")

func (a *App) oauth(redirect string) (*oauth2.Config, error) {
	if a.o.ClientID == "" {
		return nil, errors.New("signing in: the App's client ID and secret are not known here; both are on the App's page")
	}
	web := a.o.Web()
	return &oauth2.Config{
		ClientID: a.o.ClientID, ClientSecret: a.o.ClientSecret, RedirectURL: redirect,
		Endpoint: oauth2.Endpoint{
			AuthURL: web + "/login/oauth/authorize", TokenURL: web + "/login/oauth/access_token",
			AuthStyle: oauth2.AuthStyleInParams,
		},
	}, nil
}

// SignInAddress is where a browser signs in, with a state and a verifier of the caller's. A verifier has 43 to 128 letters,
// digits, and - . _ ~; only its digest is in the address.
func (a *App) SignInAddress(redirect, state, verifier string) (string, error) {
	config, err := a.oauth(redirect)
	switch {
	case err != nil:
		return "", err
	case len(state) < 20 || len(verifier) < 43 || len(verifier) > 128:
		return "", errors.New("signing in: state and verifier must not be guessable")
	}
	return config.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier)), nil
}

// CompleteSignIn exchanges the code for a token. The caller has held the state against that of the session.
func (a *App) CompleteSignIn(ctx context.Context, redirect, code, verifier string) (PersonToken, error) {
	config, err := a.oauth(redirect)
	if err != nil {
		return PersonToken{}, err
	}
	token, err := config.Exchange(a.calling(ctx), code, oauth2.VerifierOption(verifier))
	return a.personToken("signing in", token, err)
}

// Renew gets the next token of someone who has signed in; the one before is no longer valid.
func (a *App) Renew(ctx context.Context, t PersonToken) (PersonToken, error) {
	config, err := a.oauth("")
	if err != nil {
		return PersonToken{}, err
	}
	if t.Refresh == "" {
		return PersonToken{}, ErrSignedOut
	}
	token, err := config.TokenSource(a.calling(ctx), &oauth2.Token{RefreshToken: t.Refresh}).Token()
	return a.personToken("renewing a sign-in", token, err)
}

// calling is a context in which x/oauth2 uses our client: its time limit, and no redirect elsewhere with the secret.
func (a *App) calling(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: &bounded{a.base}, Timeout: time.Minute,
		CheckRedirect: stay})
}

// bounded carries requests whose answers are short, whatever answers.
type bounded struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b *bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, 1<<20), resp.Body}
	return resp, nil
}

func (a *App) personToken(doing string, token *oauth2.Token, err error) (PersonToken, error) {
	var said *oauth2.RetrieveError
	switch {
	case errors.As(err, &said) && said.ErrorCode != "":
		return PersonToken{}, fmt.Errorf("%s: %w (%s); begin again", doing, ErrRefusedSignIn, oneLine(said.ErrorCode))
	case errors.As(err, &said) && said.Response != nil: // its text holds the answer's body
		return PersonToken{}, fmt.Errorf("%s: GitHub answers %d; try again in a while", doing, said.Response.StatusCode)
	case err != nil:
		return PersonToken{}, explain(doing, err)
	}
	t := PersonToken{Value: token.AccessToken, Refresh: token.RefreshToken, Ends: token.Expiry}
	if seconds := number(token.Extra("refresh_token_expires_in")); seconds > 0 && t.Refresh != "" {
		t.RefreshEnds = a.o.Now().Add(time.Duration(seconds) * time.Second)
	}
	return t, nil
}

// number is a number of an answer, whichever of the forms it has in forms and JSON.
func number(v any) int64 {
	switch n := v.(type) {
	case int64:
		return n
	case float64:
		return int64(n)
	case json.Number:
		i, err := n.Int64()
		if err == nil {
			return i
		}
	}
	return 0
}
