package engine

import (
	"cmp"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/task"
)

// Time limits of one step that no setting changes (C12).
const (
	setupLimit = 10 * time.Minute
	// stepGrace is what a cancelled run has for its last commit; together with killing the agent and the reports it must fit into the
	// ten seconds that a cancelled job has (C11).
	stepGrace = 3 * time.Second
	killGrace = 2 * time.Second
)

// Spec is what a run works with, whoever asks for it. A corridor makes it whole in one literal; from then on it is only read.
type Spec struct {
	Work
	Rules
	Place
	Identity
	Output
}

// Work is what is to be done, and what keeps it.
type Work struct {
	Goal     Goal      // of a run with a task
	Plan     Plan      // of a run of a plan; else nil
	OfPrompt bool      // a run of a prompt: the claim is looked at last, and an agent whose output nobody sees speaks plain text
	Commits  loop.Tree // what each iteration's commit is made by
	Copies   Copies    // what a reviewer looks at
	Base     string    // of a run whose commits are snapshots: the first of them
}

// Rules are what the run is held to, and what judges it.
type Rules struct {
	Settings     config.Settings
	PlanCommands []string      // commands that judge besides those of the settings: a plan's
	Detected     string        // why these checks, when no setting names them
	SCM          check.Check   // what the setting scm asks for; nil: nothing
	CI           *check.CI     // the other workflows that judge; nil: none
	Wall         time.Duration // how long the run may take; 0: no limit
}

// Place is where the run works.
type Place struct {
	Workspace Workspace // where the agent works
	Tree      *git.Tree // the same, as git sees it; nil when the run commits nothing
	JudgeName string    // the name of the directory that the checks run in; empty: they run where the agent works
	Scratch   string    // a directory of ours for what nobody needs after the run; empty: one for temporary files
	Reports   string    // where reports go that outlive the job; empty: nowhere
	Logs      string    // outputs that the agent may read
	LogsAs    string    // the same as prompts name it, from the workspace; empty: Logs
	InJob     bool      // a job of GitHub's: once it is cancelled, it has ten seconds
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
	Console io.Writer
	Live    io.Writer // a terminal on which a countdown may be written over; nil: none
	Format  stream.FormatOptions
	Groups  agent.Groups // folds each iteration's output; nil: nothing does
	Redact  func(string) string
	Clock   func() time.Time
	Log     func(format string, args ...any)
	Verbose func(format string, args ...any) // nil: nobody wants to know
	Tell    func(format string, args ...any) // of checks, instead of Log; nil: Log
}

// Plan is the plan that a run works on, with the guard of its file.
type Plan interface {
	// Path is the plan's file, from the top of the repository; Paths are all files that belong to it.
	Path() string
	Paths() []string
	// Words are what agents are told besides.
	Words() prompt.PlanFiles
	// Recorded is the plan as a run's first record tells of it. tree is that of the commit which holds its file.
	Recorded(tree string) *loop.Planned
	// Begin lays the plan in a clone and records how the run begins with it, or goes on.
	Begin(ctx context.Context, l *Journal, r loop.Record) error
	// Lay puts the plan's files into the run's tree, in commits before the first turn.
	Lay(ctx context.Context, tree *git.Tree) (loop.Commit, error)
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
	Env() []string // what processes there need to know of it
	// Restore puts back what something other than a turn has changed there.
	Restore(ctx context.Context) error
}

// Prompts says what the agent and the reviewer are told.
type Prompts interface {
	loop.Prompt
	// Judge is what a role that reads is told about a tree: the change, the promise it gives with an approval, and what the checks have
	// noticed.
	Judge(s loop.State, r task.Role, tree, diff, promise string, noticed []loop.Verdict) (string, error)
}

