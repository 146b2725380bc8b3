// Package config turns settings files, action inputs and the environment into validated structs, and says in plain sentences what is
// wrong with them.
package config

import (
	"strings"
	"time"
)

// Where settings are read from, in the order they are laid over each other (S1-55).
const (
	SettingsFile      = ".ralph/settings.json"
	LocalSettingsFile = ".ralph/settings.local.json"
)

// Settings say how a run works. They are what the layers add up to: defaults ← settings.json ← settings.local.json ← inputs or flags.
// The keys of S1-46…S1-54 are here under their own names.
type Settings struct {
	// MaximumIterations caps a run; 0 means that no layer set it, see Iterations (C3).
	MaximumIterations int `json:"maximumIterations,omitempty"`
	// CompletionResponse is the text of <response> that claims completion (C2).
	CompletionResponse string `json:"completionResponse"`
	// OutputTruncateChars is how many runes of a failed check's output a prompt carries (C9).
	OutputTruncateChars int `json:"outputTruncateChars"`
	// StreamAgentOutput shows the agent's events on the console as they come.
	StreamAgentOutput bool `json:"streamAgentOutput"`
	// IncludeIterationCountInPrompt prepends "Iteration X of Y, Z remaining." (S1-74).
	IncludeIterationCountInPrompt bool `json:"includeIterationCountInPrompt"`
	// Agent does the work.
	Agent Command `json:"agent"`
	// Reviewer judges it; what it does not set is the agent's.
	Reviewer Command `json:"reviewer"`
	// Guardrails are the commands that judge the work, in the order they run (C26).
	Guardrails []Guardrail `json:"guardrails"`
	// SCM is what runs after the guardrails have passed (S1-54); nil when nothing is configured.
	SCM *SCM `json:"scm,omitempty"`
	// Review asks a fresh reviewer before a run is done (C14).
	Review bool `json:"review"`
	// Baseline says what checks that fail before the first turn mean (B-24).
	Baseline Baseline `json:"baseline"`
	// TimeoutMinutes bounds a whole run (S0-20).
	TimeoutMinutes int `json:"timeoutMinutes"`
	// Setup is a shell command run once before the baseline; empty: none.
	Setup string `json:"setup,omitempty"`

	// GuardrailsFrom names the layer that set guardrails, even to an empty list; empty when none did, so that they may be detected
	// (B-25).
	GuardrailsFrom string `json:"-"`
}

// Command is how an agent is called.
type Command struct {
	Command string   `json:"command"`         // "claude", or the path of a program
	Flags   []string `json:"flags,omitempty"` // as they were written; see Args
	Model   string   `json:"model,omitempty"` // empty: the agent's own default
}

// Guardrail is a command that can say no (C26). Load fills what a layer left out: the command as name, hard, APPEND, ten minutes.
type Guardrail struct {
	Name       string   `json:"name,omitempty"`
	Command    string   `json:"command"` // run by the shell
	FailAction string   `json:"failAction,omitempty"`
	Hint       string   `json:"hint,omitempty"`
	Severity   string   `json:"severity,omitempty"`
	Timeout    Duration `json:"timeout,omitempty"`
}

// The values of a guardrail's severity and fail action. They are those of loop.Severity and loop.FailAction.
const (
	Hard    = "hard"
	Soft    = "soft"
	Append  = "APPEND"
	Prepend = "PREPEND"
	Replace = "REPLACE"
)

// SCM is a source control command and what it does after a passed iteration (S1-99…S1-106).
type SCM struct {
	Command string   `json:"command"`
	Tasks   []string `json:"tasks,omitempty"` // "commit", "push", in order
}

// Baseline says what checks that already fail on the base commit mean.
type Baseline string

// The baselines of B-24.
const (
	BaselineRequire Baseline = "require" // they stop the run
	BaselineReport  Baseline = "report"  // they are reported as failing before
	BaselineOff     Baseline = "off"     // they are not run
)

// Iteration caps where no layer sets maximumIterations (C3).
const (
	PromptIterations = 10 // ralph run -p/-f
	TaskIterations   = 5  // an issue or a single task
	PlanIterations   = 15
)

// Defaults are the settings of an empty file (S1-59).
func Defaults() Settings {
	return Settings{
		CompletionResponse:  "DONE",
		OutputTruncateChars: 5000,
		StreamAgentOutput:   true,
		Agent:               Command{Command: "claude"},
		Review:              true,
		Baseline:            BaselineReport,
		TimeoutMinutes:      60,
	}
}

// guardrailTimeout is how long a check may run where nothing else is said (S0-22).
const guardrailTimeout = 10 * time.Minute

// complete fills what follows from other settings.
func (s *Settings) complete() {
	if s.Reviewer.Command == "" || s.Reviewer.Command == s.Agent.Command {
		s.Reviewer.Command = s.Agent.Command
		if s.Reviewer.Flags == nil {
			s.Reviewer.Flags = s.Agent.Flags
		}
		if s.Reviewer.Model == "" {
			s.Reviewer.Model = s.Agent.Model
		}
	}
	for i := range s.Guardrails {
		s.Guardrails[i].complete()
	}
}

func (g *Guardrail) complete() {
	if g.Name == "" {
		g.Name = g.Command
	}
	if g.FailAction == "" {
		g.FailAction = Append
	}
	if g.Severity == "" {
		g.Severity = Hard
	}
	if g.Timeout == 0 {
		g.Timeout = Duration(guardrailTimeout)
	}
}

// Iterations is the cap of a run: what was set, else otherwise.
func (s Settings) Iterations(otherwise int) int {
	if s.MaximumIterations > 0 {
		return s.MaximumIterations
	}
	return otherwise
}

// Timeout bounds a whole run.
func (s Settings) Timeout() time.Duration { return time.Duration(s.TimeoutMinutes) * time.Minute }

// Args are the flags as arguments of a program. A flag written with its value in one string, as in S1's own example ("--model opus"),
// becomes two.
func (c Command) Args() []string {
	var args []string
	for _, flag := range c.Flags {
		name, value, found := strings.Cut(flag, " ")
		if found && strings.HasPrefix(name, "-") && !strings.Contains(name, "=") {
			args = append(args, name, strings.TrimSpace(value))
			continue
		}
		args = append(args, flag)
	}
	return args
}

// Duration is a time.Duration written as Go writes it: "90s", "10m", "1h30m".
type Duration time.Duration

// UnmarshalText reads "10m".
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// MarshalText writes "10m0s".
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }
