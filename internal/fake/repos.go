package fake

import (
	"net/http"
	"strings"
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
	if r.token.kind == PAT || r.token.kind == UserToServer {
		o = g.withPermissions(o, r.repo, r.token.login)
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
		role = "read" // as everyone has on a public repository
		if r.repo.private {
			role = "none"
		}
	}
	return ok(object{"permission": legacy[role], "role_name": role, "user": g.userShape(u.login)})
}

// isCollaborator says whether someone was given access, which everyone's reading of a public repository is not.
func (g *GitHub) isCollaborator(r *request) answer {
	if role := r.repo.permissions[strings.ToLower(r.parts["login"])]; role == "" || role == "none" {
		return notFound()
	}
	return answer{status: http.StatusNoContent}
}

func (g *GitHub) getUser(r *request) answer {
	if r.token.kind != PAT && r.token.kind != UserToServer {
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
