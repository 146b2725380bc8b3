// Package session is a person's terminal in a directory: environment, settings, the places that ralph keeps for a
// clone, and the sealed journals of its runs.
package session

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// ScmKnows is what source control may know of our environment besides proc.Allowed: how to reach a remote and who
// commits. No token.
var ScmKnows = []string{"SSH_AUTH_SOCK", "SSH_AGENT_PID", "GNUPGHOME", "GPG_TTY", "GPG_AGENT_INFO", "EMAIL",
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"}

// Session is where a person runs ralph: a directory, an environment, a terminal.
type Session struct {
	Env    config.Environment
	Parent []string // the environment, NAME=value, of which children get what is allowed
	Dir    string   // the current directory
	Out    io.Writer
	Printing
	Clock func() time.Time
	// Flags is the layer of settings that the command line makes.
	Flags config.Layer
	// Ask asks the person a question and returns the answer; nil when no one is there.
	Ask func(question string) (string, error)

	Again

	// Watch hears of the run.
	Watch

	Redact func(string) string
	Killed bool // a ralph was killed here before
}

// Printing is how a session shows what it does.
type Printing struct {
	Format  stream.FormatOptions // of the agent's events on Out
	Err     io.Writer            // what Verbose tells
	Verbose bool
	Quiet   bool // nothing is said but warnings and how it ends
	// Groups folds the log of each iteration where it is read as a job's; nil does not.
	Groups agent.Groups
	// Live is Out if that is a terminal, otherwise nil.
	Live io.Writer
}

// Again is what the person says about a run that was there before.
type Again struct {
	Fresh  bool // begin again, whatever there was
	Resume bool // continue with the last run, even when it has ended
	// Typed are the arguments of the command line, from which the reports make the command that continues with the run.
	Typed []string
}

// Watch hears of a run as it becomes known. Neither part may take long; nil: no one listens.
type Watch struct {
	Opened func([]loop.Record) // with what the run's journal holds already
	Stored func(loop.Record)   // of each record the moment that it is stored
	Shown  engine.Shown        // what is shown besides
}

// Begin readies the session: from here on, what it prints is without secrets, and no process of our user reads our
// environment.
func (s *Session) Begin() {
	s.Redact = report.Redactor(s.Secrets())
	_ = proc.HideSelf() // where it does not work, the agent is as trusted as the person at the keyboard
}

// Secrets are the values that must never be printed or committed.
func (s *Session) Secrets() []string { return engine.Secrets(s.Env, s.Parent) }

// Redacted shows no secret; lines are cleared of them before they are cut, since half a secret is one too.
func (s *Session) Redacted(f stream.FormatOptions) stream.FormatOptions {
	f.Redact = s.Redact
	return f
}

// AgentKeys are the credentials of agents in the environment.
func (s *Session) AgentKeys() map[string]string { return engine.AgentKeys(s.Parent, nil) }

// Settings are those of the directory's files and the flags, read once.
func (s *Session) Settings() (config.Settings, error) {
	layers, err := SettingsFiles(s.Dir, s.Parent)
	if err != nil {
		return config.Settings{}, err
	}
	for _, layer := range layers {
		s.Explain("Loading settings from %s", layer.Name)
	}
	settings, err := config.Load(append(layers, s.Flags)...)
	if err == nil && s.Verbose {
		s.showSettings(append(layers, s.Flags))
	}
	return settings, err
}

// showSettings prints the merged settings without what looks like a secret.
func (s *Session) showSettings(layers []config.Layer) {
	explained, err := config.Explain(layers...)
	if err != nil {
		return
	}
	text, _ := explained.Text(s.Redact) // these settings have been read
	for line := range strings.Lines(text) {
		s.Explain("%s", strings.TrimRight(line, "\n"))
	}
}

// ResumeMode says whether to continue with the run that was there. unchanged says that the request is the same as then.
// At a terminal the person decides if a turn has begun; otherwise an unfinished run is resumed when nothing has
// changed, and the flags decide before all. Where there is nothing to do, that is an error.
func (s *Session) ResumeMode(before loop.State, known, unchanged bool) (loop.ResumeMode, string, error) {
	asked := loop.Request{Retry: s.Resume, Fresh: s.Fresh || known && !s.Resume && !unchanged}
	before.Lease = time.Time{} // the lock file keeps processes of one machine apart
	way, why := loop.TakeUp(before, known, asked, s.Clock())
	if way == loop.Nothing {
		return way, why, invalid.Errorf("%s", why)
	}
	if way != loop.Continue || s.Ask == nil || s.Resume || s.Fresh || len(before.Iterations) == 0 && before.Turning == nil {
		return way, why, nil
	}
	answer, err := s.Ask(
		fmt.Sprintf(
			"%s is unfinished after %s. Resume or fresh? (R/f): ", before.Start.Name(),
			safetext.Counted(len(before.Judged()), "iteration", "iterations"),
		),
	)
	if err != nil {
		return way, why, invalid.Errorf("no answer whether to resume or start over; pass --resume or --fresh")
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer == "f" || answer == "fresh" {
		return loop.Begin, "a fresh start was requested", nil
	}
	return way, why, nil
}

func (s *Session) View(state loop.State) report.View {
	return report.View{
		State: state, Now: s.Clock(), Words: report.Words{Redact: s.Redact, Phrase: "/ralph"}, Again: report.Resuming(s.Typed),
	}
}

// PrintEnding says on the console how a run has ended, and what to do next.
func (s *Session) PrintEnding(v report.View, result loop.Result) {
	lines := report.EndText(v)
	if len(lines) == 0 { // it has not got as far as its own end
		lines = []string{fmt.Sprintf("%s: %s", result.Outcome, result.Reason)}
	}
	for _, line := range lines {
		s.say("%s", line)
	}
}

// Log tells what happens, unless it is quiet and this is not a warning.
func (s *Session) Log(format string, args ...any) {
	if !s.Quiet || strings.HasPrefix(format, "warning") {
		s.say(format, args...)
	}
}

// Output is where a run prints what it does.
func (s *Session) Output() engine.Output {
	return engine.Output{Console: s.Console(), Live: s.Live, Format: s.Redacted(s.Format), Groups: s.Groups, Redact: s.Redact,
		Clock: s.Clock, Log: s.Log, Verbose: s.Explain, Shown: s.Shown}
}

// Console is where the output of agents and checks goes.
func (s *Session) Console() io.Writer {
	if s.Quiet {
		return io.Discard
	}
	return engine.RedactingWriter{To: safetext.Colored(s.Out), Redact: s.Redact}
}

func (s *Session) say(format string, args ...any) {
	_, _ = fmt.Fprintf(s.Out, "%s\n", safetext.Inert(s.Redact(fmt.Sprintf(format, args...))))
}

// Explain tells what no one needs to know until something goes wrong.
func (s *Session) Explain(format string, args ...any) {
	if s.Verbose && s.Err != nil {
		_, _ = fmt.Fprintf(s.Err, "[ralph] %s\n", safetext.Inert(s.Redact(fmt.Sprintf(format, args...))))
	}
}
