package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/store"
)

// need is what someone must be to be answered at all.
type need int

const (
	anybody  need = iota
	signedIn      // rows are held to what the person may read
	outsider      // sees that runs of the repository exist
	reader        // of the repository that the request is about
	writer        // of it
	operator
	settingUp // whoever has shown the one-time code, or an operator
)

// permissions are what a need takes in the repository that the request is about.
var permissions = map[need]Permission{outsider: MaySeeRuns, reader: MayRead, writer: MayWrite}

// route is one thing that can be asked for.
type route struct {
	pattern string
	need    need
	answer  func(*asked) error
}

// asked is one request by one person.
type asked struct {
	*Server
	w    http.ResponseWriter
	r    *http.Request
	soon context.Context // ends when the answer can no longer wait for what GitHub says of the person
	who  Identity        // no one: Login is ""
	may  Permission      // in repository
	// what the request is about, as far as its route says so
	repository string
	run        Run
	delivery   store.Delivery
	operator   bool
}

// mostWords is how many characters of a form's text are taken.
const mostWords = 4000

// action answers a form that asks for something.
func action(kind string) func(*asked) error {
	return func(a *asked) error {
		if err := a.r.ParseForm(); err != nil {
			return errForm
		}
		text := safetext.Visible(strings.Join(a.r.PostForm["text"], "\n")) // a line for each thing that was chosen
		asks := Action{Kind: kind, By: a.who, Repository: a.repository, Run: a.run.ID, Delivery: a.delivery.ID,
			Text: safetext.FirstRunes(strings.TrimSpace(text), mostWords)}
		if kind == Hint && asks.Text == "" {
			return &Refusal{"The hint is empty. Write what the agent should know."}
		}
		if kind == Approve && asks.Text == "" {
			return &Refusal{"Nothing was chosen. Choose what you accept."}
		}
		if err := a.Actions.Do(a.r.Context(), asks); err != nil {
			return err
		}
		if kind == Redeliver {
			return a.goTo("/deliveries/" + url.PathEscape(a.delivery.ID))
		}
		return a.goTo(a.runPath(a.run.ID))
	}
}

// ask gets GitHub's answer about a person. Without one, nothing is shown.
func ask[T any](of func(context.Context, Identity) (T, error), soon context.Context, who Identity) (T, error) {
	got, err := of(soon, who)
	if err != nil && !errors.Is(err, ErrSignedOut) {
		err = fmt.Errorf("%w: %w", errAway, err)
	}
	return got, err
}

// local is a path on these pages to continue to, "/" for anything else.
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

// trouble is an error that a request ends with, and what it is answered with.
type trouble struct {
	Status        int
	Heading, Says string
	Reference     string // where the log says more; empty: nothing to say
}

func (t *trouble) Error() string { return t.Says }

// errSignIn sends whoever asks to sign in.
var errSignIn = errors.New("no one is signed in")

// What can go wrong with a request besides what it asks for.
var (
	errHidden = &trouble{http.StatusNotFound, "Not found",
		"There is nothing here, or nothing that you can see. What you see follows what you can read on GitHub; after a " +
			"change there it takes a minute.", ""}
	errForeign = &trouble{http.StatusForbidden, "Not done",
		"The request came from another site, so nothing was done. Open the page here and try again.", ""}
	errOtherHost = &trouble{http.StatusMisdirectedRequest, "Wrong address",
		"These pages answer under another address. Open the one that ralph was started with.", ""}
	errState = &trouble{http.StatusBadRequest, "Not signed in",
		"The sign-in was not begun in this browser, or more than ten minutes ago. Sign in again.", ""}
	errNotSignedIn = &trouble{http.StatusForbidden, "Not signed in",
		"GitHub did not say who you are: the sign-in was cancelled, or took too long. Sign in again.", ""}
	errTooOften = &trouble{http.StatusTooManyRequests, "Not signed in",
		"Too many sign-ins came from your address. Wait a minute, then sign in again.", ""}
	errAway = &trouble{http.StatusServiceUnavailable, "GitHub doesn't answer; trying again",
		"This page stays empty until GitHub confirms what you can read. It reloads automatically. Runs continue.", ""}
	errForm = &trouble{http.StatusBadRequest, "Not done", "The form cannot be read, or is too long. Nothing was done.", ""}
	errBusy = &trouble{http.StatusServiceUnavailable, "Too many open pages",
		"More pages are followed live than this server allows. Close some, or load the page again later.", ""}
)

// opens reports whether a browser opens a page, and no part of one. Who does not say what they take, takes a page.
func (a *asked) opens() bool {
	accept := a.r.Header.Get("Accept")
	return a.r.Method == http.MethodGet && (accept == "" || strings.Contains(accept, "text/html"))
}

// problem answers a request that cannot be answered. No one learns from it whether something exists.
func (a *asked) problem(err error) {
	if errors.Is(err, ErrSignedOut) {
		err = cmp.Or(a.leave(), errSignIn)
	}
	if errors.Is(err, errSignIn) {
		if a.opens() && a.alone == nil {
			http.Redirect(a.w, a.r, "/sign-in?next="+url.QueryEscape(a.r.URL.RequestURI()), http.StatusSeeOther)
			return
		}
		err = errHidden
	}
	if errors.Is(err, context.Canceled) && a.r.Context().Err() != nil {
		return // whoever asked is gone
	}
	var t *trouble
	var refusal *Refusal
	switch {
	case errors.Is(err, errAway):
		t = errAway
		a.Log.Warn("a reader could not be checked on GitHub", "error", err, "path", a.r.URL.Path)
		if a.w.Header().Set("Retry-After", "2"); a.r.Method == http.MethodGet {
			a.w.Header().Set("Refresh", "2")
		}
	case errors.As(err, &t):
	case errors.Is(err, store.ErrNotFound):
		t = errHidden
	case errors.As(err, &refusal):
		t = &trouble{Status: http.StatusConflict, Heading: "Not done", Says: refusal.Why}
	default:
		t = &trouble{http.StatusServiceUnavailable, "It does not work right now",
			"The server could not read what this page shows. It tries again with every page that is loaded; runs continue.", random()[:8]}
		a.Log.Error("a page could not be shown", "error", err, "reference", t.Reference, "path", a.r.URL.Path)
	}
	a.w.Header().Set("Cache-Control", "no-store")
	if a.r.Method == http.MethodGet && !a.opens() {
		http.Error(a.w, t.Heading+". "+t.Says, t.Status)
		return
	}
	if err := a.showAs(t.Status, "problem", t.Heading, t); err != nil {
		http.Error(a.w, t.Heading+". "+t.Says, t.Status)
	}
}
