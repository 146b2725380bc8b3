package check

import (
	"cmp"
	"context"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/failure"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// Command is a check that runs a shell command and judges how it ended, what it printed and whether it tested anything.
// It runs as the agent's user, with an environment that holds no token and no key.
type Command struct {
	Title   string // its name in verdicts
	Line    string // for the shell
	Bash    bool   // run by bash with pipefail, instead of the system's shell
	Hard    bool
	OnClaim bool          // run only when the agent claims to be done
	Timeout time.Duration // at which it is stopped, which is a failure
	Soft    time.Duration // after which the list logs one warning that the command takes long; 0: never
	OnFailure
	Expect Expect
	Programs
	Place
	LogNth int // of the checks whose log would have the same name: this is the nth; 0 and 1 are the first

	with string               // what it runs with besides the change, for the name of its log; empty: nothing
	slow func(warning string) // gets the warning, from another goroutine; nil: no one does
}

// OnFailure is what a failure does to the next prompt.
type OnFailure struct {
	FailAction    loop.FailAction
	Hint          string
	TruncateChars int    // runes of output that the prompt gets
	TruncateFrom  string // which of them: "head" (the default), "tail" or "both"
}

// Place is where, as whom and within which limits a command runs, and where its output goes.
type Place struct {
	Dir     string
	Below   string       // Dir from the top of the worktree, with slashes, where files of findings are named from; empty: Dir is the top
	Stray   func() error // why nothing may run in Dir, which fails the check; nil: something always may
	Env     []string
	As      *proc.User
	Box     proc.Box            // the sandbox; nil: none
	Limits  proc.Limits         // what it may use of the machine
	LogDir  string              // of guardrail_<iteration>_<slug>.log and verify_<iteration>_<role>[_<stage>].log
	LogAs   string              // LogDir as the prompt names it, from Dir; empty: LogDir
	Redact  func(string) string // removes secrets before anything is cut; nil: nothing does
	Console io.Writer           // what a person sees live; nil: nothing

	start func(context.Context, proc.Spec) (proc.Result, error) // nil: proc.Run
}

// redacted is a text without secrets.
func (p *Place) redacted(s string) string {
	if p.Redact == nil {
		return s
	}
	return p.Redact(s)
}

// logFile is a log's path as the next prompt names it.
func (p *Place) logFile(name string) string { return filepath.Join(cmp.Or(p.LogAs, p.LogDir), name) }

// Name is the check's name in verdicts.
func (c *Command) Name() string { return c.Title }

// Severity is hard unless the setting says soft.
func (c *Command) Severity() loop.Severity { return severity(c.Hard) }

// Needs a turn that left something to judge, and a claim where it waits for one.
func (c *Command) Needs() Need {
	if c.OnClaim {
		return SomeWork | AClaim
	}
	return SomeWork
}

// ending is how a command ended, and what it left to judge.
type ending struct {
	proc.Result
	output string // its beginning and its end, without secrets
	seen   *streamSearch
	report report
	tests  failure.Tests
	names  *loop.TestNames
	once   string // see Watches
}

// Expect is what makes a command pass. The zero value expects the exit code 0, and that tests ran if the output reports
// any.
type Expect struct {
	Exit        *int     // the one good exit code; nil: 0
	Contains    []string // what stdout and stderr together must contain, each byte for byte, anywhere
	NotContains []string // what they must not contain
	// MinTests is how many tests must have run; a command whose number is unknown fails. If 0, none need to. If nil, at
	// least one, if the output or the report gives a number.
	MinTests *int
	// Report names the report that the command writes, a path or a pattern of path.Match from Dir: JUnit XML or SARIF. It
	// can only add failures and the number of tests. Empty: none.
	Report string
	// HidesExit says that the line hides exit codes, by a pipe or "|| true": then every failure in the output counts, not
	// only those of its closing summary.
	HidesExit bool
	// VacuousOK lets a command pass whose output reports that no test ran: in runs that only exit codes decide, and for
	// commands that ran none on the base commit either.
	VacuousOK bool
}

// Programs is what is known of the programs that a command line runs.
type Programs struct {
	Lacks Lacks // nil: nothing looks for a missing program
	// Watches returns what runs a command once that waits for changes of files, by its line, its output and whether that
	// sums up tests; "" if the command is not known to wait. A silent one that waits is ended. nil: nothing looks.
	Watches func(line, output string, summed bool) string
	Present []string // words of the line that were programs before the first turn
}

// Lacks says which program a failure says was missing, "pytest", never a path, and what to do, without its full stop;
// "" when it says so of none.
type Lacks func(exit int, output string) (tool, advice string)

// report is what the reports of a run say together.
type report struct {
	files    int    // written by this run
	bad      string // why one cannot be read
	findings []loop.Finding
	worst    *loop.Finding // the first that is no mere warning
	failures int
	tests    failure.Tests
	names    *loop.TestNames
}

// streamSearch looks for texts in a stream, however it is cut into writes. It keeps no more of it than the longest of them.
type streamSearch struct {
	missing map[string]bool // what has not been seen
	longest int
	end     []byte // of what was written, less than longest
}

func (e Expect) exit() int {
	if e.Exit == nil {
		return 0
	}
	return *e.Exit
}

// argv is the process that runs the command.
func (c *Command) argv() []string {
	if c.Bash {
		return append(slices.Clone(Bash), c.Line)
	}
	return append(Shell(runtime.GOOS), c.Line)
}

// Bash is how bash is given a command line, so that a pipe fails when one of its commands does.
var Bash = []string{"bash", "-o", "pipefail", "-c"}

// Shell is what a command line is given to, by the operating system as Go names it.
func Shell(system string) []string {
	if system == "windows" {
		return []string{"cmd", "/c"}
	}
	return []string{"sh", "-c"}
}

// cannotRun reports whether a shell ended because it could not run a program: 126 not executable, 127 not found.
func cannotRun(exit int) bool { return exit == shellExit || exit == shellExit+1 }
