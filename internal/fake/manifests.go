package fake

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// manifest is what GitHub knows of an App that is to be made.
type manifest struct {
	Name           string `json:"name"`
	URL            string `json:"url"`
	HookAttributes struct {
		URL    string `json:"url"`
		Active *bool  `json:"active"`
	} `json:"hook_attributes"`
	RedirectURL           string            `json:"redirect_url"`
	CallbackURLs          []string          `json:"callback_urls"`
	SetupURL              string            `json:"setup_url"`
	Description           string            `json:"description"`
	Public                bool              `json:"public"`
	DefaultEvents         []string          `json:"default_events"`
	DefaultPermissions    map[string]string `json:"default_permissions"`
	RequestOAuthOnInstall bool              `json:"request_oauth_on_install"`
	SetupOnUpdate         bool              `json:"setup_on_update"`
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
	names := everything.byName()
	for name, level := range m.DefaultPermissions {
		if _, known := names[name]; !known || (level != "read" && level != "write") {
			return nil, fmt.Errorf("default permission records resource is not included in the list: %s: %s", name, level)
		}
	}
	if len(m.CallbackURLs) > 10 || m.Name == "" {
		return nil, fmt.Errorf("there is no name, or more than ten callback addresses")
	}
	return &m, nil
}

// newApp is the page that a manifest leads to, with the button that makes the App.
func (g *GitHub) newApp(w http.ResponseWriter, r *http.Request, owner string) {
	text := r.PostFormValue("manifest")
	m, err := readManifest(text)
	if err != nil || r.Method != http.MethodPost {
		g.problem("manifest: %v", err)
		refusePage(w, http.StatusUnprocessableEntity, fmt.Sprint("Error: ", err))
		return
	}
	show(w, http.StatusOK, "manifest", pageData{Title: "Create GitHub App", App: m.Name, Owner: owner,
		Hidden: map[string]string{"manifest": text, "state": r.URL.Query().Get("state"), "owner": owner}})
}

var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

// createApp makes the App and sends the browser back with a code, which gets its credentials once.
func (g *GitHub) createApp(w http.ResponseWriter, r *http.Request) {
	m, err := readManifest(r.PostFormValue("manifest"))
	if err != nil {
		refusePage(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	m.Name = strings.TrimSpace(r.PostFormValue("name"))
	g.mu.Lock()
	defer g.mu.Unlock()
	slug := strings.Trim(notSlug.ReplaceAllString(strings.ToLower(m.Name), "-"), "-")
	if slug == "" || slices.ContainsFunc(g.apps, func(a *App) bool { return a.Slug == slug }) {
		refusePage(w, http.StatusUnprocessableEntity, "Name is already taken")
		return
	}
	owner := r.PostFormValue("owner")
	if owner == "" {
		if people := g.people(); len(people) > 0 {
			owner = people[0]
		}
	}
	code := hex.EncodeToString([]byte(rand.Text()[:20]))
	g.manifests[code] = &App{
		ID: g.id(), Slug: slug, Owner: owner, name: m.Name, setupURL: m.SetupURL,
		Permissions: fromNames(m.DefaultPermissions),
		Hook:        Hook{URL: m.HookAttributes.URL, Secret: hex.EncodeToString([]byte(rand.Text()))}, Events: m.DefaultEvents,
		OAuth: OAuth{"Iv23li" + rand.Text()[:14], hex.EncodeToString([]byte(rand.Text()))[:40], m.CallbackURLs},
	}
	back := url.Values{"code": {code}}
	if state := r.PostFormValue("state"); state != "" {
		back.Set("state", state)
	}
	http.Redirect(w, r, withQuery(m.RedirectURL, back), http.StatusFound)
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
func (g *GitHub) installApp(w http.ResponseWriter, r *http.Request, slug string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.IndexFunc(g.apps, func(a *App) bool { return a.Slug == slug })
	if i < 0 {
		refusePage(w, http.StatusNotFound, "There is no such App.")
		return
	}
	app := g.apps[i]
	if r.Method == http.MethodGet {
		var owners []string
		for _, one := range g.repos {
			if !slices.Contains(owners, one.owner) {
				owners = append(owners, one.owner)
			}
		}
		slices.Sort(owners)
		show(w, http.StatusOK, "install", pageData{Title: "Install " + app.name, Action: r.URL.Path, Logins: owners,
			Hidden: map[string]string{"state": r.URL.Query().Get("state")}})
		return
	}
	chosen := strings.FieldsFunc(r.PostFormValue("repositories"), func(c rune) bool { return c == ',' || c == ' ' })
	in := g.install(app, r.PostFormValue("owner"), chosen)
	if app.setupURL == "" {
		show(w, http.StatusOK, "plain", pageData{Title: "Okay, " + app.name + " was installed.", Text: in.owner})
		return
	}
	back := url.Values{"installation_id": {strconv.FormatInt(in.id, 10)}, "setup_action": {"install"}}
	if state := r.PostFormValue("state"); state != "" {
		back.Set("state", state)
	}
	http.Redirect(w, r, withQuery(app.setupURL, back), http.StatusFound)
}

var (
	orgNew      = regexp.MustCompile(`^/organizations/([A-Za-z0-9-]+)/settings/apps/new$`)
	installPath = regexp.MustCompile(`^/(?:github-)?apps/([a-z0-9-]+)/installations/new$`)
	appPath     = regexp.MustCompile(`^/(?:github-)?apps/([a-z0-9-]+)$`)
)

// held keeps an answer until its handler, which holds the lock, has ended: who logs answers takes the lock, too.
type held struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (h *held) Header() http.Header         { return h.header }
func (h *held) Write(p []byte) (int, error) { return h.body.Write(p) }
func (h *held) WriteHeader(status int)      { h.status = status }

// servePage serves the pages that a browser sees; false when it is none of them.
func (g *GitHub) servePage(w http.ResponseWriter, r *http.Request) bool {
	h := &held{header: http.Header{}, status: http.StatusOK}
	if !g.page(h, r) {
		return false
	}
	maps.Copy(w.Header(), h.header)
	w.WriteHeader(h.status)
	_, _ = w.Write(h.body.Bytes()) // the browser may be gone
	return true
}

func (g *GitHub) page(w http.ResponseWriter, r *http.Request) bool {
	path := r.URL.Path
	org, install, app := orgNew.FindStringSubmatch(path), installPath.FindStringSubmatch(path),
		appPath.FindStringSubmatch(path)
	switch {
	case path == "/login/oauth/authorize":
		g.authorize(w, r)
	case path == "/login/oauth/access_token":
		g.accessToken(w, r)
	case path == "/settings/apps/new":
		g.newApp(w, r, "")
	case org != nil:
		g.newApp(w, r, org[1])
	case path == "/settings/apps" && r.Method == http.MethodPost:
		g.createApp(w, r)
	case install != nil:
		g.installApp(w, r, install[1])
	case app != nil:
		show(w, http.StatusOK, "plain", pageData{Title: app[1], Text: "A GitHub App."})
	default:
		return false
	}
	return true
}
