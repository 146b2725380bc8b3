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
	step, why string
	quick     bool // an answer, which does not wait for work
	stops     bool // of these one that stops a run
	event     event.Event
	permitted permitted // zero: GitHub has not answered, and a job asks before it begins
}

// asks reports whether something is done.
func (v decided) asks() bool { return v.step == stepHanded }

// quick are the commands that are done in seconds. They must not wait behind hours of work: stopping is one of them.
var quick = []event.Verb{event.Stop, event.Hint, event.Help, event.Status}

// decide reads nothing but its arguments. ours reports whether what others made of a commit
// is about a run of ours.
func decide(d store.Delivery, rules event.Rules, ours func(event.Event) bool) decided {
	if strings.HasPrefix(d.Event, "installation") {
		return decided{step: stepNothing, why: "where the App is installed is read from GitHub when needed"}
	}
	ev, err := eventOf(d)
	if err != nil {
		return decided{step: stepUnread, why: unreadable(d.Payload, err)}
	}
	at := bot.Decide(bot.Reads{Event: ev, Rules: rules})
	out := decided{step: stepHanded, event: ev}
	switch {
	case at.Step == bot.DoNothing:
		out.step, out.why = stepNothing, at.Why
	case d.Installation == 0:
		out.step = stepUnread
		out.why = "the payload names no installation of the App, so nothing can be done in its repository; is it a webhook " +
			"of the repository instead of the App's?"
	case ev.Build != nil && !ours(ev): // every push of anyone has several of these
		out.step, out.why = stepNothing, fmt.Sprintf("no run waits for this on the branch %s", ev.Build.Branch)
	default:
		out.quick, out.stops = at.Err != nil || slices.Contains(quick, at.Request.Verb), at.Request.Verb == event.Stop
	}
	return out
}

// eventOf is what a delivery tells.
func eventOf(d store.Delivery) (event.Event, error) {
	return github.ParseEvent(github.Delivery{Name: d.Event, Payload: d.Payload, Repository: d.Repository, At: d.Received})
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

// run is the row of the run that a delivery asks for, without its ID.
func (v decided) run(d store.Delivery) store.Run {
	shown := detail{Permitted: v.permitted, Stops: v.stops}
	r := store.Run{Delivery: d.ID, Installation: d.Installation, Repository: v.event.Repo.String(), Key: d.ID,
		Subject: v.subject(), Person: v.event.Sender.Login, State: web.Queued}
	if v.quick {
		r.Kind = answerJob
	} else if v.event.Build != nil { // it becomes a run where one waits for it
		r.Kind = sweepJob
	}
	if issue := v.event.Issue; issue != nil {
		r.Title, shown.Issue = issue.Title, issue.Number
		if v.event.Kind == event.Labeled { // a second one may withdraw the first; nothing else waits
			r.Key = keyOf(r.Repository, issue.Number)
		}
	}
	r.Detail = shown.text()
	return r
}

// subject is the issue or pull request that it is about; "": none.
func (v decided) subject() string {
	if v.event.Issue == nil {
		return ""
	}
	return fmt.Sprintf("#%d", v.event.Issue.Number)
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
// no one may ask any more.
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
