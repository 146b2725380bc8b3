package agent

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
)

// Options are which agent takes the turns, and how.
type Options struct {
	Display
	Host
	Bounds
	Rights
	Answer

	Command string   // "claude", "./agent.sh" (from Dir), "/usr/bin/foo"; the base name chooses the dialect
	Flags   []string // more arguments, before our own
	Model   string   // "" is the agent's own choice
	Dir     string   // the worktree it works in
	// PromptFile is a file with the prompt, for an agent that takes it as an argument if it is too long for that; "" none.
	PromptFile string
	// LogFile gets the whole output, capped at 64 MiB, mode 0600; "" none. A turn replaces what the one before has
	// written.
	LogFile string
	Clock   func() time.Time // nil is time.Now
}

// Host is what an agent gets of the machine and of the harness's credentials.
type Host struct {
	// Parent is the harness's environment, NAME=value each. The agent gets proc.Allowed and the settings of its dialect.
	Parent []string
	Allow  []string   // more names of Parent, or prefixes and a star
	Extra  []string   // more of the agent's environment, NAME=value each
	Home   string     // its HOME; "" keeps ours
	As     *proc.User // the user that it runs as; nil is ourselves
	Box    proc.Box   // its sandbox; nil: none
	// Keys are the credentials that the harness holds, by environment name. Those that the dialect declares reach the
	// agent's process.
	Keys map[string]string
	// Gateway carries the agent's requests to its model: the agent gets the gateway's address and a bearer of the turn, and
	// nothing of Keys. nil: the agent sends them itself, with Keys.
	Gateway Gateway
}

// Bounds are the limits of a turn.
type Bounds struct {
	Limits proc.Limits // of what it takes of the machine
	// Timeout, Idle and Grace are of its time; 0 is no limit, and for Grace proc.GraceOf the turn's context.
	Timeout, Idle, Grace time.Duration
	// Soft is how long a turn can take before OnSoft is called; 0 is never.
	Soft   time.Duration
	OnSoft func()
	Left   loop.Left // what a turn can spend; one that spends more is stopped as soon as its stream reports it
}

// Rights are what an agent can do.
type Rights struct {
	ReadOnly bool // a reviewer: no tool that writes or runs anything
	NoTools  bool // no tool at all, as far as the agent supports that, otherwise as ReadOnly
	// AgentSettings lets the repository's own settings of the agent in: hooks, servers, permissions. They are untrusted
	// code.
	AgentSettings bool
	// Hooks are settings with hooks for the turns of this agent: {"hooks": {EVENT: [{"matcher", "hooks": [...]}]}} in JSON,
	// as internal/hook makes them for claude, codex and gemini; nil: none. Its user's hooks run, too. Other agents get
	// none, and neither does an agent that is ReadOnly or has NoTools.
	Hooks []byte
}

// Answer is the form of an agent's answer.
type Answer struct {
	Schema     string // JSON schema of the answer; "" none
	Completion string // the setting completionResponse: the text of a <response> that claims; "" none does
	// Promises are the texts of <promise> that claim; nil: those that count without criteria.
	Promises []string
	// Text requests the agent's plain text instead of its events: no tokens, no cost, and a failure only by its words.
	Text bool
}

// Gateway carries what turns ask their models, so that the credential stays with the harness.
type Gateway interface {
	// Open starts to carry one turn, which may spend what is left.
	Open(routes []Route, left loop.Left) (TurnGateway, error)
	// Prices reports whether it knows what a model costs; "" is the agent's own choice, which shows when it asks.
	Prices(model string) bool
}

// TurnGateway carries one turn.
type TurnGateway interface {
	URL() string    // where the agent reaches it: "http://127.0.0.1:4567"
	Bearer() string // by what it knows the agent
	// Usage is what the model's answers have said so far that they took. CostUSD is 0 when a price is not known. asked
	// is false when nothing has been passed on.
	Usage() (u loop.Usage, asked bool)
	Refused() string // why a request was refused because of what may be spent; "" if none was
	Close() error    // ends what runs; nothing is carried afterwards
}

// Route is one provider that a turn is carried to.
type Route struct {
	Name    string   // the first part of the path at the gateway: "anthropic"; "" is the only route
	Base    string   // where it leads: "https://api.anthropic.com"
	Header  string   // that has the credential: "x-api-key"
	Value   string   // of that header
	Extra   []string // more headers that its user sends to the provider, "Name: value" each
	Formats []string // what is spoken there: "anthropic", "openai-responses", "openai-chat", "gemini"
	// Login is where the value is from that its user has logged in for: "~/.claude/.credentials.json"; "" it is a key
	// of the environment. Ends is when it expires; zero: unknown.
	Login string
	Ends  time.Time
	// Renew returns another value after the provider has refused one; false: it got no other. nil: the value cannot be
	// renewed.
	Renew func(ctx context.Context, refused string) (string, bool)
}

