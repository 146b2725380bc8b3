package app

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

// workshop is what a run works with, whichever coat it wears: the tree, the user that agent and checks run as, and the settings.
type workshop struct {
	place    place     // where the agent works
	judge    *judging  // where the checks run; nil: where the agent works
	scratch  string    // a directory of ours for what nobody needs after the run; empty: one for temporary files
	tree     *git.Tree // the same, as git sees it; nil when the run commits nothing
	commits  loop.Tree // what each iteration's commit is made by
	copies   copies    // what a reviewer looks at
	base     string    // of a run whose commits are snapshots: the first of them
	settings config.Settings
	as       *proc.User // nil: ourselves
	boxes    boxes      // what agents and checks are kept in
	hurried  bool       // a job of GitHub's: once it is cancelled, it has ten seconds
	parent   []string   // our environment, of which children get what is allowed
	home     string     // HOME of children; empty keeps ours
	dir      string     // the run's own directory
	reports  string     // where reports go that outlive the job; empty: nowhere
	logs     string     // outputs that the agent may read
	logsAs   string     // the same as prompts name it, from the place; empty: logs
	keys     map[string]string
	goal     goal       // of a run with a task
	plan     enginePlan // of a run of a plan; else nil
	brings   []string   // commands that judge besides those of the settings: a plan's
	detected string     // why these checks, when no setting names them
	host     string     // of commit addresses: "github.com"
	console  io.Writer
	live     io.Writer // a terminal on which a countdown may be written over; nil: none
	format   stream.FormatOptions
	groups   agent.Groups // folds each iteration's output; nil: nothing does
	plain    bool         // a run of a prompt: the claim is looked at last, and an agent whose output nobody sees speaks plain text
	scm      check.Check  // what the setting scm asks for; nil: nothing
	purse    *purse       // what its turns are paid from; nil: there is no end of it
	ci       *check.CI    // the other workflows that judge; nil: none
	redact   func(string) string
	wall     time.Duration // how long the run may take; 0: no limit
	clock    func() time.Time
	log      func(format string, args ...any)
	verbose  func(format string, args ...any) // nil: nobody wants to know
	tell     func(format string, args ...any) // of checks, instead of log; nil: log
}

// enginePlan is the plan that a run works on, with the guard of its file.
type enginePlan interface {
	// Path is the plan's file, from the top of the repository; Paths are all files that belong to it.
	Path() string
	Paths() []string
	// Words are what agents are told besides.
	Words() prompt.PlanFiles
	// Recorded is the plan as a run's first record tells of it. tree is that of the commit which holds its file.
	Recorded(tree string) *loop.Planned
	// Begin lays the plan in a clone and records how the run begins with it, or goes on.
	Begin(ctx context.Context, l *ledger, r loop.Record) error
	// Lay puts the plan's files into the run's tree, in commits before the first turn.
	Lay(ctx context.Context, tree *git.Tree) (loop.Commit, error)
	// Agent makes the run's agent one of its plan.
	Agent(w *workshop, c coder, reviewer *agent.Options) (loop.Agent, error)
	// Guard is where the plan is put right.
	Guard() loop.PlanFile
	// Close removes what the plan has lying about while it is run.
	Close()
}

// place is where a run works: a git tree, or for a prompt alone a directory.
type place interface {
	Dir() string
	Env() []string // what processes there need to know of it
	// Restore puts back what something other than a turn has changed there.
	Restore(ctx context.Context) error
}

// wording says what the agent and the reviewer are told.
type wording interface {
	loop.Prompt
	// Judge is what a role that reads is told about a tree: the change, the promise it gives with an approval, and what the checks have
	// noticed.
	Judge(s loop.State, r task.Role, tree, diff, promise string, noticed []loop.Verdict) (string, error)
}

// guard fills in the checks that no setting names from what the repository shows at its base commit (B-25).
func (w *workshop) guard(ctx context.Context, base string) error {
	if err := w.inBase(ctx, base); err != nil {
		return err
	}
	if w.settings.SCM != nil {
		w.log("the setting scm is not used here: a run of an issue commits by itself")
	}
	if w.settings.GuardrailsFrom != "" {
		return nil
	}
	found, err := w.detectAt(ctx, base)
	if err != nil {
		return err
	}
	for _, note := range found.Notes {
		w.log("looking for checks: %s", note)
	}
	var why []string
	if steps := installLine(found.Setup); steps != "" && w.settings.Setup == "" && len(found.Checks) > 0 {
		why = append(why, "before them runs "+steps)
	}
	for _, d := range found.Checks {
		w.settings.Guardrails = append(w.settings.Guardrails, d.Guardrail())
		if !slices.Contains(why, d.Why) {
			why = append(why, d.Why)
		}
	}
	if len(found.Checks) == 0 && len(w.brings) == 0 {
		return w.unshown(ctx, base, found.Notes)
	}
	w.detected = strings.Join(why, "; ")
	return nil
}

// judged refuses a run in which nothing would judge the work but the agent itself.
func (w *workshop) judged() error {
	hard := slices.ContainsFunc(w.settings.Guardrails, func(g config.Guardrail) bool { return g.Severity != config.Soft })
	if hard || w.settings.Review || w.goal.judges() {
		return nil
	}
	return invalid.Errorf("%s: no guardrail is hard, review is false and no criteria are verified, so nothing would judge the work; name a command, or let a reviewer look", cmp.Or(w.settings.GuardrailsFrom, config.SettingsFile))
}

