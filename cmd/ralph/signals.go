package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// hardContext is done when what runs has to be stopped; the plain context of a command is done earlier, when it should
// begin nothing new.
type hardContext interface{ context.Context }

// How long the step that runs may continue after the first signal.
const (
	untilSecond = time.Duration(0) // at a terminal: as long as the person lets it
	jobGrace    = 30 * time.Second // elsewhere
	noGrace     = -time.Second     // in a job of GitHub's, and in a command that does not let its steps finish
)

const (
	jobKillGrace = 2 * time.Second // between TERM and KILL in a job of GitHub's, which is killed itself ten seconds after it was asked
	// a terminal that closes sends SIGHUP, and so does its shell: within this time they are one signal
	sameHangup = 250 * time.Millisecond
	lookEvery  = time.Second     // how often it is looked whether the terminal is still there
	hungAfter  = 5 * time.Second // how long nothing has run in a process that cannot end by itself
)

// drainContext is the hardContext of a server: it is done with the second signal only, because the server itself bounds
// how long it drains. It reports signals in its log.
type drainContext interface{ context.Context }

// surroundings are where a command runs, as far as its interruption depends on them.
type surroundings struct {
	job         bool        // a job of GitHub's
	interactive func() bool // whether someone is at a terminal now, who can send a second signal
}

// interruption makes two contexts of the signals that ask us to end: ctx is done with the first one, hard with the
// second or when the grace is over. No signal after that ends the process while anything runs that it has started. A
// command that has asked for neither is ended by the first signal: it has started nothing.
type interruption struct {
	ctx, hard             context.Context
	beginNothing, stopAll context.CancelFunc
	steps                 *loop.StepTracker // of both contexts
	where                 surroundings
	notices               *notices
	exit                  func(code int)
	asked                 atomic.Bool // for ctx: a command has begun
	finishes              atomic.Bool // for hard, too: it lets a step finish after the first signal
	drains                atomic.Bool // for hard as a server
}

func newInterruption(stderr io.Writer, where surroundings) *interruption {
	i := &interruption{steps: &loop.StepTracker{Clock: now}, where: where, notices: newNotices(stderr), exit: os.Exit}
	all := loop.WithStepTracker(context.Background(), i.steps)
	if where.job {
		all = proc.WithGrace(all, jobKillGrace)
	}
	i.ctx, i.beginNothing = context.WithCancel(all)
	i.hard, i.stopAll = context.WithCancel(all)
	return i
}

// listen follows the signals from now on, to the very end: one that comes late must not look like a crash.
func (i *interruption) listen() {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, endingSignals()...)
	go i.follow(signals)
}

// endingSignals are the signals that ask us to end, without those that our parent ignores: nohup does that with SIGHUP,
// a shell with SIGINT and SIGQUIT of what it runs in the background. Go leaves the first two ignored but takes over
// SIGQUIT before we can see how it was, so SIGINT speaks for it.
func endingSignals() []os.Signal {
	list := []os.Signal{syscall.SIGTERM}
	if signal.Ignored(os.Interrupt) {
		signal.Ignore(syscall.SIGQUIT)
	} else {
		list = append(list, os.Interrupt, syscall.SIGQUIT)
	}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// context is what a command gets that stops at the first signal.
func (i *interruption) context() context.Context {
	i.asked.Store(true)
	return i.ctx
}

// hardContext is what a command gets, too, that lets the step that runs finish.
func (i *interruption) hardContext() hardContext {
	i.finishes.Store(true)
	return i.hard
}

// drainContext is what a server gets, too.
func (i *interruption) drainContext() drainContext {
	i.drains.Store(true)
	return i.hard
}

// follow takes the signals as they come. What they bring about is done before anything is said of it.
func (i *interruption) follow(signals <-chan os.Signal) {
	first, ok := <-signals
	if !ok {
		return
	}
	if !i.asked.Load() {
		i.notices.say(received)
		i.leave()
		return
	}
	if i.drains.Load() {
		i.drain(signals)
		return
	}
	grace, kill := i.grace(first), proc.GraceOf(i.hard)
	step, running := i.steps.Current()
	i.beginNothing()
	if grace == noGrace {
		i.stopAll()
	}
	i.notices.say(received + i.firstNotice(step, running, grace, kill))
	if grace != noGrace {
		i.awaitSecond(signals, first, grace)
		step, running = i.steps.Current()
		i.stopAll()
		i.notices.say(stoppingNotice(step, running, kill))
	}
	i.ignoreRest(signals)
}

// drain is follow for a server.
func (i *interruption) drain(signals <-chan os.Signal) {
	i.beginNothing()
	<-signals
	i.stopAll()
	i.ignoreRest(signals)
}

// ignoreRest lets further signals do nothing, except that the next one ends a process that hangs.
func (i *interruption) ignoreRest(signals <-chan os.Signal) {
	if _, more := <-signals; more {
		go i.leaveWhenHung()
	}
	for range signals { // as often as anyone likes
	}
}

// grace is how long the step that runs may continue after a first signal. A terminal that has closed sends no second one.
func (i *interruption) grace(first os.Signal) time.Duration {
	switch {
	case i.where.job || !i.finishes.Load():
		return noGrace
	case first != syscall.SIGHUP && i.where.interactive():
		return untilSecond
	}
	return jobGrace
}

// awaitSecond returns with the second signal, or when the grace is over. One without an end gets it when the terminal
// goes away.
func (i *interruption) awaitSecond(signals <-chan os.Signal, first os.Signal, grace time.Duration) {
	began := time.Now()
	var over <-chan time.Time
	if grace != untilSecond {
		over = time.After(grace)
	}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case <-over:
			return
		case s := <-signals:
			if s != first || first != syscall.SIGHUP || time.Since(began) > sameHangup {
				return
			}
		case <-look.C:
			if over == nil && !i.where.interactive() {
				over = time.After(jobGrace)
			}
		}
	}
}

