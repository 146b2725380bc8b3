package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/oauth2"
)

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

// SignInAddress is where a browser signs in, with a state and a verifier of the caller's, which no one can guess. A
// verifier has 43 to 128 letters, digits, and - . _ ~; only its digest is in the address.
func (a *App) SignInAddress(redirect, state, verifier string) (string, error) {
	config, err := a.oauth(redirect)
	if err != nil {
		return "", err
	}
	return config.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier)), nil
}

// CompleteSignIn exchanges the code for the person's token. The caller has held the state against that of the session.
func (a *App) CompleteSignIn(ctx context.Context, redirect, code, verifier string) (string, error) {
	const doing = "signing in"
	config, err := a.oauth(redirect)
	if err != nil {
		return "", err
	}
	// our client has its time limit, and follows no redirect elsewhere with the secret
	ctx = context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: a.base, Timeout: time.Minute, CheckRedirect: stay})
	token, err := config.Exchange(ctx, code, oauth2.VerifierOption(verifier))
	var said *oauth2.RetrieveError
	switch {
	case errors.As(err, &said) && said.ErrorCode != "":
		return "", fmt.Errorf("%s: %w (%s); begin again", doing, ErrRefusedSignIn, oneLine(said.ErrorCode))
	case errors.As(err, &said) && said.Response != nil: // its text holds the answer's body
		return "", fmt.Errorf("%s: GitHub answers %d; try again in a while", doing, said.Response.StatusCode)
	case err != nil:
		return "", explain(doing, err)
	}
	return token.AccessToken, nil
}
