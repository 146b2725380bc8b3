package bot

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/derive"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/lease"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/planrun"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/report/planlist"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// job is the run of a job. Its lease keeps others out, its checkout is made of the remote, its record is there, and the
// publisher shows it on GitHub.
type job struct {
	*Action
	*engine.Run
	request   event.Request
	wanted    *workRequest
	root      string // the directory that everything of this job is in
	publisher *publisher
	view      func(loop.State) report.View
}

// open takes the task's lease, makes the checkout, and finds the run or starts one. But for the lease nothing has been
// written anywhere until then, so a mistake in the settings costs nothing. The run continues in the context that comes
// back, which ends when someone asks the run to stop.
func (a *Action) open(ctx context.Context, request event.Request, wanted *workRequest) (running context.Context,
	j *job, err error) {
	j = &job{Action: a, request: request, wanted: wanted}
	running, j.Run, err = engine.Open(ctx, j)
	if err = j.stopped(running, err); err != nil {
		j.Close()
		return running, j, err
	}
	j.Journal.Watch = j.publisher.watch
	return running, j, nil
}

// stopped records the end of a run that was stopped while it was opened, so that no sweep resumes it.
func (j *job) stopped(running context.Context, err error) error {
	var stop *lease.StoppedError
	if err == nil || !errors.As(context.Cause(running), &stop) {
		return err
	}
	if j.Journal != nil && j.Journal.State().Records > 0 {
		late, cancel := context.WithTimeout(context.WithoutCancel(running), lease.Patience)
		defer cancel()
		end := &loop.End{Outcome: loop.Interrupted, Reason: stop.Error()}
		_, ended := j.Journal.Append(late, loop.Record{Type: loop.Ended, At: j.Clock(), End: end})
		j.warn("ending the run", ended)
	}
	return stop
}

// Hold implements engine.Opener: it makes the job's directory and takes the task's lease.
func (j *job) Hold(ctx context.Context, work *engine.Run) (running context.Context, err error) {
	j.Run = work
	if j.root, err = j.jobDir(work); err != nil {
		return ctx, err
	}
	running, j.Heartbeat, err = j.holdLease(ctx, j.wanted.ID, j.root)
	if err == nil {
		j.OnClose(func() {
			late, cancel := j.afterCancel(ctx) // a job that was canceled has little time
			defer cancel()
			j.Heartbeat.Close(late)
		})
	}
	return running, err
}

// Prepare implements engine.Opener: it makes the checkout, and finds the run or starts one.
func (j *job) Prepare(ctx context.Context, _ *engine.Run) (b engine.Beginning, err error) {
	branch, err := j.branch(ctx, *j.wanted)
	if err != nil {
		return b, err
	}
	at, err := workplace{j.Action, j.request, j.wanted.ID, branch, j.root}.prepare(ctx)
	if err != nil {
		return b, err
	}
	if j.wanted.ID == promptFileTask {
		if j.wanted.Task, err = j.promptFile(ctx, at.Tree); err != nil {
			return b, err
		}
	}
	before, err := j.before(ctx, at.Tree)
	if err != nil {
		return b, err
	}
	commands, err := j.planCommands(ctx, at.Tree, before)
	if err != nil {
		return b, err
	}
	rules, err := j.settings(ctx, at.Place, commands)
	if err != nil {
		return b, err
	}
	way, err := j.resumeMode(ctx, at.Tree, rules.Settings, before)
	if err != nil {
		return b, err
	}
	doing, rules, err := j.aim(ctx, at, rules, before, way)
	if err != nil {
		return b, err
	}
	own, err := engine.PromptsOf(ctx, at.Tree, at.Tree.Base())
	if err != nil {
		return b, err
	}
	j.Spec = at.spec(doing, rules)
	j.Prompts = j.Prompt(ctx, own, j.wanted.Comments)
	return j.beginning(ctx, before, way)
}

