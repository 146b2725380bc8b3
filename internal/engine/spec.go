package engine

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/lease"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/notify"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/report/html"
	"github.com/ralph-loop/ralph/internal/task"
)

// Time limits of one step that no setting changes.
const (
	setupLimit = 10 * time.Minute
	// stepGrace is what a canceled run has for its last commit; together with killing the agent and the reports it
	// must fit into the ten seconds that a canceled job has.
	stepGrace = 3 * time.Second
)

// Spec is what a run works with. An entry point makes it in one literal; then it is only read.
type Spec struct {
	Work
	Rules
	Place
	Identity
	Output
}

// Work is the goal of a run, and what keeps its work.
type Work struct {
	Goal Goal // of a run with a task
	Plan Plan // of a run of a plan; else nil
	// a run of a prompt: the claim is examined last, and an agent whose output no one sees speaks plain text
	OfPrompt bool
	Commits  loop.Tree // what each iteration's commit is made by
	Copies   Copies    // what a reviewer looks at; nil: no one looks
	Base     string    // of a run whose commits are snapshots: the first of them
}

// Rules are what the run is held to, and what judges it.
type Rules struct {
	Settings     config.Settings
	PlanCommands []string      // commands that judge besides those of the settings: a plan's
	Detected     string        // why these checks, when no setting names them
	Environment  string        // of Python, in a person's clone, that detected checks use: ".venv"; "" none
	SCM          check.Check   // what the setting scm asks for; nil: nothing
	CI           check.Check   // the other workflows that judge; nil: none
	Wall         time.Duration // how long the run may take; 0: no limit
}

// Place is where the run works.
type Place struct {
	Workspace         Workspace     // where the agent works
	Tree              *git.Tree     // the same, as git sees it; nil when the run commits nothing
	Clone             string        // the clone that the tree is a checkout of, hidden from what runs; empty: no clone
	Ignored           []string      // what is in the clone and is ignored, directories with a slash at the end
	JudgeName         string        // the name of the directory that the checks run in; empty: they run where the agent works
	Scratch           string        // a directory of ours for what no one needs after the run; empty: one for temporary files
	Caches            string        // what later runs have of caches; no one else uses it meanwhile; empty: nothing is kept
	Logs              string        // outputs that the agent may read
	LogsAs            string        // the same as prompts name it, from the workspace; empty: Logs
	InJob             bool          // a job of GitHub's: once it is canceled, it has ten seconds
	LastCommit        time.Duration // what a canceled run has for the commit of what its agent left; 0: stepGrace
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
}

// Output is where the run tells what it does.
type Output struct {
	Console  io.Writer
	Live     io.Writer // a terminal on which a countdown may be written over; nil: none
	Format   stream.FormatOptions
	Groups   agent.Groups        // folds each iteration's output; nil: nothing does
	Redact   func(string) string // takes secrets out
	Clock    func() time.Time
	Log      func(format string, args ...any)
	Verbose  func(format string, args ...any) // nil: no one wants to know
	LogCheck func(format string, args ...any) // of checks, instead of Log; nil: Log
	Shown    Shown                            // receives what a live page shows
}

