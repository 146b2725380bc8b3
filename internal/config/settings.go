// Package config turns settings files, action inputs and the environment into validated structs, and says in plain
// sentences what is wrong with them.
package config

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/shell"
)

// The settings files of a directory. The second overrides the first.
const (
	SettingsFile      = ".ralph/settings.json"
	LocalSettingsFile = ".ralph/settings.local.json"
)

// Settings say how a run works. They are what the layers add up to: defaults ← the user's own, on a laptop ←
// settings.json ← settings.local.json ← inputs or flags. What each key means, and its default, is in its row of the
// table.
type Settings struct {
	// MaximumIterations caps a run: nil when no layer set it, 0 for no cap at all; see Iterations.
	MaximumIterations *int `json:"maximumIterations,omitempty"`
	// CompletionResponse is the text of <response> that claims completion.
	CompletionResponse string `json:"completionResponse"`
	// OutputTruncateChars is how many runes of a failed check's output a prompt carries.
	OutputTruncateChars int `json:"outputTruncateChars"`
	// OutputTruncateFrom says which part of a longer output that is: "head", "tail", or "both", half of it from each end.
	OutputTruncateFrom string `json:"outputTruncateFrom"`
	// StreamAgentOutput shows the agent's events on the console as they come.
	StreamAgentOutput bool `json:"streamAgentOutput"`
	// IncludeIterationCountInPrompt prepends "Iteration X of Y, Z remaining.".
	IncludeIterationCountInPrompt bool `json:"includeIterationCountInPrompt"`
	// Agent does the work.
	Agent Command `json:"agent"`
	// AgentSettings lets the repository's own agent settings and hooks in (.claude/, .codex/, …). They are code that the
	// repository brings.
	AgentSettings bool `json:"agentSettings"`
	// ClaimByExit makes an agent's exit code 0 a claim.
	ClaimByExit bool `json:"claimByExit"`
	// DoneFile is a path in the repository; a file there after a turn is a claim. Empty: none.
	DoneFile string `json:"doneFile"`
	// Reviewer judges the work; what it does not set is the agent's.
	Reviewer Command `json:"reviewer"`
	// Guardrails are the commands that judge the work, in the order they run.
	Guardrails []Guardrail `json:"guardrails,omitzero"`
	// SCM is what runs after the guardrails have passed; nil when nothing is configured.
	SCM *SCM `json:"scm,omitempty"`
	// Review asks a fresh reviewer before a run is done; see ReviewFrom for runs that have a review only if a layer
	// sets it.
	Review bool `json:"review"`
	// Pipeline is who acts, in order: "coder", "tester", "reviewer", "qa"; nil: what task and review ask for.
	Pipeline []string `json:"pipeline,omitzero"`
	// Completion is what "done" means for tasks that do not say it themselves: a JSON object in the form of a task file;
	// nil: nothing.
	Completion json.RawMessage `json:"completion,omitzero"`
	// Verification is how a promise is verified when the criteria name neither a method nor a command: "string_match",
	// "semantic".
	Verification string `json:"verification"`
	// Strict refuses a task without acceptance criteria.
	Strict bool `json:"strict"`
	// Protected are patterns of files that a run may not touch.
	Protected []string `json:"protected"`
	// WeakenedTests and Unfinished say what these built-in checks mean: Hard, Soft or Off.
	WeakenedTests string `json:"weakenedTests"`
	Unfinished    string `json:"unfinished"`
	// ReviewCap is how many reviews a story of a plan may take before it is approved anyway.
	ReviewCap int `json:"reviewCap"`
	// AtReviewCap is what happens to a story that its last review does not approve: "approve" or Fail.
	AtReviewCap string `json:"atReviewCap"`
	// Plans are the plan files of the repository that a sweep runs.
	Plans []string `json:"plans"`
	// Sandbox is what agents and checks are kept in: "auto", "bwrap", "landlock", "container", "docker-sandbox", "off",
	// "require".
	Sandbox string `json:"sandbox"`
	// SandboxWritable are paths that may be written to besides the worktree and a home of the run's own.
	SandboxWritable []string `json:"sandboxWritable"`
	// SandboxNetwork are the hosts that may be spoken to besides the agent's model: "proxy.golang.org", "*.npmjs.org", or
	// "*" for all.
	SandboxNetwork []string `json:"sandboxNetwork"`
	// SandboxSockets are those that may be made in the sandbox landlock where the kernel cannot say whom they speak to:
	// "tcp" or "all".
	SandboxSockets string `json:"sandboxSockets"`
	// SandboxUserns lets checks and the setup make user namespaces in the sandbox.
	SandboxUserns bool `json:"sandboxUserns"`
	// Gateway says whether the keys of models stay with ralph: GatewayAuto, GatewayRequire or Off.
	Gateway string `json:"gateway"`
	// GatewayThrough lists what the gateway passes on although its cost cannot be counted or it reaches other hosts.
	GatewayThrough []string `json:"gatewayThrough"`
	// Baseline says what checks that fail before the first turn mean.
	Baseline Baseline `json:"baseline"`
	// TimeoutMinutes bounds a whole run.
	TimeoutMinutes int `json:"timeoutMinutes"`
	// MaxCostUSD and MaxTokens bound the spend of a run since its request, MaxCostUSDPerIssue that of all runs of an
	// issue; 0: any amount.
	MaxCostUSD         float64 `json:"maxCostUsd"`
	MaxCostUSDPerIssue float64 `json:"maxCostUsdPerIssue"`
	MaxTokens          int     `json:"maxTokens"`
	// Prices are what models cost, before the list that ralph brings along.
	Prices []Price `json:"prices"`
	// Limits are what one turn, one check or the setup may take of the machine.
	Limits Limits `json:"limits"`
	// Dispatch is where ralph serve has a run worked on: OnServer or InWorkflow; "" when no layer says.
	Dispatch string `json:"dispatch,omitempty"`
	// Workflow is the file in .github/workflows that InWorkflow starts.
	Workflow string `json:"workflow"`
	// CIGate says whether a run waits for other workflows on the pull request's head: "off" or "wait".
	CIGate string `json:"ciGate"`
	// CITimeoutMinutes bounds that wait.
	CITimeoutMinutes int `json:"ciTimeoutMinutes"`
	// Comments says how a run reports on GitHub: "sticky", one comment, or "each", one more an iteration.
	Comments string `json:"comments"`
	// NotifyOn are the outcomes of which the requester gets a notification on GitHub: "done", "failed", "waiting".
	NotifyOn []string `json:"notifyOn"`
	// Notify are the places outside of GitHub that get the outcome of a run; empty: each that the environment has.
	Notify []Notification `json:"notify"`
	// NotifyCommand is a shell command that gets it too, outside of any sandbox: only the user's own layer sets it.
	// Empty: what the environment has.
	NotifyCommand string `json:"notifyCommand,omitempty"`
	// WorkingDirectory is where the agent and the checks work, from the top of the repository; empty: there.
	WorkingDirectory string `json:"workingDirectory"`
	// TimeoutMultiplier scales the limits of turns, checks and the setup, not that of the run.
	TimeoutMultiplier float64 `json:"timeoutMultiplier"`
	// WaitForLimits waits within a run for the known reset of a usage limit, when that fits into the run's time.
	WaitForLimits bool `json:"waitForLimits"`
	// Setup is a shell command that makes a fresh checkout ready for the checks; empty: none. It runs before the baseline,
	// and again when one of the files changes that it reads.
	Setup string `json:"setup"`
	// SetupInputs are patterns of files, from the top, that the setup reads besides manifests and lock files.
	SetupInputs []string `json:"setupInputs"`
	// Judge says what the checks have besides the commit; nil: no one has said.
	Judge *Judge `json:"judge,omitzero"`
	// Environment names what the agent and the checks get of ralph's environment besides what builds need; an entry is a
	// name, or a prefix and a star.
	Environment []string `json:"environment"`

	// GuardrailsFrom names the layer that set guardrails, even to an empty list; empty when none did, so that they may be
	// detected.
	GuardrailsFrom string `json:"-"`
	// ReviewFrom names the layer that set review; empty when none did.
	ReviewFrom string `json:"-"`
	// MostIterations is the most iterations of any run; 0: any number.
	MostIterations int `json:"-"`
	// TimeoutFrom names the layer that set timeoutMinutes; empty when none did. A run of a prompt has no time limit then.
	TimeoutFrom string `json:"-"`
}

