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
)

// route is one operation of REST. Its handler runs under the lock.
type route struct {
	method, pattern string   // {name} is one part of the path, {name...} as many as there can be
	needs           string   // the permissions, as in X-Accepted-GitHub-Permissions
	query           []string // the keys that GitHub knows
	handle          func(*GitHub, *request) answer
}

var paging = []string{"per_page", "page"}

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
	for key := range r.URL.Query() {
		if !slices.Contains(found.query, key) {
			g.problem("%s %s: no such query key: %s", r.Method, path, key)
			write(w, failure(http.StatusBadRequest, "no such query key: "+key))
			return
		}
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

// handle lets a route answer whom it may. Callers hold the lock.
func (g *GitHub) handle(rt *route, r *request) answer {
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

// decode reads the body into a struct that names every field GitHub knows. When it cannot, that is a problem and the
// answer is GitHub's.
func (r *request) decode(into any) *answer {
	d := json.NewDecoder(bytes.NewReader(r.body))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil && d.Decode(new(any)) != io.EOF {
		err = errors.New("something follows the JSON value")
	}
	if err != nil {
		r.oddBody = append(r.oddBody, "bad request body: "+err.Error())
		a := failure(http.StatusBadRequest, "Problems parsing JSON")
		return &a
	}
	return nil
}

// number reads a numeric part of the path; 0, which nothing has, when it is not a number.
func (r *request) number(part string) int64 {
	n, err := strconv.ParseInt(r.parts[part], 10, 64)
	if err != nil {
		return 0
	}
	return n
}
