package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/bot"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

// What a delivery comes to. A job adds what it alone reads to what is decided here: how the run stands, and
// what can have changed.
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
	asks         bool   // something is done
	quick        bool   // an answer, which does not wait for work
	stops        bool   // of these one that stops a run
	key          string // of its run, see store.Run
	event        event.Event
	permitted    permitted // zero: GitHub has not answered, and a job asks before it begins
}

// quick are the commands that are done in seconds. They must not wait behind hours of work: stopping is one of them.
var quick = []event.Verb{event.Stop, event.Hint, event.Help, event.Status}

// decide reads nothing but its arguments. ours reports whether a branch is one that a run of ours works on.
func decide(d store.Delivery, rules event.Rules, ours func(repository, branch string) bool) decided {
	out := decided{step: stepUnread, installation: d.Installation}
	if strings.HasPrefix(d.Event, "installation") {
		out.step, out.why = stepNothing, "where the App is installed is asked of GitHub when it matters"
		return out
	}
	ev, err := eventOf(d)
	if err != nil {
		out.why = unreadable(d.Payload, err)
		return out
	}
	out.event, out.repository, out.person = ev, ev.Repo.String(), ev.Sender.Login
	if ev.Issue != nil {
		out.subject = ev.Issue.Number
	}
	at := bot.Decide(bot.Reads{Event: ev, Rules: rules})
	switch {
	case at.Step == bot.DoNothing:
		out.step, out.why = stepNothing, at.Why
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
	out.asks, out.quick = true, at.Err != nil || slices.Contains(quick, at.Request.Verb)
	out.stops, out.key = at.Request.Verb == event.Stop, d.ID
	if ev.Issue != nil {
		out.title = ev.Issue.Title
		if ev.Kind == event.Labeled { // a second one may withdraw the first; nothing else waits
			out.key = keyOf(out.repository, out.subject)
		}
	}
	return out
}

// eventOf is what a delivery tells.
func eventOf(d store.Delivery) (event.Event, error) {
	return github.ParseEvent(github.Delivery{Name: d.Event, Payload: d.Payload, Repository: d.Repository, At: d.Received})
}

// drop has nothing be done.
func (v *decided) drop(step, why string) {
	v.step, v.why, v.asks, v.quick = step, why, false, false
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

// keyOf is the key of runs of one issue that wait for each other. Those with other keys are kept apart by their lease.
func keyOf(repository string, issue int) string {
	return fmt.Sprintf("%s#%d", strings.ToLower(repository), issue)
}

// run is the row of the run that a delivery asks for.
func (v decided) run(id string, d store.Delivery) store.Run {
	shown := detail{Issue: v.subject, Permitted: v.permitted}
	return store.Run{ID: id, Delivery: d.ID, Installation: v.installation, Repository: v.repository, Key: v.key,
		Subject: v.subjectName(), Title: v.title, Person: v.person, State: web.Queued, Detail: shown.text()}
}

func (v decided) subjectName() string {
	if v.subject == 0 {
		return ""
	}
	return fmt.Sprintf("#%d", v.subject)
}

// decision is what is stored of it, with its run, "" for none.
func (v decided) decision(step, why, run string) store.Decision {
	return store.Decision{Step: step, Why: why, Subject: v.subjectName(), Run: run}
}
