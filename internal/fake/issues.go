package fake

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// mostCharacters is how long GitHub lets a comment or a description be.
const mostCharacters = 65536

func (g *GitHub) getIssue(r *request) answer {
	is := found(r.repo.find(r.number("number")))
	if is.movedTo != 0 {
		at := fmt.Sprintf("%s/issues/%d", g.repoAPI(r.repo), is.movedTo)
		return answer{status: http.StatusMovedPermanently, body: object{"message": "Moved Permanently", "url": at,
			"documentation_url": docsURL}, header: http.Header{"Location": {at}}}
	}
	return ok(g.issueShape(r.repo, is))
}

func (g *GitHub) listIssues(r *request) answer {
	r.onlyOpen()
	found := those(r.repo.issues, func(is *issue) bool { return !is.Closed && hasLabels(is, r.query.Get("labels")) })
	sortIssues(found, r.query.Get("direction"))
	return page(g, r, found, func(is *issue) object { return g.issueShape(r.repo, is) })
}

// onlyOpen reports a list of other issues or pull requests than the open ones, which ralph does not ask for.
func (r *request) onlyOpen() {
	if state := r.query.Get("state"); state != "" && state != "open" {
		r.problems = append(r.problems, "the double lists only what is open")
	}
}

// hasLabels reports whether an issue has every label of a comma-separated list.
func hasLabels(is *issue, list string) bool {
	for want := range strings.SplitSeq(list, ",") {
		want = strings.TrimSpace(want)
		if want != "" && !slices.ContainsFunc(is.Labels, func(l string) bool { return strings.EqualFold(l, want) }) {
			return false
		}
	}
	return true
}

// sortIssues orders by creation, newest first unless asked otherwise.
func sortIssues(list []*issue, direction string) {
	slices.SortFunc(list, func(a, b *issue) int {
		order := cmp.Or(a.CreatedAt.Compare(b.CreatedAt), a.Number-b.Number)
		if direction != "asc" {
			return -order
		}
		return order
	})
}

func (g *GitHub) listComments(r *request) answer {
	is := found(r.repo.find(r.number("number")))
	return page(g, r, is.comments, func(c *comment) object { return g.commentShape(r.repo, c) })
}

// textOf reads and checks the text of a comment.
func (r *request) textOf(resource string) string {
	var in struct{ Body string }
	r.decode(&in)
	if strings.TrimSpace(in.Body) == "" {
		panic(invalid(resource, "body", "missing_field", ""))
	}
	if utf8.RuneCountInString(in.Body) > mostCharacters {
		panic(invalid(resource, "data", "unprocessable", "Body is too long (maximum is 65536 characters)"))
	}
	return in.Body
}

func (g *GitHub) createComment(r *request) answer {
	is := found(r.repo.find(r.number("number")))
	body := r.textOf("IssueComment")
	c := g.comment(r.repo, is, Comment{Author: r.token.Login, Body: body})
	return created(g.commentShape(r.repo, c))
}

func (g *GitHub) getComment(r *request) answer {
	c := found(r.repo.findComment(r.number("id")))
	return ok(g.commentShape(r.repo, c))
}

func (g *GitHub) editComment(r *request) answer {
	c := found(r.repo.findComment(r.number("id")))
	g.edit(c, r.textOf("IssueComment"), r.token.Login)
	return ok(g.commentShape(r.repo, c))
}

func (g *GitHub) listEvents(r *request) answer {
	is := found(r.repo.find(r.number("number")))
	return page(g, r, is.events, func(e *LabelEvent) object { return g.eventShape(r.repo, e) })
}

func (g *GitHub) reactToIssue(r *request) answer {
	is := found(r.repo.find(r.number("number")))
	return g.react(r, &is.reactions)
}

func (g *GitHub) reactToComment(r *request) answer {
	c := found(r.repo.findComment(r.number("id")))
	return g.react(r, &c.Reactions)
}

