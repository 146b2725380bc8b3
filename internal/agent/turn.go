package agent

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

func newReader(t *turnInput, d dialect) *reader {
	if t.Text {
		d.decode, t.dialect.ends = stream.NewPlain, false
	}
	r := &reader{talk: t, noise: proc.NewTail(0, 8<<10), said: newSaid()}
	r.decoder = d.decode(t.clock(), r.event)
	r.Writer = t.console.stdout(r.decoder)
	return r
}

// turnInput is what one turn is about.
type turnInput struct {
	Options
	dialect dialect
	program string // absolute path of the agent's
	prompt  string
	console *console
	stop    func()          // ends the turn; nil when it is long over
	pulse   *proc.Heartbeat // beaten at every sign of life
	dir     string          // where the turn's own files are, when its dialect has any
	env     []string        // more of the environment, which names them
	now     func() time.Time
	way     TurnGateway   // what carries it to its model; nil: it goes there itself
	routes  []Route       // of the way
	linger  time.Duration // after its result an agent is stopped that has not ended by then
}

func (t *turnInput) clock() func() time.Time { return t.now }

// argvBytes is how long a prompt may be as an argument. Linux takes 128 KiB in one, less a byte.
const argvBytes = 100 << 10

// argument is the prompt for an agent that takes it as an argument.
func (t *turnInput) argument() string {
	said := strings.ReplaceAll(t.said(), "\x00", "")
	if strings.HasPrefix(said, "-") { // it is no flag
		said = "\n" + said
	}
	return said
}

// most is how long a prompt the agent takes; 0 is any.
func (t *turnInput) most() int {
	if t.dialect.silent {
		return argvBytes
	}
	return t.dialect.maxPromptBytes
}

func (t *turnInput) tooLong() bool { return t.most() > 0 && len(t.prompt) > t.most() }

// said is what the agent is told: the prompt, or where it lies when it is too long for that.
func (t *turnInput) said() string {
	if t.tooLong() {
		return "Read the file " + t.PromptFile + "; it holds your whole task."
	}
	return t.prompt
}

// unsayable says why a prompt cannot be given to the agent; "" when it can.
func (t *turnInput) unsayable() string {
	if t.tooLong() && t.PromptFile == "" {
		return fmt.Sprintf("the prompt has %d bytes, and %s takes at most %d: shorten the task, or keep prompt files so "+
			"that it can read it",
			len(t.prompt), t.dialect.name, t.most())
	}
	return ""
}

// interrupt is the part of the time to end in which an agent that then says what it has spent is only interrupted.
func (t *turnInput) interrupt(grace time.Duration) time.Duration {
	if t.dialect.interrupts {
		return grace / 4
	}
	return 0
}

var sessions = lazy(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)

// isSession reports whether a text can be a session's id. It comes from an agent's output, and must not be taken for a
// flag.
func isSession(id string) bool { return sessions.MatchString(id) }

// logBytes is how much of a turn's output its log keeps.
const logBytes = 64 << 20

// Turn runs one fresh agent process on a prompt. What the agent does wrong is told by the turn's class; the error is
// for what the harness could not do.
func (a *Agent) Turn(ctx context.Context, prompt string) (loop.Turn, error) {
	o, t := a.options, a.talk(prompt)
	defer t.console.close()
	if why := t.unsayable(); why != "" {
		return loop.Turn{Class: loop.Rejected, Exit: -1, Reason: why}, nil
	}
	done, why, err := t.carry(ctx)
	switch {
	case err != nil:
		return loop.Turn{}, err
	case why != "":
		return loop.Turn{Class: loop.Waits, Exit: -1, Reason: why}, nil
	}
	defer done()
	remove, err := t.ready()
	if err != nil {
		return loop.Turn{}, err
	}
	defer remove()
	ctx, t.stop = context.WithCancel(ctx)
	defer t.stop()
	t.console.doing = func(what string) { loop.Doing(ctx, what) }
	reader, stderr := newReader(t, a.dialect), proc.NewTail(2<<10, 14<<10)
	outs, errs := []io.Writer{reader}, []io.Writer{stderr, t.console.stderr()}
	if !a.dialect.noisy {
		errs = append(errs, beat{t.pulse})
	}
	errs, listened := a.listen(reader, errs)
	defer listened()
	if o.LogFile != "" {
		log, err := proc.CreateLog(o.LogFile, logBytes)
		if err != nil {
			return loop.Turn{}, err
		}
		log.Redact(o.Format.Redact)
		defer log.Close() // a log that could not be written is not worth a turn
		outs, errs = append([]io.Writer{log}, outs...), append([]io.Writer{log}, errs...)
	}
	var stdin io.Reader
	if !a.dialect.silent {
		stdin = strings.NewReader(t.said())
	}
	grace := cmp.Or(t.Grace, proc.GraceOf(ctx)) // how long the agent may take to end when it is stopped
	end, err := proc.Run(ctx, proc.Spec{
		Argv: append([]string{a.program}, a.arguments(t)...), Dir: o.Dir, Env: slices.Concat(a.env, t.env),
		Stdin: stdin, Stdout: io.MultiWriter(outs...), Stderr: io.MultiWriter(errs...),
		Timeout: o.Timeout, Idle: o.Idle, Pulse: t.pulse, Soft: o.Soft, OnSoft: o.OnSoft, As: o.As, Box: o.Box,
		WritableDir: t.dir, AllowedAddress: t.address(), Limits: o.Limits,
		Interrupt: t.interrupt(grace), Grace: grace - t.interrupt(grace),
	})
	if err != nil {
		return loop.Turn{}, fmt.Errorf("running the agent %s: %w", o.Command, err)
	}
	listened()
	turn := a.concluded(reader, end, stderr.String())
	t.onTheWire(&turn)
	if turn.ByWords && turn.Usage != (loop.Usage{}) { // its model did work
		turn.Class, turn.Reason, turn.ResetAt, turn.ByWords = loop.OK, "", time.Time{}, false
	}
	t.loggedOut(&turn)
	turn.LogFile = o.LogFile
	t.console.done(turn)
	return turn, nil
}

