// Command demo shows ralph's main job with nothing but this machine: a stand-in for GitHub, a repository whose tests
// fail, and agents that are shell scripts. One labelled issue becomes a reviewed pull request, a hopeless one ends with
// a failure report. What it claims in the end it has looked up on the stand-in; it exits with 0 only when all of it
// holds.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ralph := flag.String("ralph", "bin/ralph", "the ralph `program` to show")
	keep := flag.String("keep", "", "the `directory` to keep the comment and the report of the run that is done in")
	app := flag.Bool("app", false, "show ralph serve in a browser instead")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop() // a second signal ends the process at once
	}()
	err := error(nil)
	if *app {
		err = runApp(ctx, *ralph, os.Stdout)
	} else {
		err = run(ctx, *ralph, *keep, os.Stdout)
	}
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "demo: interrupted; everything it started is stopped")
		os.Exit(130)
	case err != nil:
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run is the demonstration from the first commit to what holds at the end. What make pictures needs goes to keep,
// unless that is empty.
func run(ctx context.Context, ralph, keep string, out io.Writer) error {
	s, err := newStage(ralph, newScreen(out))
	if err != nil {
		return fmt.Errorf("setting the stage: %w", err)
	}
	defer s.close()

	solved, err := s.solvable(ctx)
	if err != nil {
		return err
	}
	gaveUp, err := s.hopeless(ctx)
	if err != nil {
		return err
	}
	if keep != "" {
		if err := s.keep(keep); err != nil {
			return fmt.Errorf("keeping the reports: %w", err)
		}
	}
	if err := s.screen.show(s.reports()); err != nil {
		return err
	}
	if s.screen.tell(s.findings(ctx, solved, gaveUp)) > 0 {
		return errors.New("not everything is as it should be: see the lines with ✗")
	}
	return nil
}