// DetectChecks fills in the checks that no setting names from what the repository shows at its base commit (B-25).
func (w *Spec) DetectChecks(ctx context.Context, base string) error {
	if err := w.inBase(ctx, base); err != nil {
		return err
	}
	if w.Settings.SCM != nil {
		w.Log("the setting scm is not used here: a run of an issue commits by itself")
	}
	if w.Settings.GuardrailsFrom != "" {
		return nil
	}
	found, err := w.detectAt(ctx, base)
	if err != nil {
		return err
	}
	for _, note := range found.Notes {
		w.Log("looking for checks: %s", note)
	}
	var why []string
	if steps := installLine(found.Setup); steps != "" && w.Settings.Setup == "" && len(found.Checks) > 0 {
		why = append(why, "before them runs "+steps)
	}
	for _, d := range found.Checks {
		w.Settings.Guardrails = append(w.Settings.Guardrails, d.Guardrail())
		if !slices.Contains(why, d.Why) {
			why = append(why, d.Why)
		}
	}
	if len(found.Checks) == 0 && len(w.PlanCommands) == 0 {
		return w.unshown(ctx, base, found.Notes)
	}
	w.Detected = strings.Join(why, "; ")
	return nil
}

// MustBeJudged refuses a run in which nothing would judge the work but the agent itself.
func (w *Spec) MustBeJudged() error {
	hard := slices.ContainsFunc(w.Settings.Guardrails, func(g config.Guardrail) bool { return g.Severity != config.Soft })
	if hard || w.Settings.Review || w.Goal.judges() {
		return nil
	}
	return invalid.Errorf("%s: no guardrail is hard, review is false and no criteria are verified, so nothing would judge the work; name a command, or let a reviewer look", cmp.Or(w.Settings.GuardrailsFrom, config.SettingsFile))
}

func turn(ctx context.Context, o agent.Options, asked string) (loop.Turn, error) {
	if e, ok := o.Box.(entry); ok {
		e.run.judging.admit(false)
	}
	o, err := boxed(ctx, o)
	if err != nil {
		return loop.Turn{}, err
	}
	a, err := agent.New(o)
	if err != nil {
		return loop.Turn{}, err
	}
	t, err := a.Turn(ctx, asked)
	if o.LogFile != "" {
		t.LogFile = filepath.Base(o.LogFile)
	}
	return t, err
}

// Agents readies the agent and the reviewer, and finds out that one of them is missing before anything is spent. The reviewer is nil
// when there is no review.
func (w *Run) Agents(state func() loop.State) (Coder, *agent.Options, error) {
	set := w.Settings
	options := agent.Options{
		Command: w.fromTop(set.Agent.Command), Flags: set.Agent.Args(), Model: set.Agent.Model, AgentSettings: set.AgentSettings,
		Dir: w.desk(), Parent: w.Parent, Allow: set.Environment, Home: w.Home, As: w.User, Timeout: set.TurnTimeout(), Idle: set.IdleTimeout(), Grace: w.grace(),
		Completion: set.CompletionResponse, Keys: w.Keys, Extra: w.Workspace.Env(), Box: w.box(sandbox.Works), Format: w.Format, Groups: w.Groups,
		Text: w.OfPrompt && !set.StreamAgentOutput && !spendingLimits(set),
	}
	options = w.warned(options, "turn") // after 12 of 20 minutes (S0-21)
	if set.StreamAgentOutput {
		options.Console = w.Console
	}
	c := Coder{Options: options, dir: w.Dir, prompts: w.Logs, State: state, byExit: set.ClaimByExit, doneFile: set.DoneFile, redact: w.Redact, verbose: w.Verbose}
	if w.Plan == nil {
		c.stray = w.Stray
	}
	if _, err := agent.New(options); err != nil || !w.reviewed(state) {
		return c, nil, err
	}
	options.Dir = w.Workspace.Dir() // and later a checkout of its own
	options.Command, options.Flags, options.Model = set.Reviewer.Command, set.Reviewer.Args(), set.Reviewer.Model
	options.ReadOnly, options.Schema, options.Timeout, options.Idle = true, check.ReviewSchema, set.ReviewTimeout(), set.ReviewIdleTimeout()
	options.AgentSettings, options.Text = false, false
	options = w.warned(options, "review") // after 3 of 5 minutes (S0-23)
	_, err := agent.New(options)
	return c, &options, err
}

