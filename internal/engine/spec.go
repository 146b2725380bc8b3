package engine

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/notify"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/task"
)

// Time limits of one step that no setting changes.
const (
	setupLimit = 10 * time.Minute
	// stepGrace is what a canceled run has for its last commit; together with killing the agent and the reports it
	// must fit into the ten seconds that a canceled job has.
	stepGrace = 3 * time.Second
)

// Spec is what a run works with. Whoever asks for the run makes it whole in one literal; then it is only read.
type Spec struct {
	Work
	Rules
	Place
	Identity
	Output
}

// Work is what is to be done, and what keeps it.
type Work struct {
	Goal Goal // of a run with a task
	Plan Plan // of a run of a plan; else nil
	// a run of a prompt: the claim is examined last, and an agent whose output no one sees speaks plain text
	OfPrompt bool
	Commits  loop.Tree // what each iteration's commit is made by
	Copies   Copies    // what a reviewer looks at
	Base     string    // of a run whose commits are snapshots: the first of them
}

// Rules are what the run is held to, and what judges it.
type Rules struct {
	Settings     config.Settings
	PlanCommands []string      // commands that judge besides those of the settings: a plan's
	Detected     string        // why these checks, when no setting names them
	Environment  string        // of Python, in a person's clone, that detected checks use: ".venv"; "" none
	SCM          check.Check   // what the setting scm asks for; nil: nothing
	CI           *check.CI     // the other workflows that judge; nil: none
	Wall         time.Duration // how long the run may take; 0: no limit
}

// Place is where the run works.
type Place struct {
	Workspace         Workspace     // where the agent works
	Tree              *git.Tree     // the same, as git sees it; nil when the run commits nothing
	Clone             string        // the clone that the tree is a checkout of, hidden from what runs; empty: there is none
	Ignored           []string      // what is in the clone and is ignored, directories with a slash at the end
	JudgeName         string        // the name of the directory that the checks run in; empty: they run where the agent works
	Scratch           string        // a directory of ours for what no one needs after the run; empty: one for temporary files
	Caches            string        // what later runs have of caches; no one else uses it meanwhile; empty: nothing is kept
	Logs              string        // outputs that the agent may read
	LogsAs            string        // the same as prompts name it, from the workspace; empty: Logs
	InJob             bool          // a job of GitHub's: once it is cancelled, it has ten seconds
	LastCommit        time.Duration // what a cancelled run has for the commit of what its agent left; 0: stepGrace
	AcceptCredentials bool          // agents may read the git credentials of the clone that they work in
	InstallSandbox    bool          // what a sandbox needs of this machine may be installed
	// AgreeToNone asks the person whether to run where no sandbox works, for the reason given; nil: no one is there.
	AgreeToNone func(why string) error
}

// Identity is who agents and checks run as, and what they know of us.
type Identity struct {
	User   *proc.User // nil: ourselves
	Home   string     // HOME of children; empty keeps ours
	Parent []string   // our environment, of which children get what is allowed
	Keys   map[string]string
	Host   string // of commit addresses: "github.com"
}

// Output is where the run tells what it does.
type Output struct {
	Console  io.Writer
	Live     io.Writer // a terminal on which a countdown may be written over; nil: none
	Format   stream.FormatOptions
	Groups   agent.Groups // folds each iteration's output; nil: nothing does
	Redact   func(string) string
	Clock    func() time.Time
	Log      func(format string, args ...any)
	Verbose  func(format string, args ...any) // nil: no one wants to know
	LogCheck func(format string, args ...any) // of checks, instead of Log; nil: Log
	Shown    Shown                            // whoever shows the run while it works
}

// Plan is the plan that a run works on, with the guard of its file.
type Plan interface {
	// Path is the plan's file, from the top of the repository; Paths are all files that belong to it.
	Path() string
	Paths() []string
	// Words are what agents are told besides.
	Words() prompt.PlanFiles
	// Recorded is the plan as a run's first record reports it. tree is that of the commit which holds its file.
	Recorded(tree string) *loop.Planned
	// Begin lays the plan in a clone and records how the run begins with it, or continues.
	Begin(ctx context.Context, l *Journal, r loop.Record) error
	// WriteFiles puts the plan's files into the run's tree, in commits before the first turn.
	WriteFiles(ctx context.Context, tree *git.Tree) (loop.Commit, error)
	// Agent makes the run's agent one of its plan.
	Agent(run *Run, c Coder, reviewer *agent.Options) (loop.Agent, error)
	// Guard is where the plan is put right.
	Guard() loop.PlanFile
	// Close removes what the plan has lying about while it is run.
	Close()
}

