package main

import (
	"slices"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/live"
	"github.com/ralph-loop/ralph/internal/local"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/session"
	"github.com/ralph-loop/ralph/internal/task"
)

// lanes are the tasks of a list that run at once, as the block shows them.
type lanes struct {
	mu    sync.Mutex
	title string
	open  []*oneLane // in the order in which they began
}

type oneLane struct {
	runStatus
	id    string
	steps *loop.StepTracker
}

// begin shows a task until it is over.
func (l *lanes) begin(t task.Task, steps *loop.StepTracker) local.Lane {
	one := &oneLane{runStatus: runStatus{began: now(), title: t.Title}, id: t.ID, steps: steps}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = append(l.open, one)
	return local.Lane{Watch: session.Watch{Opened: one.opened, Stored: one.stored}, Live: one, Over: func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.open = slices.DeleteFunc(l.open, func(o *oneLane) bool { return o == one })
	}}
}

func (l *lanes) rows(style live.Style, width, height int) []string {
	l.mu.Lock()
	open := slices.Clone(l.open)
	l.mu.Unlock()
	all := make([]live.Facts, len(open))
	for i, one := range open {
		all[i] = one.facts(one.steps)
		all[i].Name = one.id
	}
	return style.Several(l.title, all, time.Now(), width, min(live.MaxRows(height), height-2))
}