// warned lets the log warn when three fifths of a turn's time are over.
func (w *Spec) warned(o agent.Options, what string) agent.Options {
	soft, hard := o.Timeout*3/5, o.Timeout
	o.Soft = soft
	o.OnSoft = func() { w.Log("warning: the %s has taken %s; it is stopped at %s", what, soft, hard) }
	return o
}

// reviewed reports whether any role of the run reads the work.
func (w *Spec) reviewed(state func() loop.State) bool {
	pipeline := w.Goal.Pipeline
	if state != nil {
		pipeline = state().Start.Pipeline
	}
	return w.Settings.Review || slices.ContainsFunc(pipeline, func(r task.Role) bool { return r == task.QA })
}

// grace is how long an agent that is stopped may take to end: 2 s where a cancelled job has ten for everything, else what its context says.
func (w *Spec) grace() time.Duration {
	if w.InJob {
		return killGrace
	}
	return 0
}

func (w *Spec) PromptWriter(comments []task.Comment) prompt.Writer {
	out := prompt.Writer{Completion: w.Settings.CompletionResponse, IterationCount: w.Settings.IncludeIterationCountInPrompt}
	for _, c := range comments {
		out.Comments = append(out.Comments, prompt.Comment(c))
	}
	return out
}

// WorkOn is work that is committed to a git tree. host stands in the addresses of its commits.
func WorkOn(t *git.Tree, host string) Work {
	return Work{
		Commits: Committer{t, host},
		Copies:  Copies{func(ctx context.Context, commit string) (check.Checkout, error) { return t.Review(ctx, commit) }, t.Diff},
	}
}

// WorkInSnapshots is work that nobody commits: a reviewer looks at snapshots of it.
func WorkInSnapshots(s *git.Snapshots) Work {
	return Work{
		Commits: s, Base: s.Base(),
		Copies: Copies{func(ctx context.Context, commit string) (check.Checkout, error) { return s.Review(ctx, commit) }, s.Diff},
	}
}

// Copies are what a reviewer looks at: a checkout of a commit, and what changed between two.
type Copies struct {
	Checkout func(ctx context.Context, commit string) (check.Checkout, error)
	diff     func(ctx context.Context, from, to string, most int) (string, error)
}

// NoCommits is a run without a tree of its own: it commits nothing, and nobody looks what has changed.
type NoCommits struct{}

// Commit implements loop.Tree.
func (NoCommits) Commit(context.Context, string, loop.State) (loop.Commit, error) {
	return loop.Commit{Unseen: true}, nil
}

// Committer is the tree as the loop sees it: it words the commits.
type Committer struct {
	Tree *git.Tree
	Host string
}

// Commit implements loop.Tree.
func (c Committer) Commit(ctx context.Context, since string, s loop.State) (loop.Commit, error) {
	return c.Tree.Commit(ctx, since, report.CommitMessage(s, *s.Last(), c.Host))
}

func CommandLines(guardrails []config.Guardrail) []string {
	out := make([]string, len(guardrails))
	for i, g := range guardrails {
		out[i] = g.Command
	}
	return out
}

// VerifyWith adds the plan's commands to the checks, those that are none yet.
func (w *Spec) VerifyWith(commands []string) {
	for _, line := range commands {
		if line = strings.TrimSpace(line); line == "" || slices.Contains(CommandLines(w.Settings.Guardrails), line) {
			continue
		}
		w.Settings.Guardrails = append(w.Settings.Guardrails, config.Guardrail{
			Name: line, Command: line, Severity: config.Hard, FailAction: config.Append,
		})
	}
}

// planFile is where the plan is put right; nil for a run without one.
func (w *Spec) planFile() loop.PlanFile {
	if w.Plan == nil {
		return nil
	}
	return w.Plan.Guard()
}
