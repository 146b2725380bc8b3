// Package agent is the door to coding agents: a prompt in, a turn out.
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
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Agent takes turns.
type Agent struct {
	options Options
	dialect dialect
	program string // absolute path
	env     []string
	linger  time.Duration
}

// New readies an agent. The error is an *UnknownError when there is no such agent, and another when Options.Hooks are
// no such settings.
func New(o Options) (*Agent, error) {
	d, _ := dialectOf(o.Command)
	if _, err := readHooks(o.Hooks); err != nil {
		return nil, fmt.Errorf("reading the hooks for %s: %w", o.Command, err)
	}
	a := &Agent{options: o, dialect: d, env: environment(o, d), linger: linger}
	program, err := resolve(o, a.env)
	if err != nil {
		return nil, &UnknownError{o.Command, err}
	}
	a.program = program
	return a, nil
}

// A shell exits with one of these if it cannot execute a program, or cannot find it; so does the loader of libraries.
const (
	cannotExecute = 126
	cannotFind    = 127
)

// loaders are messages of those who start a program, whatever it is that then ends with another exit code.
var loaders = lazy(`(?i)error while loading shared libraries|cannot open shared object file|exec format error|bad interpreter|` +
	`version .GLIBC\S* not found|dyld\S*: library not loaded|required file not found`)

// unrunnable rewrites a turn that ended because the agent could not run a program. If the agent did nothing before
// that, as far as it reports, its class is Missing.
func (a *Agent) unrunnable(turn *loop.Turn, end proc.Result, stderr string) {
	loader := loaders.MatchString(lastLines(stderr, 1)) && strings.TrimSpace(turn.Text) == ""
	if turn.Class != loop.Broke || end.Exit != cannotExecute && end.Exit != cannotFind && !loader {
		return
	}
	if turn.Usage == (loop.Usage{}) && turn.Tools == 0 && turn.Claim.Tag == "" {
		turn.Class = loop.Missing
	}
	turn.Reason = fmt.Sprintf("%s could not run a program (exit code %d): install it, or make it executable", a.dialect.name,
		end.Exit)
	if a.options.Box != nil {
		turn.Reason += "; if the sandbox hides it, put it in a directory of PATH or in the repository"
	}
	turn.Reason = because(turn.Reason, tellingLine(stderr))
}

// linger is how long an agent may take to end after it has said how it ended.
const linger = 30 * time.Second

// logBytes is how much of a turn's output its log keeps.
const logBytes = 64 << 20

// Turn runs one fresh agent process on a prompt. The turn's class reports what the agent did wrong; the error is for
// what the harness could not do.
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
		Argv: append([]string{a.program}, a.dialect.arguments(t)...), Dir: o.Dir, Env: slices.Concat(a.env, t.env),
		Stdin: stdin, Stdout: io.MultiWriter(outs...), Stderr: io.MultiWriter(errs...),
		Timeout: o.Timeout, Silence: proc.Silence{Idle: o.Idle, Pulse: t.pulse}, Warning: proc.Warning{Soft: o.Soft, OnSoft: o.OnSoft}, As: o.As, Box: o.Box,
		WritableDir: t.dir, AllowedAddress: t.address(), Limits: o.Limits,
		Ending: proc.Ending{Interrupt: t.interrupt(grace), Grace: grace - t.interrupt(grace)},
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
	to := io.MultiWriter(errs...)
	lines := stream.NewPlain(r.talk.now, func(e stream.Event) {
		if e.Kind != stream.Noise {
			return
		}
		switch attempt, ours := a.dialect.readRetry(e.Text); {
		case !ours:
			_, _ = io.WriteString(to, e.Text+"\n")
		case attempt != (stream.Attempt{}):
			r.tried(attempt)
		}
	})
	return []io.Writer{lines}, func() { _ = lines.Close() }
}