// Limits are what one process may take of the machine, with everything that it starts.
type Limits struct {
	Processes *int `json:"processes,omitempty"` // nil: what is usual; 0: any number
	Memory    Size `json:"memory,omitempty"`    // empty: 90% of the machine's
	Disk      Size `json:"disk"`
	Output    Size `json:"output"`
}

// Judge says what the checks of a run on a laptop have besides the commit.
type Judge struct {
	// Share are paths of the clone that are in no commit: ".env", "node_modules". nil: where nothing is installed by a
	// setup, the directories in which dependencies usually lie.
	Share []string `json:"share,omitzero"`
}

// Command is how an agent is called.
type Command struct {
	Command     string   `json:"command"`               // "claude", or the path of a program
	Flags       []string `json:"flags,omitzero"`        // as they were written; see Args
	Model       string   `json:"model,omitempty"`       // empty: the agent's own default
	Timeout     Duration `json:"timeout,omitempty"`     // of one turn, before TimeoutMultiplier
	IdleTimeout Duration `json:"idleTimeout,omitempty"` // without any output, before TimeoutMultiplier
}

// Guardrail is a command that can say no. Load fills what a layer left out: the command as name, hard, APPEND, ten
// minutes.
type Guardrail struct {
	Name       string   `json:"name,omitempty"`
	Command    string   `json:"command"`         // run by the shell
	Shell      string   `json:"shell,omitempty"` // "sh" or Bash; empty: "sh"
	FailAction string   `json:"failAction,omitempty"`
	Hint       string   `json:"hint,omitempty"`
	Severity   string   `json:"severity,omitempty"`
	Timeout    Duration `json:"timeout,omitempty"`
	// SoftTimeout is when the log warns; Timeout is when it is stopped.
	SoftTimeout Duration `json:"softTimeout,omitempty"`
	Report      string   `json:"report,omitempty"` // path or pattern of a report that it writes: JUnit XML or SARIF
	Expect      *Expect  `json:"expect,omitempty"`
}

