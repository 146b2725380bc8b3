// Package agent is the door to coding agents: a prompt in, a turn out.
package agent

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// Options are which agent takes the turns, and how.
type Options struct {
	Command string   // "claude", "./agent.sh" (from Dir), "/usr/bin/foo"; the base name chooses the dialect
	Flags   []string // more arguments, before our own
	Model   string   // "" is the agent's own choice
	Dir     string   // the worktree it works in
	// Parent is the harness's environment, NAME=value each. What the agent gets of it is proc.Allowed and the settings of
	// its dialect.
	Parent []string
	Allow  []string    // more names of Parent, or prefixes and a star
	Home   string      // its HOME; "" keeps ours
	As     *proc.User  // whom it runs as; nil is ourselves
	Box    proc.Box    // what it is kept in; nil: nothing
	Limits proc.Limits // what a turn may take of the machine
	// Timeout, Idle and Grace bound each turn; 0 is no limit, and for Grace proc.GraceOf the turn's context.
	Timeout, Idle, Grace time.Duration
	// Soft is how long a turn may take before OnSoft hears of it; 0 is never.
	Soft     time.Duration
	OnSoft   func()
	Left     loop.Left // what a turn may spend; one that spends more is stopped as soon as its stream tells
	ReadOnly bool      // a reviewer: no tool that writes or runs anything
	// it only answers what it is asked: no tool at all, as far as the agent has a way; else as ReadOnly
	NoTools    bool
	Schema     string // JSON schema of the answer wanted; "" none
	Completion string // the setting completionResponse: what a <response> claims with; "" none does
	// Promises are the texts of <promise> that claim; nil: those that count without criteria.
	Promises []string
	// LogFile gets the whole output, capped at 64 MiB, mode 0600; "" none. A turn replaces what the one before has
	// written.
	LogFile string
	// Keys are the credentials that the harness holds, by environment name. Those that the dialect declares reach the
	// agent's process.
	Keys  map[string]string
	Extra []string // more of the agent's environment, NAME=value each
	// Gateway carries what the agent asks its model: it gets the gateway's address and a bearer of the turn, and nothing
	// of Keys. nil: the agent asks its model itself, by Keys.
	Gateway Gateway
	// Console gets what a person should see as it happens, whole lines a Write, free of the agent's terminal sequences and
	// workflow commands; nil: no one looks. Format is how it is shown; with Groups, all but the last lines are folded
	// under Title.
	Console io.Writer
	Format  stream.FormatOptions
	Groups  Groups
	Title   string
	// Text asks for the agent's plain text instead of its events: no tokens, no cost, and a failure only by its words.
	Text bool
	// PromptFile is the file in which the prompt lies for people to read, for an agent that takes it as an argument and
	// one that is too long for that; "" none.
	PromptFile string
	// AgentSettings lets the repository's own settings of the agent in: hooks, servers, permissions. They are untrusted
	// code.
	AgentSettings bool
	// Hooks are settings for the turns of this agent alone, with its hooks: {"hooks": {EVENT: [{"matcher", "hooks":
	// [...]}]}} in JSON, as internal/hook makes them for claude, codex and gemini; nil: none. They come beside those that
	// its user has. The others know no hooks but plugins and get none, and neither does an agent that is ReadOnly or has
	// NoTools.
	Hooks  []byte
	Resume string           // the id of a session to continue with, where the dialect can; "" a fresh one
	Clock  func() time.Time // nil is time.Now
}

// dialect is how one agent is spoken to.
type dialect struct {
	name  string                      // as people know it: "claude"
	keys  []string                    // the credentials it takes, by environment name; "*" is any
	pass  []string                    // what of our environment it may know besides proc.Allowed
	first []string                    // arguments before Options.Flags
	flags func(t *turnInput) []string // Options.Flags as far as they may be; nil: as they are
	// arguments follow the program, first and Options.Flags.
	arguments func(t *turnInput) []string
	// prepare writes the files that arguments and talk.env name into talk.dir, a directory of the turn's own; nil: there
	// are none.
	prepare        func(t *turnInput) error
	maxPromptBytes int    // bytes of a prompt on standard input; 0 is any
	cheap          string // the model for a small question; "" the agent's own choice
	// environment is set for every turn, unless Parent says otherwise and pass lets it.
	environment func(o Options) []string
	gateway     *gatewayConfig // how a gateway carries it; nil: it cannot be told where its model is
	// silent: the prompt goes by talk.argument, and standard input is empty.
	silent bool
	// loginPrompt is a first line of output by which it begins to ask a human to log in. The turn ends there: no one will answer.
	loginPrompt *pattern
	decode      func(clock func() time.Time, emit func(stream.Event)) *stream.Decoder
	// interrupts: asked by INT, it says what it has spent before it ends.
	interrupts bool
	prices     bool // it tells what a turn cost
	counts     bool // it tells how many tokens it took
	// holds is the amount of dollars that it is told to stop at itself; "": it is not. nil: it cannot.
	holds func(o Options) string
	ends  bool // its format has an event that says how it ended
	has42 bool // its exit code 42 is no waiting for a human but a meaning of its own
	// noisy: its standard error reports requests that it tries again, so nothing there is a sign of life.
	noisy bool
	// readRetry reads a line of standard error: a request that it tries again, the zero value when the line tells of none.
	// Lines that are ours are its log, which no one has asked for but us. nil: it has none.
	readRetry func(line string) (a stream.Attempt, ours bool)
	// class judges what only this agent says; "" leaves it to the common rules. nil: nothing.
	class func(f facts) loop.Class
}

