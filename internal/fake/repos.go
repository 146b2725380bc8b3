package fake

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// legacy maps a role to the permission that the collaborator-permission API gives for it.
var legacy = map[string]string{
	"admin": "admin", "maintain": "write", "write": "write", "triage": "read", "read": "read", "none": "none",
}

func (g *GitHub) getRepo(r *request) answer {
	o := g.repoShape(r.repo, "")
	for _, key := range []string{"subscribers_count", "network_count"} {
		o[key] = 0
	}
	return ok(o)
}

func (g *GitHub) getPermission(r *request) answer {
	login := strings.ToLower(r.parts["login"])
	role, set := r.repo.permissions[login]
	u := g.users[login]
	if u == nil || (u.bot && !set) {
		return failure(http.StatusNotFound, r.parts["login"]+" is not a user")
	}
	if !set {
		role = "read" // the repository is public
	}
	return ok(object{"permission": legacy[role], "role_name": role, "user": g.userShape(u.login)})
}

func (g *GitHub) getUser(r *request) answer {
	if r.token.kind != PAT {
		return failure(http.StatusForbidden, "Resource not accessible by integration")
	}
	o := g.userShape(r.token.login)
	at := stamp(g.time())
	for key, value := range (object{
		"name": nil, "company": nil, "blog": "", "location": nil, "email": nil, "hireable": nil, "bio": nil,
		"twitter_username": nil,
		"public_repos":     1, "public_gists": 0, "followers": 0, "following": 0, "created_at": at, "updated_at": at,
		"private_gists":       0,
		"total_private_repos": 0, "owned_private_repos": 0, "disk_usage": 0, "collaborators": 0,
		"two_factor_authentication": true,
	}) {
		o[key] = value
	}
	return ok(o)
}

// everything is what an App has when a test says nothing of it.
var everything = Permissions{
	Actions: "write", Administration: "read", Checks: "write", Contents: "write", Issues: "write", PullRequests: "write",
	Secrets:  "read",
	Statuses: "write", Workflows: "write",
}

func (a *App) granted() map[string]string {
	if a.Permissions == nil {
		return everything.granted()
	}
	return a.Permissions.granted()
}

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
	app, at := r.token.app, stamp(g.time())
	return ok(object{
		"id": app.ID, "slug": app.Slug, "node_id": node("A", app.ID), "owner": g.userShape(app.Owner), "name": app.Slug,
		"description":  nil,
		"external_url": g.url, "html_url": g.url + "/apps/" + app.Slug, "created_at": at, "updated_at": at,
		"permissions": app.granted(), "events": []string{"issues", "issue_comment"}, "installations_count": 1,
	})
}

func (g *GitHub) getInstallation(r *request) answer {
	if refused := wantsApp(r); refused != nil {
		return *refused
	}
	app := r.token.app
	if !strings.EqualFold(app.Owner, r.repo.owner) {
		return notFound()
	}
	at := stamp(g.time())
	api := fmt.Sprintf("%s/app/installations/%d", g.APIURL(), app.InstallationID)
	return ok(object{
		"id": app.InstallationID, "account": g.userShape(app.Owner), "repository_selection": "all",
		"access_tokens_url": api + "/access_tokens", "repositories_url": g.APIURL() + "/installation/repositories",
		"html_url": g.url + "/settings/installations", "app_id": app.ID, "app_slug": app.Slug,
		"target_id":   g.user(app.Owner).id,
		"target_type": "User", "permissions": app.granted(), "events": []string{"issues", "issue_comment"}, "created_at": at,
		"updated_at": at, "single_file_name": nil, "suspended_by": nil, "suspended_at": nil,
	})
}

func (g *GitHub) createInstallationToken(r *request) answer {
	if refused := wantsApp(r); refused != nil {
		return *refused
	}
	app := r.token.app
	if r.number("id") != app.InstallationID {
		return notFound()
	}
	var in *struct { // a pointer: ghinstallation sends null
		Repositories  []string          `json:"repositories"`
		RepositoryIDs []int64           `json:"repository_ids"`
		Permissions   map[string]string `json:"permissions"`
	}
	granted := app.granted()
	if len(r.body) > 0 {
		if bad := r.decode(&in); bad != nil {
			return *bad
		}
	}
	limits := app.Permissions
	if in != nil && in.Permissions != nil {
		for name, level := range in.Permissions {
			if granted[name] != "write" && granted[name] != level {
				return unprocessable("The permissions requested are not granted to this installation.")
			}
		}
		granted, limits = in.Permissions, fromNames(in.Permissions)
	}
	value := "ghs_" + node("fake", g.id())
	g.tokens[value] = &token{login: app.bot(), kind: Installation, app: app, permissions: limits}
	return created(object{
		"token": value, "expires_at": stamp(g.now().Add(time.Hour)), "permissions": granted, "repository_selection": "all",
	})
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
