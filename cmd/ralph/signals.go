package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// hardContext is done when what runs has to be stopped; the plain context of a command is done earlier, when it should begin nothing new
// (C11).
type hardContext interface{ context.Context }

// How long the step that runs may go on after the first signal.
const (
	untilSecond = time.Duration(0) // at a terminal: as long as the person lets it
	jobGrace    = 30 * time.Second // elsewhere
	noGrace     = -time.Second     // in a job of GitHub's, which kills ten seconds after it has asked
)

// listen makes two contexts of the signals: ctx is done with the first one, hard with the second or when the grace is over. A third one
// ends the process as if nobody listened.
func listen(stderr io.Writer, grace time.Duration) (ctx, hard context.Context, stop func()) {
	ctx, begun := context.WithCancel(context.Background())
	hard, over := context.WithCancel(context.Background())
	signals, ended := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(signals, wanted()...)
	go func() {
		select {
		case <-ended:
			return
		case <-signals:
		}
		_, _ = fmt.Fprintln(stderr, "Received signal, shutting down...") // S1-109
		begun()
		var late <-chan time.Time
		switch {
		case grace < 0:
			over()
		case grace > 0:
			late = time.After(grace)
		}
		select {
		case <-ended:
		case <-late:
		case <-signals:
		}
		over()
		signal.Stop(signals)
	}()
	return ctx, hard, func() {
		signal.Stop(signals)
		close(ended)
		begun()
		over()
	}
}

// wanted are the signals that ask us to end. A terminal that goes away is one, unless whoever started us said that it is none (nohup).
func wanted() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}
