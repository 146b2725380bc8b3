package bot

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/derive"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/planrun"
	"github.com/ralph-loop/ralph/internal/report/planlist"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// past is what there is of a task's last run.
type past struct {
	state loop.State
	known bool
	raw   []byte // its journal
}

// planCommand is how a plan is asked for: the one that the last run had is continued with, and run again when it is done;
// another one starts fresh.
func planCommand(r event.Request, before past, same bool) event.Request {
	switch {
	case !before.known:
	case !same:
		r.Asking, r.Command = "", event.Command{Verb: event.Retry, Fresh: true}
	case endedDone(before.state):
		r.Asking, r.Command = "", event.Command{Verb: event.Run}
	default:
		r.Asking, r.Command = "", event.Command{Verb: event.Retry}
	}
	return r
}

func endedDone(s loop.State) bool { return s.End != nil && s.End.Outcome == loop.Done }

// workRequest is what a request wants to be worked on: a task, and of a plan more.
type workRequest struct {
	task.Task
	plan   *planrun.Source // nil: none is given; the run that exists may have one anyway
	branch string          // of a plan in the repository; empty: named after the task
	newest []byte          // of a plan in the repository: its file as the base branch has it now
	// feedback is what the run continues for; nil: nothing of the kind.
	feedback *loop.Feedback
	// dropped are the commands that an approved plan brought and that are not run.
	dropped []string
	read    planlist.Approved // an approved plan as its comment tells it
}

// workRequest is what a request wants to be worked on.
func (a *Action) workRequest(ctx context.Context, request event.Request, facts event.Facts) (workRequest, error) {
	if request.PlanFile != "" {
		return a.planFileRequest(ctx, request)
	}
	t, err := a.task(ctx, request, facts)
	if err != nil || request.Verb != event.Approve {
		return workRequest{Task: t}, err
	}
	t.Completion, t.Spec = nil, prdText(request.Event.Issue) // the stories say when it is done
	source, read, err := a.approved(ctx, request.Event, facts)
	return workRequest{Task: t, plan: source, read: read}, err
}

// planFileRequest is a plan in the repository. What it is called is read without a clone; open reads the rest at the
// base commit.
func (a *Action) planFileRequest(ctx context.Context, request event.Request) (workRequest, error) {
	source, err := a.planFileAt(ctx, a.baseBranch(request.Event), request.PlanFile)
	if err != nil {
		return workRequest{}, err
	}
	t, p, err := source.Task()
	if err != nil {
		return workRequest{}, err
	}
	t.Asked = request.Event.Sender.Login
	branch, err := a.planBranch(ctx, p.BranchName)
	return workRequest{Task: t, plan: &source, branch: branch, newest: source.Content}, err
}

func (a *Action) planFileAt(ctx context.Context, branch, file string) (planrun.Source, error) {
	source := planrun.Source{Dir: path.Dir(file), File: path.Clean(file)}
	content, ok, err := a.github.File(ctx, branch, source.File)
	if err != nil {
		return source, err
	}
	if !ok {
		return source, invalid.Errorf(
			"there is no plan %s on %s: give the path of a tasks.json or prd.json from the top of the repository", source.File,
			branch)
	}
	source.Content = content
	return source, nil
}

// planBranch is the branch that a plan names, with the prefix that every run's branch has.
func (a *Action) planBranch(ctx context.Context, name string) (string, error) {
	if !strings.HasPrefix(name, a.Inputs.BranchPrefix) || name == a.Inputs.BranchPrefix {
		name = a.Inputs.BranchPrefix + safetext.Slug(name, 40)
	}
	if err := git.CheckBranchName(ctx, name); err != nil {
		return "", invalid.Errorf("the plan's branchName: %w", err)
	}
	return name, nil
}

// planCommands are the commands that a plan of the repository says to verify with. It is read here as the base commit has it;
// of a run that continues, as that began.
func (a *Action) planCommands(ctx context.Context, tree *git.Tree, wanted *workRequest, before past) ([]string, error) {
	if wanted.plan == nil || wanted.branch == "" {
		if p := before.state.Plan; p != nil && before.state.Start.Issue == 0 {
			return p.VerifyCommands, nil
		}
		return nil, nil
	}
	source, err := planrun.ReadPlanAt(ctx, tree, tree.Base(), wanted.plan.File)
	if err != nil {
		return nil, err
	}
	t, p, err := source.Task()
	if err != nil {
		return nil, err
	}
	if t.ID != wanted.ID {
		return nil, invalid.Errorf("%s has changed its branchName while it was read; ask again", source.File)
	}
	wanted.plan = &source
	return p.VerifyCommands, nil
}

