package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/store"
)

// What a delivery comes to before anything is asked of GitHub. What is handed on is decided once more, with all facts,
// by the process that does it.
const (
	stepNothing = "nothing"
	stepHanded  = "handed on"
	stepUnread  = "unreadable"
)

// decided is what a delivery comes to here, and why.
type decided struct {
	step, why    string
	repository   string // "owner/name"
	subject      int    // number of the issue or pull request; 0: none
	title        string // of the issue
	person       string // who caused it
	installation int64
	job          *job // nil: nothing is done
}

// job is one piece of work for a process of its own.
type job struct {
	Delivery     string `json:"delivery,omitempty"` // whose payload it is about; empty: a sweep of the repository
	Repository   string `json:"repository"`         // "owner/name"
	Installation int64  `json:"installation"`
	Quick        bool   `json:"quick,omitempty"` // an answer, which does not wait for work
	Stops        bool   `json:"stops,omitempty"` // of these one that stops a run
	Issue        int    `json:"issue,omitempty"` // of a sweep: the only one that it is for; 0: all
	Run          string `json:"run,omitempty"`   // of a sweep: the row of the run that it goes on with
	Subject      int    `json:"subject,omitempty"`
	Person       string `json:"person,omitempty"` // whose delivery it is
	key          string // jobs with the same key wait for each other
}

// silent reports whether a job has no row before it comes to something.
func (j job) silent() bool { return j.Quick || j.Delivery == "" }

// quick are the commands that are done in seconds. They must not wait behind hours of work: stopping is one of them.
var quick = []event.Verb{event.Stop, event.Hint, event.Help, event.Status}

// decide reads nothing but its arguments. ours reports whether a branch is one that a run of ours works on.
func decide(d store.Delivery, rules event.Rules, ours func(repository, branch string) bool) decided {
	out := decided{step: stepUnread, installation: d.Installation}
	if strings.HasPrefix(d.Event, "installation") {
		out.step, out.why = stepNothing, "where the App is installed is asked of GitHub when it matters"
		return out
	}
	ev, err := github.ParseEvent(github.Delivery{Name: d.Event, Payload: d.Payload, At: d.Received})
	if err != nil {
		out.why = unreadable(d.Payload, err)
		return out
	}
	out.repository, out.person = ev.Repo.String(), ev.Sender.Login
	if ev.Issue != nil {
		out.subject = ev.Issue.Number
	}
	request, skip, usage := event.Read(ev, rules)
	switch {
	case skip != nil:
		out.step, out.why = stepNothing, skip.Reason
		return out
	case d.Installation == 0:
		out.why = "the payload names no installation of the App, so nothing can be done in its repository; is it a webhook " +
			"of the repository instead of the App's?"
		return out
	case ev.Build != nil && !ours(out.repository, ev.Build.Branch): // every push of anybody has several of these
		out.step, out.why = stepNothing, fmt.Sprintf("no run works on the branch %s", ev.Build.Branch)
		return out
	}
	out.step = stepHanded
	out.job = &job{Delivery: d.ID, Repository: out.repository, Installation: out.installation,
		Quick: usage != nil || slices.Contains(quick, request.Verb), Stops: request.Verb == event.Stop, Subject: out.subject,
		Person: out.person, key: keyOf(ev, d.ID)}
	if ev.Issue != nil {
		out.title = ev.Issue.Title
	}
	return out
}

// unreadable is why a payload could not be read.
func unreadable(payload []byte, err error) string {
	switch {
	case bytes.HasPrefix(payload, []byte("payload=")):
		return "the payload is a form: choose the content type application/json for the webhook on the App's page"
	case !json.Valid(payload) || !bytes.HasPrefix(bytes.TrimSpace(payload), []byte("{")):
		return "the payload is no JSON object"
	}
	return err.Error()
}

// keyOf is what must wait for what: labels of one issue for each other, as a second one may withdraw the first. Nothing
// else waits, since it may be a stop; runs of one issue are kept apart by their lease.
func keyOf(ev event.Event, delivery string) string {
	if ev.Kind == event.Labeled && ev.Issue != nil {
		return fmt.Sprintf("%s#%d", strings.ToLower(ev.Repo.String()), ev.Issue.Number)
	}
	return delivery
}
