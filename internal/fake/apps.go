package fake

import (
	"crypto/rsa"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// appState is what there is of Apps and of those who use them.
type appState struct {
	apps          []*App
	organizations map[string][]string // their owners, by lower login
	manifests     map[string]*App     // Apps that no one has asked the credentials of, by code
	signIns       map[string]*signIn  // people who come back to an App, by code
	last          <-chan struct{}     // closed when the newest delivery was sent; nil: there is none
}

// App is a GitHub App. It writes as SLUG[bot].
type App struct {
	ID   int64
	Slug string
	// Owner is whose it is. With an InstallationID, it is installed on every repository of the owner's.
	Owner          string
	InstallationID int64
	Key            *rsa.PublicKey // checks the web tokens
	Permissions    Permissions    // what the App asks for, and its first installation was granted
	// Hook is where webhooks go and what they are signed with; an empty URL: no webhooks. Events are the webhook events
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
	permissions Permissions
	suspended   bool
	gone        bool
}

// AddApp registers an App.
func (g *GitHub) AddApp(a App) {
	defer g.lock()()
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
		a.installations = []*installation{{id: a.InstallationID, owner: a.Owner, permissions: a.Permissions}}
	}
	g.apps = append(g.apps, &a)
	return &a
}

// Install installs an App for an owner, on the repositories of these names or, without any, on all of them, and returns
// the installation's id. The App hears of it.
func (g *GitHub) Install(app int64, owner string, repositories ...string) int64 {
	defer g.lock()()
	return g.install(g.mustApp(app), owner, repositories).id
}

func (g *GitHub) install(a *App, owner string, repositories []string) *installation {
	in := &installation{id: g.id(), owner: g.user(owner).login, permissions: a.Permissions}
	if len(repositories) > 0 {
		in.repos = slices.Clone(repositories)
	}
	a.installations = append(a.installations, in)
	g.announceInstallation(a, in, "created")
	return in
}

// Uninstall removes an installation; its tokens no longer count. The App hears of it.
func (g *GitHub) Uninstall(id int64) {
	defer g.lock()()
	a, in := g.mustInstallation(id)
	g.announceInstallation(a, in, "deleted")
	in.gone = true
	a.installations = slices.DeleteFunc(a.installations, func(i *installation) bool { return i == in })
}

// Suspend stops an installation, or lets it continue.
func (g *GitHub) Suspend(installation int64, suspended bool) {
	defer g.lock()()
	_, in := g.mustInstallation(installation)
	in.suspended = suspended
}

// Grant sets what an installation was granted. Tokens that there are keep what they have.
func (g *GitHub) Grant(installation int64, p Permissions) {
	defer g.lock()()
	_, in := g.mustInstallation(installation)
	in.permissions = p
}

// AddOrganization makes an account an organization of these owners. Repositories of it are made as those of a person.
func (g *GitHub) AddOrganization(login string, owners ...string) {
	defer g.lock()()
	g.user(login)
	g.organizations[strings.ToLower(login)] = append([]string{}, owners...)
}

// Apps are the ids of all Apps, oldest first.
func (g *GitHub) Apps() []int64 {
	defer g.lock()()
	return each(g.apps, func(a *App) int64 { return a.ID })
}

func (g *GitHub) mustApp(id int64) *App {
	return must(first(g.apps, func(a *App) bool { return a.ID == id }), "App %d", id)
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
	return first(a.installations, func(in *installation) bool { return in.id == id })
}

// on is the App's installation that a repository belongs to, or nil.
func (a *App) on(r *repo) *installation {
	return first(a.installations, func(in *installation) bool { return in.has(r) })
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
	case t.Kind == Installation && t.installation != nil:
		if t.installation.suspended {
			return &answer{status: http.StatusForbidden, body: object{"message": "This installation has been suspended"}}
		}
		within = t.installation.has(r) && (t.repos == nil || named(t.repos, r.name))
	case t.Kind == UserToServer:
		role := legacy[r.permissions[strings.ToLower(t.Login)]]
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
	list := those(slices.Collect(maps.Values(g.repos)), in.has)
	slices.SortFunc(list, func(a, b *repo) int { return strings.Compare(a.name, b.name) })
	return list
}

func (g *GitHub) getApp(r *request) answer {
	return ok(g.ownAppShape(r.token.app))
}

func (g *GitHub) ownAppShape(app *App) object {
	return object{"id": app.ID, "slug": app.Slug, "owner": g.userShape(app.Owner), "name": app.name,
		"html_url": g.url + "/apps/" + app.Slug, "permissions": app.Permissions.granted(), "events": app.events(),
		"installations_count": len(app.installations)}
}

func (a *App) events() []string {
	if a.Events == nil {
		return []string{"issues", "issue_comment"}
	}
	return a.Events
}

