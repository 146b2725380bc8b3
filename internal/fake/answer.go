package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

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

// counted puts a page of a list into an object that tells how many there are in all.
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
