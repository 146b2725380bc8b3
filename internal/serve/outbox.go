package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/bot"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

// The decisions on a delivery. A job adds what only it reads: the status of the run, and what can have changed.
const (
	stepNothing = "nothing"
	stepHanded  = "handed on"
	stepUnread  = "unreadable"
)

// decided is the decision on a delivery, and why.
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
	may  lookups[string]
	away time.Time // until then GitHub is not asked: it did not answer
}

// decide decides an event as far as its run does not matter: nothing, refuse, or what a job begins with. An error is
// GitHub's, which does not answer.
func (a *askers) decide(ctx context.Context, installation int64, ev event.Event) (bot.Decision, permitted, error) {
	read := permitted{a.o.Clock(), map[string]string{}}
	app, err := a.in.current(ctx)
	if err != nil {
		return bot.Decision{}, read, err
	}
	hub := app.In(installation, ev.Repo)
	reads := bot.Reads{Event: ev, Rules: a.o.Rules, Gathered: true}
	reads.Facts = event.Facts{Self: a.in.self(), Labeler: ev.Sender.Login, Permissions: map[string]event.Permission{}}
	for _, login := range event.Identities(ev, reads.Facts.Labeler) {
		name := strings.ToLower(login)
		if strings.EqualFold(login, reads.Facts.Self) || strings.HasSuffix(name, "[bot]") { // they have no permission
			continue
		}
		may, err := a.may.of(ctx, name+" "+ev.Repo.String(), func(ctx context.Context) (string, error) {
			may := hub.Permission(ctx, login)
			return may.Level, may.Err
		})
		if err != nil {
			return bot.Decision{}, read, err
		}
		read.Levels[name], reads.Facts.Permissions[name] = may, event.Permission{Level: may}
	}
	d := bot.Decide(reads)
	if d.Step == bot.Refuse && ev.Comment != nil {
		if err := hub.React(ctx, ev, "-1"); err != nil {
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
// the requester is no longer authorized.
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

const (
	atOnce    = 100                   // deliveries that are decided between two looks at the database
	comesWith = 50 * time.Millisecond // what is stored so soon after a delivery is decided together with it
	lookAgain = 2 * time.Second       // some may be due that were postponed
	unlabeled = "unlabeled"           // an action of GitHub's
)

// outbox decides what has been stored. It may be killed anywhere: what is not decided then is decided by the next.
type outbox struct {
	*parts
	askers *askers
	wrote  func(login string) bool // someone is the App itself
	begin  func()                  // there are new runs
	back   func()                  // the database is there again
	waker
}

// run decides until ctx ends.
func (b *outbox) run(ctx context.Context) {
	away := false
	for wait := time.Duration(0); ; {
		select {
		case <-ctx.Done():
			return
		case <-b.waker:
			time.Sleep(comesWith)
		case <-time.After(wait):
		}
		n, err := b.pass(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			b.o.Log.Error("deliveries wait: the database does not answer", "error", err)
			wait, away = afterFailed, true
		case away && err == nil:
			wait, away = 0, false
			b.back()
		case n == atOnce: // there may be more
			wait = 0
		default:
			wait = lookAgain
		}
	}
}

// pass decides what is there, atOnce of it at most, and says how many were. One that cannot be decided waits, and keeps
// no other waiting.
func (b *outbox) pass(ctx context.Context) (int, error) {
	list, err := b.s.Undecided(ctx, atOnce)
	if err != nil {
		return 0, err
	}
	var made []store.Decided
	runs := false
	for _, d := range list {
		v, err := b.decide(ctx, d)
		of := store.Decided{ID: d.ID, Decision: store.Decision{Step: v.step, Why: v.why, Subject: v.subject()}}
		if err == nil && v.asks() {
			run := v.run(d)
			run.ID, err = b.unused(ctx, d.ID)
			if of.Run, runs = &run, true; run.Kind == "" {
				of.Decision.Run = run.ID
			}
		}
		switch {
		case errors.Is(err, store.ErrUnavailable):
			return 0, err
		case err == nil:
			made = append(made, of)
			continue
		}
		b.o.Log.Error("a delivery could not be decided, and is tried again", "delivery", d.ID, "tries", d.Tries, "error", err)
		why := "it could not be decided, and is tried again: " + brief(err, 300)
		err = b.s.Postpone(ctx, d.ID, b.o.Clock().Add(pauseAfter(d.Tries+1)), why)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return 0, err
		}
	}
	err = b.s.Decide(ctx, made...)
	if err == nil && runs {
		b.begin()
	}
	return len(list), err
}

// decide decides one delivery. What makes the decision panic is an error like others: the next start would find it
// again.
func (b *outbox) decide(ctx context.Context, d store.Delivery) (v decided, err error) {
	defer func() {
		if p := recover(); p != nil {
			b.o.Log.Error("a decision has panicked", "delivery", d.ID, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	v = decide(d, b.o.Rules, b.ours)
	if d.Action == unlabeled && v.asks() && b.wrote(d.Sender) {
		v.step, v.why = stepNothing, "ralph took the label off itself"
	}
	if v.asks() {
		at, read, err := b.askers.soon(ctx, d.Installation, v.event)
		switch {
		case err != nil: // the job asks again
		case at.Step == bot.Refuse:
			v.step, v.why = "refused", at.Why
		case at.Step == bot.DoNothing:
			v.step, v.why = stepNothing, at.Why
		default:
			v.permitted = read
		}
	}
	b.o.Log.Info("delivery", "delivery", d.ID, "event", d.Event, "repository", d.Repository, "subject", v.subject(),
		"step", v.step, "why", v.why)
	return v, nil
}

// again has a delivery decided again because a person requested it, once its run has ended.
func (b *outbox) again(ctx context.Context, id string) error {
	d, err := b.s.Delivery(ctx, id)
	switch {
	case err != nil:
		return err
	case d.Payload == nil:
		return &web.Refusal{Why: "The delivery was forgotten, as old ones are. Have GitHub deliver it again, on " +
			"the App's page."}
	case d.Decision.At.IsZero():
		return &web.Refusal{Why: "The delivery is not decided yet."}
	}
	if run, err := b.s.Run(ctx, d.Decision.Run); err == nil && slices.Contains(web.Active, run.State) {
		return &web.Refusal{Why: "Its run has not ended. Stop it first, or wait for it."}
	}
	defer b.wake()
	return b.s.Undecide(ctx, id)
}

// unused is the id of the next run of a delivery. One that is decided again has several.
func (b *outbox) unused(ctx context.Context, delivery string) (string, error) {
	for n, id := 2, delivery; ; n++ {
		_, err := b.s.Run(ctx, id)
		if errors.Is(err, store.ErrNotFound) {
			return id, nil
		}
		if err != nil {
			return "", err
		}
		id = fmt.Sprintf("%s-%d", delivery, n)
	}
}

// usualPrefix is what the branches of a workflow's runs begin with, unless its input says otherwise.
const usualPrefix = "ralph/"

// ours reports whether what others made of a commit is about a run, as far as the newest runs tell. Which branch the
// run of a workflow has, only that workflow knows. The suites of GitHub Actions and of this App have the check of ralph
// itself; workflows report their end by an event of their own.
func (p *parts) ours(ev event.Event) bool {
	if app := ev.Build.App; app == "github-actions" || app != "" && p.in.wrote(app+"[bot]") {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), readTime)
	defer cancel()
	runs, err := p.s.Runs(ctx, store.Filter{Repositories: []string{ev.Repo.String()}, Limit: 1000})
	return err != nil || slices.ContainsFunc(runs, func(r store.Run) bool {
		return detailOf(r).Branch == ev.Build.Branch ||
			r.State == web.Dispatched && strings.HasPrefix(ev.Build.Branch, usualPrefix)
	})
}
