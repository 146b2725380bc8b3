package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
)

// DryRun says what a job would make of the event, and why: it reads and decides as Run does, and writes nothing. dir is
// a directory that may be in a clone of the repository. The error is a payload that cannot be read.
func (a *Action) DryRun(ctx context.Context, dir string) (Explained, error) {
	a.Inputs.DryRun = true
	a.prepare()
	defer a.disconnect(ctx)
	ev, err := a.event()
	if err != nil {
		return Explained{}, err
	}
	if a.Inputs.Request != "" {
		return Explained{}, invalid.Errorf("the input request is for jobs alone; a dry run takes the event that it is about")
	}
	reads := a.unread(ev)
	reads.Preview = true
	look := &personReader{jobReader: jobReader{a}, dir: dir}
	d, err := a.decide(ctx, look, reads)
	if err != nil {
		return Explained{}, err
	}
	out := explained(d, ev, look)
	out.clean(report.Redactor(append(append(engine.Secrets(a.Env, a.Parent), a.Inputs.Secrets()...), a.Env.Token)))
	return out, ctx.Err()
}

// personReader reads for a person at a terminal, whose token may be missing or someone's own. What cannot be read is
// assumed, and said.
type personReader struct {
	jobReader
	dir     string
	asked   bool // GitHub has answered
	unknown []string
}

func (p *personReader) note(format string, args ...any) {
	p.unknown = append(p.unknown, fmt.Sprintf(format, args...))
}

// facts reads them from GitHub. Without a token, or where GitHub does not answer, it assumes that everyone may write,
// so that what is refused then is refused in any case.
func (p *personReader) facts(ctx context.Context, r *Reads) error {
	place, err := session.FindGitHub(ctx, p.Env, p.Parent, p.dir, r.Event.Repo.String())
	if err != nil {
		return invalid.Errorf("the payload is about the repository %s, and none on GitHub can be called that", r.Event.Repo)
	}
	p.Env.Repository = r.Event.Repo.String()
	p.Env.APIURL, p.Env.GraphQLURL, p.Env.ServerURL, p.Env.Token = place.API, place.GraphQL, place.Page, place.Token
	if !place.Trusted {
		p.Inputs.GitHubToken, p.Inputs.AppID = "", 0
	}
	ofJob := p.Inputs.GitHubToken != "" || p.Inputs.AppID != 0
	if p.Env.Token == "" && !ofJob {
		p.note("GitHub is not asked: %v", place.Tokenless())
		p.assume(r)
		return nil
	}
	if err := p.jobReader.facts(ctx, r); err != nil {
		if ctx.Err() != nil || p.github == nil {
			return err
		}
		p.note("GitHub cannot be asked: %v",
			strings.TrimPrefix(err.Error(), fmt.Sprintf("gathering facts for %s: ", r.Event)))
		p.assume(r)
		return nil
	}
	if p.asked = true; !ofJob { // the token here is someone's own, a job has another one
		r.Facts.Self = actionsSelf
	}
	if why, withdrawn := r.Facts.Withdrawn(r.Event); withdrawn {
		p.note("what a job would make of it that begins now, and would do nothing: %s", why)
	}
	return nil
}

// assume completes an event without looking.
func (p *personReader) assume(r *Reads) {
	ev := &r.Event
	r.Gathered = true
	r.Facts.Self, r.Facts.Permissions = actionsSelf, map[string]event.Permission{}
	if ev.Kind == event.Labeled {
		r.Facts.Labeller = ev.Sender.Login
	}
	who := event.Identities(*ev, r.Facts.Labeller)
	for _, login := range who {
		r.Facts.Permissions[strings.ToLower(login)] = event.Permission{Level: "write"}
	}
	if len(who) > 0 {
		p.note("whether %s may ask, which takes write, maintain or admin; what follows holds if so",
			strings.Join(who, " and "))
	}
	if ev.Kind == event.Labeled {
		p.note("the user who added the label, from the issue's event log; the payload names %s as its sender", ev.Sender.Login)
	}
	if ev.Issue != nil && ev.Issue.Pull && !strings.HasPrefix(ev.Name, "pull_request") {
		p.note("whether pull request #%d comes from a fork, which would be refused", ev.Issue.Number)
	}
	if ev.Issue == nil && ev.Ask.Issue != 0 {
		ev.Issue = &event.Issue{Number: ev.Ask.Issue}
		p.note("what issue #%d says, and whether it is open", ev.Ask.Issue)
	}
}

// run finds the run, as a job does, and also the one that a job reads with its checkout.
func (p *personReader) run(ctx context.Context, r *Reads, request event.Request) error {
	err := error(nil)
	if p.asked {
		if err = p.jobReader.run(ctx, r, request); err == nil && !r.Known {
			err = p.ofTask(ctx, r)
		}
		if err == nil {
			return nil
		}
		p.note("the run that it is about, and how that stands: %v", err)
	} else {
		p.note("the run that it is about, and how that stands")
	}
	r.Located, r.Unsure, r.Request = true, true, request
	if ev := &r.Request.Event; ev.Issue != nil && ev.Issue.Pull { // taken for one that ralph opened
		p.note("whether pull request #%d is one that ralph opened; what follows holds if so", ev.Issue.Number)
		ev.On, ev.OnClosed, r.Request.Pull = ev.Issue.Number, ev.Issue.Closed, ev.Issue.Number
	}
	return nil
}

