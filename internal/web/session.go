package web

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/store"
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

// identify says who asks. No one is no error; a session that cannot be looked up is one.
func (a *asked) identify() error {
	token := a.token()
	if a.alone != nil {
		if same(a.alone.token, token) {
			a.who = nobodyElse
		}
		return nil
	}
	if a.Open && Here(a.r) { // ownHost has refused requests under other names of this machine
		a.who = guest
	}
	if token == "" {
		return nil
	}
	who, err := a.Sessions.Find(a.r.Context(), token)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	a.who = who
	return nil
}

// token is the session's; "" when there is none.
func (a *asked) token() string { return a.cookieValue(a.cookie) }

func (a *asked) cookieValue(name string) string {
	c, err := a.r.Cookie(name)
	if err != nil {
		return ""
	}
	return c.Value
}

// keep sets a cookie that no script reads and no other site sends along with a form. A life below zero removes it.
func (a *asked) keep(name, value string, life time.Duration) {
	seconds := int(life / time.Second)
	if seconds <= 0 {
		seconds = -1
	}
	http.SetCookie(a.w, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: seconds, Secure: a.secure,
		HttpOnly: true, SameSite: http.SameSiteLaxMode})
}

func (a *asked) signInPage() error {
	next := local(a.r.URL.Query().Get("next"))
	if a.who.Login != "" && !a.who.Guest {
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
	if err := a.leave(); err != nil { // an earlier session does not continue
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

// mostSignIns is how many times a minute one address may try to sign in, or the setup's code.
const mostSignIns = 30

// tries counts what each address has tried in this minute.
type tries struct {
	mu     sync.Mutex
	minute time.Time
	by     map[string]int
}

func (t *tries) allow(address string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if minute := now.Truncate(time.Minute); !minute.Equal(t.minute) {
		t.minute, t.by = minute, map[string]int{}
	}
	t.by[address]++
	return t.by[address] <= mostSignIns
}

// leave ends the session and what it still reads.
func (a *asked) leave() error {
	token := a.token()
	if token == "" {
		return nil
	}
	a.streams.end(func(st *stream) bool { return st.token == token })
	if err := a.Sessions.End(a.r.Context(), token); err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("ending a session: %w", err)
	}
	return nil
}

func (a *asked) signOut() error {
	if err := a.leave(); err != nil {
		return err // a user who is signed out on the page must be so on the server
	}
	a.keep(a.cookie, "", -1)
	return a.goTo("/sign-in")
}

func (a *asked) signOutEverywhere() error {
	if err := a.Sessions.EndAll(a.r.Context(), a.who.Login); err != nil {
		return err
	}
	a.streams.end(func(st *stream) bool { return st.login == a.who.Login })
	a.keep(a.cookie, "", -1)
	return a.goTo("/sign-in")
}

// goTo answers with the address to read next.
func (a *asked) goTo(path string) error {
	http.Redirect(a.w, a.r, path, http.StatusSeeOther)
	return nil
}

// random is a text that no one guesses.
func random() string { return rand.Text() + rand.Text() }

// same compares two secrets in a time that tells nothing of them. Nothing is never the same.
func same(x, y string) bool { return x != "" && subtle.ConstantTimeCompare([]byte(x), []byte(y)) == 1 }