func (g *GitHub) installationShape(app *App, in *installation) object {
	kind, page, chosen := "User", fmt.Sprintf("%s/settings/installations/%d", g.url, in.id), "all"
	if g.organizations[strings.ToLower(in.owner)] != nil {
		kind, page = "Organization", fmt.Sprintf("%s/organizations/%s/settings/installations/%d", g.url, in.owner, in.id)
	}
	if in.repos != nil {
		chosen = "selected"
	}
	o := object{"id": in.id, "account": g.userShape(in.owner), "repository_selection": chosen, "html_url": page,
		"app_id": app.ID, "app_slug": app.Slug, "target_type": kind, "permissions": in.permissions.granted(),
		"events": app.events(), "suspended_at": nil}
	if in.suspended {
		o["suspended_at"] = stamp(g.time())
	}
	return o
}

func (g *GitHub) listInstallations(r *request) answer {
	return page(g, r, r.token.app.installations, func(in *installation) object {
		return g.installationShape(r.token.app, in)
	})
}

func (g *GitHub) getInstallation(r *request) answer {
	return ok(g.installationShape(r.token.app, found(r.token.app.on(r.repo))))
}

func (g *GitHub) getInstallationByID(r *request) answer {
	return ok(g.installationShape(r.token.app, found(r.token.app.installation(r.number("id")))))
}

func (g *GitHub) createInstallationToken(r *request) answer {
	app := r.token.app
	in := found(app.installation(r.number("id")))
	if in.suspended {
		return failure(http.StatusForbidden, "This installation has been suspended")
	}
	var body *struct { // a pointer: ghinstallation sends null
		Repositories  []string    `json:"repositories"`
		RepositoryIDs []int64     `json:"repository_ids"`
		Permissions   Permissions `json:"permissions"`
	}
	if len(r.body) > 0 {
		r.decode(&body)
	}
	granted := in.permissions.granted()
	made := &token{Token: Token{Login: app.bot(), Kind: Installation, Permissions: in.permissions}, app: app, installation: in,
		ends: g.now().Add(time.Hour)}
	if body != nil && body.Permissions != nil {
		for name, level := range body.Permissions {
			if granted[name] != "write" && granted[name] != level {
				return unprocessable("The permissions requested are not granted to this installation.")
			}
		}
		granted, made.Permissions = body.Permissions, body.Permissions
	}
	o := object{"permissions": granted, "repository_selection": "all", "expires_at": stamp(made.ends)}
	if body != nil && (len(body.Repositories) > 0 || len(body.RepositoryIDs) > 0) {
		chosen := g.chosen(in, body.Repositories, body.RepositoryIDs)
		if chosen == nil {
			return unprocessable("There is at least one repository that does not exist or is not accessible to the parent " +
				"installation.")
		}
		made.repos = each(chosen, func(r *repo) string { return r.name })
		o["repository_selection"], o["repositories"] = "selected", each(chosen, g.ownShape)
	}
	value := "ghs_" + node("fake", g.id())
	g.tokens[value] = made
	o["token"] = value
	return created(o)
}

// chosen are the repositories that a token is asked to be for; nil when the installation has not all of them.
func (g *GitHub) chosen(in *installation, names []string, ids []int64) []*repo {
	found := those(g.reposOf(in), func(r *repo) bool { return named(names, r.name) || slices.Contains(ids, r.id) })
	if len(found) != len(names)+len(ids) {
		return nil
	}
	return found
}

// deleteInstallationToken revokes the token that it is asked with.
func (g *GitHub) deleteInstallationToken(r *request) answer {
	for value, t := range g.tokens {
		if t == r.token {
			delete(g.tokens, value)
		}
	}
	r.token.app.revoked++
	return answer{status: http.StatusNoContent}
}

func (g *GitHub) listInstallationRepositories(r *request) answer {
	all := slices.DeleteFunc(g.reposOf(found(r.token.installation)), func(one *repo) bool {
		return r.token.repos != nil && !named(r.token.repos, one.name)
	})
	return counted(page(g, r, all, g.ownShape), "repositories", len(all))
}

// getMembership says what someone is in an organization. Its owners are all that it has.
func (g *GitHub) getMembership(r *request) answer {
	if !named(g.organizations[strings.ToLower(r.parts["organization"])], r.parts["login"]) {
		return notFound()
	}
	return ok(object{"state": "active", "role": "admin", "user": g.userShape(r.parts["login"])})
}

// listUserRepositories are those of an installation to which someone was given access: public ones are not among them
// for everyone.
func (g *GitHub) listUserRepositories(r *request) answer {
	in := found(r.token.app.installation(r.number("id")))
	all := those(g.reposOf(in), func(one *repo) bool { return one.gives(r.token.Login) })
	return counted(page(g, r, all, func(one *repo) object {
		return g.withPermissions(g.repoShape(one, ""), one, r.token.Login)
	}), "repositories", len(all))
}

// withPermissions says what someone may do on a repository.
func (g *GitHub) withPermissions(o object, r *repo, login string) object {
	role := r.permissions[strings.ToLower(login)]
	if role == "" && !r.private {
		role = "read"
	}
	at := func(roles ...string) bool { return slices.Contains(roles, role) }
	o["permissions"] = object{
		"admin": at("admin"), "maintain": at("admin", "maintain"), "push": at("admin", "maintain", "write"),
		"triage": at("admin", "maintain", "write", "triage"),
		"pull":   at("admin", "maintain", "write", "triage", "read"),
	}
	return o
}