// Expect is what must be so for a guardrail to pass.
type Expect struct {
	Exit        int      `json:"exit"`
	Contains    []string `json:"contains,omitzero"`
	NotContains []string `json:"notContains,omitzero"`
	MinTests    *int     `json:"minTests,omitempty"` // nil: one, where the output tells
}

// Price is what a million tokens of a model cost, in US dollars. Where it is nil, it is Input.
type Price struct {
	Model      string   `json:"model"`
	Input      float64  `json:"input"`
	Output     float64  `json:"output"` // and what it thinks
	Cached     *float64 `json:"cached,omitempty"`
	CacheWrite *float64 `json:"cacheWrite,omitempty"`
	Long       int64    `json:"long,omitzero"` // tokens; 0: every request costs the same
}

// The values of a guardrail's severity and fail action. They are those of loop.Severity and loop.FailAction.
const (
	Hard    = "hard"
	Soft    = "soft"
	Off     = "off" // of a built-in check alone, and of the setting ciGate
	Append  = "APPEND"
	Prepend = "PREPEND"
	Replace = "REPLACE"
)

// Bash is the shell of a guardrail that runs with pipefail. Others run in that of the system, sh.
const Bash = "bash"

// WaitForCI is the setting ciGate of a run that waits for other workflows.
const WaitForCI = "wait"

// Fail is the setting atReviewCap of a run that does not approve a story whose last review does not.
const Fail = "fail"

// Notification is a place that gets the outcome of a run.
type Notification struct {
	To string   `json:"to"`           // the environment variable that holds its address
	On []string `json:"on,omitempty"` // as NotifyOn; empty: all
}