// dialects are the agents whose output we understand, by the base name of their program. Any other is a plain command.
var dialects = map[string]dialect{
	"amp":      amp,
	"claude":   claude,
	"codex":    codex,
	"gemini":   gemini,
	"opencode": opencode,
}

// Agent takes turns.
type Agent struct {
	options Options
	dialect dialect
	program string // absolute path
	env     []string
	linger  time.Duration
}

// linger is how long an agent may take to end after it has said how it ended.
const linger = 30 * time.Second

// UnknownError says that a command is neither an agent that ralph knows nor a program that can be run.
type UnknownError struct {
	Command string
	cause   error
}

func (e *UnknownError) Error() string {
	known := strings.Join(Names(), ", ")
	switch {
	case e.Command == "":
		return "no agent is named: name one of " + known +
			", or the path of an executable that reads a prompt on standard input"
	case errors.Is(e.cause, proc.ErrNotExecutable):
		return fmt.Sprintf("the agent %q is not executable: make it so (chmod +x), or name one of %s", e.Command, known)
	case slices.Contains(Names(), filepath.Base(e.Command)):
		return fmt.Sprintf("the agent %q is not installed or not on PATH: install it, or name the path of its executable",
			e.Command)
	}
	return fmt.Sprintf("the agent %q is neither a known agent (%s) nor an executable: install it, or name the path of "+
		"an executable", e.Command, known)
}

// Unwrap gives proc.ErrNotFound or proc.ErrNotExecutable.
func (e *UnknownError) Unwrap() error { return e.cause }

// Names lists the agents that ralph knows.
func Names() []string { return slices.Sorted(maps.Keys(dialects)) }

// KeyNames are the environment names of the credentials that the agents ralph knows take, sorted.
func KeyNames() []string {
	names := map[string]bool{}
	for _, d := range dialects {
		for _, name := range d.keys {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// CheapModel is the model to ask a small question of an agent, empty where its own choice is as good as any.
func CheapModel(command string) string {
	d, _ := dialectOf(command)
	return d.cheap
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

// dialectOf is how a command is spoken to, and whether that is an agent that ralph knows.
func dialectOf(name string) (d dialect, known bool) {
	if d, known = dialects[strings.TrimSuffix(filepath.Base(name), ".exe")]; !known {
		d = command
	}
	return d, known
}

func resolve(o Options, env []string) (string, error) {
	switch {
	case o.Command == "":
		return "", proc.ErrNotFound
	case filepath.Base(o.Command) != o.Command && !filepath.IsAbs(o.Command):
		return proc.LookPath(filepath.Join(orHere(o.Dir), o.Command), env)
	}
	return proc.LookPath(o.Command, env)
}

// environment is the agent's whole environment.
func environment(o Options, d dialect) []string {
	extra := []string{}
	for _, entry := range d.environment(o) {
		name, _, _ := strings.Cut(entry, "=")
		if !slices.Contains(d.pass, name) || proc.Value(o.Parent, name) == "" {
			extra = append(extra, entry)
		}
	}
	if o.Home != "" {
		extra = append(extra, "HOME="+o.Home)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Keys)) {
		if o.Keys[name] != "" && (slices.Contains(d.keys, name) || slices.Contains(d.keys, "*")) {
			extra = append(extra, name+"="+o.Keys[name])
		}
	}
	env := proc.Environment(o.Parent, slices.Concat(proc.Allowed, d.pass, o.Allow), append(extra, o.Extra...)...)
	if o.Gateway != nil {
		return carriedEnvironment(o, env, KeyNames())
	}
	return env
}

// asRoot reports whether the agent runs as root.
func (o Options) asRoot() bool {
	if o.As != nil {
		return o.As.UID == 0
	}
	return runtime.GOOS != "windows" && geteuid() == 0
}

// Invalid says that an agent no one knows is a mistake in the settings.
func (e *UnknownError) Invalid() bool { return true }

// A shell exits with one of these if it cannot execute a program, or cannot find it; so does the loader of libraries.
const (
	cannotExecute = 126
	cannotFind    = 127
)

// unrunnables are how shells, env and loaders report a program, an interpreter or a library that they did not get. The
// name is a group; one of digits is the line of a script.
var unrunnables = lazy(`(?im)command not found: (\S+)|` +
	`(?:^|[ :])['‘"]?([^\s:'’"‘]*[^\s:'’"‘0-9][^\s:'’"‘]*)['’"]?: (?:command )?` +
	`(?:not found|no such file or directory|permission denied|bad interpreter|cannot execute: required file not found|` +
	`cannot open shared object file)\b`)

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
	o := a.options
	o.Command = "" // the program's name
	if found := unrunnables.FindAllStringSubmatch(stderr, -1); found != nil {
		last := found[len(found)-1]
		o.Command = cmp.Or(last[1], last[2])
	}
	turn.Reason = fmt.Sprintf("%s could not run %s (exit code %d): ", a.dialect.name,
		cmp.Or(oneLine(o.Command), "a program"), end.Exit)
	if _, err := resolve(o, a.env); err == nil && o.Box != nil {
		turn.Reason += "the sandbox hides it; put it in a directory of PATH, or in the repository"
	} else {
		turn.Reason += "install it, or make it executable"
	}
	turn.Reason = because(turn.Reason, tellingLine(stderr))
}
