package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/planrun"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// sweep looks for what no process works on.
type sweep struct {
	*Action
	ev    event.Event
	facts event.Facts
	runs  []loop.State                   // the latest run of every task, oldest first
	held  map[string]bool                // tasks that a process works on, or that this sweep has found
	left  func() (github.Pending, error) // whether an issue has a trigger label, and the settings: most sweeps end with this call
}

// pending is a request that no process works on, and why.
type pending struct {
	request event.Request
	why     string
	work    func(context.Context) (loop.Result, error)
}

// Listed is a row of the matrix that a workflow fans out over: an issue, or a plan by its path.
type Listed struct {
	Issue int    `json:"issue,omitempty"`
	Plan  string `json:"plan,omitempty"`
	Why   string `json:"why"`
}

func (p pending) row() Listed {
	if p.request.Event.Issue == nil {
		return Listed{Plan: p.request.PlanFile, Why: p.why}
	}
	return Listed{Issue: p.request.Event.Issue.Number, Why: p.why}
}

func (l Listed) String() string {
	if l.Plan != "" {
		return fmt.Sprintf("%s: %s", l.Plan, l.Why)
	}
	return fmt.Sprintf("issue #%d: %s", l.Issue, l.Why)
}

// sweep works on what no process works on, at most max_tasks. The result is that of the last run, or of the first that
// did not end well.
func (a *Action) sweep(ctx context.Context, ev event.Event, facts event.Facts) (worst loop.Result, err error) {
	if a.Inputs.List {
		_, err := a.list(ctx, ev, facts)
		return loop.Result{}, err
	}
	left := a.Inputs.MaxTasks
	for p, err := range a.pending(ctx, ev, facts) {
		if err != nil {
			return worst, err
		}
		a.log("%s", p.row())
		result, err := p.work(ctx)
		if worst.Outcome == "" || worst.Outcome == loop.Done {
			worst = result
		}
		if left--; err != nil || left == 0 {
			return worst, err
		}
	}
	if left == a.Inputs.MaxTasks {
		a.log("nothing to do: no run was left behind, no issue waits with the label %s, and no plan of the settings is "+
			"left to do", a.rules.TriggerLabel)
	}
	return worst, nil
}

// List returns what a sweep would work on, at most max_tasks, and does nothing. It also sets it as the output matrix, in
// the form that strategy.matrix takes.
func (a *Action) List(ctx context.Context) ([]byte, error) {
	a.prepare()
	defer a.disconnect(ctx)
	owner, name, ok := strings.Cut(a.Env.Repository, "/")
	if !ok {
		return nil, invalid.Errorf("GITHUB_REPOSITORY is not set; ralph sweep runs in a workflow, or with " +
			"GITHUB_REPOSITORY=owner/name and GITHUB_TOKEN")
	}
	r := Reads{Event: event.Event{Kind: event.Scheduled, Name: "sweep", Repo: event.Repo{Owner: owner, Name: name}, At: a.Clock()}}
	if err := (jobReader{a}).facts(ctx, &r); err != nil {
		return nil, err
	}
	return a.list(ctx, r.Event, r.Facts)
}

func (a *Action) list(ctx context.Context, ev event.Event, facts event.Facts) ([]byte, error) {
	rows := []Listed{}
	for p, err := range a.pending(ctx, ev, facts) {
		if err != nil {
			return nil, err
		}
		if rows = append(rows, p.row()); len(rows) == a.Inputs.MaxTasks {
			break
		}
	}
	matrix, err := json.Marshal(map[string][]Listed{"include": rows})
	if err != nil {
		return nil, err
	}
	return matrix, a.Runner.SetOutputs(map[string]string{"matrix": string(matrix)})
}

// pending yields runs that were cut off while they reported their end, runs whose process died, issues whose label no run
// has answered, the plans of the settings, and runs that wait for their pull request, each oldest first. The log says why
// others are skipped. With the input issue or plan, only that one counts: a job of the matrix that List made.
func (a *Action) pending(ctx context.Context, ev event.Event, facts event.Facts) iter.Seq2[pending, error] {
	return func(yield func(pending, error) bool) {
		labels := []string{a.rules.TriggerLabel, a.rules.PlanLabel()}
		s := &sweep{Action: a, ev: ev, facts: facts, held: map[string]bool{}, left: sync.OnceValues(func() (github.Pending, error) {
			return a.github.Pending(ctx, labels, a.baseBranch(ev), config.SettingsFile)
		})}
		var err error
		if s.runs, err = a.recorded(ctx); err != nil {
			yield(pending{}, err)
			return
		}
		for _, r := range s.runs {
			s.held[r.Start.Task] = s.held[r.Start.Task] || alive(r, a.Clock())
		}
		for _, from := range []func(context.Context, func(pending, error) bool) bool{
			s.unreported, s.abandoned, s.labeled, s.plans, s.undelivered,
		} {
			if !from(ctx, yield) {
				return
			}
		}
	}
}

func planRequest(ev event.Event, file string) event.Request {
	return event.Request{Command: event.Command{Verb: event.Run}, Event: ev, PlanFile: file}
}

