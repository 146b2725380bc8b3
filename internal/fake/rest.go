package fake

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// route is one operation of REST. Its handler runs under the lock.
type route struct {
	method, pattern string // {name} is one part of the path, {name...} as many as there can be
	needs           string // the permissions, as in X-Accepted-GitHub-Permissions; or one of those below
	handle          func(*GitHub, *request) answer
}

// The needs of routes for which permissions do not count.
const (
	openToAll = "all" // the request has another proof
	appOnly   = "app" // the App itself, by its JSON web token
)

// routes are all operations of REST, and GraphQL. If two patterns match, the first one counts.
var routes = sync.OnceValue(func() []route {
	const (
		repo    = "/repos/{owner}/{repo}"
		issue   = repo + "/issues/{number}"
		pull    = repo + "/pulls/{number}"
		actions = repo + "/actions"

		talkRead  = "issues=read; pull_requests=read"
		talkWrite = "issues=write; pull_requests=write"
	)
	return []route{
		{"POST", "/graphql", "", (*GitHub).graphql},
		{"GET", "/user", "", (*GitHub).getUser},
		{"GET", "/user/installations/{id}/repositories", "", (*GitHub).listUserRepositories},
		{"GET", "/orgs/{organization}/memberships/{login}", "members=read", (*GitHub).getMembership},
		{"GET", repo, "metadata=read", (*GitHub).getRepo},
		{"GET", repo + "/collaborators/{login}", "metadata=read", (*GitHub).isCollaborator},
		{"GET", repo + "/collaborators/{login}/permission", "metadata=read", (*GitHub).getPermission},

		{"GET", "/app", appOnly, (*GitHub).getApp},
		{"GET", "/app/installations", appOnly, (*GitHub).listInstallations},
		{"GET", "/app/installations/{id}", appOnly, (*GitHub).getInstallationByID},
		{"POST", "/app/installations/{id}/access_tokens", appOnly, (*GitHub).createInstallationToken},
		{"GET", "/app/hook/config", appOnly, (*GitHub).getHookConfig},
		{"PATCH", "/app/hook/config", appOnly, (*GitHub).editHookConfig},
		{"GET", "/app/hook/deliveries", appOnly, (*GitHub).listDeliveries},
		{"POST", "/app/hook/deliveries/{id}/attempts", appOnly, (*GitHub).redeliver},
		{"POST", "/app-manifests/{code}/conversions", openToAll, (*GitHub).convertManifest},
		{"GET", "/installation/repositories", "metadata=read", (*GitHub).listInstallationRepositories},
		{"DELETE", "/installation/token", "", (*GitHub).deleteInstallationToken},
		{"GET", repo + "/installation", appOnly, (*GitHub).getInstallation},

		{"GET", actions + "/permissions", "administration=read", (*GitHub).getActionsPermissions},
		{"GET", actions + "/permissions/workflow", "administration=read", (*GitHub).getWorkflowPermissions},
		{"GET", actions + "/secrets", "secrets=read", (*GitHub).listSecrets},
		{"GET", actions + "/organization-secrets", "secrets=read", (*GitHub).listOrganizationSecrets},
		{"GET", repo + "/branches/{branch...}/protection", "administration=read", (*GitHub).getProtection},
		{"GET", repo + "/rules/branches/{branch...}", "metadata=read", (*GitHub).listRules},
		{"GET", repo + "/rulesets/{ruleset}", "metadata=read", (*GitHub).getRuleset},

		{"GET", repo + "/issues", talkRead, (*GitHub).listIssues},
		{"GET", repo + "/issues/comments/{id}", talkRead, (*GitHub).getComment},
		{"PATCH", repo + "/issues/comments/{id}", talkWrite, (*GitHub).editComment},
		{"POST", repo + "/issues/comments/{id}/reactions", talkWrite, (*GitHub).reactToComment},
		{"GET", issue, talkRead, (*GitHub).getIssue},
		{"GET", issue + "/comments", talkRead, (*GitHub).listComments},
		{"POST", issue + "/comments", talkWrite, (*GitHub).createComment},
		{"GET", issue + "/events", talkRead, (*GitHub).listEvents},
		{"POST", issue + "/reactions", talkWrite, (*GitHub).reactToIssue},
		{"POST", issue + "/labels", talkWrite, (*GitHub).addLabels},
		{"DELETE", issue + "/labels/{name}", talkWrite, (*GitHub).removeLabel},
		{"GET", repo + "/labels", talkRead, (*GitHub).listLabels},
		{"POST", repo + "/labels", talkWrite, (*GitHub).createLabel},

		{"GET", repo + "/pulls", "pull_requests=read", (*GitHub).listPulls},
		{"POST", repo + "/pulls", "pull_requests=write", (*GitHub).createPull},
		{"GET", pull, "pull_requests=read", (*GitHub).getPull},
		{"PATCH", pull, "pull_requests=write", (*GitHub).editPull},
		{"POST", pull + "/requested_reviewers", "pull_requests=write", (*GitHub).requestReviewers},
		{"GET", pull + "/reviews", "pull_requests=read", (*GitHub).listReviews},
		{"GET", pull + "/reviews/{id}", "pull_requests=read", (*GitHub).getReview},
		{"GET", pull + "/comments", "pull_requests=read", (*GitHub).listPullComments},
		{"POST", pull + "/comments/{id}/replies", "pull_requests=write", (*GitHub).replyToReviewComment},
		{"GET", repo + "/pulls/comments/{id}", "pull_requests=read", (*GitHub).getReviewComment},
		{"POST", repo + "/pulls/comments/{id}/reactions", "pull_requests=write", (*GitHub).reactToReviewComment},

		{"GET", repo + "/git/ref/{ref...}", "contents=read", (*GitHub).getRef},
		{"POST", repo + "/git/refs", "contents=write", (*GitHub).createRef},
		{"GET", repo + "/contents/{path...}", "contents=read", (*GitHub).getContents},
		{"PUT", repo + "/contents/{path...}", "contents=write", (*GitHub).putContents},

		{"POST", repo + "/check-runs", "checks=write", (*GitHub).createCheckRun},
		{"PATCH", repo + "/check-runs/{id}", "checks=write", (*GitHub).editCheckRun},
		{"GET", repo + "/check-runs/{id}", "checks=read", (*GitHub).getCheckRun},
		{"GET", repo + "/check-suites/{id}", "checks=read", (*GitHub).getCheckSuite},
		{"GET", repo + "/check-runs/{id}/annotations", "checks=read", (*GitHub).listAnnotations},
		{"GET", repo + "/commits/{ref...}/check-runs", "checks=read", (*GitHub).listCheckRuns},
		{"GET", repo + "/commits/{ref...}/status", "statuses=read", (*GitHub).getCombinedStatus},
		{"POST", repo + "/statuses/{sha}", "statuses=write", (*GitHub).createStatus},
		{"GET", actions + "/jobs/{id}/logs", "actions=read", (*GitHub).getJobLog},
		{"POST", actions + "/workflows/{workflow}/dispatches", "actions=write", (*GitHub).dispatchWorkflow},
	}
})

