package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// need is what somebody must be to be answered at all.
type need int

const (
	anybody  need = iota
	signedIn      // rows are held to what the person may read
	reader        // of the repository that the request is about
	writer        // of it
	operator
	settingUp // whoever has shown the one-time code, or an operator
)

// subject is how a request names the repository that it is about.
type subject int

const (
	ofNone subject = iota
	ofRun
	ofRepository
	ofDelivery
)

// kind is what answers a request; it says what a refusal looks like.
type kind int

const (
	isPage kind = iota // whoever is not signed in is sent to do it
	isData             // for programs, and forms: refused
)

// route is one thing that can be asked for.
type route struct {
	pattern string
	need    need
	of      subject
	kind    kind
	answer  func(*asked) error
}

// asked is one request by one person.
type asked struct {
	*Server
	w    http.ResponseWriter
	r    *http.Request
	who  Identity // nobody: Login is ""
	kind kind
	may  Permission // in repository
	// what the request is about, as far as its route says so
	repository string
	run        Run
	delivery   Delivery
	operator   bool
}

// Errors that a request ends with, and that its answer is made of.
var (
	errSignIn = errors.New("nobody is signed in")
	errHidden = errors.New("nothing that this person may see")
)

// What can go wrong with a request besides what it asks for.
var (
	errForeign     = errors.New("the request came from another site")
	errOtherHost   = errors.New("the request is for another host")
	errState       = errors.New("the way over GitHub was not begun in this browser")
	errNotSignedIn = errors.New("GitHub did not say who it is")
	errForm        = errors.New("the form cannot be read")
	errBusy        = errors.New("too many pages are open")
)

// local is a path on these pages to go on to, "/" for anything else.
func local(path string) string {
	if len(path) > 1000 || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") ||
		strings.ContainsAny(path, "\\\r\n\t") {
		return "/"
	}
	if u, err := url.Parse(path); err != nil || u.Host != "" || u.Scheme != "" {
		return "/"
	}
	return path
}
