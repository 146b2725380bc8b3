package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/live"
	"github.com/ralph-loop/ralph/internal/local"
	"github.com/ralph-loop/ralph/internal/report/status"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
)

type statusCommand struct {
	Task  string `arg:"" optional:"" placeholder:"TASK" help:"Show this task's run (default: the most recent)"`
	JSON  bool   `name:"json" help:"Print it as one JSON object; with --watch, one a line."`
	Path  bool   `help:"Print the directory that the agent works in, and nothing else. Look, do not edit there."`
	Watch bool   `short:"w" help:"Show it again whenever it changes, until the run has ended."`
}

// watchEvery is how often a run that is watched is examined.
const watchEvery = 500 * time.Millisecond

// Run implements ralph status. That nothing has run is no error.
func (c *statusCommand) Run(ctx context.Context, p process, s session.Session) error {
	look := &local.Status{Session: s, Task: c.Task}
	switch {
	case c.Path:
		at, err := look.WorkDir(ctx)
		if err == nil {
			_, err = fmt.Fprintln(p.out, at)
		}
		return err
	case c.Watch:
		return look.Watch(ctx, watchEvery, c.shower(p))
	}
	st, err := look.Look(ctx)
	if err != nil {
		return err
	}
	return p.print(c.JSON, st, st.Text())
}

type watchCommand struct {
	Task string `arg:"" optional:"" placeholder:"TASK" help:"Show this task's run (default: the most recent)"`
}

// Run implements ralph watch.
func (c *watchCommand) Run(ctx context.Context, p process, s session.Session) error {
	return (&statusCommand{Task: c.Task, Watch: true}).Run(ctx, p, s)
}

// shower shows a run: at a terminal over what was there, with the block that ralph run has; otherwise each change in a
// line.
func (c *statusCommand) shower(p process) func(*session.Found, status.RunStatus, bool) error {
	out := p.out
	file, _ := safetext.Raw(out).(*os.File)
	over := &screen{out: safetext.Raw(out), size: func() (int, int) {
		w, h, err := term.GetSize(int(file.Fd()))
		if err != nil {
			return 80, 24
		}
		return w, h
	}}
	format := stream.FormatFor(stream.Place{Terminal: isTerminal(out), Environ: p.environ})
	style := live.Style{Color: format.UseColor, Unicode: format.UseEmoji}
	return func(f *session.Found, st status.RunStatus, changed bool) error {
		var err error
		switch {
		case isTerminal(out) && !c.JSON:
			var block func(int) []string
			if progress, known := f.Progress(); known && st.LockIsRun {
				block = func(width int) []string { return style.Rows(live.FactsOf(f.State, progress, now()), width) }
			}
			err = over.draw(safetext.InertLines(st.Text()), block)
		case !changed:
		case c.JSON:
			var line bytes.Buffer
			if err = json.Compact(&line, plainJSON(st)); err == nil {
				_, err = fmt.Fprintf(out, "%s\n", line.Bytes())
			}
		default:
			_, err = fmt.Fprintf(out, "%s %s %s\n", now().Format("15:04:05"), safetext.Inert(st.Task), safetext.Inert(st.Line()))
		}
		return err
	}
}

// screen draws a text over the one before, in one write, so that nothing flickers.
type screen struct {
	out   io.Writer
	size  func() (width, height int)
	drawn int // lines of the text before
}

// draw shows a text and below it a block, if that is not nil: the whole block, and as many lines of the text as there
// is room for. The terminal cuts long ones: a line that wraps would be two.
func (s *screen) draw(text string, block func(width int) []string) error {
	lines, rows := strings.Split(strings.TrimSuffix(text, "\n"), "\n"), []string(nil)
	width, height := s.size()
	if block != nil {
		rows = block(width)
		rows = rows[:min(len(rows), max(height-2, 0))]
	}
	if most := max(height-1-len(rows), 1); len(lines) > most {
		lines = lines[:most]
	}
	lines = append(lines, rows...)
	var b strings.Builder
	b.WriteString("\x1b[?7l")
	if s.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\r", s.drawn)
	}
	for _, line := range lines {
		b.WriteString(line + "\x1b[K\n")
	}
	b.WriteString("\x1b[J\x1b[?7h")
	s.drawn = len(lines)
	_, err := io.WriteString(s.out, b.String())
	return err
}