// talk readies what one turn is about.
func (a *Agent) talk(prompt string) *turnInput {
	t := &turnInput{Options: a.options, dialect: a.dialect, program: a.program, prompt: prompt, pulse: new(proc.Heartbeat),
		now: a.options.Clock, linger: a.linger}
	if t.now == nil {
		t.now = time.Now
	}
	t.console = newConsole(t.Display, t.LogFile, t.now)
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
	case proc.Canceled:
		return loop.Stopped, "the agent was stopped because the run was canceled"
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

// CommandLine is what a turn runs, quoted as for a shell. A prompt that goes by arguments stands as PROMPT.
func (a *Agent) CommandLine() string {
	t := &turnInput{Options: a.options, dialect: a.dialect, prompt: "PROMPT", dir: "DIR",
		console: newConsole(Display{}, "", time.Now), pulse: new(proc.Heartbeat), now: time.Now}
	var words []string
	for _, word := range append([]string{a.options.Command}, a.dialect.arguments(t)...) {
		if !needsNoQuotes.MatchString(word) {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// Recording is what the process of an agent has left.
type Recording struct {
	Stdout io.Reader
	Stderr io.Reader // nil is nothing
	Exit   int       // its exit code; below 0 the number of the signal that ended it: -9
	Prompt string    // what it was asked; "" is not known
	Idle   bool      // it was stopped, since it printed nothing more
}

// Replay returns the turn of a recording, and shows it as it was shown when it was taken. It uses only the options that
// say what the agent is, what claims, and how to show it. The agent need not be installed when ralph knows it; the
// error is an *UnknownError when there is no such agent.
func Replay(o Options, r Recording) (loop.Turn, error) {
	d, known := dialectOf(o.Command)
	a := &Agent{options: o, dialect: d, program: o.Command}
	if !known && o.Command != "command" {
		if _, err := resolve(o, o.Parent); err != nil {
			return loop.Turn{}, &UnknownError{o.Command, err}
		}
	}
	t := a.talk(r.Prompt)
	defer t.console.close()
	reader, stderr := newReader(t, a.dialect), proc.NewTail(2<<10, 14<<10)
	if _, err := io.Copy(reader, r.Stdout); err != nil {
		return loop.Turn{}, fmt.Errorf("reading what the agent printed: %w", err)
	}
	if r.Stderr != nil {
		errs, listened := a.listen(reader, []io.Writer{stderr, t.console.stderr()})
		if _, err := io.Copy(io.MultiWriter(errs...), r.Stderr); err != nil {
			return loop.Turn{}, fmt.Errorf("reading what the agent printed on standard error: %w", err)
		}
		listened()
	}
	end := proc.Result{Class: proc.Exited, Exit: r.Exit}
	if r.Idle {
		end = proc.Result{Class: proc.Idle, Exit: -1}
	} else if r.Exit < 0 {
		end = proc.Result{Class: proc.Signalled, Exit: -1,
			Signal: cmp.Or(signals[-r.Exit], fmt.Sprintf("signal %d", -r.Exit))}
	}
	turn := a.concluded(reader, end, stderr.String())
	t.console.done(turn)
	return turn, nil
}

// signals are the names of those that end an agent, the same on every system that has them.
var signals = map[int]string{1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 6: "SIGABRT", 9: "SIGKILL", 11: "SIGSEGV",
	13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM"}

// Starts finds out whether an agent could begin in a sandbox, by asking for its version. What one that ralph does not
// know would do when asked, no one knows: its first turn shows whether it can. The error is a sentence.
func (a *Agent) Starts(ctx context.Context, s *sandbox.Sandbox) error {
	if a.dialect.name == command.name {
		return nil
	}
	return s.Starts(ctx, sandbox.Works, a.program, a.env, "--version")
}

// settle marks a turn that ended because of what the run may spend. Its tokens are those that were seen when its own
// account of it, if it gave any, has fewer: that would let it begin again and again.
func (a *Agent) settle(turn *loop.Turn, reader *reader, end proc.Result) {
	switch {
	case reader.over != "" && end.Class == proc.Canceled:
		turn.Class, turn.Reason, turn.Ours = loop.Spent, reader.over, true
	case turn.Class == loop.Spent && a.dialect.holds != nil && a.dialect.holds(a.options) != "":
		turn.Reason, turn.Ours = a.dialect.name+" stopped, since the run had "+loop.Dollars(a.options.Left.CostUSD)+
			" left: raise "+a.options.Left.Setting()+", or ask for less at once", true
	}
	if turn.Ours && turn.Usage.Tokens() < reader.seen.Tokens() {
		cost := max(turn.Usage.CostUSD, reader.seen.CostUSD)
		turn.Usage = reader.seen
		turn.Usage.CostUSD = cost
	}
}

// satOut reports a turn that was stopped while the agent waited for a usage limit's end; ok is false of any other.
func (a *Agent) satOut(r *reader, end proc.Result) (j judgment, ok bool) {
	idle := end.Class == proc.Idle || end.Class == proc.TimedOut
	if !r.waits || !limited(r.facts.retry) || !idle && (!r.sat || end.Class != proc.Canceled) {
		return j, false
	}
	now := r.talk.now()
	j = judgment{class: loop.UsageLimit, resets: r.resets}
	if j.resets.IsZero() {
		j.resets = r.facts.resets(r.facts.retry.Text, now)
	}
	f := r.facts
	f.result = &stream.Result{Status: f.retry.Status}
	j.reason = a.dialect.sentence(loop.UsageLimit, f, j.resets.UTC().Truncate(time.Second), now)
	if idle {
		j.reason += fmt.Sprintf("; it waited for that without a word and was stopped after %s", safetext.Duration(r.talk.patience()))
	}
	j.reason = because(j.reason, strings.TrimSuffix(strings.TrimPrefix(f.retry.Text, "("), ")"))
	j.resets = j.resets.UTC().Truncate(time.Second)
	return j, true
}