// leaveWhenHung ends the process once nothing that it has started has run for a while: then it waits for what no
// context reaches, such as a pipe that no one reads, and nothing else could end it but SIGKILL.
func (i *interruption) leaveWhenHung() {
	time.Sleep(hungAfter)
	for proc.QuietFor() < hungAfter {
		time.Sleep(hungAfter / 50)
	}
	i.leave()
}

func (i *interruption) leave() {
	i.notices.flush()
	i.exit(loop.Interrupted.ExitCode())
}

// notices are what is said of signals. Saying it keeps no one waiting: standard error may be a pipe that no one reads.
type notices struct {
	to   io.Writer
	mu   sync.Mutex
	last chan struct{} // closed when the last of them has been written
}

func newNotices(to io.Writer) *notices {
	n := &notices{to: to, last: make(chan struct{})}
	close(n.last)
	return n
}

// say writes a text after those before.
func (n *notices) say(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	before, written := n.last, make(chan struct{})
	n.last = written
	go func() {
		defer close(written)
		<-before
		_, _ = io.WriteString(n.to, text)
	}()
}

// flush waits until everything has been written, or a moment.
func (n *notices) flush() {
	n.mu.Lock()
	last := n.last
	n.mu.Unlock()
	select {
	case <-last:
	case <-time.After(time.Second):
	}
}

// received is what the first signal is answered with, word by word.
const received = "Received signal, shutting down...\n"

// firstNotice says what ralph waits for after the first signal, for how long, and what the second one does.
func (i *interruption) firstNotice(step loop.RunningStep, running bool, grace, kill time.Duration) string {
	switch {
	case running && grace == noGrace:
		return stoppingNotice(step, running, kill)
	case running:
		return waitingNotice(step, grace, kill, now())
	case i.finishes.Load():
		return "No step is running, so ralph saves its state and exits; a second signal leaves it only seconds for that.\n"
	}
	return ""
}

// waitingNotice is about a step that may continue after the first signal.
func waitingNotice(step loop.RunningStep, grace, kill time.Duration, now time.Time) string {
	limit, then := "which has no time limit", "a second Ctrl-C stops it"
	left := grace
	if grace != untilSecond {
		then = "then, or at a second signal, it is stopped"
	}
	if until := max(step.Deadline.Sub(now), 0); !step.Deadline.IsZero() && (grace == untilSecond || until < grace) {
		left = until
	}
	if grace != untilSecond || !step.Deadline.IsZero() {
		limit = "for at most " + safetext.Duration(left)
	}
	return fmt.Sprintf("Waiting for %s to end, %s; %s, and what is left of it after %s is killed.\n",
		safetext.Inert(step.Name), limit, then, kill)
}

// stoppingNotice is about a step that is being stopped; it is empty without one.
func stoppingNotice(step loop.RunningStep, running bool, kill time.Duration) string {
	if !running {
		return ""
	}
	return fmt.Sprintf("Stopping %s; what is left of it after %s is killed, and more signals change nothing.\n",
		safetext.Inert(step.Name), kill)
}
