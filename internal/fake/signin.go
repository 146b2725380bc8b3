package fake

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// signIn is someone who comes back to an App with a code.
type signIn struct {
	app                        *App
	login, redirect, challenge string
	at                         time.Time
}

// codeTime is how long a code counts.
const codeTime = 10 * time.Minute

// The lives of a person's token by way of an App.
const (
	personTime  = 8 * time.Hour
	refreshTime = 184 * 24 * time.Hour
)

var pages = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Parse(`{{define "head"}}<!doctype html><html lang="en"><meta charset="utf-8">` +
		`<title>{{.Title}}</title><body><main><h1>{{.Title}}</h1>{{end}}
{{define "authorize"}}{{template "head" .}}
<form method="post" action="/login/oauth/authorize">
{{range $name, $value := .Hidden}}<input type="hidden" name="{{$name}}" value="{{$value}}">{{end}}
<label>Account <select name="login">{{range .Logins}}<option>{{.}}</option>{{end}}</select></label>
<button name="authorize" value="1">Authorize {{.App}}</button>
<button name="authorize" value="0">Cancel</button></form></main>{{end}}
{{define "manifest"}}{{template "head" .}}
<form method="post" action="/settings/apps">
{{range $name, $value := .Hidden}}<input type="hidden" name="{{$name}}" value="{{$value}}">{{end}}
<label>GitHub App name <input name="name" value="{{.App}}" required maxlength="34"></label>
<button name="create">Create GitHub App{{with .Owner}} for {{.}}{{end}}</button></form></main>{{end}}
{{define "install"}}{{template "head" .}}
<form method="post" action="{{.Action}}">
{{range $name, $value := .Hidden}}<input type="hidden" name="{{$name}}" value="{{$value}}">{{end}}
<label>Account <select name="owner">{{range .Logins}}<option>{{.}}</option>{{end}}</select></label>
<label>Only these repositories <input name="repositories" placeholder="all"></label>
<button name="install">Install</button></form></main>{{end}}
{{define "plain"}}{{template "head" .}}<p>{{.Text}}</p></main>{{end}}`))
})

type pageData struct {
	Title, App, Owner, Action, Text string
	Hidden                          map[string]string
	Logins                          []string
}

func show(w http.ResponseWriter, status int, name string, d pageData) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = pages().ExecuteTemplate(w, name, d) // the browser may be gone
}

func refusePage(w http.ResponseWriter, status int, text string) {
	show(w, status, "plain", pageData{Title: http.StatusText(status), Text: text})
}

// people are whom a browser can be, in the order in which they came. Callers hold the lock.
func (g *GitHub) people() []string {
	var all []*user
	for _, u := range g.users {
		if !u.bot && g.organisations[strings.ToLower(u.login)] == nil {
			all = append(all, u)
		}
	}
	slices.SortFunc(all, func(a, b *user) int { return int(a.id - b.id) })
	var logins []string
	for _, u := range all {
		logins = append(logins, u.login)
	}
	return logins
}

func (g *GitHub) clientApp(clientID string) *App {
	for _, a := range g.apps {
		if clientID != "" && a.OAuth.ClientID == clientID {
			return a
		}
	}
	return nil
}

var authorizing = []string{"client_id", "redirect_uri", "state", "code_challenge", "code_challenge_method",
	"response_type"}

