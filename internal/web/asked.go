package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
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
	soon context.Context // ends when the answer can no longer wait for what GitHub says of the person
	who  Identity        // no one: Login is ""
	kind kind
	may  Permission // in repository
	// what the request is about, as far as its route says so
	repository string
	run        Run
	delivery   Delivery
	operator   bool
}

// mostWords is how many characters of a form's text are taken.
const mostWords = 4000

// action answers a form that asks for something.
func action(kind string) func(*asked) error {
	return func(a *asked) error {
		if a.Actions == nil {
			return errHidden
		}
		if err := a.r.ParseForm(); err != nil {
			return errForm
		}
		text := safetext.Visible(strings.Join(a.r.PostForm["text"], "\n")) // a line for each thing that was chosen
		asks := Action{Kind: kind, By: a.who, Repository: a.repository, Run: a.run.ID, Delivery: a.delivery.ID,
			Text: safetext.FirstRunes(strings.TrimSpace(text), mostWords)}
		if kind == Hint && asks.Text == "" {
			return &Refusal{"The hint is empty. Say what the agent should know."}
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
