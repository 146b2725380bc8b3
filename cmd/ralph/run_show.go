package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/safetext"
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

// stamp has each line begin with the time where nobody sees it come: in a pipe or a file, but not in the log of a job,
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
