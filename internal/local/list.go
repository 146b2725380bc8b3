package local

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
	"github.com/ralph-loop/ralph/internal/task"
)

// List runs the tasks of a directory, one after another or several at once, each on a branch of its own that begins at the base with the
// work of what the task depends on. A task that fails keeps its work on a branch and blocks only those that depend on
// it. In the end one branch holds all that is done.
type List struct {
	IssueRun
	Tasks string // the directory
	// Parallel is how many run at once at most; up to 1: one after another.
	Parallel int
	// Lanes shows one of several that run at once, whose steps it is given; nil: no one does.
	Lanes func(task.Task, *loop.StepTracker) Lane

	asking sync.Mutex // a question at a time
}

// Run takes every task to its outcome, and reports them together. The result is that of the list: done when every task
// is, and all of them go together.
func (l *List) Run(ctx, hard context.Context) (ListResult, error) {
	l.Begin()
	if err := l.RefuseCheckout(); err != nil {
		return ListResult{Outcome: loop.Invalid}, err
	}
	from := l.Dir
	if top, at, err := git.Stand(ctx, l.Dir, l.Parent); err == nil {
		l.Dir, l.stands = top, at
	}
	dir := session.From(from, l.Tasks)
	tasks, err := tasksIn(dir)
	if err != nil {
		return ListResult{Outcome: loop.Invalid}, err
	}
	read, err := l.read() // for all of them: what one agent writes is not to judge the next
	if err != nil {
		return ListResult{Outcome: loop.Invalid}, err
	}
	l.given = &read
	at, unlock, err := l.LockTask(wholeName(dir)) // of the whole, so that no one else works off the same list
	if err != nil {
		return ListResult{Outcome: outcomeOf(err)}, err
	}
	defer unlock()
	if err := l.begin(ctx, dir, at.Task, tasks); err != nil {
		return ListResult{Outcome: loop.Invalid}, err
	}
	result, over := ListResult{Outcome: loop.Done}, false
	result.Entries, over = l.runAll(ctx, hard, tasks)
	for _, e := range result.Entries {
		result.add(e)
	}
	result.Left = len(tasks) - len(result.Entries)
	if ctx.Err() != nil && result.Left > 0 && (result.Outcome == loop.Done || result.Outcome == loop.Capped) {
		result.Outcome = loop.Interrupted // between two tasks
	}
	isDone := func(e Entry) bool { return e.Outcome == loop.Done }
	if over && slices.ContainsFunc(result.Entries, isDone) {
		result.All, err = l.whole(ctx, hard, at, result.Entries)
		if result.All.Outcome != loop.Done && (result.Outcome == loop.Done || result.Outcome == loop.Capped) {
			result.Outcome = result.All.Outcome
		}
	}
	return result, errors.Join(err, l.report(result))
}

// begin settles what the tasks begin from, and that the branch for all of them can be had, which is that of a task of this
// name.
func (l *List) begin(ctx context.Context, dir, whole string, tasks []task.Task) (err error) {
	l.listed = map[string]task.Task{}
	for _, t := range tasks {
		l.listed[t.ID] = t
	}
	branch := "ralph/" + whole
	if _, taken := l.listed[whole]; taken {
		return invalid.Errorf(
			"the task %s has the name that the branch for all tasks of %s has, %s: give the task another id", whole, dir, branch,
		)
	}
	before, _, err := l.NewestRun(whole)
	if err != nil {
		return err
	}
	if before.Start.Branch != branch && git.TipOf(ctx, l.Dir, l.Parent, branch, whole) != "" && !l.LostRun(whole) {
		return invalid.Errorf(
			"the branch %s is for all that is done of %s, and nothing shows that ralph has made it: rename or delete it",
			branch, dir,
		)
	}
	base, err := l.startHere(ctx, "", false)
	base.base = cmp.Or(base.base, l.stands)
	l.listStart = &base
	return err
}