// request is one REST request on its way to a handler.
type request struct {
	*http.Request
	parts    map[string]string // from the path
	query    url.Values
	body     []byte
	token    *token
	repo     *repo    // when the path names one
	problems []string // with the request
}

// rest serves one request of REST or GraphQL.
func (g *GitHub) rest(w http.ResponseWriter, r *http.Request) {
	path := shortPath(r)
	found, parts := match(r.Method, path)
	if found == nil {
		g.problem("%s %s: no such route", r.Method, path)
		write(w, notFound())
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil { // the client is gone
		write(w, failure(http.StatusBadRequest, "Problems reading the body"))
		return
	}
	req := &request{Request: r, parts: parts, query: r.URL.Query(), body: body, token: &token{}}
	a := g.handle(found, req)
	for _, odd := range req.problems {
		g.problem("%s %s: %s", r.Method, path, odd)
	}
	req.token.announce(w.Header(), found.needs)
	write(w, a)
}

// handle answers a request that the token is allowed to make. What panics with an answer answers with that.
func (g *GitHub) handle(rt *route, r *request) (a answer) {
	defer g.lock()()
	defer func() {
		switch p := recover().(type) {
		case nil:
		case answer:
			a = p
		default:
			panic(p)
		}
	}()
	if rt.needs != openToAll {
		r.token = g.identify(r.Request)
	}
	if owner, named := r.parts["owner"]; named {
		if r.repo = g.repos[strings.ToLower(owner+"/"+r.parts["repo"])]; r.repo == nil {
			if r.parts["repo"] != ".github" { // which every owner can have, and most do not
				r.problems = append(r.problems, "no such repository")
			}
			return notFound()
		}
		if refused := g.unreachable(r.token, r.repo, rt.method != http.MethodGet); refused != nil {
			return *refused
		}
	}
	g.permit(rt, r)
	return rt.handle(g, r)
}

var placeholder = regexp.MustCompile(`\{(\w+)(\.\.\.)?\}`)

// paths are the patterns of the routes as regular expressions.
var paths = sync.OnceValue(func() (all []*regexp.Regexp) {
	for _, rt := range routes() {
		all = append(all, regexp.MustCompile("^"+placeholder.ReplaceAllStringFunc(rt.pattern, func(p string) string {
			m := placeholder.FindStringSubmatch(p)
			return "(?P<" + m[1] + ">" + map[string]string{"": "[^/]+", "...": ".+"}[m[2]] + ")"
		})+"$"))
	}
	return all
})

// match finds the route of a path.
func match(method, escaped string) (found *route, parts map[string]string) {
	for i, rt := range routes() {
		path := paths()[i]
		m := path.FindStringSubmatch(escaped)
		if m == nil || rt.method != method {
			continue
		}
		parts = map[string]string{}
		for i, name := range path.SubexpNames() {
			parts[name], _ = url.PathUnescape(m[i]) // package http has read the path
		}
		return &rt, parts
	}
	return nil, nil
}

// found is v; GitHub answers 404 when it does not exist.
func found[T any](v *T) *T {
	if v == nil {
		panic(notFound())
	}
	return v
}

// decode reads the body into a struct that names every field GitHub knows. When it cannot, that is a problem and the
// answer is GitHub's.
func (r *request) decode(into any) {
	d := json.NewDecoder(bytes.NewReader(r.body))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil && d.Decode(new(any)) != io.EOF {
		err = errors.New("something follows the JSON value")
	}
	if err != nil {
		r.problems = append(r.problems, "bad request body: "+err.Error())
		panic(failure(http.StatusBadRequest, "Problems parsing JSON"))
	}
}

// number reads a numeric part of the path; 0, which nothing has, when it is not a number.
func (r *request) number(part string) int64 {
	n, _ := strconv.ParseInt(r.parts[part], 10, 64)
	return n
}

const docsURL = "https://docs.github.com/rest"

// object is a JSON object.
type object = map[string]any

// answer is what a handler says.
type answer struct {
	status int
	body   any
	header http.Header
}

func ok(body any) answer { return answer{status: http.StatusOK, body: body} }

func created(body any) answer { return answer{status: http.StatusCreated, body: body} }

func failure(status int, message string) answer {
	return answer{status: status, body: object{"message": message, "documentation_url": docsURL,
		"status": strconv.Itoa(status)}}
}

func notFound() answer { return failure(http.StatusNotFound, "Not Found") }

// invalid is GitHub's 422: which field of which resource is wrong, and how.
func invalid(resource, field, code, message string) answer {
	e := object{"resource": resource, "code": code}
	if field != "" {
		e["field"] = field
	}
	if message != "" {
		e["message"] = message
	}
	return answer{status: http.StatusUnprocessableEntity, body: object{
		"message": "Validation Failed", "errors": []object{e}, "documentation_url": docsURL, "status": "422",
	}}
}

// unprocessable is GitHub's 422 in one sentence.
func unprocessable(message string) answer { return failure(http.StatusUnprocessableEntity, message) }

// counted puts a page of a list into an object with the number of all.
func counted(a answer, key string, total int) answer {
	a.body = object{"total_count": total, key: a.body}
	return a
}

// write sends an answer with the headers that every answer of GitHub's has.
func write(w http.ResponseWriter, a answer) {
	h := w.Header()
	h.Set("X-GitHub-Media-Type", "github.v3; format=json")
	h.Set("X-RateLimit-Limit", "5000")
	h.Set("X-RateLimit-Remaining", "4999")
	h.Set("X-RateLimit-Used", "1")
	h.Set("X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10))
	h.Set("X-RateLimit-Resource", "core")
	for key, values := range a.header {
		h[key] = values
	}
	if a.body == nil {
		w.WriteHeader(a.status)
		return
	}
	raw, err := json.Marshal(a.body)
	if err != nil { // only maps, slices and plain values come here
		panic(err)
	}
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(raw)))
	w.WriteHeader(a.status)
	_, _ = w.Write(raw) // the client may be gone
}

// page answers with one page of all, and the Link header that leads to the others.
func page[T any](g *GitHub, r *request, all []T, shape func(T) object) answer {
	size, number := 30, 1
	for key, into := range map[string]*int{"per_page": &size, "page": &number} {
		if n, err := strconv.Atoi(r.query.Get(key)); err == nil && n > 0 {
			*into = n
		}
	}
	size = min(size, 100)
	last := max(1, (len(all)+size-1)/size)
	from, to := min((number-1)*size, len(all)), min(number*size, len(all))
	header := http.Header{}
	link := func(rel string, n int) string {
		q := maps.Clone(r.query)
		q.Set("page", strconv.Itoa(n))
		return fmt.Sprintf(`<%s%s?%s>; rel="%s"`, g.APIURL(), shortPath(r.Request), q.Encode(), rel)
	}
	if number < last {
		header.Set("Link", link("next", number+1)+", "+link("last", last))
	}
	return answer{status: http.StatusOK, body: each(all[from:to], shape), header: header}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