// listen takes the dialect's own log out of what goes to others from standard error. The function hands on what has no
// end of line.
func (a *Agent) listen(r *reader, errs []io.Writer) ([]io.Writer, func()) {
	if a.dialect.readRetry == nil {
		return errs, func() {}
	}
	h := &retryFilter{hears: a.dialect.readRetry, tell: r.tried, to: io.MultiWriter(errs...)}
	return []io.Writer{h}, h.close
}

// arguments are all that follow the program.
func (a *Agent) arguments(t *turnInput) []string {
	flags := a.options.Flags
	if a.dialect.flags != nil {
		flags = a.dialect.flags(t)
	}
	return slices.Concat(a.dialect.first, flags, a.dialect.arguments(t))
}

// talk readies what one turn is about.
func (a *Agent) talk(prompt string) *turnInput {
	t := &turnInput{Options: a.options, dialect: a.dialect, program: a.program, prompt: prompt, pulse: new(proc.Heartbeat),
		now: a.options.Clock, linger: a.linger}
	if t.now == nil {
		t.now = time.Now
	}
	t.console = newConsole(t.Options, t.now)
	return t
}

// concluded is the turn that an output and its end make. An agent that had said how it ended has said it, whatever
// ended its process.
func (a *Agent) concluded(reader *reader, end proc.Result, stderr string) loop.Turn {
	turn := reader.turn(end, stderr)
	class, reason := a.ended(end)
	if class == loop.TimedOut || class == loop.Idle {
		reason = because(reason, reader.trouble())
	}
	if class != loop.OK && !reader.facts.lingered() && !reader.facts.asked {
		turn.Class, turn.Reason, turn.ResetAt = class, reason, time.Time{}
		turn.Silent = class == loop.Idle && !reader.spoke
		if j, ok := a.satOut(reader, end); ok {
			turn.Class, turn.Reason, turn.ResetAt, turn.SatOut, turn.Silent = j.class, j.reason, j.resets, true, false
		}
	}
	a.settle(&turn, reader, end)
	a.unrunnable(&turn, end, stderr)
	turn.Text = strings.Clone(safetext.LastBytes(strings.ToValidUTF8(turn.Text, "\uFFFD"), loop.TextBytes))
	if strings.TrimSpace(turn.Transcript) == strings.TrimSpace(turn.Text) {
		turn.Transcript = ""
	}
	turn.Exit, turn.Duration = end.Exit, end.Duration
	return turn
}

// ended tells what the way a process ended says by itself; OK when that is nothing.
func (a *Agent) ended(end proc.Result) (loop.Class, string) {
	o := a.options
	switch end.Class {
	case proc.TimedOut:
		return loop.TimedOut, fmt.Sprintf(
			"the agent was stopped at its time limit of %s: ask for less at once, or raise the limit", o.Timeout)
	case proc.Idle:
		return loop.Idle, fmt.Sprintf(
			"the agent was stopped after %s without output: see whether its model answers, or raise the idle limit",
			safetext.Duration(o.Idle))
	case proc.Limited:
		return loop.Limited, "the agent " + end.Why
	case proc.Cancelled:
		return loop.Stopped, "the agent was stopped because the run was cancelled"
	case proc.Signalled:
		return loop.Killed, fmt.Sprintf("the agent was ended by %s, which ralph did not send: %s", end.Signal, sender(end))
	case proc.NotFound:
		return loop.Missing, fmt.Sprintf("the agent %s, or the interpreter it names, does not exist: install it", a.program)
	case proc.NotExecutable:
		return loop.Missing, fmt.Sprintf(
			"the agent %s cannot be run: see that it is an executable file that its user may run", a.program)
	}
	return loop.OK, ""
}