// whole makes the branch that holds all that is done, and judges it.
func (l *List) whole(ctx, hard context.Context, at session.Checkout, entries []Entry) (*All, error) {
	one, from, done := l.IssueRun, *l.listStart, map[string]loop.State{}
	all := &All{Branch: "ralph/" + at.Task}
	t := task.Task{
		ID: at.Task, Title: "All that is done of " + strings.TrimPrefix(at.Task, "all-"),
		Completion: &task.Completion{Outcome: "all tasks are done, together"},
	}
	for _, e := range entries {
		if e.Outcome == loop.Done {
			done[e.Task.ID], t.Dependencies = e.State, append(t.Dependencies, e.Task.ID)
			t.Completion.Acceptance = append(t.Completion.Acceptance, e.Task.ID+" is done")
		}
	}
	all.Tasks = t.Dependencies
	one.one, one.listStart, one.Fresh, one.Resume, one.Criteria, one.Task = &t, &from, true, false, nil, ""
	o := &allOpening{cloneOpening: cloneOpening{IssueRun: &one, judges: true, at: at}, All: all, done: done}
	_, work, err := engine.Open(ctx, o)
	defer work.Close()
	if err != nil {
		o.leaveUnbegun(ctx)
	}
	switch apart, ok := errors.AsType[*git.MergeError](err); {
	case ok:
		all.Outcome, all.Apart, all.Files = loop.Failed, apart.Names, apart.Files
		all.Reason = apart.Error() + "; let one of them depend on the other, so that it is done on top of that"
		l.Log("%s is not made: %s", all.Branch, all.Reason)
		return all, nil
	case err != nil:
		all.Outcome, all.Reason = outcomeOf(err), err.Error()
		return all, fmt.Errorf("putting together all that is done: %w", files.Advise(err))
	}
	work.Journal.Watch = nil // the state file reports a task
	o.work, all.Commit = work, work.Tree.Base()
	err = o.settle(ctx, hard)
	late, cancel := engine.AfterStop(ctx, hard, time.Minute)
	defer cancel()
	end := &loop.End{Outcome: all.Outcome, Reason: all.Reason}
	if _, failed := work.Journal.Append(late, loop.Record{Type: loop.Ended, At: l.Clock(), End: end}); failed != nil {
		all.Outcome, all.Reason = loop.Failed, failed.Error()
		err = errors.Join(err, failed)
	}
	err = errors.Join(err, o.tree.Remove(late), o.at.Remove()) // its branch has all that there is
	l.Log("%s: %s: %s", all.Branch, all.Outcome, all.Reason)
	l.tellHeld(work.Tree)
	return all, err
}

// wholeName is the task that holds all that is done of a list: as its directory, in letters that a branch may have.
func wholeName(dir string) string {
	return "all-" + cmp.Or(safetext.Slug(filepath.Base(filepath.Clean(dir)), 40), "tasks")
}

// ListResult is how a list of tasks ended.
type ListResult struct {
	Outcome loop.Outcome // of all of them: done, or the first other that stopped the list, or capped when tasks failed
	Entries []Entry
	Left    int  // tasks that the list did not come to
	All     *All // what holds all that is done; nil: nothing is, or the list did not finish
}

// Entry is what resulted from one task of a list.
type Entry struct {
	N       int // 1-based
	Task    task.Task
	Outcome loop.Outcome
	Reason  string
	Skipped string // why it did not run; empty: it did
	State   loop.State
	// Conflicts are the files in which tasks that it depends on conflict.
	Conflicts []string
}

func (r *ListResult) add(e Entry) {
	switch {
	case e.Outcome == loop.Done || r.Outcome != loop.Done && r.Outcome != loop.Capped:
	case e.Outcome == loop.Interrupted || e.Outcome == loop.Waiting || e.Outcome == loop.Invalid && e.Skipped == "":
		r.Outcome = e.Outcome
	default:
		r.Outcome = loop.Capped
	}
}

// settle says what resulted from a task that does not run: one that it depends on is not done, or it was done before and
// nothing about it has changed. Else settled is false, and the entry is that of the run to come.
func (l *List) settle(ctx context.Context, e Entry, before []Entry) (_ Entry, settled bool) {
	t := e.Task
	for _, d := range t.Dependencies {
		for _, b := range before {
			if b.Task.ID == d && b.Outcome != loop.Done {
				e.Outcome, e.Skipped = loop.Invalid, fmt.Sprintf("%s, which it depends on, is not done", d)
				l.Log("%s is skipped: %s", t.ID, e.Skipped)
				return e, true
			}
		}
	}
	if state, ok := l.doneBefore(ctx, t); ok && !l.Fresh {
		e.Outcome, e.State = loop.Done, state
		e.Reason = fmt.Sprintf("done in the run %s", state.Start.Run)
		l.Log("%s is %s", t.ID, e.Reason)
		l.clearUp(t.ID)
		return e, true
	}
	return e, false
}

