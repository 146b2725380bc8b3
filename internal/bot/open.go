package bot

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/lease"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/planrun"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// jobOpening opens the run of a job: its lease keeps others out, its checkout is made of the remote, and its record is
// there.
type jobOpening struct {
	*Action
	request event.Request
	wanted  *workRequest
	root    string // the directory that everything of this job is in
	work    *job
}

// job is the run of a job: what every run has, and how it is shown on GitHub.
type job struct {
	*engine.Run
	publisher *publisher
	view      func(loop.State) report.View
}

// open takes the task's lease, makes the checkout, and finds the run or starts one. But for the lease nothing has been
// written anywhere until then, so a mistake in the settings costs nothing. The run continues in the context that comes
// back, which ends when someone asks the run to stop.
func (a *Action) open(ctx context.Context, request event.Request, wanted *workRequest) (running context.Context,
	work *job, err error) {
	work = &job{}
	running, work.Run, err = engine.Open(ctx, &jobOpening{Action: a, request: request, wanted: wanted, work: work})
	if err = a.stopped(running, work, err); err != nil {
		work.Close()
		return running, work, err
	}
	work.Journal.Watch = work.publisher.watch
	return running, work, nil
}

// Hold implements opener: it takes the task's lease.
func (o *jobOpening) Hold(ctx context.Context, work *engine.Run) (running context.Context, err error) {
	o.work.Run = work
	running, o.root, err = o.lease(ctx, work, o.wanted.ID)
	return running, err
}

// stopped notes of a run that was told to stop while it was being opened that it was stopped, so that no sweep takes it
// up.
func (a *Action) stopped(running context.Context, work *job, err error) error {
	var stop *lease.StoppedError
	if err == nil || !errors.As(context.Cause(running), &stop) {
		return err
	}
	if work.Journal != nil && work.Journal.State().Records > 0 {
		late, cancel := context.WithTimeout(context.WithoutCancel(running), lease.Patience)
		defer cancel()
		end := &loop.End{Outcome: loop.Interrupted, Reason: stop.Error()}
		_, ended := work.Journal.Append(late, loop.Record{Type: loop.Ended, At: a.Clock(), End: end})
		a.warn("ending the run", ended)
	}
	return stop
}

// lease takes the task's lease, and the directory that everything of this job is in.
func (a *Action) lease(ctx context.Context, work *engine.Run, id string) (running context.Context, root string,
	err error) {
	if root, err = a.root(work); err != nil {
		return ctx, root, err
	}
	running, work.Heartbeat, err = a.holdLease(ctx, id, root)
	if err == nil {
		work.Cleanup = append(work.Cleanup, func() {
			late, cancel := a.afterCancel(ctx) // a job that was cancelled has little time
			defer cancel()
			work.Heartbeat.Close(late)
		})
	}
	return running, root, err
}

// Prepare implements engine.Opener: it makes the checkout, and finds the run or starts one.
func (o *jobOpening) Prepare(ctx context.Context, work *engine.Run) (b engine.Beginning, err error) {
	branch, err := o.branch(ctx, *o.wanted)
	if err != nil {
		return b, err
	}
	at, err := o.prepareWorkspace(ctx, work, workplace{o.request, o.wanted.ID, branch, o.root})
	if err != nil {
		return b, err
	}
	if o.wanted.ID == promptFileTask {
		if o.wanted.Task, err = o.promptFile(ctx, at.Tree, o.request); err != nil {
			return b, err
		}
	}
	before, err := o.before(ctx, at.Tree, o.request.Event, o.request.Fresh)
	if err != nil {
		return b, err
	}
	commands, err := o.planCommands(ctx, at.Tree, o.wanted, before)
	if err != nil {
		return b, err
	}
	rules, err := o.settings(ctx, at.Place, commands)
	if err != nil {
		return b, err
	}
	way, err := o.resumeMode(ctx, at.Tree, rules.Settings, before)
	if err != nil {
		return b, err
	}
	doing, rules, err := o.aim(ctx, at, rules, before, way)
	if err != nil {
		return b, err
	}
	own, err := engine.PromptsOf(ctx, at.Tree, at.Tree.Base())
	if err != nil {
		return b, err
	}
	work.Spec = at.spec(doing, rules)
	work.Prompts = work.Prompt(ctx, own, o.wanted.Comments)
	return o.beginning(ctx, o.work, before, way)
}

