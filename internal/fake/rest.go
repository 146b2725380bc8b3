package fake

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// route is one operation of REST. Its handler runs under the lock.
type route struct {
	method, pattern string // {name} is one part of the path, {name...} as many as there can be
	needs           string // the permissions, as in X-Accepted-GitHub-Permissions; or nobody or appOnly
	handle          func(*GitHub, *request) answer
}

const repoPath = "/repos/{owner}/{repo}"

// routes are all operations; of two whose patterns match, the first one counts.
var routes = sync.OnceValue(func() []route {
	return slices.Concat(accountRoutes(), appRoutes(), settingRoutes(), issueRoutes(), labelRoutes(), pullRoutes(),
		reviewRoutes(),
		gitRoutes(),
		contentRoutes(), checkRunRoutes(), statusRoutes(), runRoutes())
})

// request is one REST request on its way to a handler.
type request struct {
	*http.Request
	parts   map[string]string // from the path
	query   url.Values
	body    []byte
	token   *token
	repo    *repo    // when the path names one
	oddBody []string // what was wrong with the body
}

// rest serves one REST request.
func (g *GitHub) rest(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.EscapedPath(), "/api/v3")
	found, parts, known := match(r.Method, path)
	switch {
	case !known:
		g.problem("%s %s: no such route", r.Method, path)
		write(w, notFound())
		return
	case found == nil:
		g.problem("%s %s: the route does not take this method", r.Method, path)
		write(w, notFound())
		return
	}
	t := &token{}
	if found.needs != nobody {
		var refused *answer
		if t, refused = g.identify(r); refused != nil {
			write(w, *refused)
			return
		}
		t.announce(w.Header(), found.needs)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil { // the client went away
		write(w, failure(http.StatusBadRequest, "Problems reading the body"))
		return
	}
	req := &request{Request: r, parts: parts, query: r.URL.Query(), body: body, token: t}
	g.mu.Lock()
	if owner, ok := parts["owner"]; ok {
		req.repo = g.repos[strings.ToLower(owner+"/"+parts["repo"])]
	}
	_, named := parts["owner"]
	if named && req.repo == nil {
		g.mu.Unlock()
		if parts["repo"] != ".github" { // which every owner may have, and most have not
			g.problem("%s %s: no such repository", r.Method, path)
		}
		write(w, notFound())
		return
	}
	a := g.handle(found, req)
	for _, odd := range req.oddBody {
		g.problems = append(g.problems, fmt.Sprintf("%s %s: %s", r.Method, path, odd))
	}
	g.mu.Unlock()
	write(w, a)
}

// handle lets a route answer whom it may. A handler that panics with an answer answers with that. Callers hold the lock.
func (g *GitHub) handle(rt *route, r *request) (a answer) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case answer:
			a = p
		default:
			panic(p)
		}
	}()
	if rt.needs != nobody && r.repo != nil {
		if refused := g.unreachable(r.token, r.repo, rt.method != http.MethodGet); refused != nil {
			return *refused
		}
	}
	if refused := g.permit(rt, r); refused != nil {
		return *refused
	}
	return rt.handle(g, r)
}

// match finds the route of a path; known is whether the path exists with any method.
func match(method, escaped string) (found *route, parts map[string]string, known bool) {
	for _, rt := range routes() {
		values, ok := matchPattern(strings.Split(rt.pattern, "/"), strings.Split(escaped, "/"))
		if !ok {
			continue
		}
		known = true
		if rt.method == method {
			return &rt, values, true
		}
	}
	return nil, nil, known
}

func matchPattern(pattern, path []string) (map[string]string, bool) {
	values := map[string]string{}
	for i, p := range pattern {
		name, isVar := strings.CutPrefix(p, "{")
		name, rest := strings.CutSuffix(strings.TrimSuffix(name, "}"), "...")
		if rest { // takes all but what the pattern has after it
			after := len(path) - (len(pattern) - i - 1)
			if after <= i {
				return nil, false
			}
			path = append(append(slices.Clone(path[:i]), strings.Join(path[i:after], "/")), path[after:]...)
		}
		if i >= len(path) || (path[i] == "" && i > 0) || (!isVar && path[i] != p) {
			return nil, false
		}
		if !isVar {
			continue
		}
		plain, err := url.PathUnescape(path[i])
		if err != nil {
			return nil, false
		}
		values[name] = plain
	}
	return values, len(pattern) == len(path)
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
		r.oddBody = append(r.oddBody, "bad request body: "+err.Error())
		panic(failure(http.StatusBadRequest, "Problems parsing JSON"))
	}
}

