package loop

import (
	"time"
)

// Class says how a turn ended.
type Class string

// The classes of a turn. Fatal ones stop the run at once, Transient ones are tried again without counting; the rest are
// attempts that count, but for Empty and Stopped.
const (
	OK         Class = "ok"          // it ran and spoke
	Empty      Class = "empty"       // it ran and said nothing; retried without counting
	Declined   Class = "refused"     // the model would not do it
	UsageLimit Class = "limit"       // a usage or rate limit, with its reset when that is known: transient
	Overloaded Class = "overloaded"  // the model's servers are too busy: transient
	OutOfOrder Class = "server"      // the model's servers failed: transient
	Network    Class = "network"     // the model was not reached, or the connection broke: transient
	Auth       Class = "auth"        // the credential is missing or refused: fatal
	Billing    Class = "billing"     // no credit: fatal
	Rejected   Class = "invalid"     // the agent or its model refused the command line, configuration or request: fatal
	TooLong    Class = "too_long"    // the context does not fit into the model
	MaxTurns   Class = "max_turns"   // the agent's own limit of turns or of answer length
	Spent      Class = "budget"      // its own limit of money, or with Turn.Ours the run's
	Killed     Class = "interrupted" // ended by a signal that was not ours
	CutShort   Class = "cut"         // its output ends before it said how it ended
	Broke      Class = "unknown"     // it ended with an error of its own
	TimedOut   Class = "timeout"     // killed at its hard time limit
	Idle       Class = "idle"        // killed after too long without output
	Limited    Class = "limited"     // killed because it took too much of the machine
	Stopped    Class = "stopped"     // killed because the run was canceled; does not count
	Missing    Class = "missing"     // the agent, or a program it needs, cannot be run: fatal if nothing was done
	Waits      Class = "waiting"     // it waits for a human: exit code 42 or a marker
)

// Fatal reports whether trying again cannot help. After work, Missing is an attempt like any other.
func (c Class) Fatal() bool {
	return c == Missing || c == Auth || c == Billing || c == Rejected
}

// Transient reports whether the same turn may well succeed later, without anyone changing anything.
func (c Class) Transient() bool {
	return c == UsageLimit || c == Overloaded || c == OutOfOrder || c == Network
}

// Turn is what one agent process gave.
type Turn struct {
	Class Class `json:"class"`
	Exit  int   `json:"exit,omitempty"` // the process's exit code; -1 when a signal ended it
	// Reason is one sentence on why the class is not OK, and what to do.
	Reason string `json:"reason,omitempty"`
	// ByWords says that the class is only what its words report a turn that ended well. It is OK if the turn changed
	// anything.
	ByWords bool `json:"by_words,omitempty"`
	// Reports says that the agent reports its spending and its tools, so that what it does not report did not happen.
	Reports bool `json:"reports,omitempty"`
	// Ours says of Spent that what the run may spend is used up, not what the agent itself was given.
	Ours bool `json:"ours,omitempty"`
	// Text is the agent's last message, at most TextBytes of its end. It is the agent's word: hostile wherever it is
	// shown.
	Text string `json:"text,omitempty"`
	// Transcript is all that the agent itself said in the turn, at most SaidBytes of its beginning and end; empty where Text is
	// all of it. No record has it: it is where Words says.
	Transcript string `json:"-"`
	Words      *Words `json:"words,omitempty"`
	Claim      Claim  `json:"claim"`
	// Structured is the agent's answer in the form of the schema, if its CLI supports one; JSON text.
	Structured string `json:"structured,omitempty"`
	Session    string `json:"session,omitempty"`
	Usage      Usage  `json:"usage"`
	// AgentUsage is what the agent itself said of it, where a gateway has seen something else; nil: they agree, or one said
	// nothing.
	AgentUsage *Usage        `json:"told,omitempty"`
	Tools      int           `json:"tools,omitempty"`       // how many tools it used
	ToolErrors int           `json:"tool_errors,omitempty"` // how many of them failed
	ResetAt    time.Time     `json:"reset_at,omitzero"`     // when the agent says that it works again; zero: not known
	SatOut     bool          `json:"sat_out,omitempty"`     // of UsageLimit: the agent waited for its end itself, in vain
	Silent     bool          `json:"silent,omitempty"`      // of Idle: its model has not answered anything
	Duration   time.Duration `json:"duration_ns"`
	LogFile    string        `json:"log,omitempty"` // the whole output, relative to the run's directory
}