// planOf is the plan that the run works on: the one that was asked for, or of a run that goes on its own; nil: none.
func (a *Action) planOf(request event.Request, wanted *workRequest, before past, way loop.ResumeMode) *planrun.Source {
	s := before.state
	switch {
	case way != loop.Begin && s.Plan != nil:
		source := sourceOf(s, *s.Plan, a.Clock().Format("2006-01-02"))
		return &source
	case way != loop.Begin:
		return nil
	case wanted.plan != nil:
		if wanted.Issue == 0 { // what is merged into a file counts as far as the run's record has it
			recorded := s.OnRecord()
			for i := range recorded { // the run begins at the base, without the work that was not merged
				recorded[i].From = ""
			}
			wanted.plan.Reviews, wanted.plan.ReviewCost = [][]plan.RecordedReview{recorded}, s.ReviewCost()
		} else {
			wanted.plan.Write = planFiles(*wanted.plan, wanted.Title, wanted.Spec, a.Clock().Format("2006-01-02"))
		}
		return wanted.plan
	case request.Verb == event.Retry && s.Start.Plan != nil:
		// --fresh: the same plan from its beginning, and the text that it is of
		wanted.Title, wanted.Spec = s.Start.Title, s.Start.Spec
		source := sourceOf(s, s.Start.Plan.Plan, a.Clock().Format("2006-01-02"))
		if s.Start.Plan.Record != nil {
			source.Reviews = [][]plan.RecordedReview{s.Start.Plan.OnRecord()}
		}
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

// samePlan reports whether a run started with this plan.
func samePlan(s loop.State, content []byte) bool {
	if s.Start.Plan == nil {
		return false
	}
	p, _, err := plan.Read("", content)
	if s.Start.Plan.Record != nil { // it began with what was on record by then
		p, _, _ = p.Bound(s.Start.Plan.Rules(), s.Start.Plan.OnRecord())
	}
	return err == nil && bytes.Equal(p.Marshal(), s.Start.Plan.Plan.Marshal())
}

// prepared makes an approved plan one of this run: its files lie where nothing else does, its branch is the run's, and
// it brings no commands that are not among the checks, since an issue may not.
func (a *Action) prepared(ctx context.Context, tree *git.Tree, set config.Settings, wanted *workRequest) error {
	if wanted.Issue == 0 {
		return nil
	}
	p, _, err := plan.Read(approvedName, wanted.plan.Content)
	if err != nil {
		return invalid.Mark(err)
	}
	p = derive.Visible(p) // what was approved is what can be read
	known := engine.CommandLines(set.Guardrails)
	p.VerifyCommands = slices.DeleteFunc(slices.Clone(p.VerifyCommands), func(line string) bool {
		if slices.Contains(known, strings.TrimSpace(line)) {
			return false
		}
		wanted.dropped = append(wanted.dropped, safetext.Shorten(line, 200))
		return true
	})
	p.BranchName = tree.Branch()
	names, err := tree.List(ctx, tree.Base())
	if err != nil {
		return err
	}
	dir := planDir
	if slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, planDir) }) {
		dir = path.Join(planDir, wanted.ID)
	}
	wanted.plan.Dir, wanted.plan.File, wanted.plan.Content = dir, path.Join(dir, planrun.PlanFile), p.Marshal()
	return nil
}

// planDir is where the files of a plan lie.
const planDir = "ralph"

// tellPlan tells how an edited plan was understood, and names the commands that it brought and that are not run.
func (a *Action) tellPlan(ctx context.Context, ev event.Event, wanted workRequest) {
	var parts []string
	if wanted.read.Edited || len(wanted.read.Notes) > 0 {
		parts = append(parts, understood(wanted.read, wanted.plan.Content))
	}
	if len(wanted.dropped) > 0 {
		parts = append(parts, "The plan is run without these commands, since nothing runs what an issue says:\n\n"+
			fenced(wanted.dropped)+
			"\nTo have them run, put them under `guardrails` in `.ralph/settings.json`, or into the input `checks`.\n")
	}
	if len(parts) > 0 {
		a.warn("answering", a.answer(ctx, ev, strings.Join(parts, "\n")))
	}
}

// mostOfPlan bounds a plan that an answer shows whole.
const mostOfPlan = 40 << 10

// understood says what of an edited plan is run: what changed, what was settled without asking, and folded all of it.
func understood(read planlist.Approved, content []byte) string {
	text := "The plan is run as it was edited.\n"
	if lines := append(slices.Clone(read.Changes), read.Notes...); len(lines) > 0 {
		for i, line := range lines {
			lines[i] = safetext.Shorten(line, 300)
		}
		text = "The plan is run as it was edited:\n\n" + fenced(lines)
	}
	if len(content) <= mostOfPlan { // a line of JSON never begins with a backtick
		text += "\n<details><summary>tasks.json, made of the list</summary>\n\n```json\n" +
			strings.TrimRight(string(content), "\n") + "\n```\n\n</details>\n"
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

// goingOn is to continue with a run of a plan in the repository.
func goingOn(s loop.State) *workRequest {
	return &workRequest{Task: task.Task{ID: s.Start.Task, Title: s.Start.Title, Spec: s.Start.Spec, Asked: s.Start.Asked},
		branch: s.Start.Branch}
}
