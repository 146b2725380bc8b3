package web

import (
	"net/url"
	"time"
)

// SessionLife is how long someone stays signed in. A Sessions that forgets earlier is fine.
const SessionLife = 8 * time.Hour

// signInTime is how long the way over GitHub may take.
const signInTime = 10 * time.Minute

// The names of the cookies besides the session's, without what is put before them.
const (
	signInCookie = "ralph-sign-in"
	setupCookie  = "ralph-setup"
)

func (a *asked) signInPage() error {
	next := local(a.r.URL.Query().Get("next"))
	if a.who.Login != "" {
		return a.goTo(next)
	}
	return a.show("sign-in", "Sign in", struct {
		Ready bool
		Next  string
	}{a.SignIn.AuthorizeURL("", "", a.redirect()) != "", next})
}

func (a *asked) redirect() string {
	return a.Public.Scheme + "://" + a.Public.Host + "/sign-in/callback"
}

// beginSignIn sends the browser to GitHub. What must come back unchanged stays in a cookie of this browser.
func (a *asked) beginSignIn() error {
	state, verifier := random(), random()
	kept := url.Values{"state": {state}, "verifier": {verifier}, "next": {a.r.URL.Query().Get("next")}}
	a.keep(a.prefixed(signInCookie), kept.Encode(), signInTime)
	address := a.SignIn.AuthorizeURL(state, verifier, a.redirect())
	if address == "" {
		return errHidden
	}
	return a.goTo(address)
}

func (a *asked) endSignIn() error {
	kept, err := url.ParseQuery(a.cookieValue(a.prefixed(signInCookie)))
	a.keep(a.prefixed(signInCookie), "", -1)
	q := a.r.URL.Query()
	if !a.signIns.allow(Address(a.r), a.Clock()) {
		return a.notSignedIn(errTooOften, nil)
	}
	if err != nil || !same(kept.Get("state"), q.Get("state")) {
		return a.notSignedIn(errState, nil)
	}
	code := q.Get("code")
	if code == "" || len(code) > 500 {
		return a.notSignedIn(errNotSignedIn, nil)
	}
	who, err := a.SignIn.Exchange(a.r.Context(), code, kept.Get("verifier"), a.redirect())
	if err != nil || who.Login == "" {
		return a.notSignedIn(errNotSignedIn, err)
	}
	if err := a.leave(false); err != nil { // an earlier session does not continue
		return err
	}
	token := random()
	if err := a.Sessions.Start(a.r.Context(), token, who); err != nil {
		return err
	}
	a.keep(a.cookie, token, SessionLife)
	return a.goTo(local(kept.Get("next")))
}

// notSignedIn logs the address of a failed sign-in.
func (a *asked) notSignedIn(why, err error) error {
	a.Log.Warn("sign-in failed", "address", Address(a.r), "why", why, "error", err)
	return why
}

func (a *asked) signOut() error {
	if err := a.leave(a.r.PostFormValue("everywhere") != ""); err != nil {
		return err // a user who is signed out on the page must be so on the server
	}
	a.keep(a.cookie, "", -1)
	return a.goTo("/sign-in")
}