// ofTask finds the run of the task that a request is about.
func (p *personReader) ofTask(ctx context.Context, r *Reads) error {
	q := r.Request
	if q.Verb == event.Sweep || q.Verb == event.OnCIResult || q.Event.Issue != nil && q.Event.Issue.Pull {
		return nil
	}
	id := ""
	if q.PlanFile == "" {
		t, err := p.task(ctx, q, r.Facts)
		if err != nil { // which the job tells
			return nil //nolint:nilerr // said above
		}
		id = t.ID
	}
	all, err := p.recorded(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(s loop.State) bool {
		return id != "" && s.Start.Task == id || q.PlanFile != "" && s.Start.Issue == 0 && s.Start.Plan != nil &&
			s.Start.Plan.File == q.PlanFile
	})
	if i < 0 {
		return nil
	}
	r.Run, r.Known = all[i], true
	if q.PlanFile != "" { // how a plan is asked for depends on whether it is the same one
		wanted, err := p.planFileRequest(ctx, q)
		if err == nil {
			r.Request = planCommand(q, past{state: r.Run, known: true}, samePlan(r.Run, wanted.plan.Content))
		}
	}
	return nil
}

// work reads what a job reads with its checkout, to find mistakes in it: what is needed, and the settings.
func (p *personReader) work(ctx context.Context, r *Reads, d Decision) {
	r.Looked = true
	if !p.asked {
		return
	}
	_, r.Mistake = p.workRequest(ctx, d.Request, r.Facts)
	if r.Mistake == nil {
		_, r.Mistake = p.settingsAt(ctx, p.baseBranch(r.Event))
	}
	if held := new(heldError); r.Mistake != nil && !invalid.Is(r.Mistake) && !errors.As(r.Mistake, &held) {
		p.note("the request, and %s of the base commit: %v", config.SettingsFile, r.Mistake)
		r.Mistake = nil
	}
}

// explained is a decision as people and programs read it.
func explained(d Decision, ev event.Event, look *personReader) Explained {
	out := Explained{Event: ev.String(), People: []Person{}, Decisions: []Decided{},
		Unknown: append([]string{}, look.unknown...)}
	switch d.Step {
	case DoNothing:
		out.Becomes, out.Why = becomesNothing, d.Why
	case Refuse:
		out.Becomes, out.Why = becomesRefused, d.Why
	case Answer, Reject:
		out.Becomes, out.Why = becomesAnswered, d.Why
	default:
		out.Becomes = becomesFollowed
		if d.Reads.Mistake != nil {
			out.Becomes, out.Why = becomesAnswered, d.Why
		}
	}
	if d.Step != DoNothing || d.Reads.Gathered {
		rules := d.Reads.Rules
		out.Asks = strings.NewReplacer("{phrase}", rules.TriggerPhrase, "{label}",
			rules.TriggerLabel).Replace(string(d.Request.Asking))
		out.Hint = d.Request.Hint
		out.People = people(d.Reads.Event, d.Facts, look.asked)
	}
	if !d.Reads.Located {
		return out
	}
	if !d.Reads.Unsure {
		out.Run = d.run()
	}
	for _, c := range d.Cases {
		out.Decisions = append(out.Decisions, Decided(c))
	}
	return out
}

// run is the run in a line.
func (d Decision) run() string {
	if !d.Known {
		return "none"
	}
	s := d.Run
	said := fmt.Sprintf("%s of %s: %s, %s, branch %s", s.Start.Run, s.Start.Task,
		runStatus(s, true, d.Reads.Job.Owner, d.Reads.Job.Now),
		safetext.Counted(len(s.Iterations), "iteration", "iterations"), s.Start.Branch)
	if s.Post.Pull != 0 {
		said += fmt.Sprintf(", pull request #%d", s.Post.Pull)
	}
	if s.End == nil && s.Owner != "" {
		said += ", held by " + s.Owner
	}
	if s.End != nil && s.End.Reason != "" {
		said += "; " + s.End.Reason
	}
	return said
}

// people are those whom an event names, as far as their permission decides.
func people(ev event.Event, facts event.Facts, asked bool) []Person {
	out := []Person{}
	for _, login := range event.Identities(ev, facts.Labeller) {
		p := Person{Login: login, As: parts(ev, facts.Labeller, login), Level: "not looked up"}
		if known, ok := facts.Permissions[strings.ToLower(login)]; ok && asked {
			p.Level = level(known)
		}
		out = append(out, p)
	}
	return out
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

// parts are what someone has to do with an event.
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
