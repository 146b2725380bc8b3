package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/bot"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/loop"
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
	shown, kind := detail{Shown: web.Shown{Issue: v.subject}, Permitted: v.permitted, Stops: v.stops}, ""
	if v.quick {
		kind = answerJob
	}
	return store.Run{Kind: kind, ID: id, Delivery: d.ID, Installation: v.installation, Repository: v.repository, Key: v.key,
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

const (
	refuseTime = 2 * time.Second  // a decision waits no longer for GitHub
	awayTime   = 30 * time.Second // and after that, decisions do not wait for it for a while
	heldFor    = time.Minute      // as long a permission counts as read
)

// askers checks the permission of requesters before a request becomes a job. A stranger costs one call a minute, one for
// the reaction, and no row.
type askers struct {
	*parts
	may  lookups[github.Access]
	away time.Time // until then GitHub is not asked: it did not answer
}

// permitted are the permissions that a decision rests on, in the row of its run.
type permitted struct {
	At     time.Time         `json:"at,omitzero"`
	Levels map[string]string `json:"levels,omitempty"` // by login in lower case: "write"
}

// decide decides an event as far as its run does not matter: nothing, refuse, or what a job begins with. An error is
// GitHub's, which does not answer.
func (a *askers) decide(ctx context.Context, installation int64, ev event.Event) (bot.Decision, permitted, error) {
	read := permitted{a.o.Clock(), map[string]string{}}
	app, err := a.in.current(ctx)
	if err != nil {
		return bot.Decision{}, read, err
	}
	reads := bot.Reads{Event: ev, Rules: a.o.Rules, Gathered: true}
	reads.Facts = event.Facts{Self: a.in.self(), Labeller: ev.Sender.Login, Permissions: map[string]event.Permission{}}
	for _, login := range event.Identities(ev, reads.Facts.Labeller) {
		name := strings.ToLower(login)
		if strings.EqualFold(login, reads.Facts.Self) || strings.HasSuffix(name, "[bot]") { // they have no permission
			continue
		}
		may, err := a.may.of(ctx, name+" "+ev.Repo.String(), func(ctx context.Context) (github.Access, error) {
			return app.Permission(ctx, installation, ev.Repo, login)
		})
		if err != nil {
			return bot.Decision{}, read, err
		}
		read.Levels[name], reads.Facts.Permissions[name] = may.String(), event.Permission{Level: may.String()}
	}
	d := bot.Decide(reads)
	if d.Step == bot.Refuse && ev.Comment != nil {
		if err := app.React(ctx, installation, ev, "-1"); err != nil {
			a.o.Log.Warn("a refusal is not visible on its comment", "comment", ev.Comment.ID, "error", err)
		}
	}
	return d, read, nil
}

// soon is decide for a delivery, which does not wait long for GitHub: a job asks again, and begins nothing before.
func (a *askers) soon(ctx context.Context, installation int64, ev event.Event) (bot.Decision, permitted, error) {
	if a.o.Clock().Before(a.away) {
		return bot.Decision{}, permitted{}, context.DeadlineExceeded
	}
	ctx, cancel := context.WithTimeout(ctx, refuseTime)
	defer cancel()
	d, read, err := a.decide(ctx, installation, ev)
	if err != nil {
		a.away = a.o.Clock().Add(awayTime)
	}
	return d, read, err
}

// again decides again for a run that has waited, since permissions can have changed; the error is a *settledError when
// nobody may ask any more.
func (a *askers) again(ctx context.Context, row store.Run, ev event.Event) (map[string]string, error) {
	read := detailOf(row).Permitted
	if age := a.o.Clock().Sub(read.At); age >= 0 && age < heldFor {
		return read.Levels, nil
	}
	d, read, err := a.decide(ctx, row.Installation, ev)
	switch {
	case err != nil:
		return nil, err
	case d.Step == bot.Refuse:
		return nil, &settledError{string(loop.Refused), d.Why}
	case d.Step == bot.DoNothing:
		return nil, &settledError{declined, d.Why}
	}
	return read.Levels, nil
}