// authorize is the page on which someone lets an App know who they are, and what its buttons do.
func (g *GitHub) authorize(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		refusePage(w, http.StatusBadRequest, err.Error())
		return
	}
	form := r.Form
	g.mu.Lock()
	defer g.mu.Unlock()
	app := g.clientApp(form.Get("client_id"))
	if app == nil {
		g.problems = append(g.problems, "sign-in: no App has the client ID "+form.Get("client_id"))
		refusePage(w, http.StatusNotFound, "There is no such App.")
		return
	}
	redirect := form.Get("redirect_uri")
	switch {
	case redirect == "" && len(app.OAuth.Callbacks) > 0:
		redirect = app.OAuth.Callbacks[0]
	case !slices.Contains(app.OAuth.Callbacks, redirect):
		g.problems = append(g.problems, "sign-in: "+redirect+" is no callback address of the App's")
		refusePage(w, http.StatusBadRequest, "The redirect_uri is not associated with this application.")
		return
	}
	if form.Get("code_challenge_method") != "S256" || len(form.Get("code_challenge")) != 43 {
		g.problems = append(g.problems, "sign-in: there is no S256 challenge, without which anyone who sees a code can use it")
	}
	if form.Get("state") == "" {
		g.problems = append(g.problems, "sign-in: there is no state, without which others can sign a user in")
	}
	if r.Method == http.MethodGet {
		hidden := map[string]string{}
		for _, name := range authorizing {
			hidden[name] = form.Get(name)
		}
		hidden["redirect_uri"] = redirect
		show(w, http.StatusOK, "authorize", pageData{Title: "Authorize " + app.name, App: app.name, Hidden: hidden,
			Logins: g.people()})
		return
	}
	back := url.Values{"state": {form.Get("state")}}
	if form.Get("authorize") == "1" {
		code := strings.ToLower(rand.Text()[:20])
		g.signIns[code] = &signIn{app, form.Get("login"), redirect, form.Get("code_challenge"), g.now()}
		back.Set("code", code)
	} else {
		back.Set("error", "access_denied")
		back.Set("error_description", "The user has denied your application access.")
	}
	http.Redirect(w, r, withQuery(redirect, back), http.StatusFound)
}

// withQuery adds parameters to an address.
func withQuery(address string, values url.Values) string {
	sign := "?"
	if strings.Contains(address, "?") {
		sign = "&"
	}
	return address + sign + values.Encode()
}

// accessToken exchanges a code, or a refresh token, for a person's token. As at GitHub, a refusal has the status 200.
func (g *GitHub) accessToken(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil || r.Method != http.MethodPost {
		refusePage(w, http.StatusBadRequest, "a POST with a form was expected")
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	app := g.clientApp(r.Form.Get("client_id"))
	refuse := func(code string) { writeForm(w, url.Values{"error": {code}, "error_description": {"No."}}) }
	if app == nil || subtle.ConstantTimeCompare([]byte(app.OAuth.ClientSecret), []byte(r.Form.Get("client_secret"))) != 1 {
		refuse("incorrect_client_credentials")
		return
	}
	login := ""
	if r.Form.Get("grant_type") == "refresh_token" {
		for value, t := range g.tokens {
			if t.app == app && t.refresh != "" && t.refresh == r.Form.Get("refresh_token") {
				login = t.login
				delete(g.tokens, value)
			}
		}
		if login == "" {
			refuse("bad_refresh_token")
			return
		}
	} else {
		code := r.Form.Get("code")
		in := g.signIns[code]
		delete(g.signIns, code)
		digest := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		switch {
		case in == nil || in.app != app || g.now().Sub(in.at) > codeTime,
			in.challenge != "" && in.challenge != base64.RawURLEncoding.EncodeToString(digest[:]):
			refuse("bad_verification_code")
			return
		case r.Form.Get("redirect_uri") != "" && r.Form.Get("redirect_uri") != in.redirect:
			refuse("redirect_uri_mismatch")
			return
		}
		login = in.login
	}
	value, refresh := "ghu_"+rand.Text(), "ghr_"+rand.Text()
	g.tokens[value] = &token{login: login, kind: UserToServer, app: app, permissions: app.Permissions,
		ends: g.now().Add(personTime), refresh: refresh}
	writeForm(w, url.Values{"access_token": {value}, "token_type": {"bearer"}, "scope": {""},
		"expires_in":               {strconv.Itoa(int(personTime.Seconds()))},
		"refresh_token":            {refresh},
		"refresh_token_expires_in": {strconv.Itoa(int(refreshTime.Seconds()))}})
}

func writeForm(w http.ResponseWriter, v url.Values) {
	w.Header().Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	_, _ = w.Write([]byte(v.Encode())) // the client may be gone
}
