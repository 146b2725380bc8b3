package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/live"
	"github.com/ralph-loop/ralph/internal/local"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
	"github.com/ralph-loop/ralph/internal/task"
)

// what says in a few words what a run is of.
func (c *runCommand) what() string {
	text := safetext.FirstLine(c.Prompt)
	return safetext.Shorten(cmp.Or(text, c.PromptFile, c.Issue, c.Task, c.Tasks, c.plan), 80)
}

// begin says at once that the run begins: what comes next may take a while.
func (c *runCommand) begin(out io.Writer) {
	if !c.Quiet && !c.DryRun {
		fmt.Fprintf(out, "Preparing the run: %s\n", c.what())
	}
}

// stamp has each line begin with the time where no one sees it come: in a pipe or a file, but not in the log of a job,
// which has times of its own.
func stamp(env config.Environment, out io.Writer) (back func()) {
	if isTerminal(out) || env.CI || env.Actions || !env.Timestamps {
		return func() {}
	}
	return safetext.Redirect(out, &stamped{to: safetext.Raw(out), clock: time.Now})
}

// stamped begins each line that is written to it with the time of day here.
type stamped struct {
	to    io.Writer
	clock func() time.Time
	amid  bool // in the middle of a line
}

// Write implements io.Writer, with one write for all lines.
func (s *stamped) Write(p []byte) (int, error) {
	var text bytes.Buffer
	for line := range bytes.Lines(p) {
		if !s.amid {
			text.WriteString(s.clock().Format("15:04:05 "))
		}
		text.Write(line)
		s.amid = line[len(line)-1] != '\n'
	}
	if _, err := s.to.Write(text.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

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
