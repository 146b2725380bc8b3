//go:build unix

package main

import (
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

// heard is a writer that several goroutines may use.
type heard struct {
	mu   sync.Mutex
	text strings.Builder
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(p)
}

// reset forgets it.
func (h *heard) reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text.Reset()
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// uninterrupted is what a command gets where nobody sends signals, or a test ends ctx itself.
func uninterrupted(ctx context.Context) *interruption {
	i := newInterruption(io.Discard, surroundings{})
	i.ctx, i.hard = ctx, ctx
	return i
}

func within(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return true
	case <-time.After(d):
		return false
	}
}

// TestInterruption has a row for each place, each kind of command and each first signal. The grace of a job is not
// waited for here.
func TestInterruption(t *testing.T) {
	t.Parallel()
	const long, short = 20 * time.Second, 300 * time.Millisecond
	for name, c := range map[string]struct {
		where    surroundings
		attended bool
		finishes bool
		endless  bool // the step has no time limit
		drains   bool // it is a server, which says nothing
		first    syscall.Signal
		atOnce   bool // hard is done without a second signal
		says     string
	}{
		"a person lets the step go on": {attended: true, finishes: true, first: syscall.SIGINT,
			says: "for at most 1h; a second Ctrl-C stops it, and what is left of it after 5s is killed."},
		"a server drains": {drains: true, first: syscall.SIGTERM},
		"a step without an end": {attended: true, finishes: true, endless: true, first: syscall.SIGINT,
			says: "Waiting for the turn to end, which has no time limit; a second Ctrl-C stops it, and what is left of it after 5s is killed."},
		"a person sends SIGQUIT": {attended: true, finishes: true, first: syscall.SIGQUIT,
			says: "for at most 1h; a second Ctrl-C stops it, and what is left of it after 5s is killed."},
		"the person's terminal closes": {attended: true, finishes: true, first: syscall.SIGHUP,
			says: "for at most 30s; then, or at a second signal, it is stopped, and what is left of it after 5s is killed."},
		"nobody is there": {finishes: true, first: syscall.SIGTERM,
			says: "for at most 30s; then, or at a second signal, it is stopped, and what is left of it after 5s is killed."},
		"a job of GitHub's is stopped": {where: surroundings{job: true}, finishes: true, first: syscall.SIGINT,
			atOnce: true, says: "after 2s is killed, and more signals change nothing."},
		"a command that does not let steps finish": {attended: true, first: syscall.SIGINT, atOnce: true,
			says: "after 5s is killed, and more signals change nothing."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := &heard{}
			c.where.interactive = func() bool { return c.attended }
			i := newInterruption(said, c.where)
			i.exit = func(int) {}
			ctx, hard := i.context(), i.hard
			if c.finishes {
				hard = i.hardContext()
			}
			limit := time.Hour
			if c.endless {
				limit = 0
			}
			if c.drains {
				hard = i.drainContext()
			}
			defer loop.BeginStep(hard, "the tu\x1b[1mrn", limit)()
			signals := make(chan os.Signal)
			defer close(signals)
			go i.follow(signals)
			signals <- c.first
			if !within(ctx, long) {
				t.Fatal("the first signal does not end ctx")
			}
			if within(hard, short) != c.atOnce {
				t.Fatalf("hard is done after one signal: %v", !c.atOnce)
			}
			if !c.atOnce {
				signals <- syscall.SIGTERM
				if !within(hard, long) {
					t.Error("the second signal does not end hard")
				}
			}
			for range 10 { // of which no one ends this process
				signals <- c.first
			}
			i.notices.flush()
			if c.drains {
				if said.String() != "" {
					t.Errorf("a server said %q", said)
				}
				return
			}
			lines := strings.Split(said.String(), "\n")
			if lines[0] != "Received signal, shutting down..." || !strings.HasSuffix(lines[1], c.says) {
				t.Errorf("said %q", said)
			}
			if !c.atOnce && lines[2] != "Stopping the turn; what is left of it after 5s is killed, and more signals change "+
				"nothing." {
				t.Errorf("said %q after the second signal", lines[2])
			}
		})
	}
	if jobGrace != 30*time.Second {
		t.Errorf("the grace where nobody is there is %s", jobGrace)
	}
}

// TestSecondSignal is about how long the second signal is waited for.
func TestSecondSignal(t *testing.T) {
	type sent struct {
		after  time.Duration
		signal syscall.Signal
	}
	for name, c := range map[string]struct {
		first syscall.Signal
		grace time.Duration
		then  []sent
		gone  time.Duration // when the terminal goes away without a word; 0: it stays
		want  time.Duration
	}{
		"it comes": {syscall.SIGINT, untilSecond, []sent{{time.Hour, syscall.SIGINT}}, 0,
			time.Hour},
		"it comes at once": {syscall.SIGINT, untilSecond, []sent{{0, syscall.SIGINT}}, 0, 0},
		"it does not come": {syscall.SIGTERM, jobGrace, nil, 0, 30 * time.Second},
		"the shell tells of the terminal, too": {syscall.SIGHUP, jobGrace, []sent{{time.Millisecond, syscall.SIGHUP}}, 0,
			30 * time.Second},
		"somebody sends SIGHUP twice": {syscall.SIGHUP, jobGrace, []sent{{time.Second, syscall.SIGHUP}}, 0,
			time.Second},
		"another one comes with SIGHUP": {syscall.SIGHUP, jobGrace, []sent{{time.Millisecond, syscall.SIGTERM}}, 0,
			time.Millisecond},
		"the terminal closes after Ctrl-C": {syscall.SIGINT, untilSecond, []sent{{time.Minute, syscall.SIGHUP}}, 0,
			time.Minute},
		"the terminal goes away without a word": {syscall.SIGINT, untilSecond, nil, 90*time.Minute - time.Millisecond,
			90*time.Minute + jobGrace},
		"it comes when the terminal is not there": {syscall.SIGINT, untilSecond, []sent{{6 * time.Second, syscall.SIGTERM}},
			time.Second, 6 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				i := newInterruption(io.Discard,
					surroundings{interactive: func() bool { return c.gone == 0 || time.Since(began) < c.gone }})
				signals := make(chan os.Signal, 8)
				for _, s := range c.then {
					time.AfterFunc(s.after, func() { signals <- s.signal })
				}
				i.awaitSecond(signals, c.first, c.grace)
				if got := time.Since(began); got != c.want {
					t.Errorf("it took %s, want %s", got, c.want)
				}
			})
		})
	}
}

// TestInterruptionBeforeACommand: while the command line is read, the first signal ends the process.
func TestInterruptionBeforeACommand(t *testing.T) {
	i := newInterruption(io.Discard, surroundings{})
	left := make(chan int, 1)
	i.exit = func(code int) { left <- code }
	signals := make(chan os.Signal, 1)
	signals <- syscall.SIGINT
	i.follow(signals)
	if code := <-left; code != 130 {
		t.Errorf("exit code %d", code)
	}
}

// TestNoticesKeepNobodyWaiting: nobody reads standard error, and the signals count all the same.
func TestNoticesKeepNobodyWaiting(t *testing.T) {
	reader, writer := io.Pipe()
	defer reader.Close()
	i := newInterruption(writer, surroundings{interactive: func() bool { return true }})
	i.context()
	hard := i.hardContext()
	signals := make(chan os.Signal)
	defer close(signals)
	go i.follow(signals)
	signals <- syscall.SIGINT
	signals <- syscall.SIGINT
	if !within(hard, 20*time.Second) {
		t.Error("the second signal does not end hard")
	}
}
