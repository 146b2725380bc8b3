package fake

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Permissions are what a token may do, by area: "" for nothing, "read" or "write". What is public can be read without
// any.
type Permissions struct {
	Actions, Administration, Checks, Contents, Issues, Members, PullRequests, Secrets, Statuses, Workflows string
}

// byName are the permissions under GitHub's names.
func (p Permissions) byName() map[string]string {
	return map[string]string{
		"actions": p.Actions, "administration": p.Administration, "checks": p.Checks, "contents": p.Contents,
		"issues": p.Issues, "members": p.Members,
		"metadata": "read", "pull_requests": p.PullRequests, "secrets": p.Secrets, "statuses": p.Statuses,
		"workflows": p.Workflows,
	}
}

// fromNames is the other way round.
func fromNames(names map[string]string) *Permissions {
	return &Permissions{
		Actions: names["actions"], Administration: names["administration"], Checks: names["checks"],
		Contents: names["contents"], Members: names["members"],
		Issues: names["issues"], PullRequests: names["pull_requests"], Secrets: names["secrets"],
		Statuses:  names["statuses"],
		Workflows: names["workflows"],
	}
}

// granted are the permissions that are not empty, under GitHub's names.
func (p Permissions) granted() map[string]string {
	names := p.byName()
	for name, level := range names {
		if level == "" {
			delete(names, name)
		}
	}
	return names
}

// Token is a token that may less than everything, or is of a kind that GitHub treats in its own way.
type Token struct {
	Value, Login string
	Kind         TokenKind
	// Permissions are those of GITHUB_TOKEN, of an installation or of a fine-grained personal token; nil for all of them.
	Permissions *Permissions
	// Scopes make it a classic personal token, which may write with the scope repo or public_repo alone.
	Scopes []string
	// SSO is the address at which the token has to be let into an organization first; empty when it is.
	SSO string
}

// AddLimitedToken lets a token in. Its login is github-actions[bot] when none is given and it is of the kind Actions.
func (g *GitHub) AddLimitedToken(t Token) {
	g.AddToken(t.Value, t.Login, t.Kind)
	g.mu.Lock()
	defer g.mu.Unlock()
	added := g.tokens[t.Value]
	added.permissions, added.scopes, added.sso = t.Permissions, t.Scopes, t.SSO
}

func (t *token) classic() bool { return t.scopes != nil }

// may reports whether a token has what an operation needs: "issues=write; pull_requests=write" is one of the two.
func (t *token) may(needs string) bool {
	if t.permissions == nil || needs == "" {
		return true
	}
	has := t.permissions.byName()
	for alternative := range strings.SplitSeq(needs, "; ") {
		enough := true
		for need := range strings.SplitSeq(alternative, ",") {
			name, level, _ := strings.Cut(need, "=")
			enough = enough && (has[name] == "write" || (has[name] == "read" && level == "read"))
		}
		if enough {
			return true
		}
	}
	return false
}

// forbidden is GitHub's 403 to a token that lacks a permission.
func (t *token) forbidden() answer {
	if t.kind == PAT {
		return failure(http.StatusForbidden, "Resource not accessible by personal access token")
	}
	return failure(http.StatusForbidden, "Resource not accessible by integration")
}

// settings are what only an administrator may read, however public the repository is.
var settings = []string{"administration=read", "secrets=read"}

// permit judges whether a token may do what a route does; nil when it may. Callers hold the lock.
func (g *GitHub) permit(rt *route, r *request) *answer {
	t, refused := r.token, answer{}
	reading := rt.method == http.MethodGet
	switch {
	case t.sso != "" && r.repo != nil:
		refused = failure(http.StatusForbidden, "Resource protected by organization SAML enforcement. "+
			"You must grant your Personal Access token access to this organization.")
		refused.header = http.Header{"X-Github-Sso": {"required; url=" + t.sso}}
	case t.classic() && !reading && !slices.Contains(t.scopes, "repo") && !slices.Contains(t.scopes, "public_repo"):
		refused = notFound()
		refused.header = http.Header{"X-Accepted-Oauth-Scopes": {"public_repo, repo"}}
	case slices.Contains(settings, rt.needs) && t.kind == PAT && r.repo.permissions[strings.ToLower(t.login)] != "admin":
		refused = failure(http.StatusForbidden, "Must have admin rights to Repository.")
	case reading && !slices.Contains(settings, rt.needs) && r.repo != nil && !r.repo.private:
		return nil
	case !t.may(rt.needs):
		refused = t.forbidden()
	default:
		return nil
	}
	return &refused
}

// announce sends the headers that tell what a token can do and what was needed.
func (t *token) announce(h http.Header, needs string) {
	if t.classic() {
		h.Set("X-OAuth-Scopes", strings.Join(t.scopes, ", "))
		return
	}
	if needs != "" {
		h.Set("X-Accepted-GitHub-Permissions", needs)
	}
}

// mayPush is GitHub's refusal of a push; empty when the token may.
func (t *token) mayPush(r *repo) string {
	if t.may("contents=write") && (!t.classic() || slices.Contains(t.scopes, "repo") ||
		slices.Contains(t.scopes, "public_repo")) {
		return ""
	}
	return fmt.Sprintf("Permission to %s.git denied to %s.", r, t.login)
}