// TextBytes is how much of an agent's last message is kept, SaidBytes of all that it says in a turn.
const (
	TextBytes = 8 << 10
	SaidBytes = 1 << 20
)

// Words is where all that an agent said in a turn lies. A record names it and does not hold it, so that no journal
// grows by it.
type Words struct {
	File  string `json:"file"`          // relative to the run's directory
	Hash  string `json:"hash"`          // SHA-256 of it, in hexadecimal: who changes the file takes the words away, and puts none in
	Bytes int64  `json:"bytes"`         // of it
	Cut   bool   `json:"cut,omitempty"` // its middle is left out
}

// waits reports whether the turn waits for a person.
func (t Turn) waits() bool { return t.Class == Waits || t.Claim.Asks() && t.Class == OK }

// question is what a turn waits for.
func (t Turn) question() string {
	if t.Claim.Asks() {
		return t.Claim.Text
	}
	return t.Reason
}

// Describe says in a few words how the turn ended.
func (t Turn) Describe() string {
	switch {
	case t.Class != OK:
		return t.Reason
	case t.Claim.Done:
		return "finished; claims to be done"
	case t.Claim.Asks():
		return "finished; asks a question"
	}
	if _, nothing := t.Claim.Nothing(); nothing {
		return "finished; says that nothing needs doing"
	}
	return "finished; does not claim to be done"
}

// Usage is what a turn spent. CostUSD is 0 if the agent does not report it.
type Usage struct {
	CostUSD    float64 `json:"cost_usd,omitempty"`
	Input      int64   `json:"input_tokens,omitempty"`
	Output     int64   `json:"output_tokens,omitempty"`
	CacheRead  int64   `json:"cache_read_tokens,omitempty"`
	CacheWrite int64   `json:"cache_write_tokens,omitempty"`
}

// Plus adds two usages.
func (u Usage) Plus(v Usage) Usage {
	return Usage{u.CostUSD + v.CostUSD, u.Input + v.Input, u.Output + v.Output, u.CacheRead + v.CacheRead,
		u.CacheWrite + v.CacheWrite}
}

// Minus takes a usage off another.
func (u Usage) Minus(v Usage) Usage {
	return Usage{u.CostUSD - v.CostUSD, u.Input - v.Input, u.Output - v.Output, u.CacheRead - v.CacheRead,
		u.CacheWrite - v.CacheWrite}
}

// Tokens are all that were read or written, those of the cache included.
func (u Usage) Tokens() int64 { return u.Input + u.Output + u.CacheRead + u.CacheWrite }

// Outcome is how a run ended.
type Outcome string

// The outcomes of a run.
const (
	Done        Outcome = "done"
	Capped      Outcome = "capped"
	Stuck       Outcome = "stuck"
	Timeout     Outcome = "timeout"
	Budget      Outcome = "budget"
	Invalid     Outcome = "invalid"
	Waiting     Outcome = "waiting"
	Refused     Outcome = "refused"
	Interrupted Outcome = "interrupted"
	Failed      Outcome = "failed" // ralph could not do its own part: a push was rejected, GitHub did not answer
)

// ExitCode is the process exit code of an outcome.
func (o Outcome) ExitCode() int {
	if code, ok := exitCodes[o]; ok {
		return code
	}
	return 1
}

var exitCodes = map[Outcome]int{Done: 0, Invalid: 2, Waiting: 3, Refused: 4, Interrupted: 130}

// Limited reports whether a limit stopped the run, so that its work goes to a failure branch.
func (o Outcome) Limited() bool {
	return o == Capped || o == Stuck || o == Timeout || o == Budget
}