// Workspace is where a run works: a git tree, or for a prompt alone a directory.
type Workspace interface {
	Dir() string
	// Restore puts back what something other than a turn has changed there.
	Restore(ctx context.Context) error
}

// Prompts says what the agent and the reviewer are told.
type Prompts interface {
	loop.Prompt
	// Judge is what a role that reads is told about a tree: the change, the promise it gives with an approval, and what
	// the checks have noticed.
	Judge(s loop.State, r task.Role, tree, diff, promise string, noticed []loop.Verdict) (string, error)
}

// grace is how long an agent that is stopped may take to end: 2 s where a canceled job has ten for everything, else
// what its context says.
func (spec *Spec) grace() time.Duration {
	if spec.InJob {
		return 2 * time.Second
	}
	return 0
}

func CommandLines(guardrails []config.Guardrail) []string {
	out := make([]string, len(guardrails))
	for i, g := range guardrails {
		out[i] = g.Command
	}
	return out
}

// VerifiedWith are the rules with a plan's commands among the checks, those that are none yet.
func (rules Rules) VerifiedWith(commands []string) Rules {
	rules.Settings.Guardrails = slices.Clone(rules.Settings.Guardrails)
	for _, line := range commands {
		if line = strings.TrimSpace(line); line == "" ||
			slices.Contains(CommandLines(rules.Settings.Guardrails), line) {
			continue
		}
		rules.Settings.Guardrails = append(rules.Settings.Guardrails, config.Guardrail{
			Name: line, Command: line, Severity: config.Hard, FailAction: config.Append,
		})
	}
	return rules
}

// planFile is where the plan is put right; nil for a run without one.
func (spec *Spec) planFile() loop.PlanFile {
	if spec.Plan == nil {
		return nil
	}
	return spec.Plan.Guard()
}

// CheckLogger is what checks tell their results through.
func (spec *Spec) CheckLogger() func(format string, args ...any) {
	if spec.LogCheck != nil {
		return spec.LogCheck
	}
	return spec.Log
}

// Notice reports the end of a run to someone else, who keeps the addresses of the places.
type Notice struct {
	Message notify.Message
	To      []string // names of variables, RALPH_NOTIFY_TEAM; empty: all that there are
}

// Notice is what Notify would tell; nil where that is nothing.
func (run *Run) Notice(v report.View, page string) *Notice {
	kind := v.NotifyKind()
	if kind == "" {
		return nil
	}
	n := &Notice{Message: message(v, kind, page)}
	for _, w := range run.Settings.Notify {
		if len(w.On) == 0 || slices.Contains(w.On, kind) {
			n.To = append(n.To, w.To)
		}
	}
	if len(run.Settings.Notify) > 0 && len(n.To) == 0 {
		return nil
	}
	return n
}

// Notify tells the places of the environment and the setting notify how the run ended. page is the job's; empty: there
// is none. What fails is logged: the run is what it is, whoever was told.
func (run *Run) Notify(ctx context.Context, v report.View, page string) {
	n := run.Notice(v, page)
	if n == nil {
		return
	}
	environ := run.Parent
	if own := run.Settings.NotifyCommand; own != "" { // what the environment says comes after it
		environ = append([]string{notify.Command + "=" + own}, environ...)
	}
	places, missing := notify.Named(notify.Places(environ), n.To)
	for _, name := range missing {
		run.Log("no notification by %s: the environment variable is not set", name)
	}
	for _, place := range places {
		if err := place.Send(ctx, n.Message, proc.Environment(run.Parent, proc.Allowed)); err != nil {
			run.Log("%v", err)
		}
	}
}

// message is what the run came to.
func message(v report.View, kind, page string) notify.Message {
	s := v.State
	outcome, cause := report.PlainOutcome(v)
	title := "ralph: " + outcome
	if about := v.PlainTitle(); about != "" {
		title = "ralph: " + strings.TrimSuffix(about, ".") + ": " + outcome
	}
	m := notify.Message{
		Kind: kind, Title: title, Text: cause, Outcome: string(s.End.Outcome), Repository: v.Repo, Task: s.Start.Task,
		Run: s.Start.Run, Branch: s.Branch().Name(), PullRequest: v.PullPage(), Page: page, Iterations: len(s.Iterations),
	}
	if s.Usage.CostUSD > 0 {
		m.CostUSD = &s.Usage.CostUSD
	}
	return m
}