// clearUp removes what a process has left of a task that is done, when it was killed just before it did so itself.
func (l *List) clearUp(id string) {
	left, _ := l.Holder(l.Dir, id) // what is in the way of an answer is in the way of the lock
	at, err := l.Checkout(id)
	if err != nil || left.PID == 0 && !at.Exists() {
		return
	}
	at, unlock, err := l.LockTask(id)
	if err != nil { // someone works on it
		return
	}
	defer unlock()
	if err := errors.Join(git.RemoveCheckout(at.Root), at.Remove()); err != nil {
		l.Log("warning: %v", err)
	}
}

// entry runs one task of the list.
func (l *List) entry(ctx, hard context.Context, e Entry) Entry {
	one, over := l.IssueRun, func() {}
	if l.Parallel > 1 {
		steps, ended := loop.StepsOf(ctx).Child(e.Task.ID)
		defer ended()
		ctx, hard = loop.WithStepTracker(ctx, steps), loop.WithStepTracker(hard, steps)
		over = l.lane(&one, e.Task, steps)
	}
	defer over()
	one.one = &e.Task
	result, err := one.Run(ctx, hard)
	e.Outcome, e.Reason, e.State = result.Outcome, result.Reason, result.State
	switch {
	case err == nil:
	case ctx.Err() != nil && result.State.Start.Run == "": // whatever noticed it first
		e.Outcome, e.Reason = loop.Interrupted, "interrupted before the run began"
	default:
		e.Reason, e.Conflicts = err.Error(), Conflicts(err)
		l.Log("%s: %v", e.Task.ID, err)
	}
	if e.State.End == nil { // it could not even begin
		e.State.End = &loop.End{Outcome: e.Outcome, Reason: e.Reason}
	}
	return e
}

// doneBefore finds the run in which this task was done with the same request, on top of the current work of its
// dependencies.
func (l *List) doneBefore(ctx context.Context, t task.Task) (loop.State, bool) {
	state, dir, err := l.NewestRun(t.ID)
	if err != nil || dir == "" || undone(state, true) != "" || state.Start.Branch != "ralph/"+t.ID ||
		!engine.SameRequest(state, l.given.settings, t, l.Criteria) {
		return state, false
	}
	on, err := l.needed(ctx, t, l.listed)
	if err != nil { // the run says so
		return state, false
	}
	for _, w := range append(on, git.Work{Commit: state.Head()}) { // the last: it is still there
		if has, err := git.Contains(ctx, l.Dir, l.Parent, state.Head(), w.Commit); err != nil || !has {
			l.Log(
				"%s is run again: what was done does not have the newest work of %s", t.ID,
				cmp.Or(w.Name, "its own branch"),
			)
			return state, false
		}
	}
	return state, true
}

// report writes the summary of all tasks, and says where it is.
func (l *List) report(r ListResult) error {
	results := safetext.Map(r.Entries, func(e Entry) report.TaskResult {
		return report.TaskResult{N: e.N, ID: e.Task.ID, Title: e.Task.Title, View: l.View(e.State), Skipped: e.Skipped}
	})
	var all *report.AllResult
	if a := r.All; a != nil {
		all = &report.AllResult{
			View: l.View(loop.State{}), Branch: a.Branch, Commit: a.Commit, Tasks: a.Tasks,
			Done: a.Outcome == loop.Done, Reason: a.Reason,
		}
	}
	text := report.ExecutionSummary(results, all)
	for line := range strings.Lines(text) {
		l.Log("%s", strings.TrimRight(line, "\n"))
	}
	file := filepath.Join(l.Dir, ".ralph", "summary.md")
	// it might not exist if no task could start
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), files.Replace(file, []byte(text))); err != nil {
		return fmt.Errorf("writing the summary: %w", err)
	}
	l.Log("report: %s", file)
	return nil
}