// react adds a reaction once: the second time GitHub answers 200 with the first.
func (g *GitHub) react(r *request, to *[]Reaction) answer {
	var in struct{ Content string }
	r.decode(&in)
	for _, re := range *to {
		if re.Content == in.Content && re.User == r.token.Login {
			return ok(g.reactionShape(re))
		}
	}
	re := Reaction{ID: g.id(), User: r.token.Login, Content: in.Content, At: g.time()}
	*to = append(*to, re)
	return created(g.reactionShape(re))
}

func (g *GitHub) listLabels(r *request) answer {
	return page(g, r, r.repo.labels, labelShape)
}

func (g *GitHub) createLabel(r *request) answer {
	var in struct{ Name, Color, Description string }
	r.decode(&in)
	if named(r.repo.labels, in.Name) {
		return invalid("Label", "name", "already_exists", "")
	}
	return created(labelShape(g.repoLabel(r.repo, in.Name)))
}

func (g *GitHub) addLabels(r *request) answer {
	is := found(r.repo.find(r.number("number")))
	var names []string // as our client sends them; GitHub takes other forms as well
	r.decode(&names)
	for _, name := range names {
		g.label(r.repo, is, name, r.token.Login)
	}
	return ok(g.labelShapes(r.repo, is))
}

func (g *GitHub) removeLabel(r *request) answer {
	is := found(r.repo.find(r.number("number")))
	if !g.unlabel(r.repo, is, r.parts["name"], r.token.Login) {
		return failure(http.StatusNotFound, "Label does not exist")
	}
	return ok(g.labelShapes(r.repo, is))
}

// legacy maps a role to the permission that the collaborator-permission API gives for it.
var legacy = map[string]string{
	"admin": "admin", "maintain": "write", "write": "write", "triage": "read", "read": "read", "none": "none",
}

func (g *GitHub) getRepo(r *request) answer {
	o := g.repoShape(r.repo, "")
	if r.token.Kind == PAT || r.token.Kind == UserToServer {
		o = g.withPermissions(o, r.repo, r.token.Login)
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

// gives reports whether someone was given access.
func (r *repo) gives(login string) bool {
	role := r.permissions[strings.ToLower(login)]
	return role != "" && role != "none"
}

// isCollaborator says whether someone was given access, which everyone's reading of a public repository is not.
func (g *GitHub) isCollaborator(r *request) answer {
	if !r.repo.gives(r.parts["login"]) {
		return notFound()
	}
	return answer{status: http.StatusNoContent}
}

func (g *GitHub) getUser(r *request) answer {
	if r.token.Kind != PAT && r.token.Kind != UserToServer {
		return failure(http.StatusForbidden, "Resource not accessible by integration")
	}
	return ok(g.userShape(r.token.Login))
}

// worksHere reports whether someone has a role that can review.
func (r *repo) worksHere(login string) bool {
	return slices.Contains([]string{"admin", "maintain", "write", "triage"}, r.permissions[strings.ToLower(login)])
}

// requestReviewers asks people for a review. It is refused for all of them when it is for one: an author cannot review,
// nor can a stranger.
func (g *GitHub) requestReviewers(r *request) answer {
	is := found(g.findPull(r))
	var in struct {
		Reviewers     []string
		TeamReviewers []string `json:"team_reviewers"`
	}
	r.decode(&in)
	for _, login := range in.Reviewers {
		switch {
		case strings.EqualFold(login, is.Author):
			return unprocessable("Review cannot be requested from pull request author.")
		case !r.repo.worksHere(login):
			return unprocessable(fmt.Sprintf("Reviews may only be requested from collaborators. One or more of the users or "+
				"teams you specified is not a collaborator of the %s repository.", r.repo))
		}
	}
	for _, login := range in.Reviewers {
		if !named(is.pull.Requested, login) {
			is.pull.Requested, is.pull.Requests = append(is.pull.Requested, login), append(is.pull.Requests, login)
		}
	}
	return created(g.pullShape(r.repo, is))
}