func takeTurn(ctx context.Context, o agent.Options, asked string) (loop.Turn, error) {
	if e, ok := o.Box.(entry); ok {
		e.shop.judge.admit(false)
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

// agents readies the agent and the reviewer, and finds out that one of them is missing before anything is spent. The reviewer is nil
// when there is no review.
func (w *workshop) agents(state func() loop.State) (coder, *agent.Options, error) {
	set := w.settings
	options := agent.Options{
		Command: w.fromTop(set.Agent.Command), Flags: set.Agent.Args(), Model: set.Agent.Model, AgentSettings: set.AgentSettings,
		Dir: w.desk(), Parent: w.parent, Allow: set.Environment, Home: w.home, As: w.as, Timeout: set.TurnTimeout(), Idle: set.IdleTimeout(), Grace: w.grace(),
		Completion: set.CompletionResponse, Keys: w.keys, Extra: w.place.Env(), Box: w.box(sandbox.Works), Format: w.format, Groups: w.groups,
		Text: w.plain && !set.StreamAgentOutput && !spendingLimits(set),
	}
	options = w.warned(options, "turn") // after 12 of 20 minutes (S0-21)
	if set.StreamAgentOutput {
		options.Console = w.console
	}
	c := coder{options: options, dir: w.dir, prompts: w.logs, state: state, byExit: set.ClaimByExit, doneFile: set.DoneFile, redact: w.redact, verbose: w.verbose}
	if w.plan == nil {
		c.stray = w.stray
	}
	if _, err := agent.New(options); err != nil || !w.reviewed(state) {
		return c, nil, err
	}
	options.Dir = w.place.Dir() // and later a checkout of its own
	options.Command, options.Flags, options.Model = set.Reviewer.Command, set.Reviewer.Args(), set.Reviewer.Model
	options.ReadOnly, options.Schema, options.Timeout, options.Idle = true, check.ReviewSchema, set.ReviewTimeout(), set.ReviewIdleTimeout()
	options.AgentSettings, options.Text = false, false
	options = w.warned(options, "review") // after 3 of 5 minutes (S0-23)
	_, err := agent.New(options)
	return c, &options, err
}

// warned lets the log warn when three fifths of a turn's time are over.
func (w *workshop) warned(o agent.Options, what string) agent.Options {
	soft, hard := o.Timeout*3/5, o.Timeout
	o.Soft = soft
	o.OnSoft = func() { w.log("warning: the %s has taken %s; it is stopped at %s", what, soft, hard) }
	return o
}

// reviewed reports whether any role of the run reads the work.
func (w *workshop) reviewed(state func() loop.State) bool {
	pipeline := w.goal.pipeline
	if state != nil {
		pipeline = state().Start.Pipeline
	}
	return w.settings.Review || slices.ContainsFunc(pipeline, func(r task.Role) bool { return r == task.QA })
}

// grace is how long an agent that is stopped may take to end: 2 s where a cancelled job has ten for everything, else what its context says.
func (w *workshop) grace() time.Duration {
	if w.hurried {
		return killGrace
	}
	return 0
}

func (w *workshop) words(comments []task.Comment) prompt.Writer {
	out := prompt.Writer{Completion: w.settings.CompletionResponse, IterationCount: w.settings.IncludeIterationCountInPrompt}
	for _, c := range comments {
		out.Comments = append(out.Comments, prompt.Comment(c))
	}
	return out
}

// ground puts the run on a git tree.
func (w *workshop) ground(t *git.Tree) {
	w.tree, w.place, w.commits = t, t, committer{t, w.host}
	w.copies = copies{func(ctx context.Context, commit string) (check.Checkout, error) { return t.Review(ctx, commit) }, t.Diff}
}

// copies are what a reviewer looks at: a checkout of a commit, and what changed between two.
type copies struct {
	checkout func(ctx context.Context, commit string) (check.Checkout, error)
	diff     func(ctx context.Context, from, to string, most int) (string, error)
}

// unseen is a run without a tree of its own: it commits nothing, and nobody looks what has changed.
type unseen struct{}

// Commit implements loop.Tree.
func (unseen) Commit(context.Context, string, loop.State) (loop.Commit, error) {
	return loop.Commit{Unseen: true}, nil
}

// committer is the tree as the loop sees it: it words the commits.
type committer struct {
	tree *git.Tree
	host string
}

// Commit implements loop.Tree.
func (c committer) Commit(ctx context.Context, since string, s loop.State) (loop.Commit, error) {
	return c.tree.Commit(ctx, since, report.CommitMessage(s, *s.Last(), c.host))
}

func commandLines(guardrails []config.Guardrail) []string {
	out := make([]string, len(guardrails))
	for i, g := range guardrails {
		out[i] = g.Command
	}
	return out
}

// verifyWith adds the plan's commands to the checks, those that are none yet.
func (w *workshop) verifyWith(commands []string) {
	for _, line := range commands {
		if line = strings.TrimSpace(line); line == "" || slices.Contains(commandLines(w.settings.Guardrails), line) {
			continue
		}
		w.settings.Guardrails = append(w.settings.Guardrails, config.Guardrail{
			Name: line, Command: line, Severity: config.Hard, FailAction: config.Append,
		})
	}
}

// planFile is where the plan is put right; nil for a run without one.
func (w *workshop) planFile() loop.PlanFile {
	if w.plan == nil {
		return nil
	}
	return w.plan.Guard()
}
