package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/live"
	"github.com/ralph-loop/ralph/internal/local"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
	"github.com/ralph-loop/ralph/internal/task"
)

// display says how a run is shown while it runs.
type display struct {
	title   string
	web     bool // in a browser, too
	several bool // tasks that run at once
}

// shownRun is a run that is shown. Its tasks are those of a list that run at once.
type shownRun struct {
	closers []func()

	mu    sync.Mutex
	tasks []*runStatus // in the order in which they started
}

// close stops showing the run.
func (r *shownRun) close() {
	for _, f := range slices.Backward(r.closers) {
		f()
	}
}

// show shows a run that has not started yet: its page, its log, and at a terminal a block below that.
func (d display) show(ctx context.Context, s *session.Session, p process, stderr io.Writer) (*shownRun, error) {
	r := &shownRun{closers: []func(){keepOutput()}}
	if d.web {
		if err := r.openPage(s); err != nil {
			return r, err
		}
	}
	if !isTerminal(s.Out) && !s.Env.CI && !s.Env.Actions && s.Env.Timestamps { // a job's log has times of its own
		r.closers = append(r.closers, safetext.Redirect(s.Out, &stamped{to: safetext.Raw(s.Out), clock: time.Now}))
	}
	steps := loop.StepsOf(ctx)
	if s.Quiet {
		return r, nil
	}
	fmt.Fprintf(s.Out, "Preparing the run: %s\n", d.title) // because what comes next may take a while
	if s.Live != nil && steps != nil && !slices.Contains([]string{"", "dumb"}, proc.Value(p.environ, "TERM")) {
		r.openBlock(d, s, p, stderr, steps)
	}
	return r, nil
}

// openPage opens the run's page for a browser on this machine.
func (r *shownRun) openPage(s *session.Session) error {
	page, err := local.OpenPage()
	if err != nil {
		return err
	}
	r.closers = append(r.closers, page.Close)
	if _, err = fmt.Fprintf(s.Out, "The run's page, for one browser: %s\n", page.Address); err != nil {
		return err
	}
	safetext.Also(s.Out, page) // from here on, so that the page does not show its own address
	s.Watch = page.Watch()
	return nil
}

// openBlock shows the run's status below its log.
func (r *shownRun) openBlock(d display, s *session.Session, p process, stderr io.Writer, steps *loop.StepTracker) {
	file, _ := safetext.Raw(s.Out).(*os.File)
	whole := &runStatus{steps: steps, began: now(), title: d.title}
	style := live.Style{Color: s.Format.UseColor, Unicode: s.Format.UseEmoji}
	b := live.New(file, p.in, p.environ, func(width, height int) []string {
		if d.several {
			return style.Several(d.title, r.facts(), time.Now(), width, min(live.MaxRows(height), height-2))
		}
		return style.Rows(whole.facts(), width)
	})
	s.Live = whole
	s.Watch = whole.watch(s.Watch)
	if ask := s.Ask; ask != nil {
		s.Ask = func(question string) (string, error) {
			b.Hide()
			defer b.Show()
			return ask(question)
		}
	}
	r.closers = append(r.closers, safetext.Redirect(s.Out, b))
	if isTerminal(stderr) && stderr != s.Out {
		r.closers = append(r.closers, safetext.Redirect(stderr, b))
	}
	if p.notices != nil && isTerminal(p.notices.to) {
		p.notices.set(b)
		r.closers = append(r.closers, func() { p.notices.set(nil) })
	}
	r.closers = append(r.closers, b.Hide)
	b.Show()
}

// begin shows one of several tasks until it is over.
func (r *shownRun) begin(t task.Task, steps *loop.StepTracker) local.Lane {
	one := &runStatus{steps: steps, began: now(), title: t.Title, id: t.ID}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tasks = append(r.tasks, one)
	return local.Lane{Watch: one.watch(session.Watch{}), Live: one, Over: func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.tasks = slices.DeleteFunc(r.tasks, func(o *runStatus) bool { return o == one })
	}}
}

func (r *shownRun) facts() []live.Facts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return safetext.Map(r.tasks, (*runStatus).facts)
}

// runStatus is the status of a run of this process, by its records.
type runStatus struct {
	steps *loop.StepTracker
	began time.Time
	title string
	id    string // of one of several tasks

	mu    sync.Mutex
	state loop.State
	note  string
}

// watch follows a run's records, beside what follows them already.
func (s *runStatus) watch(with session.Watch) session.Watch {
	opened, stored := with.Opened, with.Stored
	with.Opened = func(records []loop.Record) {
		if opened != nil {
			opened(records)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.state = loop.Fold(records)
	}
	with.Stored = func(r loop.Record) {
		if stored != nil {
			stored(r)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.state = s.state.With(r)
	}
	return with
}

// Write takes what is counted down at a terminal.
func (s *runStatus) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note = strings.TrimPrefix(strings.TrimPrefix(string(p), "\r"), "\x1b[K")
	return len(p), nil
}

// facts are what the block shows now.
func (s *runStatus) facts() live.Facts {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.steps.Progress()
	p.Began = s.began
	f := live.FactsOf(s.state, p, now())
	f.Title, f.Name = cmp.Or(f.Title, s.title), s.id
	if s.state.Pause != nil {
		f.Note = s.note
	}
	return f
}

// stamped begins each line that is written to it with the time of day here: in a pipe or a file, no one sees when it
// comes.
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