// number reads a numeric part of the path; 0, which nothing has, when it is not a number.
func (r *request) number(part string) int64 {
	n, err := strconv.ParseInt(r.parts[part], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

const (
	talkRead  = "issues=read; pull_requests=read"
	talkWrite = "issues=write; pull_requests=write"
)

// The needs of routes for which permissions do not count.
const (
	nobody  = "nobody" // lets everyone in: the request has another proof
	appOnly = "app"    // the App itself, by its JSON web token
)

func accountRoutes() []route {
	return []route{
		{"GET", "/user", "", (*GitHub).getUser},
		{"GET", "/user/installations/{id}/repositories", "", (*GitHub).listUserRepositories},
		{"GET", "/rate_limit", "", (*GitHub).getRateLimit},
		{"GET", repoPath, "metadata=read", (*GitHub).getRepo},
		{"GET", "/orgs/{organisation}/memberships/{login}", "members=read", (*GitHub).getMembership},
		{"GET", repoPath + "/collaborators/{login}", "metadata=read", (*GitHub).isCollaborator},
		{"GET", repoPath + "/collaborators/{login}/permission", "metadata=read", (*GitHub).getPermission},
	}
}

func appRoutes() []route {
	return []route{
		{"GET", "/app", appOnly, (*GitHub).getApp},
		{"GET", "/app/installations", appOnly, (*GitHub).listInstallations},
		{"GET", "/app/installations/{id}", appOnly, (*GitHub).getInstallationByID},
		{"POST", "/app/installations/{id}/access_tokens", appOnly, (*GitHub).createInstallationToken},
		{"GET", "/app/hook/config", appOnly, (*GitHub).getHookConfig},
		{"PATCH", "/app/hook/config", appOnly, (*GitHub).editHookConfig},
		{"GET", "/app/hook/deliveries", appOnly, (*GitHub).listDeliveries},
		{"POST", "/app/hook/deliveries/{id}/attempts", appOnly, (*GitHub).redeliver},
		{"POST", "/app-manifests/{code}/conversions", nobody, (*GitHub).convertManifest},
		{"GET", "/installation/repositories", "metadata=read", (*GitHub).listInstallationRepositories},
		{"DELETE", "/installation/token", "", (*GitHub).deleteInstallationToken},
		{"GET", repoPath + "/installation", appOnly, (*GitHub).getInstallation},
	}
}

func issueRoutes() []route {
	return []route{
		{"GET", repoPath + "/issues", talkRead, (*GitHub).listIssues},
		{"GET", repoPath + "/issues/comments/{id}", talkRead, (*GitHub).getComment},
		{"PATCH", repoPath + "/issues/comments/{id}", talkWrite, (*GitHub).editComment},
		{"POST", repoPath + "/issues/comments/{id}/reactions", talkWrite, (*GitHub).reactToComment},
		{"GET", repoPath + "/issues/{number}", talkRead, (*GitHub).getIssue},
		{"GET", repoPath + "/issues/{number}/comments", talkRead, (*GitHub).listComments},
		{"POST", repoPath + "/issues/{number}/comments", talkWrite, (*GitHub).createComment},
		{"GET", repoPath + "/issues/{number}/events", talkRead, (*GitHub).listEvents},
		{"POST", repoPath + "/issues/{number}/reactions", talkWrite, (*GitHub).reactToIssue},
	}
}

func labelRoutes() []route {
	return []route{
		{"POST", repoPath + "/issues/{number}/labels", talkWrite, (*GitHub).addLabels},
		{"DELETE", repoPath + "/issues/{number}/labels/{name}", talkWrite, (*GitHub).removeLabel},
		{"GET", repoPath + "/labels", talkRead, (*GitHub).listLabels},
		{"POST", repoPath + "/labels", talkWrite, (*GitHub).createLabel},
	}
}

func pullRoutes() []route {
	return []route{
		{"GET", repoPath + "/pulls", "pull_requests=read", (*GitHub).listPulls},
		{"POST", repoPath + "/pulls", "pull_requests=write", (*GitHub).createPull},
		{"GET", repoPath + "/pulls/{number}", "pull_requests=read", (*GitHub).getPull},
		{"PATCH", repoPath + "/pulls/{number}", "pull_requests=write", (*GitHub).editPull},
		{"POST", repoPath + "/pulls/{number}/requested_reviewers", "pull_requests=write", (*GitHub).requestReviewers},
	}
}

func reviewRoutes() []route {
	const read, write = "pull_requests=read", "pull_requests=write"
	pull := repoPath + "/pulls/{number}"
	return []route{
		{"GET", pull + "/reviews", read, (*GitHub).listReviews},
		{"GET", pull + "/reviews/{id}", read, (*GitHub).getReview},
		{"GET", pull + "/comments", read, (*GitHub).listPullComments},
		{"POST", pull + "/comments/{id}/replies", write, (*GitHub).replyToReviewComment},
		{"GET", repoPath + "/pulls/comments/{id}", read, (*GitHub).getReviewComment},
		{"POST", repoPath + "/pulls/comments/{id}/reactions", write, (*GitHub).reactToReviewComment},
	}
}

func gitRoutes() []route {
	const read, write = "contents=read", "contents=write"
	return []route{
		{"GET", repoPath + "/git/ref/{ref...}", read, (*GitHub).getRef},
		{"POST", repoPath + "/git/refs", write, (*GitHub).createRef},
	}
}

func contentRoutes() []route {
	return []route{
		{"GET", repoPath + "/contents/{path...}", "contents=read", (*GitHub).getContents},
		{"PUT", repoPath + "/contents/{path...}", "contents=write", (*GitHub).putContents},
	}
}

func checkRunRoutes() []route {
	const read, write = "checks=read", "checks=write"
	return []route{
		{"POST", repoPath + "/check-runs", write, (*GitHub).createCheckRun},
		{"PATCH", repoPath + "/check-runs/{id}", write, (*GitHub).editCheckRun},
		{"GET", repoPath + "/check-runs/{id}", read, (*GitHub).getCheckRun},
		{"GET", repoPath + "/check-suites/{id}", read, (*GitHub).getCheckSuite},
		{"GET", repoPath + "/check-runs/{id}/annotations", read, (*GitHub).listAnnotations},
		{"GET", repoPath + "/commits/{ref...}/check-runs", read, (*GitHub).listCheckRuns},
	}
}

func statusRoutes() []route {
	return []route{
		{"GET", repoPath + "/commits/{ref...}/status", "statuses=read", (*GitHub).getCombinedStatus},
		{"POST", repoPath + "/statuses/{sha}", "statuses=write", (*GitHub).createStatus},
	}
}

func runRoutes() []route {
	const read = "actions=read"
	actions := repoPath + "/actions"
	return []route{
		{"GET", actions + "/jobs/{id}/logs", read, (*GitHub).getJobLog},
		{"POST", actions + "/workflows/{workflow}/dispatches", "actions=write", (*GitHub).dispatchWorkflow},
	}
}

// settingRoutes come before those of a branch, whose name may hold slashes.
func settingRoutes() []route {
	actions := repoPath + "/actions"
	return []route{
		{"GET", actions + "/permissions", "administration=read", (*GitHub).getActionsPermissions},
		{"GET", actions + "/permissions/workflow", "administration=read", (*GitHub).getWorkflowPermissions},
		{"GET", actions + "/secrets", "secrets=read", (*GitHub).listSecrets},
		{"GET", actions + "/organization-secrets", "secrets=read", (*GitHub).listOrganizationSecrets},
		{"GET", repoPath + "/branches/{branch...}/protection", "administration=read", (*GitHub).getProtection},
		{"GET", repoPath + "/rules/branches/{branch...}", "metadata=read", (*GitHub).listRules},
		{"GET", repoPath + "/rulesets/{ruleset}", "metadata=read", (*GitHub).getRuleset},
	}
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
	items := make([]object, 0, to-from)
	for _, item := range all[from:to] {
		items = append(items, shape(item))
	}
	header := http.Header{}
	var links []string
	link := func(rel string, n int) {
		q := url.Values{}
		for key, values := range r.query {
			q[key] = values
		}
		q.Set("page", strconv.Itoa(n))
		links = append(links, fmt.Sprintf(`<%s%s?%s>; rel="%s"`, g.APIURL(), shortPath(r.Request), q.Encode(), rel))
	}
	if number > 1 {
		link("prev", number-1)
	}
	if number < last {
		link("next", number+1)
		link("last", last)
	}
	if number > 1 {
		link("first", 1)
	}
	if len(links) > 0 {
		header.Set("Link", strings.Join(links, ", "))
	}
	return answer{status: http.StatusOK, body: items, header: header}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
