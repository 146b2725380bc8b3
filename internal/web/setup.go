package web

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/regex"
)

const setupState = "ralph-setup-state"

var organizationName = regex.Lazy(`^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})$`)

// codePage asks for the one-time code. An address that holds it is turned into a form at the same time, so that the
// code is sent by a person and not by whatever loads addresses ahead.
func (a *asked) codePage() error {
	return a.show("setup-code", "Setup", codeForm{Code: brief(100, a.r.URL.Query().Get("code"))})
}

// codeForm is a form that asks for the code.
type codeForm struct {
	Code   string
	Failed bool // it was another one
}

func (a *asked) redeem() error {
	if err := a.r.ParseForm(); err != nil {
		return errForm
	}
	if !a.signIns.allow(Address(a.r), a.Clock()) {
		return a.notSignedIn(errTooOften, nil)
	}
	if !a.Setup.Redeem(a.r.Context(), a.r.PostForm.Get("code")) {
		return a.showAs(http.StatusForbidden, "setup-code", "Setup", codeForm{Failed: true})
	}
	a.openSetup()
	return a.goTo("/setup")
}

// setupPage shows how far the setup has come, and the form that creates the App: the only one that leaves this server.
func (a *asked) setupPage() error {
	st, err := a.Setup.Standing(a.r.Context())
	if err != nil {
		return err
	}
	installed := slices.ContainsFunc(st.Doctor, func(d RepositoryDoctor) bool { return strings.Contains(d.Repository, "/") })
	if !a.setsUp() { // an operator sees of repositories what the others do
		f, err := a.filter()
		if err != nil {
			return err
		}
		st.Doctor = held(f, st.Doctor, func(d RepositoryDoctor) string { return d.Repository })
	}
	body := struct {
		SetupStanding
		Installed    bool
		Form         ManifestForm
		Organization string
		Mistaken     bool
	}{SetupStanding: st, Installed: installed}
	if st.App == "" {
		body.Organization = a.r.URL.Query().Get("organization")
		if body.Organization != "" && !organizationName.MatchString(body.Organization) {
			body.Organization, body.Mistaken = "", true
		}
		state := random()
		if body.Form, err = a.Setup.Manifest(body.Organization, state); err != nil {
			return err
		}
		a.keep(a.prefixed(setupState), state, setupTime)
		a.w.Header().Set("Content-Security-Policy", policy+" "+a.GitHub)
	}
	return a.show("setup", "Setup", body)
}

// created is where GitHub sends the browser when the App exists.
func (a *asked) created() error {
	q := a.r.URL.Query()
	if !same(a.cookieValue(a.prefixed(setupState)), q.Get("state")) {
		return errState
	}
	a.keep(a.prefixed(setupState), "", -1)
	if err := a.Setup.Complete(a.r.Context(), q.Get("code"), a.who.Login); err != nil {
		return err
	}
	return a.goTo("/setup")
}

// rotateSecret has the webhook get a new secret.
func (a *asked) rotateSecret() error {
	if err := a.Setup.RotateSecret(a.r.Context(), a.who.Login); err != nil {
		return err
	}
	return a.goTo("/setup")
}

// setupTime is how long the setup is open to the browser that has shown the code.
const setupTime = time.Hour

// openSetup lets this browser in, and an earlier one out.
func (a *asked) openSetup() {
	door := &setupDoor{random(), a.Clock().Add(setupTime)}
	a.setup.Store(door)
	a.keep(a.prefixed(setupCookie), door.token, setupTime)
}

// setsUp reports whether it is this browser that has shown the code.
func (a *asked) setsUp() bool {
	door := a.setup.Load()
	return door != nil && same(door.token, a.cookieValue(a.prefixed(setupCookie))) && a.Clock().Before(door.until)
}
