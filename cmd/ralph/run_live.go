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

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/live"
	"github.com/ralph-loop/ralph/internal/local"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
)

// shared is a place that two write to who do not know of each other: what is said of signals, and a block at the bottom
// of the same terminal.
type shared struct {
	mu    sync.Mutex
	to    io.Writer
	block *live.Block // nil: there is none
}

// Write implements io.Writer.
func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	to := s.to
	if s.block != nil {
		to = s.block
	}
	s.mu.Unlock()
	return to.Write(p)
}

func (s *shared) set(b *live.Block) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.block = b
}

// leave makes the terminal what it was, whatever else continues.
func (s *shared) leave() {
	s.mu.Lock()
	b := s.block
	s.mu.Unlock()
	if b != nil {
		b.Leave()
	}
}

// runStatus is how the run of this process stands, as its records tell it.
type runStatus struct {
	mu    sync.Mutex
	began time.Time
	state loop.State
	title string
	note  string
}

func (s *runStatus) stored(r loop.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = s.state.With(r)
}

// opened takes over what a run that continues has recorded before, and forgets the run before in a list of several.
func (s *runStatus) opened(_ string, text []byte) {
	records, _, err := journal.Read(bytes.NewReader(text))
	if err != nil { // whoever opened it has said so
		records = nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = loop.Fold(records)
}

// Write takes what is counted down at a terminal.
func (s *runStatus) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note = strings.TrimPrefix(strings.TrimPrefix(string(p), "\r"), "\x1b[K")
	return len(p), nil
}

// facts are what the block shows now.
func (s *runStatus) facts(steps *loop.StepTracker) live.Facts {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := steps.Progress()
	p.Began = s.began
	f := live.FactsOf(s.state, p, now())
	f.Title = cmp.Or(f.Title, s.title)
	if s.state.Pause != nil {
		f.Note = s.note
	}
	return f
}

// live shows how the run is below its log, at a terminal that can. hide takes that away.
func (c *runCommand) live(ctx context.Context, seat *session.Session, p process, out, stderr io.Writer) (hide func()) {
	file, _ := safetext.Raw(out).(*os.File)
	steps := loop.StepsOf(ctx)
	if seat.Live == nil || c.Quiet || c.DryRun || steps == nil ||
		slices.Contains([]string{"", "dumb"}, proc.Value(p.environ, "TERM")) {
		return func() {}
	}
	s := &runStatus{began: now(), title: c.what()}
	c.lanes.title = c.what()
	style := live.Style{Colour: seat.Format.UseColor, Unicode: seat.Format.UseEmoji}
	b := live.New(file, p.in, p.environ, func(width, height int) []string {
		if c.Parallel > 1 {
			return c.lanes.rows(style, width, height)
		}
		return style.Rows(s.facts(steps), width)
	})
	seat.Live = s
	before := seat.Watch
	seat.Watch = session.Watch{Opened: both(before.Opened, s.opened), Stored: func(r loop.Record) {
		if before.Stored != nil {
			before.Stored(r)
		}
		s.stored(r)
	}}
	if ask := seat.Ask; ask != nil {
		seat.Ask = func(question string) (string, error) {
			b.Hide()
			defer b.Show()
			return ask(question)
		}
	}
	backs := []func(){safetext.Redirect(out, b)}
	if isTerminal(stderr) && stderr != out {
		backs = append(backs, safetext.Redirect(stderr, b))
	}
	if p.notices != nil && isTerminal(p.notices.to) {
		p.notices.set(b)
	}
	b.Show()
	return func() {
		b.Hide()
		for _, back := range backs {
			back()
		}
		if p.notices != nil {
			p.notices.set(nil)
		}
	}
}

func both(first, second func(string, []byte)) func(string, []byte) {
	if first == nil {
		return second
	}
	return func(run string, text []byte) {
		first(run, text)
		second(run, text)
	}
}

// showFlags say how the run is shown besides on the terminal.
type showFlags struct {
	Web  bool `help:"Show the run in a browser on this machine while it runs: an address that can be opened once is printed first. Not with --tasks."`
	JSON bool `name:"json" help:"Print the outcome as JSON on standard output, and everything else on standard error."`
}

// page opens the run's page for a browser on this machine, if it is needed.
func (c *runCommand) page(seat *session.Session, out io.Writer) (closePage func(), err error) {
	if !c.Web || c.DryRun {
		return func() {}, nil
	}
	page, err := local.OpenPage()
	if err != nil {
		return nil, err
	}
	if _, err = fmt.Fprintf(out, "The run's page, for one browser: %s\n", page.Address); err != nil {
		page.Close()
		return nil, err
	}
	safetext.Also(out, page) // from here on, so that the page does not show its own address
	seat.Watch = page.Watch()
	return page.Close, nil
}
