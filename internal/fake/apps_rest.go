package fake

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// wantsApp refuses every token but the App's own.
func wantsApp(r *request) *answer {
	if r.token.kind == appKind {
		return nil
	}
	a := failure(http.StatusUnauthorized, "A JSON web token could not be decoded")
	return &a
}

func (g *GitHub) getApp(r *request) answer {
	if refused := wantsApp(r); refused != nil {
		return *refused
	}
	return ok(g.ownAppShape(r.token.app))
}

func (g *GitHub) ownAppShape(app *App) object {
	at := stamp(g.time())
	return object{
		"id": app.ID, "slug": app.Slug, "node_id": node("A", app.ID), "owner": g.accountShape(app.Owner), "name": app.name,
		"description":  nil,
		"external_url": g.url, "html_url": g.url + "/apps/" + app.Slug, "created_at": at, "updated_at": at,
		"permissions": app.granted(), "events": app.events(), "installations_count": len(app.installations),
	}
}

// accountShape is someone, or an organization.
func (g *GitHub) accountShape(login string) object {
	o := g.userShape(login)
	if g.organisations[strings.ToLower(login)] != nil {
		o["type"] = "Organization"
	}
	return o
}

func (a *App) events() []string {
	if a.Events == nil {
		return []string{"issues", "issue_comment"}
	}
	return a.Events
}

func (g *GitHub) installationShape(app *App, in *installation) object {
	at := stamp(in.createdAt)
	api := fmt.Sprintf("%s/app/installations/%d", g.APIURL(), in.id)
	kind, page, chosen := "User", fmt.Sprintf("%s/settings/installations/%d", g.url, in.id), "all"
	if g.organisations[strings.ToLower(in.owner)] != nil {
		kind, page = "Organization", fmt.Sprintf("%s/organizations/%s/settings/installations/%d", g.url, in.owner, in.id)
	}
	if in.repos != nil {
		chosen = "selected"
	}
	o := object{
		"id": in.id, "account": g.accountShape(in.owner), "repository_selection": chosen,
		"access_tokens_url": api + "/access_tokens", "repositories_url": g.APIURL() + "/installation/repositories",
		"html_url": page, "app_id": app.ID, "app_slug": app.Slug, "target_id": g.user(in.owner).id, "target_type": kind,
		"permissions": grantedBy(in.permissions), "events": app.events(), "created_at": at, "updated_at": at,
		"single_file_name": nil, "suspended_by": nil, "suspended_at": nil,
	}
	if in.suspended {
		o["suspended_by"], o["suspended_at"] = g.userShape(in.owner), at
	}
	return o
}

func (g *GitHub) listInstallations(r *request) answer {
	if refused := wantsApp(r); refused != nil {
		return *refused
	}
	return page(g, r, r.token.app.installations, func(in *installation) object {
		return g.installationShape(r.token.app, in)
	})
}

func (g *GitHub) getInstallation(r *request) answer {
	if refused := wantsApp(r); refused != nil {
		return *refused
	}
	in := r.token.app.on(r.repo)
	if in == nil {
		return notFound()
	}
	return ok(g.installationShape(r.token.app, in))
}

func (g *GitHub) getInstallationByID(r *request) answer {
	if refused := wantsApp(r); refused != nil {
		return *refused
	}
	in := r.token.app.installation(r.number("id"))
	if in == nil {
		return notFound()
	}
	return ok(g.installationShape(r.token.app, in))
}

