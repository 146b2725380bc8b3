package contract

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// newer lists the operations that GitHub has and the description, which is of 2021, has not yet. Their requests and
// answers are checked only by the caller's tests.
var newer = regexp.MustCompile(`^GET /repos/[^/]+/[^/]+/(` + strings.Join([]string{
	"actions/permissions/workflow", // of 2022
	"actions/organization-secrets", // of 2023
	"rules/branches/.+",            // of 2023, with rulesets
	`rulesets/\d+`,
}, "|") + `)$`)

// Checker collects what breaks the contract. One is for one test; making one is cheap after the first.
type Checker struct {
	router     routers.Router
	mu         sync.Mutex
	violations []string
}

// Load reads GitHub's API description, from the module cache or the network, once in a process. It takes about half a
// second.
func Load() (*Checker, error) {
	router, err := load()
	return &Checker{router: router}, err
}

// Violations lists what broke the contract, oldest first: "POST /repos/alice/demo/labels: request: …".
func (c *Checker) Violations() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.violations)
}

func (c *Checker) violation(r *http.Request, format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	path := strings.TrimPrefix(r.URL.EscapedPath(), base)
	c.violations = append(c.violations, fmt.Sprintf("%s %s: ", r.Method, path)+fmt.Sprintf(format, args...))
}

// Wrap checks every REST request on its way to next and every answer on its way back. It changes neither. GraphQL and
// git, which the description does not speak of, pass unchecked, as do answers with an error status that it does not
// declare.
func (c *Checker) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, base+"/") || newer.MatchString(r.Method+" "+strings.TrimPrefix(r.URL.Path, base)) {
			next.ServeHTTP(w, r)
			return
		}
		route, parts, err := c.router.FindRoute(r)
		if err != nil {
			c.violation(r, "request: GitHub's description has no such operation (%v)", err)
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest) // the client went away
			return
		}
		in := &openapi3filter.RequestValidationInput{Request: r.Clone(r.Context()), PathParams: parts, Route: route,
			Options: options()}
		c.request(in, body)

		answer := httptest.NewRecorder()
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(answer, r)
		c.answer(in, answer)
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes()) // the client may be gone
	})
}

func (c *Checker) request(in *openapi3filter.RequestValidationInput, body []byte) {
	r := in.Request
	for key := range r.URL.Query() {
		if !declares(in.Route, key) {
			c.violation(r, "request: the query key %s is not declared", key)
		}
	}
	// ghinstallation sends null where GitHub wants an object or nothing, and GitHub takes it.
	if strings.HasSuffix(in.Route.Path, "/access_tokens") && string(bytes.TrimSpace(body)) == "null" {
		body = nil
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	if len(body) > 0 && in.Route.Operation.RequestBody == nil {
		c.violation(r, "request: it has a body, and none is declared")
	}
	if err := openapi3filter.ValidateRequest(r.Context(), in); err != nil {
		c.violation(r, "request: %s", reason(err))
	}
}

func (c *Checker) answer(in *openapi3filter.RequestValidationInput, a *httptest.ResponseRecorder) {
	declared := in.Route.Operation.Responses.Status(a.Code)
	if declared == nil {
		if a.Code < 300 {
			c.violation(in.Request, "answer: the status %d is not declared", a.Code)
		}
		return
	}
	out := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: a.Code, Header: a.Header().Clone(), Options: options(),
		Body: io.NopCloser(bytes.NewReader(a.Body.Bytes())),
	}
	if err := openapi3filter.ValidateResponse(in.Request.Context(), out); err != nil {
		c.violation(in.Request, "answer %d: %s", a.Code, reason(err))
	}
}

// declares reports whether an operation or its path knows a query key.
func declares(route *routers.Route, key string) bool {
	is := func(p *openapi3.ParameterRef) bool {
		return p.Value != nil && p.Value.In == "query" && p.Value.Name == key
	}
	return slices.ContainsFunc(route.Operation.Parameters, is) || slices.ContainsFunc(route.PathItem.Parameters, is)
}

func options() *openapi3filter.Options {
	o := &openapi3filter.Options{
		AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, SkipSettingDefaults: true, MultiError: true,
	}
	o.WithCustomSchemaErrorFunc(func(err *openapi3.SchemaError) string {
		return "/" + strings.Join(err.JSONPointer(), "/") + ": " + err.Reason
	})
	return o
}

// reason is an error in one line, without the schemas that the library would print.
func reason(err error) string {
	var response *openapi3filter.ResponseError
	if errors.As(err, &response) && response.Err != nil {
		err = response.Err
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}