// facts are what a turn's output and its end say, before anyone judges them.
type facts struct {
	end     proc.Result
	any     bool           // it printed anything on standard output
	plain   bool           // what it printed was text, not its format
	asked   bool           // it started to ask a human to log in, and was stopped
	result  *stream.Result // how it says it ended; nil: it does not say
	retry   stream.Attempt // the last request to a model that it tried again
	limit   stream.Window  // the last it told of a usage limit
	said    bool           // it has an answer: words, or the form asked for
	idle    bool           // nothing was spent, no tool ran, nothing is claimed, and it said little
	reports bool           // it reports all that it does
	hung    bool           // it did not end after it had said how it ended, and was stopped
	text    string         // its last words
	noise   string         // the last lines that are not its format
	stderr  string
}

// dialect is how one agent is called, and how its output is read.
type dialect struct {
	output

	name string   // as people know it: "claude"
	keys []string // the credentials it takes, by environment name; "*" is any
	pass []string // the variables of our environment that it gets besides proc.Allowed
	// arguments follow the program, Options.Flags among them.
	arguments func(t *turnInput) []string
	// prepare writes the files that arguments and turnInput.env name into turnInput.dir, a directory of the turn's own;
	// nil: it needs no files.
	prepare        func(t *turnInput) error
	maxPromptBytes int    // bytes of a prompt on standard input; 0 is any
	cheap          string // the model for a small question; "" the agent's own choice
	// environment is set for every turn, unless Parent says otherwise and pass lets it.
	environment func(o Options) []string
	gateway     *gatewayConfig // how it uses a gateway; nil: it cannot be given the address of its model
	// silent: the prompt goes by turnInput.argument, and standard input is empty.
	silent bool
	// interrupts: asked by INT, it reports what it has spent before it ends.
	interrupts bool
	// holds is the amount of dollars at which it gets the order to stop itself; "": it gets none. nil: it cannot.
	holds func(o Options) string
	login login
	needs sandboxNeeds
}

// output is how an agent's output is read.
type output struct {
	decode func(clock func() time.Time, emit func(stream.Event)) *stream.Decoder
	// loginPrompt is a first line of output by which it starts to ask a human to log in. The turn ends there: no one will
	// answer.
	loginPrompt *pattern
	prices      bool // it reports the cost of a turn
	counts      bool // it reports the tokens of a turn
	ends        bool // its format has an event that says how it ended
	// ownExits: its exit codes are its own, so that 42 does not mean that it waits for a human; from 144 on, they are the
	// HTTP status of a failed request in eight bits.
	ownExits bool
	noisy    bool // its standard error reports requests that it retries, so nothing there is a sign of life
	// readRetry reads a line of standard error: a request that it retries, the zero value if the line reports none. Lines
	// that are ours are its log, which only ralph has asked for. nil: it has none.
	readRetry func(line string) (a stream.Attempt, ours bool)
	// phrases are how only this agent words a failure; they are searched for in facts.told, before the common ones.
	phrases []phrase
	// refusal is how it says on standard error, instead of any other output, that it was called wrongly; nil: as all do.
	refusal *pattern
}

// sandboxNeeds is what an agent needs of a machine in a sandbox: the hosts of its model and of its login, and files in
// the home of its user. A login can be renewed, so it is the user's own file; settings are shown; what the agent writes
// all the time is a copy.
type sandboxNeeds struct {
	hosts []string
	files []sandbox.File
	moves bool // its files are where login.dirFrom says
}

// gatewayConfig is how a gateway carries an agent.
type gatewayConfig struct {
	// routes are the providers that it is carried to, or why it cannot be; none: there is no key.
	routes func(o Options) (routes []Route, why string)
	// reach is the environment that leads it to the gateway of talk.way.
	reach func(t *turnInput) []string
	// renew are the arguments by which its CLI renews its login and does nothing else; nil: it has no such command.
	renew []string
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

// asRoot reports whether the agent runs as root.
func (o Options) asRoot() bool {
	if o.As != nil {
		return o.As.UID == 0
	}
	return os.Geteuid() == 0 // which is -1 on Windows
}

// reads reports whether the agent is to change nothing.
func (o Options) reads() bool { return o.ReadOnly || o.NoTools }

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

// said is what the agent gets: the prompt, or the path of its file when it is too long.
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

// home is the agent's HOME.
func (t *turnInput) home() string {
	switch {
	case t.Home != "":
		return t.Home
	case t.As != nil:
		return t.As.Home
	}
	return proc.Value(t.Parent, "HOME")
}

// at is where a provider is reached at the gateway.
func (t *turnInput) at(route string) string {
	if route == "" {
		return t.way.URL()
	}
	return t.way.URL() + "/" + route
}

// address is the gateway's on this machine, for a box to let it through: "127.0.0.1:4567".
func (t *turnInput) address() string {
	if t.way == nil {
		return ""
	}
	u, err := url.Parse(t.way.URL())
	if err != nil {
		return ""
	}
	return u.Host
}

// patience is for how long an agent may be silent; 0: forever.
func (t *turnInput) patience() time.Duration {
	if t.Idle > 0 {
		return t.Idle
	}
	return t.Timeout
}

// login is how people get an agent, and log in to its model.
type login struct {
	install string
	how     string
	file    string // of the login, below the directory
	dir     string // below HOME, unless the environment says otherwise
	dirFrom string // the name in the environment that does; "" none
	lax     bool   // it can work without a credential that can be seen
}