func (g *GitHub) createInstallationToken(r *request) answer {
	if refused := wantsApp(r); refused != nil {
		return *refused
	}
	app := r.token.app
	in := app.installation(r.number("id"))
	switch {
	case in == nil:
		return notFound()
	case in.suspended:
		return failure(http.StatusForbidden, "This installation has been suspended")
	}
	var body *struct { // a pointer: ghinstallation sends null
		Repositories  []string          `json:"repositories"`
		RepositoryIDs []int64           `json:"repository_ids"`
		Permissions   map[string]string `json:"permissions"`
	}
	if len(r.body) > 0 {
		if bad := r.decode(&body); bad != nil {
			return *bad
		}
	}
	granted := grantedBy(in.permissions)
	made := &token{login: app.bot(), kind: Installation, app: app, installation: in, permissions: in.permissions,
		ends: g.now().Add(time.Hour)}
	if body != nil && body.Permissions != nil {
		for name, level := range body.Permissions {
			if granted[name] != "write" && granted[name] != level {
				return unprocessable("The permissions requested are not granted to this installation.")
			}
		}
		granted, made.permissions = body.Permissions, fromNames(body.Permissions)
	}
	o := object{"permissions": granted, "repository_selection": "all", "expires_at": stamp(made.ends)}
	if body != nil && (len(body.Repositories) > 0 || len(body.RepositoryIDs) > 0) {
		chosen := g.chosen(in, body.Repositories, body.RepositoryIDs)
		if chosen == nil {
			return unprocessable("There is at least one repository that does not exist or is not accessible to the parent " +
				"installation.")
		}
		shapes := []object{}
		for _, r := range chosen {
			made.repos = append(made.repos, r.name)
			shapes = append(shapes, g.repoShape(r, ""))
		}
		o["repository_selection"], o["repositories"] = "selected", shapes
	}
	value := "ghs_" + node("fake", g.id())
	g.tokens[value] = made
	o["token"] = value
	return created(o)
}

// chosen are the repositories that a token is asked to be for; nil when the installation has not all of them.
func (g *GitHub) chosen(in *installation, names []string, ids []int64) []*repo {
	var found []*repo
	for _, r := range g.reposOf(in) {
		if named(names, r.name) || slices.Contains(ids, r.id) {
			found = append(found, r)
		}
	}
	if len(found) != len(names)+len(ids) {
		return nil
	}
	return found
}

// deleteInstallationToken revokes the token that it is asked with.
func (g *GitHub) deleteInstallationToken(r *request) answer {
	if r.token.kind != Installation {
		return failure(http.StatusForbidden, "Resource not accessible by this token")
	}
	for value, t := range g.tokens {
		if t == r.token {
			delete(g.tokens, value)
		}
	}
	r.token.app.revoked++
	return answer{status: http.StatusNoContent}
}

func (g *GitHub) listInstallationRepositories(r *request) answer {
	if r.token.kind != Installation || r.token.installation == nil {
		return failure(http.StatusForbidden, "Resource not accessible by this token")
	}
	all := g.reposOf(r.token.installation)
	if r.token.repos != nil {
		all = slices.DeleteFunc(all, func(one *repo) bool { return !named(r.token.repos, one.name) })
	}
	return counted(page(g, r, all, func(one *repo) object { return g.repoShape(one, "") }), "repositories", len(all))
}

func (g *GitHub) visible(in *installation, login string) []*repo {
	return slices.DeleteFunc(g.reposOf(in), func(r *repo) bool {
		role := r.permissions[strings.ToLower(login)]
		return role == "" || role == "none"
	})
}

// getMembership says what someone is in an organization. Its owners are all that it has.
func (g *GitHub) getMembership(r *request) answer {
	if !named(g.organisations[strings.ToLower(r.parts["organisation"])], r.parts["login"]) {
		return notFound()
	}
	name := r.parts["organisation"]
	at := g.APIURL() + "/orgs/" + name
	org := object{"login": name, "id": g.user(name).id, "node_id": node("O", g.user(name).id), "url": at, "avatar_url": g.url,
		"description": nil}
	for _, part := range []string{"repos", "events", "hooks", "issues", "members", "public_members"} {
		org[part+"_url"] = at + "/" + part
	}
	return ok(object{"url": at + "/memberships/" + r.parts["login"], "organization_url": at, "state": "active",
		"role": "admin", "organization": org, "user": g.userShape(r.parts["login"])})
}

// listUserRepositories are those of an installation to which someone was given access: public ones are not among them
// for everyone.
func (g *GitHub) listUserRepositories(r *request) answer {
	if r.token.kind != UserToServer {
		return failure(http.StatusForbidden, "You must authenticate with an access token authorized to a GitHub App in "+
			"order to list repositories")
	}
	in := r.token.app.installation(r.number("id"))
	if in == nil {
		return notFound()
	}
	all := g.visible(in, r.token.login)
	return counted(page(g, r, all, func(one *repo) object {
		return g.withPermissions(g.repoShape(one, ""), one, r.token.login)
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