// listOrder is which tasks of a list have ended, run and are still to come. One goroutine has it; those that run a task
// send it their entries.
type listOrder struct {
	*List
	left    []Entry // in their order
	ended   []Entry
	running int
	over    bool // nothing new begins
}

// runAll runs the tasks, at most Parallel at once, each after those that it depends on. over is false if the list did
// not finish. The entries are in the order of the tasks.
func (l *List) runAll(ctx, hard context.Context, tasks []task.Task) (entries []Entry, over bool) {
	o := listOrder{List: l}
	for i, t := range tasks {
		o.left = append(o.left, Entry{N: i + 1, Task: t})
	}
	ended := make(chan Entry)
	for {
		for o.running < max(l.Parallel, 1) && o.beginNext(ctx, hard, ended) {
		}
		if o.running == 0 {
			break
		}
		e := <-ended
		o.running--
		o.end(ctx, e)
	}
	slices.SortFunc(o.ended, func(a, b Entry) int { return cmp.Compare(a.N, b.N) })
	return o.ended, !o.over
}

// beginNext begins the first task that waits for no other one, or settles it without a run. It is false without one.
func (o *listOrder) beginNext(ctx, hard context.Context, ended chan<- Entry) bool {
	if o.over {
		return false
	}
	i := slices.IndexFunc(o.left, func(e Entry) bool { return o.waitsForNone(e.Task) })
	if i < 0 {
		return false
	}
	e, settled := o.settle(ctx, o.left[i], o.ended)
	o.left = slices.Delete(o.left, i, i+1)
	if settled {
		o.end(ctx, e)
		return true
	}
	o.running++
	go func() { ended <- o.entry(ctx, hard, e) }()
	return true
}

// waitsForNone reports whether no task that this one depends on is still to come or runs.
func (o *listOrder) waitsForNone(t task.Task) bool {
	return !slices.ContainsFunc(t.Dependencies, func(id string) bool {
		_, listed := o.listed[id]
		return listed && !slices.ContainsFunc(o.ended, func(e Entry) bool { return e.Task.ID == id })
	})
}

// end notes how a task ended.
func (o *listOrder) end(ctx context.Context, e Entry) {
	o.ended = append(o.ended, e)
	o.over = o.over || ctx.Err() != nil || e.Outcome == loop.Waiting
}

// Lane is what shows one of several tasks that run at once.
type Lane struct {
	Watch session.Watch
	Live  io.Writer // takes what is counted down; nil: no one shows that
	Over  func()    // the task has ended
}

// lane gives one of several tasks a place of its own, until over is called: all that it prints begins with its name, line
// by line.
func (l *List) lane(one *IssueRun, t task.Task, steps *loop.StepTracker) (over func()) {
	shown := Lane{Over: func() {}}
	if l.Lanes != nil {
		shown = l.Lanes(t, steps)
	}
	lines := &named{name: t.ID, to: safetext.Colored(l.Out)}
	one.Out, one.Live, one.Watch, one.Groups = safetext.NewConsole(lines), shown.Live, shown.Watch, nil
	if ask := l.Ask; ask != nil {
		one.Ask = func(question string) (string, error) {
			l.asking.Lock()
			defer l.asking.Unlock()
			return ask(question)
		}
	}
	return func() {
		lines.end()
		shown.Over()
	}
}

// named writes whole lines, each behind a name. It is safe for concurrent use.
type named struct {
	name string
	to   io.Writer

	mu   sync.Mutex
	part []byte // a line that has not ended
}

// Write implements io.Writer.
func (n *named) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.part = append(n.part, p...)
	end := bytes.LastIndexByte(n.part, '\n') + 1
	if end == 0 {
		return len(p), nil
	}
	whole := n.part[:end]
	n.part = append([]byte(nil), n.part[end:]...)
	return len(p), n.put(whole)
}

func (n *named) put(lines []byte) error {
	var out bytes.Buffer
	for line := range bytes.Lines(lines) {
		out.WriteString(n.name + " | ")
		out.Write(line)
	}
	_, err := n.to.Write(out.Bytes())
	return err
}

// end writes the last line, when no one has ended it.
func (n *named) end() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.part) > 0 {
		_ = n.put(append(n.part, '\n')) // what cannot be shown is in the logs
		n.part = nil
	}
}
