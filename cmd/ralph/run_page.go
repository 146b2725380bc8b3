package main

import (
	"fmt"
	"io"

	"github.com/ralph-loop/ralph/internal/local"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
)

// showFlags say how the run is shown besides on the terminal.
type showFlags struct {
	Web  bool `help:"Show the run in a browser on this machine while it runs: an address that can be opened once is printed first. Not with --tasks."`
	JSON bool `name:"json" help:"Print the outcome as JSON on standard output, and everything else on standard error."`
}

// page opens the run's page for a browser on this machine, if it is wanted.
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