// aim settles what "done" means for the run, and the rules of a plan.
func (j *job) aim(ctx context.Context, at site, rules engine.Rules, before past, way loop.ResumeMode) (work engine.Work,
	_ engine.Rules, err error) {
	// it begins at the newest commit of the base branch
	if way == loop.Begin && j.wanted.plan != nil && j.wanted.Issue == 0 {
		source, err := planrun.ReadPlanAt(ctx, at.Tree, at.Tree.Base(), j.wanted.plan.File)
		if err != nil {
			return work, rules, err
		}
		j.wanted.plan = &source
	}
	if plan := j.planOf(before, way); plan != nil {
		return planrun.Use(*plan, at.Place, rules, j.host(), at.Output)
	}
	work = engine.WorkOn(at.Tree, j.host())
	work.Goal, err = rules.ResolveGoal(j.wanted.Task, nil, j.wanted.Issue == 0, j.log) // an issue may be a stranger's
	return work, rules, err
}

func (j *job) promptFile(ctx context.Context, tree *git.Tree) (task.Task, error) {
	content, ok, err := tree.File(ctx, tree.Base(), j.Inputs.PromptFile)
	if err != nil {
		return task.Task{}, fmt.Errorf("reading the input prompt_file: %w", err)
	}
	if !ok {
		return task.Task{}, invalid.Errorf(
			"input prompt_file is %q, which is not a file on %s; give the path of one from the top of the repository",
			j.Inputs.PromptFile, tree.BaseBranch())
	}
	t, err := task.FromFile(j.Inputs.PromptFile, string(content))
	if err != nil {
		return t, invalid.Mark(err)
	}
	t.ID, t.Asked = promptFileTask, j.request.Event.Sender.Login
	return t, nil
}

// recordListener passes each record to the server.
func (j *job) recordListener() func(loop.Record) {
	return func(r loop.Record) {
		if j.Server != nil && j.Server.Record != nil {
			j.Server.Record(j.Journal.State().Records, r)
		}
		if j.stored != nil {
			j.stored(r)
		}
	}
}

// before reads the task's last run from its record on the remote. Who starts fresh needs no more of it than can be
// read.
func (j *job) before(ctx context.Context, tree *git.Tree) (past, error) {
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
	case err != nil && j.request.Fresh:
		j.log("warning: reading the run record: %v; a fresh start does not need it", err)
	case err != nil:
		return past{}, invalid.Errorf("reading the run record: %w; %s", err, wording.JoinedBy("; ", "the run cannot resume",
			j.offers(ctx, j.request.Event).Offer("retry --fresh", "starts over")))
	}
	return past{loop.Fold(records), true, raw}, nil
}