// wants reports whether this sweep is for an issue.
func (s *sweep) wants(issue int) bool {
	return issue != 0 && s.Inputs.Plan == "" && (s.Inputs.Issue == 0 || s.Inputs.Issue == issue)
}

// wantsPlan reports whether this sweep is for a plan in the repository.
func (s *sweep) wantsPlan(file string) bool {
	return s.Inputs.Issue == 0 && (s.Inputs.Plan == "" || path.Clean(s.Inputs.Plan) == file)
}

// wantsPlanOf reports whether it is for the plan in the repository that a run is of.
func (s *sweep) wantsPlanOf(r loop.State) bool {
	return r.Start.Issue == 0 && r.Start.Plan != nil && s.wantsPlan(r.Start.Plan.File)
}

// ofRuns yields the runs that ask for something.
func (s *sweep) ofRuns(ctx context.Context, yield func(pending, error) bool, find func(loop.State) (pending, bool)) bool {
	for _, r := range s.runs {
		if ctx.Err() != nil {
			return true
		}
		if p, ok := find(r); ok && !yield(p, nil) {
			return false
		}
	}
	return true
}

// unreportedFor is how long sweeps try to report the end of a run, whose process died or which GitHub did not accept.
const unreportedFor = 3 * 24 * time.Hour

// unreported are the runs that have ended without everyone being able to see it.
func (s *sweep) unreported(ctx context.Context, yield func(pending, error) bool) bool {
	now := s.Clock()
	return s.ended(ctx, yield, "has ended, and that was not reported everywhere", s.tellEnd, func(r loop.State) bool {
		return !r.Post.Finished && !now.Before(r.Lease) && now.Sub(r.At) <= unreportedFor && !reflect.ValueOf(r.Post).IsZero()
	})
}

// undelivered are the runs that wait for their pull request. They come last: one that cannot be opened must not keep
// others waiting.
func (s *sweep) undelivered(ctx context.Context, yield func(pending, error) bool) bool {
	return s.ended(ctx, yield, "waits for its pull request", s.deliverLate,
		func(r loop.State) bool { return r.End.ForPull && !s.held[r.Start.Task] })
}

// ended are the runs with an end that left something to do, if this sweep is for them.
func (s *sweep) ended(ctx context.Context, yield func(pending, error) bool, why string,
	do func(context.Context, event.Request, loop.State) (loop.Result, error), left func(loop.State) bool) bool {
	return s.ofRuns(ctx, yield, func(r loop.State) (p pending, ok bool) {
		if r.End == nil || !left(r) {
			return p, false
		}
		p.request = planRequest(s.ev, "")
		if s.wants(r.Start.Issue) {
			var err error
			if p.request.Event.Issue, err = s.github.Issue(ctx, r.Start.Issue); err != nil {
				s.log("%s is skipped: %v", r.Start.Task, err)
			}
			ok = err == nil
		} else if ok = s.wantsPlanOf(r); ok {
			p.request.PlanFile = r.Start.Plan.File
		}
		p.why = "its run " + r.Start.Run + " " + why
		p.work = func(ctx context.Context) (loop.Result, error) { return do(ctx, p.request, r) }
		return p, ok
	})
}

// abandoned are the runs whose process died, and those whose wait is over. They were authorized when they started.
func (s *sweep) abandoned(ctx context.Context, yield func(pending, error) bool) bool {
	return s.ofRuns(ctx, yield, func(r loop.State) (p pending, ok bool) {
		if r.End != nil && !canResume(r, s.Clock()) || alive(r, s.Clock()) {
			return p, false
		}
		s.github.Recount()
		switch {
		case s.wants(r.Start.Issue):
			var known event.Facts
			if p.request, known, ok = s.orphan(ctx, s.ev, r); !ok {
				return p, false
			}
			p.work = func(ctx context.Context) (loop.Result, error) { return s.work(ctx, p.request, known) }
		case s.wantsPlanOf(r):
			p.request = planRequest(s.ev, r.Start.Plan.File)
			p.work = func(ctx context.Context) (loop.Result, error) { return s.workOn(ctx, p.request, goingOn(r, "")) }
		default:
			return p, false
		}
		s.held[r.Start.Task] = true
		p.why = "its run " + r.Start.Run + " was left behind"
		if canResume(r, s.Clock()) {
			p.why = "the limit that its run " + r.Start.Run + " waited for is over"
		}
		return p, true
	})
}

// labeled are the issues whose label no run has answered.
func (s *sweep) labeled(ctx context.Context, yield func(pending, error) bool) bool {
	if s.Inputs.Plan != "" {
		return true
	}
	if is, err := s.left(); err == nil && !is.Labeled {
		return true
	}
	for _, label := range []string{s.rules.TriggerLabel, s.rules.PlanLabel()} {
		queued, err := s.github.Queued(ctx, label)
		if err != nil {
			yield(pending{}, err)
			return false
		}
		for _, issue := range queued {
			s.github.Recount()
			if label == s.rules.TriggerLabel && s.held[fmt.Sprintf("issue-%d", issue.Number)] {
				s.log("issue #%d is skipped: its run is alive", issue.Number)
				continue
			}
			if !s.wants(issue.Number) || ctx.Err() != nil {
				continue
			}
			d, err := s.queued(ctx, issue, label)
			if err != nil {
				s.log("issue #%d is skipped: %v", issue.Number, err)
				continue
			}
			work := s.work
			if d.Step == DerivePlan {
				work = s.plan
			}
			if !yield(pending{d.Request, "it waits with the label " + label,
				func(ctx context.Context) (loop.Result, error) { return work(ctx, d.Request, d.Facts) }}, nil) {
				return false
			}
		}
	}
	return true
}

