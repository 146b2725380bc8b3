package bot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
)

// Preview is what a job would do with an event, and why. It holds no secret, and nothing that a terminal or a runner obeys.
type Preview struct {
	Event   string   `json:"event"`             // "issues.labeled on alice/demo#42"
	Asks    string   `json:"asks,omitempty"`    // as docs/internals/requests.md names it: "label `ralph` put on an issue"
	Hint    string   `json:"hint,omitempty"`    // the maintainer's words, for the agent
	People  []string `json:"people"`            // whose permission counts, with it: "bob: write"
	Run     string   `json:"run,omitempty"`     // the run that the event is about, and its status
	Does    string   `json:"does,omitempty"`    // a word of the table, or "nothing", "refuse", "answer", "reject"
	Why     string   `json:"why,omitempty"`     // one sentence
	Unknown string   `json:"unknown,omitempty"` // why the rest is not known; empty: all is
}

// DryRun reads and decides as Run does, and does nothing. dir is a directory that can be in a clone of the repository. The
// error is a payload or an input that is wrong; what GitHub does not answer is unknown.
func (a *Action) DryRun(ctx context.Context, dir string) (Preview, error) {
	a.Inputs.DryRun = true
	a.prepare()
	defer a.disconnect(ctx)
	ev, err := a.event()
	if err == nil && a.Inputs.Request != "" {
		err = invalid.Errorf("the input request is for jobs only; a dry run takes the event that the request names")
	}
	if err != nil {
		return Preview{}, err
	}
	d, err := a.decide(ctx, previewReader{jobReader{a}, dir}, ev, a.Env.RunAttempt)
	if ctx.Err() != nil || invalid.Is(err) {
		return Preview{}, errors.Join(err, ctx.Err())
	}
	p := Preview{Event: ev.String(), People: []string{}}
	if d.Reads.Gathered || err != nil {
		p.Asks = strings.NewReplacer("{phrase}", a.rules.TriggerPhrase, "{label}", a.rules.TriggerLabel).Replace(string(d.Request.Asking))
		p.Hint = safetext.Shorten(d.Request.Hint, mostHint)
		for _, login := range event.Identities(d.Reads.Event, d.Facts.Labeler) {
			p.People = append(p.People, login+": "+level(d.Facts.Permissions, login))
		}
	}
	if d.Reads.Located {
		p.Run = d.run()
	}
	if err != nil {
		p.Unknown = err.Error()
	} else if p.Does, p.Why = string(d.Row.Do), d.Row.Why; p.Does == "" {
		p.Does, p.Why = string(d.Step), d.Why
	}
	p.clean(report.Redactor(append(append(engine.Secrets(a.Env, a.Parent), a.Inputs.Secrets()...), a.Env.Token)))
	return p, nil
}

// mostHint bounds what a preview shows of a hint, in runes.
const mostHint = 200

// previewReader reads for a user at a terminal, with the user's token, and finds the run that a job reads with its checkout.
type previewReader struct {
	jobReader
	dir string
}

func (p previewReader) facts(ctx context.Context, r *Reads) error {
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
		return errors.New(place.Tokenless().Error()) // not invalid: the payload can be read
	}
	if err := p.jobReader.facts(ctx, r); err != nil {
		return err
	}
	if !ofJob { // a job has another token than the user
		r.Facts.Self = actionsSelf
	}
	return nil
}

func (p previewReader) run(ctx context.Context, r *Reads, request event.Request) error {
	err := p.jobReader.run(ctx, r, request)
	q := r.Request
	if err != nil || r.Known || q.Verb == event.Sweep || q.Verb == event.OnCIResult || q.Event.Issue != nil && q.Event.Issue.Pull {
		return err
	}
	wanted := workRequest{}
	if q.PlanFile != "" {
		wanted, err = p.planFileRequest(ctx, q)
	} else {
		wanted.Task, err = p.task(ctx, q, r.Facts)
	}
	if err != nil { // the job answers with it
		return nil //nolint:nilerr // said above
	}
	all, err := p.recorded(ctx)
	if i := slices.IndexFunc(all, func(s loop.State) bool { return s.Start.Task == wanted.ID }); i >= 0 {
		r.Run, r.Known = all[i], true
	}
	if wanted.plan != nil { // the request depends on whether the plan is the same
		r.Request = planCommand(q, past{state: r.Run, known: r.Known}, samePlan(r.Run, wanted.plan.Content))
	}
	return err
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

// level is someone's permission in words.
func level(known map[string]event.Permission, login string) string {
	p, ok := known[strings.ToLower(login)]
	switch {
	case !ok:
		return "not looked up"
	case p.Err != nil:
		return fmt.Sprintf("cannot be looked up (%v)", p.Err)
	case p.Level == "":
		return "none"
	}
	return p.Level
}

// clean takes secrets, line breaks and terminal sequences out of everything that came from outside.
func (p *Preview) clean(redact func(string) string) {
	for _, s := range []*string{&p.Event, &p.Asks, &p.Hint, &p.Why, &p.Run, &p.Unknown} {
		*s = safetext.Inert(redact(safetext.OneLine(*s)))
	}
	for i, who := range p.People {
		p.People[i] = safetext.Inert(redact(safetext.OneLine(who)))
	}
}

// Print shows the preview to a user.
func (p Preview) Print(to io.Writer) error {
	page := &strings.Builder{}
	for _, line := range [][2]string{{"event", p.Event}, {"asks", p.Asks}, {"hint", p.Hint},
		{"people", strings.Join(p.People, ", ")}, {"run", p.Run}, {"does", p.Does + ": " + p.Why}, {"unknown", p.Unknown}} {
		if line[1] != "" && line[1] != ": " {
			fmt.Fprintf(page, "%-8s  %s\n", line[0], line[1])
		}
	}
	page.WriteString("\nNothing was written, and no agent was asked.\n")
	_, err := io.WriteString(to, page.String())
	return err
}