// aim settles what "done" means for the run, and the rules of a plan.
func (o *jobOpening) aim(ctx context.Context, at site, rules engine.Rules, before past, way loop.ResumeMode) (work engine.Work,
	_ engine.Rules, err error) {
	// it begins at the newest commit of the base branch
	if way == loop.Begin && o.wanted.plan != nil && o.wanted.Issue == 0 {
		source, err := planrun.ReadPlanAt(ctx, at.Tree, at.Tree.Base(), o.wanted.plan.File)
		if err != nil {
			return work, rules, err
		}
		o.wanted.plan = &source
	}
	if plan := o.planOf(o.request, o.wanted, before, way); plan != nil {
		return planrun.Use(*plan, at.Place, rules, o.host(), at.Output)
	}
	work = engine.WorkOn(at.Tree, o.host())
	work.Goal, err = rules.ResolveGoal(o.wanted.Task, nil, o.wanted.Issue == 0, o.log) // an issue may be a stranger's
	return work, rules, err
}

func (a *Action) promptFile(ctx context.Context, tree *git.Tree, request event.Request) (task.Task, error) {
	content, ok, err := tree.File(ctx, tree.Base(), a.Inputs.PromptFile)
	if err != nil {
		return task.Task{}, fmt.Errorf("reading the input prompt_file: %w", err)
	}
	if !ok {
		return task.Task{}, invalid.Errorf(
			"input prompt_file is %q, which is not a file on %s; give the path of one from the top of the repository",
			a.Inputs.PromptFile, tree.BaseBranch())
	}
	t, err := task.FromFile(a.Inputs.PromptFile, string(content))
	if err != nil {
		return t, invalid.Mark(err)
	}
	t.ID, t.Asked = promptFileTask, request.Event.Sender.Login
	return t, nil
}

// recordListener tells whoever wants to know of each record.
func (a *Action) recordListener(work *job) func(loop.Record) {
	if a.Server == nil || a.Server.Record == nil {
		return a.stored
	}
	return func(r loop.Record) {
		a.Server.Record(work.Journal.State().Records, r)
		if a.stored != nil {
			a.stored(r)
		}
	}
}

// before reads the task's last run from its record on the remote. Who starts fresh needs no more of it than can be
// read.
func (a *Action) before(ctx context.Context, tree *git.Tree, ev event.Event, fresh bool) (past, error) {
	saved, known, err := tree.LoadRecord(ctx)
	if err != nil {
		return past{}, fmt.Errorf("reading the run record: %w", err)
	}
	if !known {
		return past{}, nil
	}
	raw := saved.Files[journal.File]
	records, _, err := journal.Read(bytes.NewReader(raw))
	switch {
	case err != nil && fresh:
		a.log("warning: reading the run record: %v; a fresh start does not need it", err)
	case err != nil:
		return past{}, invalid.Errorf("reading the run record: %w; %s", err, wording.JoinedBy("; ", "the run cannot resume",
			a.offers(ctx, ev).Offer("retry --fresh", "starts over")))
	}
	return past{loop.Fold(records), true, raw}, nil
}

// resumeMode decides between a new run and the one that exists.
func (o *jobOpening) resumeMode(ctx context.Context, tree *git.Tree, set config.Settings, before past) (loop.ResumeMode,
	error) {
	request, wanted := o.request, o.wanted
	if wanted.plan != nil {
		if err := o.prepared(ctx, tree, set, wanted); err != nil {
			return "", err
		}
		if why := wanted.complete(set, before); why != "" {
			return "", &heldError{why}
		}
		request = planCommand(request, before, samePlan(before.state, wanted.plan.Content))
	}
	d := event.Decide(request, runStatus(before.state, before.known, o.owner(), o.Clock()), o.rules)
	o.log("%s: %s", d.Do, d.Why)
	if why := unknown(request.Accepts, before.state.Findings(), o.rules.TriggerPhrase); why != "" {
		return "", &heldError{why}
	}
	if err := o.pullOpen(ctx, d, before.state); err != nil {
		return "", err
	}
	switch d.Do {
	case event.GoOn:
		return loop.Continue, nil
	case event.Again:
		return loop.Again, nil
	case event.Begin:
	default:
		return "", &heldError{d.Why}
	}
	if wanted.plan == nil && wanted.branch != "" { // the run that was to continue
		return "", &heldError{d.Why + ", so there is nothing to continue"}
	}
	if wanted.plan != nil && !before.known && tree.Resumed() {
		return "", invalid.Errorf("the branch %s already exists, and ralph has no record of a run on it; rename or "+
			"delete it, then ask again", tree.Branch())
	}
	if err := o.refusedByRules(ctx, tree); err != nil {
		return "", err
	}
	if before.known {
		tree.BeginFresh()
		o.warn("archiving old failure branches", tree.Archive(ctx))
	}
	return loop.Begin, nil
}