// The values of the setting gateway, besides Off.
const (
	GatewayAuto    = "auto"    // they stay with ralph where the agent can be led to a gateway
	GatewayRequire = "require" // they do, or there is no run
)

// EachComment is the setting comments of a run that gets a comment for each iteration.
const EachComment = "each"

// SCM is a source control command and what it does after a passed iteration.
type SCM struct {
	Command string   `json:"command"`
	Tasks   []string `json:"tasks,omitzero"` // "commit", "push", in order
}

// Baseline says what checks that already fail on the base commit mean.
type Baseline string

// The values of the setting baseline.
const (
	BaselineRequire Baseline = "require" // they stop the run
	BaselineReport  Baseline = "report"  // they are reported, and can be accepted by name at the end
	BaselinePass    Baseline = "pass"    // they are reported, and must pass at the end
	BaselineOff     Baseline = "off"     // they are not run
)

// registries are where builds get their packages from.
func registries() []string {
	return []string{
		"proxy.golang.org", "sum.golang.org", "registry.npmjs.org", "registry.yarnpkg.com", "pypi.org",
		"files.pythonhosted.org",
		"index.crates.io", "static.crates.io", "repo.maven.apache.org", "repo1.maven.org", "plugins.gradle.org",
		"services.gradle.org",
		"rubygems.org", "index.rubygems.org", "api.nuget.org", "repo.packagist.org",
	}
}

// How long a check may run where nothing else is said: tests, and what looks at quality alone .
const (
	hardTimeout = 10 * time.Minute
	softTimeout = 3 * time.Minute
)

// complete fills what follows from other settings.
func (s *Settings) complete() {
	s.Reviewer.Command = cmp.Or(s.Reviewer.Command, s.Agent.Command)
	s.Reviewer.IdleTimeout = cmp.Or(s.Reviewer.IdleTimeout, s.Agent.IdleTimeout)
	if s.Reviewer.Command == s.Agent.Command {
		s.Reviewer.Model = cmp.Or(s.Reviewer.Model, s.Agent.Model)
		if s.Reviewer.Flags == nil {
			s.Reviewer.Flags = s.Agent.Flags
		}
	}
	for i := range s.Guardrails {
		s.Guardrails[i] = s.Guardrails[i].Complete()
	}
}

// Complete fills what a layer may leave out.
func (g Guardrail) Complete() Guardrail {
	g.Name, g.FailAction, g.Severity = cmp.Or(g.Name, g.Command), cmp.Or(g.FailAction, Append), cmp.Or(g.Severity, Hard)
	limit := hardTimeout
	if g.Severity == Soft {
		limit = softTimeout
	}
	g.Timeout = cmp.Or(g.Timeout, Duration(limit))
	return g
}

// Args are the flags as arguments of a program. A flag written with its value in one string, as in ("--model opus"),
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

// Iteration caps where no layer sets maximumIterations.
const (
	PromptIterations = 10 // ralph run -p/-f
	TaskIterations   = 5  // an issue or a single task
	PlanIterations   = 15

	// Unlimited is the cap of a run whose maximumIterations is 0: only its time ends it. It is far below the largest int
	// of a small machine, so that adding iterations to it does not overflow.
	Unlimited = 1 << 30
)

// Iterations is the cap of a run: what was set, Unlimited when that is 0, and otherwise when no layer set anything.
func (s Settings) Iterations(otherwise int) int {
	switch {
	case s.MaximumIterations == nil:
		return s.AtMost(otherwise)
	case *s.MaximumIterations == 0:
		return s.AtMost(Unlimited)
	}
	return s.AtMost(*s.MaximumIterations)
}

// AtMost is how many of the wanted iterations a run may take.
func (s Settings) AtMost(wanted int) int {
	if s.MostIterations > 0 {
		return min(wanted, s.MostIterations)
	}
	return wanted
}

// Timeout bounds a whole run. TimeoutMultiplier does not touch it.
func (s Settings) Timeout() time.Duration { return time.Duration(s.TimeoutMinutes) * time.Minute }

