package fake

import (
	"crypto/rsa"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// appState is what there is of Apps and of those who use them.
type appState struct {
	apps          []*App
	strangers     []*App              // that wrote check runs and were never installed by a test
	organisations map[string][]string // their owners, by lower login
	manifests     map[string]*App     // Apps that no one has asked the credentials of, by code
	signIns       map[string]*signIn  // people who come back to an App, by code
	waiting       []func()            // deliveries that are to be sent, oldest first
	sending       bool
}

// App is a GitHub App. It writes as SLUG[bot].
type App struct {
	ID   int64
	Slug string
	// Owner is whose it is. With an InstallationID, it is installed on every repository of the owner's.
	Owner          string
	InstallationID int64
	Key            *rsa.PublicKey // checks the web tokens
	Permissions    *Permissions   // what the App asks for, and its first installation was granted; nil for all of them
	// Hook is where webhooks go and what they are signed with; an empty URL: there are none. Events are the webhook events
	// that it hears of: "issues".
	Hook   Hook
	Events []string
	// OAuth lets people sign in by way of the App.
	OAuth OAuth

	name          string
	setupURL      string
	revoked       int // tokens that who had them has revoked
	installations []*installation
	sent          sentHooks
}

// Hook is an App's webhook.
type Hook struct {
	URL, Secret string
	Form        bool // sent as a form instead of JSON
}

// OAuth are an App's credentials for people who sign in, and the addresses that they may come back to.
type OAuth struct {
	ClientID, ClientSecret string
	Callbacks              []string
}

type installation struct {
	id          int64
	owner       string
	repos       []string // names; nil: all of the owner's
	permissions *Permissions
	suspended   bool
	gone        bool
	createdAt   time.Time
}

// everything is what an App has when a test says nothing of it.
var everything = Permissions{
	Actions: "write", Administration: "read", Checks: "write", Contents: "write", Issues: "write", PullRequests: "write",
	Members: "read", Secrets: "read", Statuses: "write", Workflows: "write",
}

func grantedBy(p *Permissions) map[string]string {
	if p == nil {
		return everything.granted()
	}
	return p.granted()
}

func (a *App) granted() map[string]string { return grantedBy(a.Permissions) }

// AddApp registers an App.
func (g *GitHub) AddApp(a App) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.addApp(a)
}

func (g *GitHub) addApp(a App) *App {
	g.user(a.Slug + "[bot]")
	g.user(a.Owner)
	if a.name == "" {
		a.name = a.Slug
	}
	if a.InstallationID != 0 {
		g.lastID = max(g.lastID, a.InstallationID)
		a.installations = []*installation{{id: a.InstallationID, owner: a.Owner, permissions: a.Permissions,
			createdAt: g.time()}}
	}
	g.apps = append(g.apps, &a)
	return &a
}

// Install installs an App for an owner, on the repositories of these names or, without any, on all of them, and returns
// the installation's id. The App hears of it.
func (g *GitHub) Install(app int64, owner string, repositories ...string) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.install(g.mustApp(app), owner, repositories).id
}

func (g *GitHub) install(a *App, owner string, repositories []string) *installation {
	in := &installation{id: g.id(), owner: g.user(owner).login, permissions: a.Permissions, createdAt: g.time()}
	if len(repositories) > 0 {
		in.repos = slices.Clone(repositories)
	}
	a.installations = append(a.installations, in)
	g.announceInstallation(a, in, "created")
	return in
}

// Uninstall removes an installation; its tokens no longer count. The App hears of it.
func (g *GitHub) Uninstall(id int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	a, in := g.mustInstallation(id)
	g.announceInstallation(a, in, "deleted")
	in.gone = true
	a.installations = slices.DeleteFunc(a.installations, func(i *installation) bool { return i == in })
}

// Suspend stops an installation, or lets it continue.
func (g *GitHub) Suspend(installation int64, suspended bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, in := g.mustInstallation(installation)
	in.suspended = suspended
}

// Grant sets what an installation was granted, nil for everything. Tokens that there are keep what they have.
func (g *GitHub) Grant(installation int64, p *Permissions) {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, in := g.mustInstallation(installation)
	in.permissions = p
}

// AddOrganisation makes an account an organization of these owners. Repositories of it are made as those of a person.
func (g *GitHub) AddOrganisation(login string, owners ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.user(login)
	g.organisations[strings.ToLower(login)] = append([]string{}, owners...)
}

// Apps are the ids of all Apps, oldest first.
func (g *GitHub) Apps() []int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	var ids []int64
	for _, a := range g.apps {
		ids = append(ids, a.ID)
	}
	return ids
}

func (g *GitHub) mustApp(id int64) *App {
	for _, a := range g.apps {
		if a.ID == id {
			return a
		}
	}
	panic(fmt.Sprintf("fake: there is no App %d", id))
}

func (g *GitHub) mustInstallation(id int64) (*App, *installation) {
	for _, a := range g.apps {
		if in := a.installation(id); in != nil {
			return a, in
		}
	}
	panic(fmt.Sprintf("fake: there is no installation %d", id))
}

func (a *App) installation(id int64) *installation {
	for _, in := range a.installations {
		if in.id == id {
			return in
		}
	}
	return nil
}

// on is the App's installation that a repository belongs to, nil when there is none.
func (a *App) on(r *repo) *installation {
	for _, in := range a.installations {
		if in.has(r) {
			return in
		}
	}
	return nil
}

func (in *installation) has(r *repo) bool {
	return strings.EqualFold(in.owner, r.owner) && (in.repos == nil || named(in.repos, r.name))
}

func named(list []string, name string) bool {
	return slices.ContainsFunc(list, func(l string) bool { return strings.EqualFold(l, name) })
}

// unreachable is the answer to a token that is not for a repository; nil when it is. What is public everyone may read.
// Callers hold the lock.
func (g *GitHub) unreachable(t *token, r *repo, writing bool) *answer {
	var within bool
	switch {
	case t.kind == Installation && t.installation != nil:
		if t.installation.suspended {
			a := failure(http.StatusForbidden, "This installation has been suspended")
			return &a
		}
		within = t.installation.has(r) && (t.repos == nil || named(t.repos, r.name))
	case t.kind == UserToServer:
		role := legacy[r.permissions[strings.ToLower(t.login)]]
		within = t.app.on(r) != nil && (role == "admin" || role == "write" || (role == "read" && !writing))
	default:
		return nil
	}
	if within || (!r.private && !writing) {
		return nil
	}
	a := notFound()
	if !r.private {
		a = t.forbidden()
	}
	return &a
}

// reposOf are the repositories of an installation, by name. Callers hold the lock.
func (g *GitHub) reposOf(in *installation) []*repo {
	var list []*repo
	for _, r := range g.repos {
		if in.has(r) {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b *repo) int { return strings.Compare(a.name, b.name) })
	return list
}