// Plan is the plan that a run works on, with the guard of its file.
type Plan interface {
	// Path is the plan's file, from the top of the repository; Paths are all files that belong to it.
	Path() string
	Paths() []string
	// Words are the plan's part of a prompt.
	Words() prompt.PlanFiles
	// Recorded is the plan as a run's first record reports it. tree is that of the commit which holds its file.
	Recorded(tree string) *loop.Planned
	// Begin lays the plan in a clone and records how the run begins with it, or continues.
	Begin(ctx context.Context, l *Journal, r loop.Record) error
	// WriteFiles puts the plan's files into the run's tree, in commits before the first turn.
	WriteFiles(ctx context.Context, tree *git.Tree) (loop.Commit, error)
	// Agent makes the run's agent one of its plan.
	Agent(run *Run, c Coder, reviewer *agent.Options) (loop.Agent, error)
	// Guard corrects the plan's file.
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

// Prompts writes the prompts of the agent and the reviewer.
type Prompts interface {
	loop.Prompt
	// Judge is the prompt of a role that reads, about a tree: the change, the promise it gives with an approval, and what
	// the checks have noticed.
	Judge(s loop.State, r task.Role, tree, diff, promise string, noticed []loop.Verdict) (string, error)
}

// grace is how long an agent that is stopped may take to end: 2 s where a canceled job has ten for everything;
// otherwise its context decides.
func (spec *Spec) grace() time.Duration {
	if spec.InJob {
		return 2 * time.Second
	}
	return 0
}

// host is where an agent of the run lives.
func (spec *Spec) host(box proc.Box) agent.Host {
	return agent.Host{
		Parent: spec.Parent, Allow: spec.Settings.Environment, Home: spec.Home, As: spec.User, Keys: spec.Keys, Box: box,
	}
}

func CommandLines(guardrails []config.Guardrail) []string {
	out := make([]string, len(guardrails))
	for i, g := range guardrails {
		out[i] = g.Command
	}
	return out
}

// VerifiedWith are the rules with those commands of a plan added that are not among the checks.
func (rules Rules) VerifiedWith(commands []string) Rules {
	rules.Settings.Guardrails = slices.Clone(rules.Settings.Guardrails)
	for _, line := range commands {
		if line = strings.TrimSpace(line); line == "" ||
			slices.Contains(CommandLines(rules.Settings.Guardrails), line) {
			continue
		}
		rules.Settings.Guardrails = append(rules.Settings.Guardrails, config.Guardrail{Command: line}.Complete())
	}
	return rules
}

// planFile corrects the plan's file; nil for a run without a plan.
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
	Message notify.Message `json:"message"`
	To      []string       `json:"to,omitempty"` // names of variables, RALPH_NOTIFY_TEAM; empty: all that there are
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

// Notify sends how the run ended to the places of the environment and of the setting notify. page is the job's; empty:
// no page. A failure is logged and does not change the run.
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

// message is the outcome of the run.
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

// Run is a run that this process holds. What starts an agent without a journal, as a question for a plan does, is one,
// too.
type Run struct {
	*Spec
	Dir       string // the run's own directory
	Reports   string // where reports go that outlive the job; empty: nowhere
	Journal   *Journal
	Prompts   prompt.Writer
	Heartbeat *lease.Heartbeat // of its lease; nil: no one else can want it
	Cleanup   []func()
	// Hints returns all hints to the run, also those that it has read; nil: the run takes no hints. The first call after the
	// run has recorded its end is the last.
	Hints func(ctx context.Context, s loop.State) []loop.Hint

	judging *judgingTree // where the checks run; nil: where the agent works
	budget  *Budget      // what its turns are paid from, once it is driven
	boxes   sandboxes    // what agents and checks are kept in
	leftOut []string     // the checks that are skipped, since their tool is missing
	logged  sync.Map     // what the log has said once of the requests to models
}

// Coder is the agent as the loop sees it. Each turn is a new process, with its prompt and its output in files of their
// own.
type Coder struct {
	Options agent.Options
	run     *Run
}

// Copies are what a reviewer looks at: a checkout of a commit, and what changed between two.
type Copies interface {
	Review(ctx context.Context, commit string) (*git.Review, error)
	Diff(ctx context.Context, from, to string, most int) (string, error)
}

// Goal is what "done" means for a run and who acts until it is. It is settled once, before the run begins.
type Goal struct {
	// resolved: of each role that has criteria, everything is set; nil: no one said anything
	Completion *task.Completion
	Pipeline   []task.Role // nil: the coder, and the reviewer if there is a review
	Caps       map[task.Role]int
	Most       int    // iterations of the run
	Asking     string // a key of the request, before it is resolved
}

// Shown receives what a page shows of a run besides its records, without secrets and bounded. The loop itself calls the
// functions, so they must not wait; nil functions are not called.
type Shown struct {
	// Prompt receives the prompt of an iteration's turn when it begins: at most 128 KiB.
	Prompt func(iteration int, text string)
	// Diff is what an iteration has changed, when it is committed.
	Diff func(iteration int, d html.Diff)
}

// Budget is what the turns of a run are paid from, the agent's and those of reviewers and of models that are asked
// something: none begins when it is empty, and each gets what is left.
type Budget struct {
	limits loop.Limits
	state  func() loop.State
	log    func(format string, args ...any)

	mu     sync.Mutex
	booked loop.Usage // of the state, when spent was last looked at
	spent  loop.Usage // of turns that no record has yet
	warned bool
}

// sandboxes are what the run's processes are kept in: opened once, before the first of them runs.
type sandboxes struct {
	once    sync.Once
	sandbox *sandbox.Sandbox
	err     error
}

// judgingTree is the tree that a run's checks run in. It implements check.Tree.
type judgingTree struct {
	run  *Run
	dir  string // where it lies; its parent is ours alone
	tree *git.JudgeTree

	box     *sandbox.Sandbox
	made    git.Footprint // what the setup has left there, as it left it
	own     []string      // the paths of that
	setAt   string        // the commit that the setup last ran on; empty: it never did
	shared  []*Shared
	home    *homeGuard // nil: the checks have a home of their own
	base    string     // the commit whose setup homes begin with; empty: it has not run
	bare    bool       // the home of the checks lacks what the setup leaves there
	swept   []string   // what was removed of earlier checks before these ones
	strays  git.Strays // what the last check has left
	used    bool       // something has run there since the tree was made what its commit has
	lacking []string   // the parts of that commit that are not available
}

// Shared is a path of the clone that the checks are given.
type Shared struct {
	path    string        // from the top, with slashes
	digest  string        // of what it held before the run's first turn
	changed bool          // it was changed since, and no one has accepted that
	seen    git.Footprint // of the clone's, as it was last known to be the same
	laid    git.Footprint // of the copy
}

// homeGuard remembers them as they were before the first turn.
type homeGuard struct {
	home  string
	files map[string][]byte // by path from there, with slashes; those that were there
}

// line is a check's command.
func (rules Rules) line(name string) string {
	for _, g := range rules.Settings.Guardrails {
		if g.Name == name {
			return g.Command
		}
	}
	return ""
}

// order makes the checks of a run in a state. Each of its methods returns zero or more of them.
type order struct {
	*Run
	s        loop.State
	reviewer *agent.Options // nil: there is no review
	words    Prompts
}
