package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
)

// gather reads the facts from GitHub. Without a token, or where GitHub does not answer, it assumes that everybody may write, so that what
// is refused then is refused in any case.
func (x *explainer) gather(ctx context.Context, ev event.Event) error {
	place, err := session.FindGitHub(ctx, x.Env, x.Parent, x.dir, ev.Repo.String())
	if err != nil {
		return invalid.Errorf("the payload is about the repository %s, and none on GitHub can be called that", ev.Repo)
	}
	x.cloned = place.Dir
	x.Env.Repository = ev.Repo.String()
	x.Env.APIURL, x.Env.GraphQLURL, x.Env.ServerURL, x.Env.Token = place.API, place.GraphQL, place.Page, place.Token
	if !place.Trusted {
		x.Inputs.GitHubToken, x.Inputs.AppID = "", 0
	}
	if x.Env.Token == "" && x.Inputs.GitHubToken == "" && x.Inputs.AppID == 0 {
		x.unknown("GitHub is not asked: %v", place.Tokenless())
		x.assume(ev)
		return nil
	}
	if x.github, err = x.connect(ctx, ev); err != nil {
		return err
	}
	looked, facts, err := x.github.Gather(ctx, ev)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		x.unknown("GitHub cannot be asked: %v", err)
		x.assume(ev)
		return nil
	}
	x.request.Event, x.facts, x.asked = looked, facts, true
	if x.Inputs.GitHubToken == "" && x.Inputs.AppID == 0 { // the token here is somebody's own, a job has another one
		x.facts.Self = actionsSelf
	}
	return nil
}

// assume completes an event without looking.
func (x *explainer) assume(ev event.Event) {
	if ev.Kind == event.Labeled {
		x.facts.Labeller = ev.Sender.Login
	}
	x.facts.Self, x.facts.Permissions = actionsSelf, map[string]event.Permission{}
	who := event.Identities(ev, x.facts.Labeller)
	for _, login := range who {
		x.facts.Permissions[strings.ToLower(login)] = event.Permission{Level: "write"}
	}
	if len(who) > 0 {
		x.unknown("whether %s may ask, which takes write, maintain or admin; what follows holds if so", strings.Join(who, " and "))
	}
	if ev.Kind == event.Labeled {
		x.unknown("who put the label on by the issue's event log; the payload names %s as its sender", ev.Sender.Login)
	}
	if ev.Issue != nil && ev.Issue.Pull && !strings.HasPrefix(ev.Name, "pull_request") {
		x.unknown("whether pull request #%d comes from a fork, which would be refused", ev.Issue.Number)
	}
	if ev.Issue == nil && ev.Ask.Issue != 0 {
		ev.Issue = &event.Issue{Number: ev.Ask.Issue}
		x.unknown("what issue #%d says, and whether it is open", ev.Ask.Issue)
	}
	x.request.Event = ev
}

// standing finds the run that the request is about, as Action.locate does, and reads also those that a job reads with its checkout.
func (x *explainer) standing(ctx context.Context) {
	if !x.asked {
		x.unknown("the run that it is about, and how that stands")
		x.own()
		return
	}
	request, run, known, err := x.locate(ctx, x.request)
	if err == nil && !known {
		run, known, err = x.recorded(ctx, request)
	}
	if err != nil {
		x.unknown("the run that it is about, and how that stands: %v", err)
		x.own()
		return
	}
	x.request, x.run, x.known, x.found = request, run, known, true
	x.out.Run = x.told()
}

// own takes a pull request for one that ralph opened, where no run tells.
func (x *explainer) own() {
	ev := &x.request.Event
	if ev.Issue == nil || !ev.Issue.Pull {
		return
	}
	x.unknown("whether pull request #%d is one that ralph opened; what follows holds if so", ev.Issue.Number)
	ev.On, ev.OnClosed, x.request.Pull = ev.Issue.Number, ev.Issue.Closed, ev.Issue.Number
}

// recorded is the run of the task that a request is about.
func (x *explainer) recorded(ctx context.Context, r event.Request) (loop.State, bool, error) {
	if r.Verb == event.Sweep || r.Verb == event.Heed || r.Event.Issue != nil && r.Event.Issue.Pull {
		return loop.State{}, false, nil
	}
	id := ""
	if r.PlanFile == "" {
		t, err := x.task(ctx, r, x.facts)
		if err != nil { // which is told among the steps
			return loop.State{}, false, nil //nolint:nilerr // said above
		}
		id = t.ID
	}
	runs, err := x.runs(ctx)
	if err != nil {
		return loop.State{}, false, err
	}
	i := slices.IndexFunc(runs, func(s loop.State) bool {
		return id != "" && s.Start.Task == id || r.PlanFile != "" && s.Start.Issue == 0 && s.Start.Plan != nil && s.Start.Plan.File == r.PlanFile
	})
	if i < 0 {
		return loop.State{}, false, nil
	}
	return runs[i], true, nil
}

// told is the run in a line.
func (x *explainer) told() string {
	if !x.known {
		return "none"
	}
	s := x.run
	said := fmt.Sprintf("%s of %s: %s, %s, branch %s", s.Start.Run, s.Start.Task, runStatus(s, true, x.owner(), x.Clock()),
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

// decisions asks the table, for every standing when it is not known how the run stands.
func (x *explainer) decisions(ctx context.Context) {
	r := x.request
	if d, ok := decidedWithoutRun(r, x.rules); ok {
		x.out.Decisions = append(x.out.Decisions, Decided{nil, d.Do, d.Why})
		return
	}
	if x.found {
		if r.PlanFile != "" {
			r = x.asPlan(ctx, r)
		}
		d := x.decide(r, x.run, x.known)
		x.out.Decisions = append(x.out.Decisions, Decided{nil, d.Do, d.Why})
		return
	}
	for _, at := range event.Standings {
		d := event.Decide(r, at, x.rules)
		i := slices.IndexFunc(x.out.Decisions, func(o Decided) bool { return o.Do == d.Do && o.Why == d.Why })
		if i < 0 {
			x.out.Decisions = append(x.out.Decisions, Decided{nil, d.Do, d.Why})
			i = len(x.out.Decisions) - 1
		}
		x.out.Decisions[i].When = append(x.out.Decisions[i].When, at)
	}
	if len(x.out.Decisions) == 1 { // it does not matter
		x.out.Decisions[0].When = nil
	}
}

// asPlan is how a plan in the repository is asked for (see ofPlan).
func (x *explainer) asPlan(ctx context.Context, r event.Request) event.Request {
	wanted, err := x.planFileRequest(ctx, r)
	if err != nil { // which is told among the steps
		return r
	}
	return planCommand(r, past{state: x.run, known: x.known}, samePlan(x.run, wanted.plan.Content))
}