// refusedByRules reports, before anything is paid, a ruleset that would refuse the run's commits.
func (o *jobOpening) refusedByRules(ctx context.Context, tree *git.Tree) error {
	if o.Inputs.DryRun {
		return nil
	}
	if why := o.github.Refuses(ctx, tree.Branch(), tree.Resumed(), o.Inputs.SigningKey != ""); why != "" {
		return invalid.Errorf("%s", why)
	}
	return nil
}

// pullOpen looks, before anything is paid, whether a person has closed or merged the pull request of a run that continues.
func (o *jobOpening) pullOpen(ctx context.Context, d event.Decision, s loop.State) error {
	if d.Do != event.GoOn && d.Do != event.Again || s.Post.Pull == 0 || !event.IsRequest(o.request.Event.Kind) {
		return nil
	}
	closed, merged, err := o.github.PullClosed(ctx, s.Post.Pull)
	why := fmt.Sprintf("#%d is merged, so nothing was started", s.Post.Pull)
	switch {
	case err != nil: // the run's end tells
		o.warn("looking at the pull request", err)
		return nil
	case merged:
	case closed:
		why = fmt.Sprintf("#%d is closed, so nothing was started; reopen it and ask again", s.Post.Pull)
	default:
		return nil
	}
	return &heldError{wording.JoinedBy("; ", why,
		o.offers(ctx, o.request.Event).Offer("retry --fresh", "on the issue starts over with a new one"))}
}

// unknown reports which name of an accept matches no open finding, with the names that do; "" if each matches one.
func unknown(accepts []string, open []loop.Concern, phrase string) string {
	names := safetext.Map(open, func(c loop.Concern) string { return c.Name })
	for _, name := range accepts {
		if slices.ContainsFunc(open, func(c loop.Concern) bool {
			return len(loop.AcceptedOf([]loop.Concern{c}, []loop.Acceptance{{Name: name, What: c.Message}})) > 0
		}) {
			continue
		}
		if len(open) == 0 {
			return fmt.Sprintf("there is no finding to accept, so %s accepts nothing; nothing was started", safetext.Quoted(name))
		}
		near := ""
		if meant := safetext.Nearest(name, names); meant != "" {
			near = "; did you mean " + safetext.Code(phrase+" accept "+meant) + "?"
		}
		return fmt.Sprintf("%s accepts no open finding%s Nothing was started. Findings to accept by name: %s", safetext.Quoted(name),
			cmp.Or(near, "."), safetext.FirstN(safetext.Map(names, safetext.Code), 20))
	}
	return ""
}

// beginning readies the run's record, and how it is shown.
func (o *jobOpening) beginning(ctx context.Context, work *job, before past, way loop.ResumeMode) (b engine.Beginning,
	err error) {
	spec, run := work.Spec, before.state.Start.Run
	if way == loop.Begin {
		run = engine.NewRunID(o.Clock())
	}
	work.Heartbeat.Of(run)
	// A missing executable is found before anything is written; one of the repository's own is there only after the
	// checkout.
	if _, _, err := work.Agents(nil); err != nil && !inTree(spec.Settings.Agent.Command) &&
		!inTree(spec.Settings.Reviewer.Command) {
		return b, err
	}
	work.Journal = &engine.Journal{Clock: o.Clock, Heartbeat: work.Heartbeat, Remote: !o.Inputs.DryRun, Log: o.log,
		Token: o.github.Token, Redact: o.redact, Stored: o.recordListener(work)}
	work.view = o.viewOn(ctx, work, o.request.Event)
	work.publisher = o.publisher(work, o.request.Event)
	b = engine.Beginning{Mode: way, Dir: filepath.Join(o.root, "runs", run), Reports: o.reportDir(run),
		OpenJournal: journal.Open,
		Claim:       func(ctx context.Context, r loop.Record) error { return o.recordStart(ctx, work, r) }}
	o.Server.begins(StartedRun{Run: run, Task: o.wanted.ID, Title: o.wanted.Title, Issue: o.wanted.Issue,
		Branch: spec.Tree.Branch()}, before.raw, way)
	if way != loop.Begin {
		b.OpenJournal = func(dir string) (*journal.Journal, error) { return journal.Import(dir, before.raw) }
		b.Resume = o.resume(work, way, o.request, *o.wanted)
		return b, nil
	}
	b.Start = spec.FirstRecord(run, o.wanted.Task)
	b.Start.Owner, b.Start.RunURL = o.owner(), o.runURL()
	b.Start.Fresh = before.known || o.request.Fresh
	b.Start.DryRun = o.Inputs.DryRun
	if spent := before.state.OnIssue(); spent != (loop.Usage{}) {
		b.Start.Earlier = &spent
	}
	return b, nil
}

