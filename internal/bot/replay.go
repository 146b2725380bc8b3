package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
)

// Explained is what a job would make of an event, and why. There are no secrets in it, and nothing that a terminal acts on.
type Explained struct {
	Event string `json:"event"`          // "issues.labeled on alice/demo#42"
	Asks  string `json:"asks,omitempty"` // as docs/commands.md names it: "label `ralph` put on an issue"
	Hint  string `json:"hint,omitempty"` // the maintainer's words, for the agent
	// Becomes is "nothing" for an event that is not ours, "refused", "answered" for one that cannot be followed, else "followed".
	Becomes string   `json:"becomes"`
	Why     string   `json:"why,omitempty"` // one sentence, but for "followed", where the decisions say it
	People  []Person `json:"people"`
	Run     string   `json:"run,omitempty"` // the run that it is about and how that stands
	// Decisions are what the table of docs/commands.md says: one when it is known how the run stands, else one for each way it may.
	Decisions []Decided `json:"decisions"`
	Steps     []string  `json:"steps"` // what would be done, in this order
	// StepsFor is the decision that the steps are for, where there are several.
	StepsFor event.Doing `json:"steps_for,omitempty"`
	Unknown  []string    `json:"unknown"` // what could not be looked up, and why
}

// Person is somebody whom the event names, who must have write access (B-10).
type Person struct {
	Login string   `json:"login"`
	As    []string `json:"as"`    // "sender", "labeller"
	Level string   `json:"level"` // "admin", "read"; "not looked up"
}

// Decided is what becomes of a request.
type Decided struct {
	When []event.Standing `json:"when,omitempty"` // the standings of the run that it holds for; nil: this is how it stands
	Do   event.Doing      `json:"do"`
	Why  string           `json:"why"`
}

// What an event can become.
const (
	becomesNothing  = "nothing"
	becomesRefused  = "refused"
	becomesAnswered = "answered"
	becomesFollowed = "followed"
)

// explainer follows an event as a job does, without a write and without an agent.
type explainer struct {
	*Action
	dir     string // the current directory
	out     Explained
	asked   bool // GitHub has been asked; else only the payload tells
	cloned  bool // the directory is in a clone of the repository
	request event.Request
	facts   event.Facts
	run     loop.State
	known   bool // there is a run
	found   bool // it is known whether there is one
}

// Explain says what a job would make of the event, and why: it reads as Run does, and writes nothing. dir is a directory that may be in a
// clone of the repository, whose settings are read where GitHub cannot be asked. The error is a payload that cannot be read.
func (a *Action) Explain(ctx context.Context, dir string) (Explained, error) {
	a.Inputs.DryRun = true
	a.prepare()
	x := &explainer{Action: a, dir: dir, out: Explained{People: []Person{}, Decisions: []Decided{}, Steps: []string{}, Unknown: []string{}}}
	ev, err := a.event()
	if err != nil {
		return x.out, err
	}
	if err := x.walk(ctx, ev); err != nil {
		return x.out, err
	}
	x.out.clean(report.Redactor(append(append(engine.Secrets(a.Env, a.Parent), a.Inputs.Secrets()...), a.Env.Token)))
	return x.out, ctx.Err()
}

// walk goes the way of Action.Run.
func (x *explainer) walk(ctx context.Context, ev event.Event) error {
	x.out.Event = ev.String()
	request, skip, usage := event.Read(ev, x.rules)
	if skip != nil {
		x.becomes(becomesNothing, skip.Reason)
		return nil
	}
	x.out.Asks, x.out.Hint = x.named(request.Asking), request.Hint
	if err := x.gather(ctx, ev); err != nil {
		return err
	}
	ev, request.Event = x.request.Event, x.request.Event
	x.request = request
	x.people(ev)
	if why, own := event.Own(ev, x.facts.Self); own {
		x.becomes(becomesNothing, why)
		return nil
	}
	if why, withdrawn := x.facts.Withdrawn(ev); withdrawn {
		x.unknown("what a job would make of it that begins now, and would do nothing: %s", why)
	}
	if refusal := event.Authorise(ev, x.facts, x.rules); refusal != nil {
		x.refused(ev, refusal)
		return nil
	}
	if usage != nil {
		x.becomes(becomesAnswered, usage.Error())
		x.step("comment on #%d what is understood", number(ev))
		return nil
	}
	x.becomes(becomesFollowed, "")
	x.standing(ctx)
	x.decisions(ctx)
	x.steps(ctx)
	return nil
}

func (x *explainer) becomes(what, why string) { x.out.Becomes, x.out.Why = what, why }

func (x *explainer) step(format string, args ...any) {
	x.out.Steps = append(x.out.Steps, fmt.Sprintf(format, args...))
}

func (x *explainer) unknown(format string, args ...any) {
	x.out.Unknown = append(x.out.Unknown, fmt.Sprintf(format, args...))
}

// named is a way of asking with the words of the rules.
func (x *explainer) named(asking event.Asking) string {
	return strings.NewReplacer("{phrase}", x.rules.TriggerPhrase, "{label}", x.rules.TriggerLabel).Replace(string(asking))
}

// refused is as Action.refuse.
func (x *explainer) refused(ev event.Event, refusal *event.Refusal) {
	x.becomes(becomesRefused, refusal.Reason)
	if ev.Comment != nil {
		x.step("react to the comment with 👎")
	}
	x.step("say so in the log and the job's summary; the job stays green")
}

// number is the issue or pull request that an answer goes to; 0 when there is none.
func number(ev event.Event) int {
	switch {
	case ev.On != 0:
		return ev.On
	case ev.Issue != nil:
		return ev.Issue.Number
	}
	return 0
}

// people are those whom the event names, as far as their permission decides.
func (x *explainer) people(ev event.Event) {
	for _, login := range event.Identities(ev, x.facts.Labeller) {
		p := Person{Login: login, As: parts(ev, x.facts.Labeller, login), Level: "not looked up"}
		if known, ok := x.facts.Permissions[strings.ToLower(login)]; ok && x.asked {
			p.Level = level(known)
		}
		x.out.People = append(x.out.People, p)
	}
}

func level(p event.Permission) string {
	switch {
	case p.Err != nil:
		return fmt.Sprintf("cannot be looked up (%v)", p.Err)
	case p.Level == "":
		return "none"
	case p.Role != "" && p.Role != p.Level:
		return p.Level + ", by the role " + p.Role
	}
	return p.Level
}

// parts are what somebody has to do with an event.
func parts(ev event.Event, labeller, login string) []string {
	var as []string
	add := func(who, part string) {
		if strings.EqualFold(who, login) && !slices.Contains(as, part) {
			as = append(as, part)
		}
	}
	add(ev.Sender.Login, "sender")
	add(labeller, "labeller")
	if ev.Comment != nil {
		add(ev.Comment.Author.Login, "author of the comment")
	}
	if ev.Review != nil {
		add(ev.Review.Author.Login, "reviewer")
	}
	add(ev.TriggeringActor, "who started the job")
	return as
}
