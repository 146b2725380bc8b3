package local

import (
	"cmp"
	"context"
	"slices"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

// listOrder is which tasks of a list have ended, run and are still to come. One goroutine has it; those that run a task
// tell it their end.
type listOrder struct {
	*List
	left    []numbered // in their order
	ended   []Entry
	running int
	over    bool // nothing new begins
}

type numbered struct {
	n    int // 1-based
	task task.Task
}

// runAll runs the tasks, at most Parallel at once, each after those that it depends on. over is false when the list did
// not come to its end. The entries are in the order of the tasks.
func (l *List) runAll(ctx, hard context.Context, tasks []task.Task) (entries []Entry, over bool) {
	o := listOrder{List: l}
	for i, t := range tasks {
		o.left = append(o.left, numbered{i + 1, t})
	}
	told := make(chan Entry)
	for {
		for o.running < max(l.Parallel, 1) && o.beginNext(ctx, hard, told) {
		}
		if o.running == 0 {
			break
		}
		e := <-told
		o.running--
		o.end(ctx, e)
	}
	slices.SortFunc(o.ended, func(a, b Entry) int { return cmp.Compare(a.N, b.N) })
	return o.ended, !o.over
}

// beginNext begins the first task that waits for no other one, or settles it without a run. It is false when there is
// none.
func (o *listOrder) beginNext(ctx, hard context.Context, told chan<- Entry) bool {
	if o.over {
		return false
	}
	i := slices.IndexFunc(o.left, func(c numbered) bool { return o.waitsForNone(c.task) })
	if i < 0 {
		return false
	}
	next := o.left[i]
	o.left = slices.Delete(o.left, i, i+1)
	e, settled := o.settle(ctx, next.n, next.task, o.ended)
	if settled {
		o.end(ctx, e)
		return true
	}
	from := o.from(next.task, o.ended)
	o.running++
	go func() { told <- o.entry(ctx, hard, e, from) }()
	return true
}

// waitsForNone reports whether no task that this one depends on is still to come or runs.
func (o *listOrder) waitsForNone(t task.Task) bool {
	return !slices.ContainsFunc(t.Dependencies, func(id string) bool {
		return slices.Contains(o.ids, id) && !slices.ContainsFunc(o.ended, func(e Entry) bool { return e.Task.ID == id })
	})
}

// end notes how a task ended.
func (o *listOrder) end(ctx context.Context, e Entry) {
	o.ended = append(o.ended, e)
	if e.Outcome == loop.Done {
		o.works[e.Task.ID] = git.Work{Name: e.Task.ID, Commit: e.State.Head()}
	}
	o.over = o.over || ctx.Err() != nil || e.Outcome == loop.Waiting
}