// resumeMode decides between a new run and the one that exists.
func (j *job) resumeMode(ctx context.Context, tree *git.Tree, set config.Settings, before past) (loop.ResumeMode,
	error) {
	request, wanted := j.request, j.wanted
	if wanted.plan != nil {
		if err := j.prepared(ctx, tree, set); err != nil {
			return "", err
		}
		if why := wanted.complete(set, before); why != "" {
			return "", &heldError{why}
		}
		request = planCommand(request, before, samePlan(before.state, wanted.plan.Content))
	}
	d := event.Decide(request, runStatus(before.state, before.known, j.owner(), j.Clock()), j.rules)
	j.log("%s: %s", d.Do, d.Why)
	if why := unknown(request.Accepts, before.state.Findings(), j.rules.TriggerPhrase); why != "" {
		return "", &heldError{why}
	}
	if err := j.pullOpen(ctx, d, before.state); err != nil {
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
	if !j.Inputs.DryRun { // before anything is paid
		if why := j.github.Refuses(ctx, tree.Branch(), tree.Resumed(), j.Inputs.SigningKey != ""); why != "" {
			return "", invalid.Errorf("%s", why)
		}
	}
	if before.known {
		tree.BeginFresh()
		j.warn("archiving old failure branches", tree.Archive(ctx))
	}
	return loop.Begin, nil
}

// pullOpen looks, before anything is paid, whether a person has closed or merged the pull request of a run that continues.
func (j *job) pullOpen(ctx context.Context, d event.Decision, s loop.State) error {
	if d.Do != event.GoOn && d.Do != event.Again || s.Post.Pull == 0 || !event.IsRequest(j.request.Event.Kind) {
		return nil
	}
	closed, merged, err := j.github.PullClosed(ctx, s.Post.Pull)
	why := fmt.Sprintf("#%d is merged, so nothing was started", s.Post.Pull)
	switch {
	case err != nil: // the run's end tells
		j.warn("looking at the pull request", err)
		return nil
	case merged:
	case closed:
		why = fmt.Sprintf("#%d is closed, so nothing was started; reopen it and ask again", s.Post.Pull)
	default:
		return nil
	}
	return &heldError{wording.JoinedBy("; ", why,
		j.offers(ctx, j.request.Event).Offer("retry --fresh", "on the issue starts over with a new one"))}
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
func (j *job) beginning(ctx context.Context, before past, way loop.ResumeMode) (b engine.Beginning, err error) {
	run := before.state.Start.Run
	if way == loop.Begin {
		run = engine.NewRunID(j.Clock())
	}
	// A missing executable is found before anything is written; one of the repository's own is there only after the
	// checkout.
	if _, _, err := j.Agents(); err != nil && !inTree(j.Settings.Agent.Command) && !inTree(j.Settings.Reviewer.Command) {
		return b, err
	}
	j.show(ctx, run, nil, j.recordListener())
	b = engine.Beginning{Mode: way, Dir: filepath.Join(j.root, "runs", run), Reports: j.reportDir(run),
		OpenJournal: journal.Open,
		Claim:       j.recordStart}
	j.Server.begins(StartedRun{Run: run, Task: j.wanted.ID, Title: j.wanted.Title, Issue: j.wanted.Issue,
		Branch: j.Tree.Branch()}, before.raw, way)
	if way != loop.Begin {
		b.OpenJournal = func(dir string) (*journal.Journal, error) { return journal.Import(dir, before.raw) }
		b.Resume = j.resume(way)
		return b, nil
	}
	b.Start = j.FirstRecord(run, j.wanted.Task)
	b.Start.Owner, b.Start.RunURL = j.owner(), j.runURL()
	b.Start.Fresh = before.known || j.request.Fresh
	b.Start.DryRun = j.Inputs.DryRun
	if spent := before.state.OnIssue(); spent != (loop.Usage{}) {
		b.Start.Earlier = &spent
	}
	return b, nil
}

// show readies the record of a run, and how it is shown. file is the journal, if it is open already.
func (j *job) show(ctx context.Context, run string, file *journal.Journal, stored func(loop.Record)) {
	j.Heartbeat.Of(run)
	j.Journal = &engine.Journal{File: file, Clock: j.Clock, Heartbeat: j.Heartbeat, Remote: !j.Inputs.DryRun, Log: j.log,
		Token: j.github.Token, Redact: j.redact, Stored: stored}
	j.view = j.viewOn(ctx)
	j.publisher = &publisher{
		github: j.github, view: j.view, rules: j.rules, labels: labels(j.request.Event), onto: j.Tree.BaseBranch(),
		each: j.Settings.Comments == config.EachComment, notifyOn: j.Settings.NotifyOn, log: j.log,
		sticky: sticky{clock: j.Clock, after: func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }},
	}
}

// inTree reports whether a program is named by its path in the checkout.
func inTree(command string) bool { return strings.Contains(command, "/") && !filepath.IsAbs(command) }

// recordStart records the beginning where others see it, which holds the run against them, and puts the worktree where the run
// stands.
func (j *job) recordStart(ctx context.Context, record loop.Record) error {
	if err := j.Journal.Claim(ctx, record); err != nil {
		var taken *git.TakenError
		if errors.As(err, &taken) {
			return &heldError{taken.Error()}
		}
		return err
	}
	if err := j.Tree.Start(ctx); err != nil {
		return err
	}
	if err := j.WritePlan(ctx, j.Journal); err != nil {
		end := &loop.End{Outcome: loop.Failed, Reason: err.Error()}
		if invalid.Is(err) {
			end.Outcome = loop.Invalid
		}
		_, ended := j.Journal.Append(ctx, loop.Record{Type: loop.Ended, At: j.Clock(), End: end}) // gives the lease back
		j.warn("ending the run", ended)
		return err
	}
	return nil
}

func (j *job) resume(way loop.ResumeMode) *loop.Resume {
	request, t := j.request, j.wanted.Task
	r := &loop.Resume{Owner: j.owner(), Hint: t.Hint, RunURL: j.runURL(), Retry: way == loop.Again, Feedback: j.wanted.feedback}
	if way == loop.Again {
		r.MaxIterations = j.Goal.Most
	}
	if event.IsRequest(request.Event.Kind) {
		r.Asked = request.Event.Sender.Login
	}
	for _, name := range request.Accepts {
		r.Accept = append(r.Accept, loop.Acceptance{Name: j.redact(name), By: request.Event.Sender.Login})
	}
	// the text as it is at this trigger; a comment on the pull request carries none
	if way == loop.Again && request.Event.On == 0 && j.Plan == nil && j.wanted.feedback == nil {
		r.Title, r.Spec, r.Completion = t.Title, t.Spec, j.Goal.Completion
		r.Pipeline, r.Caps, r.RequestKey = j.Goal.Pipeline, j.Goal.Caps, j.Goal.Asking
	}
	if request.MaxIterations > 0 {
		r.MaxIterations = j.Settings.AtMost(request.MaxIterations)
	}
	return r
}

// viewOn is a view with the repository's template for pull requests. It is read once, from the base commit; what cannot
// be read is left out.
func (j *job) viewOn(ctx context.Context) func(loop.State) report.View {
	spec := j.Spec
	j.readWays(ctx, j.request.Event, spec.Tree.File)
	template, err := pullTemplate(ctx, spec)
	j.warn("reading the template for pull requests", err)
	return func(s loop.State) report.View {
		v := j.Action.view(s)
		v.Template = template
		v.Limits = loop.Limits{CostUSD: spec.Settings.MaxCostUSD, Tokens: int64(spec.Settings.MaxTokens),
			IssueCostUSD: spec.Settings.MaxCostUSDPerIssue}
		v.Worktree = spec.Tree.Dir()
		if j.publisher != nil && j.publisher.running {
			v.Running = j.rules.StatusLabel(github.LabelRunning)
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

// planCommands are the commands that a plan of the repository says to verify with. It is read here as the base commit has it;
// of a run that continues, as that began.
func (j *job) planCommands(ctx context.Context, tree *git.Tree, before past) ([]string, error) {
	if j.wanted.plan == nil || j.wanted.branch == "" {
		if p := before.state.Plan; p != nil && before.state.Start.Issue == 0 {
			return p.VerifyCommands, nil
		}
		return nil, nil
	}
	source, err := planrun.ReadPlanAt(ctx, tree, tree.Base(), j.wanted.plan.File)
	if err != nil {
		return nil, err
	}
	t, p, err := source.Task()
	if err != nil {
		return nil, err
	}
	if t.ID != j.wanted.ID {
		return nil, invalid.Errorf("%s has changed its branchName while it was read; ask again", source.File)
	}
	j.wanted.plan = &source
	return p.VerifyCommands, nil
}

// planOf is the plan that the run works on: the requested one, or that of the run that is resumed; nil: none.
func (j *job) planOf(before past, way loop.ResumeMode) *planrun.Source {
	s := before.state
	switch {
	case way != loop.Begin && s.Plan != nil:
		source := sourceOf(s, *s.Plan, j.Clock().Format("2006-01-02"))
		return &source
	case way != loop.Begin:
		return nil
	case j.wanted.plan != nil:
		if j.wanted.Issue == 0 { // what is merged into a file counts as far as the run's record has it
			recorded := s.OnRecord()
			for i := range recorded { // the run begins at the base, without the work that was not merged
				recorded[i].From = ""
			}
			j.wanted.plan.Reviews, j.wanted.plan.ReviewCost = [][]plan.RecordedReview{recorded}, s.ReviewCost()
		} else {
			j.wanted.plan.Write = planFiles(*j.wanted.plan, j.wanted.Title, j.wanted.Spec, j.Clock().Format("2006-01-02"))
		}
		return j.wanted.plan
	case j.request.Verb == event.Retry && s.Start.Plan != nil:
		// --fresh: the same plan from its beginning, and the text that it is of
		j.wanted.Title, j.wanted.Spec = s.Start.Title, s.Start.Spec
		source := sourceOf(s, s.Start.Plan.Plan, j.Clock().Format("2006-01-02"))
		source.Reviews = [][]plan.RecordedReview{s.Start.Plan.OnRecord()}
		return &source
	}
	return nil
}

// sourceOf is the plan of a run that there was. One of the repository is there already; one of an issue is laid if it
// is not yet.
func sourceOf(s loop.State, p plan.Plan, date string) planrun.Source {
	source := planrun.Source{Dir: s.Start.Plan.Dir, File: s.Start.Plan.File, Content: p.Marshal(),
		Commands: s.Start.Issue == 0}
	if s.Start.Issue != 0 {
		source.Write = planFiles(source, s.Start.Title, s.Start.Spec, date)
	}
	return source
}

// planFiles are the files that a run of an approved plan begins with, in its first commit.
func planFiles(source planrun.Source, title, spec, date string) map[string][]byte {
	project := title
	if p, err := plan.Parse(source.File, source.Content); err == nil && p.Project != "" {
		project = p.Project
	}
	return map[string][]byte{
		source.File:                                 source.Content,
		path.Join(source.Dir, planrun.PrdFile):      []byte(fmt.Sprintf("# %s\n\n%s\n", title, strings.TrimSpace(spec))),
		path.Join(source.Dir, planrun.ProgressFile): []byte(plan.Progress(date, project)),
	}
}

// prepared makes an approved plan one of this run: its files lie where nothing else does, its branch is the run's, and
// it brings no commands that are not among the checks, since an issue may not.
func (j *job) prepared(ctx context.Context, tree *git.Tree, set config.Settings) error {
	if j.wanted.Issue == 0 {
		return nil
	}
	p, _, err := plan.Read(approvedName, j.wanted.plan.Content)
	if err != nil {
		return invalid.Mark(err)
	}
	p = derive.Visible(p) // what was approved is what can be read
	known := engine.CommandLines(set.Guardrails)
	p.VerifyCommands = slices.DeleteFunc(slices.Clone(p.VerifyCommands), func(line string) bool {
		if slices.Contains(known, strings.TrimSpace(line)) {
			return false
		}
		j.wanted.dropped = append(j.wanted.dropped, safetext.Shorten(line, 200))
		return true
	})
	p.BranchName = tree.Branch()
	names, err := tree.List(ctx, tree.Base())
	if err != nil {
		return err
	}
	dir := planDir
	if slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, planDir) }) {
		dir = path.Join(planDir, j.wanted.ID)
	}
	j.wanted.plan.Dir, j.wanted.plan.File, j.wanted.plan.Content = dir, path.Join(dir, planrun.PlanFile), p.Marshal()
	return nil
}

// planDir is where the files of a plan lie.
const planDir = "ralph"

// tellPlan answers with how an edited plan was understood, and with its commands that are not run.
func (j *job) tellPlan(ctx context.Context) {
	var parts []string
	if len(j.wanted.read.Changes)+len(j.wanted.read.Notes) > 0 {
		parts = append(parts, understood(j.wanted.read))
	}
	if len(j.wanted.dropped) > 0 {
		parts = append(parts, "The plan is run without these commands, since nothing runs what an issue says:\n\n"+
			fenced(j.wanted.dropped)+
			"\nTo have them run, put them under `guardrails` in `.ralph/settings.json`, or into the input `checks`.\n")
	}
	if len(parts) > 0 {
		j.warn("answering", j.to(j.request.Event).answer(ctx, strings.Join(parts, "\n")))
	}
}

// mostOfPlan bounds a plan that an answer shows whole.
const mostOfPlan = 40 << 10

// understood shows how an edited plan is run: its changes, what ralph settled, and folded the whole plan.
func understood(read planlist.Approved) string {
	lines := safetext.Map(slices.Concat(read.Changes, read.Notes), func(line string) string { return safetext.Shorten(line, 300) })
	text := "The plan is run as it was edited:\n\n" + fenced(lines)
	if len(read.Content) <= mostOfPlan { // a line of JSON never begins with a backtick
		text += "\n<details><summary>tasks.json, made of the list</summary>\n\n```json\n" +
			strings.TrimRight(string(read.Content), "\n") + "\n```\n\n</details>\n"
	}
	return text
}

// complete says so when a plan of the repository has nothing left to do by what is on record, and no run of it is
// unfinished.
func (wanted *workRequest) complete(set config.Settings, before past) string {
	if wanted.Issue != 0 || before.known && before.state.End == nil {
		return ""
	}
	p, _, err := plan.Read(wanted.plan.File, wanted.newest)
	if err != nil {
		return ""
	}
	rules := planrun.Rules(set)
	if p, _, _ = p.Bound(rules, before.state.OnRecord()); !p.Complete(rules) {
		return ""
	}
	n := len(p.Stories)
	return fmt.Sprintf("nothing to do: %s of %s %s approved",
		safetext.Plural(n, "the only story", fmt.Sprintf("all %d stories", n)), wanted.plan.File, safetext.IsAre(n)) +
		p.Marks()
}
