package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/ralph-loop/ralph/internal/fake"
)

// visitor is somebody with a browser, as far as links and forms go.
type visitor struct {
	*testing.T
	http.Client
	at   *url.URL
	code int
	page string
}

func newVisitor(t *testing.T) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{T: t, Client: http.Client{Jar: jar}}
}

// signedIn is a visitor who has signed in and looks at a page.
func signedIn(t *testing.T, s *serving, login, next string) *visitor {
	t.Helper()
	v := newVisitor(t)
	v.open(s.url + "/sign-in/github?next=" + next)
	v.submit("", map[string]string{"login": login, "authorize": "1"})
	return v
}

func (v *visitor) took(resp *http.Response, err error) {
	v.Helper()
	if err != nil {
		v.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		v.Fatal(err)
	}
	v.at, v.code, v.page = resp.Request.URL, resp.StatusCode, string(text)
}

func (v *visitor) open(address string) {
	v.Helper()
	v.took(v.Get(address))
}

// submit sends the form whose action holds a text, with what it holds already and these values.
func (v *visitor) submit(action string, values map[string]string) {
	v.Helper()
	doc, err := html.Parse(strings.NewReader(v.page))
	if err != nil {
		v.Fatal(err)
	}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode || n.Data != "form" || !strings.Contains(attribute(n, "action"), action) {
			continue
		}
		form := url.Values{}
		for input := range n.Descendants() {
			if name := attribute(input, "name"); name != "" {
				form.Set(name, attribute(input, "value"))
			}
		}
		for name, value := range values {
			form.Set(name, value)
		}
		to, err := v.at.Parse(attribute(n, "action"))
		if err != nil {
			v.Fatal(err)
		}
		v.took(v.PostForm(to.String(), form))
		return
	}
	v.Fatalf("%s has no form to %q:\n%s", v.at, action, v.page)
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// sees holds a page to what must and must not be on it.
func (v *visitor) sees(code int, has []string, hasNot ...string) {
	v.Helper()
	if v.code != code {
		v.Fatalf("%s is answered with %d:\n%s", v.at, v.code, v.page)
	}
	for _, text := range has {
		if !strings.Contains(v.page, text) {
			v.Errorf("%s lacks %q:\n%s", v.at, text, v.page)
		}
	}
	for _, text := range hasNot {
		if strings.Contains(v.page, text) {
			v.Errorf("%s shows %q", v.at, text)
		}
	}
}

// TestServeSetup: from an empty directory, by the pages alone, to a run that those see who may.
func TestServeSetup(t *testing.T) {
	t.Parallel()
	s := newServing(t)
	s.hub.AddUser("mallory", false)
	s.environ = append(s.environ[:3:3], addresses(s.hub)...) // there is no App in it
	setup := s.startNew()
	owner := newVisitor(t)
	owner.open(s.url + "/setup")
	owner.sees(200, []string{"Sign in"}, "Create")
	owner.open(setup)
	owner.submit("/setup/code", nil)
	owner.sees(200, []string{"manifest"})
	again := newVisitor(t)
	again.open(setup)
	again.submit("/setup/code", nil)
	again.sees(403, nil, "manifest")
	owner.submit(s.hub.URL(), nil) // GitHub's page, with its button
	owner.submit("", map[string]string{"name": "Ralph of Alice"})
	owner.sees(200, []string{"Ralph of Alice"})

	apps := s.hub.Apps()
	s.hub.Install(apps[len(apps)-1], "alice", "demo")
	title := `Add <b>new.txt</b>`
	s.label(title)
	s.delivers()
	s.hub.SetPrivate("alice", "demo", true)
	alice, mallory := signedIn(t, s, "alice", "/repositories"), signedIn(t, s, "mallory", "/repositories")
	alice.sees(200, []string{"alice/demo"})
	mallory.sees(200, nil, "alice/demo")
	mallory.open(s.url + "/repositories/alice/demo")
	mallory.sees(404, nil, "new.txt", "alice/demo")
	s.until("what the doctor says", func() bool {
		alice.open(s.url + "/repositories/alice/demo")
		return !strings.Contains(alice.page, "has not answered yet")
	})
	alice.sees(200, []string{"Add &lt;b&gt;new.txt", "The App is installed on alice", "agent.command",
		".ralph/settings.json"}, title)
	s.hub.Fail(fake.Fault{Match: "GET /repos/alice/demo/contents/...", Status: 502, Times: -1})
	s.until("the run on its repository's page", func() bool { // nothing is read again
		alice.open(s.url + "/repositories/alice/demo")
		return strings.Contains(alice.page, "1 of 1 run")
	})
	alice.sees(200, []string{"agent.command"}, "trouble of its own")
	run := link(t, alice.page, "/runs/")
	alice.open(s.url + run)
	alice.sees(200, []string{"Add &lt;b&gt;new.txt", "done"}, title)
	mallory.open(s.url + run)
	mallory.sees(404, nil, "new.txt", "alice/demo")
}

// link is the first link of a page below a path.
func link(t *testing.T, page, below string) string {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		if to := attribute(n, "href"); strings.HasPrefix(to, below) {
			return to
		}
	}
	t.Fatalf("no link below %s on:\n%s", below, page)
	return ""
}