// queued is what is decided on a label, as if its event had just arrived. The error says why it does not count: if the issue
// was edited after it was labeled, the text that was requested no longer exists.
func (s *sweep) queued(ctx context.Context, issue event.Issue, label string) (d Decision, err error) {
	labeler, at, err := s.github.LabelChanged(ctx, issue.Number, event.Labeled, label)
	if err != nil {
		return d, err
	}
	if label == s.rules.TriggerLabel &&
		slices.ContainsFunc(s.runs, func(r loop.State) bool { return r.Start.Issue == issue.Number && begunSince(r, at) }) {
		return d, errors.New("a run has begun since it was labeled, and could not take the label off")
	}
	edited, err := s.github.LastEdited(ctx, issue.Number)
	if err != nil {
		return d, err
	}
	if edited.After(at) {
		return d, errors.New("its text was edited after it was labeled; take the label off and put it on again")
	}
	d, err = s.decide(ctx, jobReader{s.Action}, event.Event{
		Kind: event.Labeled, Name: "issues.labeled (swept)", Repo: s.ev.Repo, Sender: event.Actor{Login: labeler},
		At: at, Label: label, Issue: &issue,
	}, 1)
	if err == nil && d.Step != Work && d.Step != DerivePlan {
		err = errors.New(d.Why)
	}
	return d, err
}

// plans are the plan files of the settings that are not complete and that no process works on. If the last run of one has
// ended, it is skipped until someone changes the file: another run would end like that one, and what is done waits for its
// merge.
func (s *sweep) plans(ctx context.Context, yield func(pending, error) bool) bool {
	if s.Inputs.Issue != 0 {
		return true
	}
	set, err := s.settingsLeft(ctx)
	if err != nil {
		s.log("the plans of the settings are skipped: %v", err)
		return true
	}
	for _, file := range set.Plans {
		s.github.Recount()
		if file = path.Clean(file); !s.wantsPlan(file) || ctx.Err() != nil {
			continue
		}
		request := planRequest(s.ev, file)
		wanted, why := s.openPlan(ctx, request, set)
		if wanted == nil {
			s.log("%s is skipped: %s", file, why)
			continue
		}
		s.held[wanted.ID] = true
		if !yield(pending{request, why,
			func(ctx context.Context) (loop.Result, error) { return s.workOn(ctx, request, *wanted) }}, nil) {
			return false
		}
	}
	return true
}

// openPlan is a plan of the settings with what is left of it, or nil and why it is skipped.
func (s *sweep) openPlan(ctx context.Context, request event.Request, set config.Settings) (*workRequest, string) {
	wanted, err := s.planFileRequest(ctx, request)
	if err != nil {
		return nil, err.Error()
	}
	p, _, err := plan.Read(request.PlanFile, wanted.plan.Content)
	if err != nil {
		return nil, err.Error()
	}
	rules := planrun.Rules(set)
	var last loop.State // of the same task
	if i := slices.IndexFunc(s.runs, func(r loop.State) bool { return r.Start.Task == wanted.ID }); i >= 0 {
		last = s.runs[i]
	}
	says := p
	p, _, claims := p.Bound(rules, last.OnRecord())
	switch {
	case p.Complete(rules):
		return nil, "it is complete" + p.Marks()
	case says.Complete(rules): // no one has asked for the reviews that are missing
		return nil, fmt.Sprintf("it says that it is complete, but no record has an approval of %s; run it to review those",
			safetext.FirstN(claims, 10))
	case s.held[wanted.ID]:
		return nil, "its run is alive"
	case last.End != nil && samePlan(last, wanted.plan.Content):
		return nil, fmt.Sprintf("its run %s ended %s, and the file has not changed since", last.Start.Run, last.End.Outcome)
	}
	return &wanted, fmt.Sprintf("%d of its %s left to do", len(p.Stories)-p.Passed(),
		safetext.Counted(len(p.Stories), "story is", "stories are"))
}

// settingsLeft are the settings of the base branch as it is now, from the call that has brought them or from a separate
// one. A run reads those of its base commit again.
func (s *sweep) settingsLeft(ctx context.Context) (config.Settings, error) {
	is, err := s.left()
	content, ok := is.Content, is.Content != nil
	if err != nil || is.Partial {
		if content, ok, err = s.github.File(ctx, s.baseBranch(s.ev), config.SettingsFile); err != nil {
			return config.Settings{}, err
		}
	}
	return s.settingsWith(content, ok)
}