// TurnTimeout bounds one turn of the agent.
func (s Settings) TurnTimeout() time.Duration { return s.Scaled(time.Duration(s.Agent.Timeout)) }

// IdleTimeout is how long the agent may say nothing.
func (s Settings) IdleTimeout() time.Duration { return s.Scaled(time.Duration(s.Agent.IdleTimeout)) }

// ReviewTimeout bounds one turn of the reviewer.
func (s Settings) ReviewTimeout() time.Duration { return s.Scaled(time.Duration(s.Reviewer.Timeout)) }

// ReviewIdleTimeout is how long the reviewer may say nothing.
func (s Settings) ReviewIdleTimeout() time.Duration {
	return s.Scaled(time.Duration(s.Reviewer.IdleTimeout))
}

// CheckTimeout bounds a guardrail.
func (s Settings) CheckTimeout(g Guardrail) time.Duration { return s.Scaled(time.Duration(g.Timeout)) }

// CheckWarning is after how long of a guardrail the log warns: half of its limit, or 67% of the limit of a soft one.
func (s Settings) CheckWarning(g Guardrail) time.Duration {
	switch {
	case g.SoftTimeout != 0:
		return s.Scaled(time.Duration(g.SoftTimeout))
	case g.Severity == Soft:
		return s.CheckTimeout(g) * 2 / 3
	}
	return s.CheckTimeout(g) / 2
}

// Scaled is a limit of a turn or a check times TimeoutMultiplier.
func (s Settings) Scaled(limit time.Duration) time.Duration {
	return time.Duration(float64(limit) * s.TimeoutMultiplier)
}

// Duration is a time.Duration written as Go writes it: "90s", "10m", "1h30m".
type Duration time.Duration

// UnmarshalText reads "10m".
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// MarshalText writes "10m", without the zeros that Go puts behind it.
func (d Duration) MarshalText() ([]byte, error) {
	text := time.Duration(d).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return []byte(text), nil
}

// Size is an amount of bytes: "512MiB", "16GiB", "2TiB", or "none" for any amount.
type Size string

// Bytes is how many that are; 0: any amount, and of an empty Size.
func (s Size) Bytes() int64 {
	for i, unit := range []string{"MiB", "GiB", "TiB"} {
		if number, ok := strings.CutSuffix(string(s), unit); ok {
			n, _ := strconv.ParseInt(number, 10, 64) // the settings are checked
			return n << (20 + 10*i)
		}
	}
	return 0
}

// The usual number of processes and threads: some, or so many for each processor.
const (
	usualProcesses = 4096
	processesEach  = 256
)

// MostProcesses is how many there may be on a machine with so many processors; 0: any number.
func (l Limits) MostProcesses(processors int) int {
	if l.Processes != nil {
		return *l.Processes
	}
	return max(usualProcesses, processesEach*processors)
}

// MostMemory is how many bytes of memory there may be where there are so many; 0: any amount.
func (l Limits) MostMemory(there int64) int64 {
	if l.Memory != "" {
		return l.Memory.Bytes()
	}
	return there / 10 * 9
}

// Workflow is the workflow that runs ralph, and where it goes: what docs/github.md shows, and what ralph init --github
// proposes.
//
//go:embed workflow.yml
var Workflow string

// WorkflowFile is its path from the top of the repository.
const WorkflowFile = ".github/workflows/ralph.yml"

// Warnings are what people should know of settings that are valid, one sentence or two each.
func (s Settings) Warnings() (list []string) {
	for i, g := range s.Guardrails {
		says, piped := shell.HidesExit(g.Command, g.Shell == Bash)
		if says == "" {
			continue
		}
		out := "Let the command end with that exit code."
		if piped {
			out = `With "shell": "bash" it runs with pipefail and keeps the exit code.`
		}
		list = append(list, fmt.Sprintf("guardrails[%d] %q: %s, so a failure may look like a success. %s", i,
			safetext.Shorten(safetext.OneLine(g.Name), 60), says, out))
	}
	return list
}
