// Command demo shows ralph's main job with nothing but this machine: a double of GitHub, a repository whose tests fail,
// and agents that are shell scripts. One labeled issue becomes a reviewed pull request, a hopeless one ends with a
// failure report. At the end it looks up on the double whether everything it claims is true, and exits with 0 only then.
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
	keep := flag.String("keep", "", "the `directory` for the comment and the report of the successful run")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop() // a second signal ends the process immediately
	}()
	s, err := newStage(*ralph, os.Stdout)
	if err != nil {
		err = fmt.Errorf("setting the stage: %w", err)
	} else {
		err = s.run(ctx, *keep, os.Stdout)
		s.close()
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

// run shows the two jobs and what they have left. It keeps what make pictures needs in a directory, unless that is
// empty.
func (s *stage) run(ctx context.Context, keep string, out io.Writer) error {
	solved, err := s.solve(ctx)
	if err != nil {
		return err
	}
	gaveUp, err := s.giveUp(ctx)
	if err != nil {
		return err
	}
	if keep != "" {
		if err := s.keep(keep); err != nil {
			return fmt.Errorf("keeping the reports: %w", err)
		}
	}
	for _, text := range s.reports() {
		fmt.Fprintf(out, "\n── %s\n", unlink(text))
	}
	fmt.Fprintln(out, "\nLooked up at the end:")
	for _, f := range s.findings(ctx, solved, gaveUp) {
		if f.holds {
			fmt.Fprintln(out, "  ✓ "+f.claim)
			continue
		}
		fmt.Fprintln(out, "  ✗ "+f.claim)
		err = errors.New("not everything is as it should be: see the lines with ✗")
	}
	return err
}
