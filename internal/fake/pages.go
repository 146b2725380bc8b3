package fake

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
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

// pageText is a title, a text and, with an action, a form whose fields a test fills.
var pageText = template.Must(template.New("").Parse(`<!doctype html><html lang="en"><meta charset="utf-8"><title>{{.Title}}</title>
<body><h1>{{.Title}}</h1><p>{{.Text}}</p>{{if .Action}}<form method="post" action="{{.Action}}">
{{range $name, $value := .Fields}}<input type="hidden" name="{{$name}}" value="{{$value}}">{{end}}<button>OK</button></form>{{end}}`))

type pageData struct {
	Title, Text, Action string
	Fields              map[string]string
}

func show(w http.ResponseWriter, status int, d pageData) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = pageText.Execute(w, d) // the browser may be gone
}

func refusePage(w http.ResponseWriter, status int, text string) {
	show(w, status, pageData{Title: http.StatusText(status), Text: text})
}

func (g *GitHub) clientApp(clientID string) *App {
	return first(g.apps, func(a *App) bool { return clientID != "" && a.OAuth.ClientID == clientID })
}

// authorize is the page on which someone lets an App know who they are, and what its buttons do.
func (g *GitHub) authorize(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm() // what is missing is refused
	form := r.Form
	defer g.lock()()
	app := g.clientApp(form.Get("client_id"))
	if app == nil {
		g.problems = append(g.problems, "sign-in: no App has the client ID "+form.Get("client_id"))
		refusePage(w, http.StatusNotFound, "There is no such App.")
		return
	}
	redirect := form.Get("redirect_uri")
	if !slices.Contains(app.OAuth.Callbacks, redirect) {
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
		fields := map[string]string{}
		for name := range form {
			fields[name] = form.Get(name)
		}
		show(w, http.StatusOK, pageData{Title: "Authorize " + app.name, Action: "/login/oauth/authorize", Fields: fields})
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
	http.Redirect(w, r, redirect+"?"+back.Encode(), http.StatusFound)
}

// accessToken exchanges a code, or a refresh token, for a person's token. As at GitHub, a refusal has the status 200.
func (g *GitHub) accessToken(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	defer g.lock()()
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
				login = t.Login
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
	g.tokens[value] = &token{Token: Token{Login: login, Kind: UserToServer, Permissions: app.Permissions}, app: app,
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

// manifest is what GitHub knows of a new App.
type manifest struct {
	Name           string `json:"name"`
	URL            string `json:"url"`
	HookAttributes struct {
		URL    string `json:"url"`
		Active *bool  `json:"active"`
	} `json:"hook_attributes"`
	RedirectURL           string      `json:"redirect_url"`
	CallbackURLs          []string    `json:"callback_urls"`
	SetupURL              string      `json:"setup_url"`
	Description           string      `json:"description"`
	Public                bool        `json:"public"`
	DefaultEvents         []string    `json:"default_events"`
	DefaultPermissions    Permissions `json:"default_permissions"`
	RequestOAuthOnInstall bool        `json:"request_oauth_on_install"`
	SetupOnUpdate         bool        `json:"setup_on_update"`
}

// knownEvents are the webhook events that a manifest may ask for, as far as anyone does; those of installations come
// unasked.
var knownEvents = []string{"check_run", "check_suite", "create", "delete", "issue_comment", "issues", "label",
	"pull_request", "pull_request_review", "pull_request_review_comment", "push", "repository", "status", "workflow_run"}

func readManifest(text string) (*manifest, error) {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	var m manifest
	if err := d.Decode(&m); err != nil {
		return nil, err
	}
	for _, address := range append([]string{m.URL, m.HookAttributes.URL, m.RedirectURL}, m.CallbackURLs...) {
		if u, err := url.Parse(address); err != nil || u.Host == "" {
			return nil, fmt.Errorf("%q is no address", address)
		}
	}
	for _, event := range m.DefaultEvents {
		if !slices.Contains(knownEvents, event) {
			return nil, fmt.Errorf("default events unsupported: %s", event)
		}
	}
	names := everything.granted()
	for name, level := range m.DefaultPermissions {
		if _, known := names[name]; !known || (level != "read" && level != "write") {
			return nil, fmt.Errorf("default permission records resource is not included in the list: %s: %s", name, level)
		}
	}
	if m.Name == "" {
		return nil, errors.New("there is no name")
	}
	return &m, nil
}

// newApp is the page that a manifest leads to, with the button that makes the App.
func (g *GitHub) newApp(w http.ResponseWriter, r *http.Request) {
	text := r.PostFormValue("manifest")
	m, err := readManifest(text)
	if err != nil || r.Method != http.MethodPost {
		g.problem("manifest: %v", err)
		refusePage(w, http.StatusUnprocessableEntity, fmt.Sprint("Error: ", err))
		return
	}
	show(w, http.StatusOK, pageData{Title: "Create GitHub App", Action: "/settings/apps", Fields: map[string]string{
		"manifest": text, "name": m.Name, "state": r.URL.Query().Get("state"), "owner": r.PathValue("owner")}})
}

// createApp makes the App and sends the browser back with a code, which gets its credentials once.
func (g *GitHub) createApp(w http.ResponseWriter, r *http.Request) {
	m, err := readManifest(r.PostFormValue("manifest"))
	if err != nil {
		refusePage(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	m.Name = strings.TrimSpace(r.PostFormValue("name"))
	defer g.lock()()
	slug := strings.ReplaceAll(strings.ToLower(m.Name), " ", "-")
	if slug == "" || slices.ContainsFunc(g.apps, func(a *App) bool { return a.Slug == slug }) {
		refusePage(w, http.StatusUnprocessableEntity, "Name is already taken")
		return
	}
	owner := r.PostFormValue("owner")
	if owner == "" { // for whoever is signed in, which is the first person here
		users := slices.SortedFunc(maps.Values(g.users), func(a, b *user) int { return int(a.id - b.id) })
		owner = first(users, func(u *user) bool { return !u.bot }).login
	}
	code := hex.EncodeToString([]byte(rand.Text()[:20]))
	g.manifests[code] = &App{
		ID: g.id(), Slug: slug, Owner: owner, name: m.Name, setupURL: m.SetupURL,
		Permissions: m.DefaultPermissions,
		Hook:        Hook{URL: m.HookAttributes.URL, Secret: hex.EncodeToString([]byte(rand.Text()))}, Events: m.DefaultEvents,
		OAuth: OAuth{"Iv23li" + rand.Text()[:14], hex.EncodeToString([]byte(rand.Text()))[:40], m.CallbackURLs},
	}
	back := url.Values{"code": {code}}
	if state := r.PostFormValue("state"); state != "" {
		back.Set("state", state)
	}
	http.Redirect(w, r, m.RedirectURL+"?"+back.Encode(), http.StatusFound)
}

// convertManifest gives the credentials of an App for its code, once.
func (g *GitHub) convertManifest(r *request) answer {
	made := g.manifests[r.parts["code"]]
	if made == nil {
		return notFound()
	}
	delete(g.manifests, r.parts["code"])
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	made.Key = &key.PublicKey
	app := g.addApp(*made)
	o := g.ownAppShape(app)
	o["client_id"], o["client_secret"] = app.OAuth.ClientID, app.OAuth.ClientSecret
	o["webhook_secret"] = app.Hook.Secret
	o["pem"] = string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	return created(o)
}

// installApp is the page on which an App is installed, and what its button does.
func (g *GitHub) installApp(w http.ResponseWriter, r *http.Request) {
	defer g.lock()()
	app := first(g.apps, func(a *App) bool { return a.Slug == r.PathValue("app") })
	if app == nil {
		refusePage(w, http.StatusNotFound, "There is no such App.")
		return
	}
	if r.Method == http.MethodGet {
		show(w, http.StatusOK, pageData{Title: "Install " + app.name, Action: r.URL.Path,
			Fields: map[string]string{"state": r.URL.Query().Get("state")}})
		return
	}
	chosen := strings.FieldsFunc(r.PostFormValue("repositories"), func(c rune) bool { return c == ',' || c == ' ' })
	in := g.install(app, r.PostFormValue("owner"), chosen)
	back := url.Values{"installation_id": {strconv.FormatInt(in.id, 10)}, "setup_action": {"install"}}
	if state := r.PostFormValue("state"); state != "" {
		back.Set("state", state)
	}
	http.Redirect(w, r, app.setupURL+"?"+back.Encode(), http.StatusFound)
}

// pageRoutes are the pages that a browser sees.
func (g *GitHub) pageRoutes() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, page := range map[string]http.HandlerFunc{
		"/login/oauth/authorize":                   g.authorize,
		"POST /login/oauth/access_token":           g.accessToken,
		"/settings/apps/new":                       g.newApp,
		"/organizations/{owner}/settings/apps/new": g.newApp,
		"POST /settings/apps":                      g.createApp,
		"/{apps}/{app}/installations/new":          g.installApp,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			h := httptest.NewRecorder() // a page holds the lock, which the log of calls needs for the status of the answer
			page(h, r)
			maps.Copy(w.Header(), h.Header())
			w.WriteHeader(h.Code)
			_, _ = w.Write(h.Body.Bytes()) // the browser may be gone
		})
	}
	return mux
}