func (a *Action) publisher(work *job, ev event.Event) *publisher {
	return &publisher{
		github: a.github, view: work.view, rules: a.rules, labels: labels(ev), onto: work.Tree.BaseBranch(),
		each: work.Settings.Comments == config.EachComment, notifyOn: work.Settings.NotifyOn,
		clock: a.Clock, after: func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }, log: a.log,
	}
}

// inTree reports whether a program is named by its path in the checkout.
func inTree(command string) bool { return strings.Contains(command, "/") && !filepath.IsAbs(command) }

// recordStart records the beginning where others see it, which holds the run against them, and puts the worktree where the run
// stands.
func (o *jobOpening) recordStart(ctx context.Context, work *job, record loop.Record) error {
	if err := work.Journal.Claim(ctx, record); err != nil {
		var taken *git.TakenError
		if errors.As(err, &taken) {
			return &heldError{taken.Error()}
		}
		return err
	}
	if err := work.Tree.Start(ctx); err != nil {
		return err
	}
	if err := work.WritePlan(ctx, work.Journal); err != nil {
		end := &loop.End{Outcome: loop.Failed, Reason: err.Error()}
		if invalid.Is(err) {
			end.Outcome = loop.Invalid
		}
		_, ended := work.Journal.Append(ctx, loop.Record{Type: loop.Ended, At: o.Clock(), End: end}) // gives the lease back
		o.warn("ending the run", ended)
		return err
	}
	return nil
}

func (a *Action) resume(work *job, way loop.ResumeMode, request event.Request, wanted workRequest) *loop.Resume {
	t := wanted.Task
	r := &loop.Resume{Owner: a.owner(), Hint: t.Hint, RunURL: a.runURL(), Retry: way == loop.Again}
	if way == loop.Again {
		r.MaxIterations = work.Goal.Most
	}
	if wanted.feedback != nil {
		r.Feedback = wanted.feedback
	}
	if event.IsRequest(request.Event.Kind) {
		r.Asked = request.Event.Sender.Login
	}
	for _, name := range request.Accepts {
		r.Accept = append(r.Accept, loop.Acceptance{Name: a.redact(name), By: request.Event.Sender.Login})
	}
	// the text as it is at this trigger; a comment on the pull request carries none
	if way == loop.Again && request.Event.On == 0 && work.Plan == nil && wanted.feedback == nil {
		r.Title, r.Spec, r.Completion = t.Title, t.Spec, work.Goal.Completion
		r.Pipeline, r.Caps, r.Asking = work.Goal.Pipeline, work.Goal.Caps, work.Goal.Asking
	}
	if request.MaxIterations > 0 {
		r.MaxIterations = work.Settings.AtMost(request.MaxIterations)
	}
	return r
}

// viewOn is a view with what the repository says of how pull requests are written here. It is read once, from the base
// commit; what cannot be read is left out.
func (a *Action) viewOn(ctx context.Context, work *job, ev event.Event) func(loop.State) report.View {
	spec := work.Spec
	a.readWays(ctx, ev, spec.Tree.File)
	template, err := pullTemplate(ctx, spec)
	a.warn("reading the template for pull requests", err)
	subjects, err := spec.Tree.Subjects(ctx, spec.Tree.Base(), 50)
	a.warn("reading how commits are written here", err)
	on := labels(ev)
	return func(s loop.State) report.View {
		v := a.view(s)
		v.Template, v.Subjects, v.Labels = template, subjects, on
		v.Limits = loop.Limits{CostUSD: spec.Settings.MaxCostUSD, Tokens: int64(spec.Settings.MaxTokens),
			IssueCostUSD: spec.Settings.MaxCostUSDPerIssue}
		v.Worktree = spec.Tree.Dir()
		if work.publisher != nil && work.publisher.running {
			v.Running = a.rules.StatusLabel(github.LabelRunning)
		}
		return v
	}
}

// pullTemplate is the repository's own template for pull requests; empty when it has none.
func pullTemplate(ctx context.Context, spec *engine.Spec) (string, error) {
	files, err := spec.Tree.Files(ctx, spec.Tree.Base())
	if err != nil {
		return "", err
	}
	for _, path := range report.TemplatePaths {
		i := slices.IndexFunc(files, func(f git.Entry) bool { return strings.EqualFold(f.Path, path) })
		if i < 0 {
			continue
		}
		content, _, err := spec.Tree.Read(ctx, spec.Tree.Base(), files[i].Path, 64<<10)
		return string(content), err
	}
	return "", nil
}
