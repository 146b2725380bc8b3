package loop

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// Severity says whether a failed check blocks.
type Severity string

// Hard checks block; soft ones warn.
const (
	Hard Severity = "hard"
	Soft Severity = "soft"
)

// Verdict is what one check said about one tree.
type Verdict struct {
	Check    string   `json:"check"` // "make test", "claim", "review"
	Severity Severity `json:"severity"`
	Pass     bool     `json:"pass"`
	// Skipped is why the check did not run; a skipped check neither passes nor blocks.
	Skipped  string        `json:"skipped,omitempty"`
	Reason   string        `json:"reason,omitempty"`  // one sentence
	Output   string        `json:"output,omitempty"`  // verbatim, at most OutputLines lines and OutputBytes bytes
	LogFile  string        `json:"log,omitempty"`     // where all of it is, relative to the run's directory
	Exit     int           `json:"exit,omitempty"`    // of the check's command
	Hash     string        `json:"hash,omitempty"`    // failure.Signature of a failure
	Missing  bool          `json:"missing,omitempty"` // the command's tool does not exist
	Killed   bool          `json:"-"`                 // what it ran was ended by a signal that was not ours
	Duration time.Duration `json:"duration_ns"`
	Tree     string        `json:"tree,omitempty"` // the tree it speaks of
	// PromptText is what the next prompt says about the failure, and how it goes in.
	PromptText string     `json:"tell,omitempty"`
	FailAction FailAction `json:"fail_action,omitempty"`
	// Usage is what the check spent on a model: a review.
	Usage *Usage `json:"usage,omitempty"`
	// Role is whose part of the work the check judges; empty: everyone's.
	Role task.Role `json:"role,omitempty"`
	// Verification says that it verifies a promise.
	Verification bool `json:"verification,omitempty"`
	// Waits says of a failed check that it has not been answered yet, by something outside: the run waits, and asks again
	// when it continues.
	Waits bool `json:"waits,omitempty"`
	// Until is when something outside that has not answered may: a usage limit's reset; zero: it is not known.
	Until time.Time `json:"until,omitzero"`
	// Unfixable says of a failed check that no change to the code makes it pass: a person has to fix what the reason
	// names, in the settings or in the environment.
	Unfixable bool `json:"unfixable,omitempty"`
	// Criteria are what a reviewer said of each acceptance criterion.
	Criteria []Criterion `json:"criteria,omitempty"`
	// Later says of a skipped check that another role has to work first.
	Later bool `json:"later,omitempty"`
	// Flaky says that the check failed and passed on one and the same tree.
	Flaky bool `json:"flaky,omitempty"`
	// Findings are the places that the output names, at most MaxFindings.
	Findings []Finding `json:"findings,omitempty"`
	// MissingNames names what the failure says is missing: a module, a symbol, a file.
	MissingNames []string `json:"gap,omitempty"`
	// Measure is the measurable part of the failure; nil: no part.
	Measure *Measure `json:"measure,omitempty"`
	// Concerns are what someone has to accept by name before a run with this verdict is done, at most MaxConcerns. A soft
	// verdict with concerns lets the review be asked.
	Concerns []Concern `json:"concerns,omitempty"`
	// Accepted are the concerns that were accepted: of a reviewer's verdict by it, of another one by a person.
	Accepted []Acceptance `json:"accepted,omitempty"`
	// Rewrites are the tracked files that the check changes on the base commit already, which is undone after each run.
	Rewrites []string `json:"rewrites,omitempty"`
	// Ran is how many tests the output says were run; nil when it does not say.
	Ran *int `json:"ran,omitempty"`
	// AtLeast says that more may have run: a runner that names only what fails has not counted the others.
	AtLeast bool `json:"at_least,omitempty"`
	// Base is the commit of the base branch that the change was merged with to be judged, and Merged the tree of that merge;
	// empty: it was judged as it is.
	Base   string `json:"base,omitempty"`
	Merged string `json:"merged,omitempty"`
	// Tests are those that the output names. Only the verdicts of the base commit keep them in a record.
	Tests *TestNames `json:"tests,omitempty"`
}

// TestNames are tests by name, each list in order. A name may have the group that the test is of before it, with a tab
// between.
type TestNames struct {
	Passed  []string `json:"passed,omitempty"`
	Failed  []string `json:"failed,omitempty"`
	Skipped []string `json:"skipped,omitempty"`
	Cut     bool     `json:"cut,omitempty"` // there are more
}

// What is kept of the names of tests.
const (
	MaxTestNames   = 2000
	TestNamesBytes = 96 << 10
)

// Criterion is what a reviewer said of one acceptance criterion.
type Criterion struct {
	Text   string `json:"criterion"`
	Met    bool   `json:"met"`
	Reason string `json:"reason"` // one or two sentences, at most 500 bytes
}

// MaxFindings is how many findings a verdict keeps.
const MaxFindings = 50

// Finding is one place that a failed check names.
type Finding struct {
	File    string `json:"file,omitempty"` // as the tool writes it, from the directory the check ran in if that is known; slashes
	Line    int    `json:"line,omitempty"` // 1-based; 0: the whole file
	Column  int    `json:"column,omitempty"`
	Test    string `json:"test,omitempty"`  // the test's name, as the tool writes it
	Rule    string `json:"rule,omitempty"`  // the linter's or compiler's code: "E501", "TS2322"
	Level   string `json:"level,omitempty"` // "error" or "warning"; empty: error
	Message string `json:"message"`         // one line, at most 300 bytes
}

// FailAction is how a failed check's text enters the next prompt.
type FailAction string

// The actions: after the prompt, before it, or in its place.
const (
	Append  FailAction = "APPEND"
	Prepend FailAction = "PREPEND"
	Replace FailAction = "REPLACE"
)

// Blocks reports whether the verdict stops the work from being done.
func (v Verdict) Blocks() bool { return v.Severity == Hard && !v.Pass }

// OfBase reports whether a check fails in nothing but what fails on the base commit.
func (v Verdict) OfBase() bool {
	return !v.Pass && len(v.Concerns) > 0 && (v.Concerns[0].Kind == FailedBefore || v.Concerns[0].Kind == MaybeTask)
}

// Says reports whether a soft check that passes has found something that readers of the change should know.
func (v Verdict) Says() bool {
	return v.Severity == Soft && v.Pass && v.Skipped == "" && v.Reason != "" && len(v.Concerns) == 0
}

// What a record keeps of an output.
const (
	OutputLines = 100
	OutputBytes = 16 << 10
)

// Excerpt keeps an output within OutputLines and OutputBytes: its beginning and its end, verbatim, in whole characters.
// Where something is missing stands a line that says how much: "[... N lines truncated ...]" when there were too many
// lines, and "[... N bytes truncated ...]" behind it, or alone, when there were too many bytes. Neither counts as a
// line or a byte that is kept.
func Excerpt(output string) string {
	head, tail, mark := output[:len(output)/2], output[len(output)/2:], ""
	lines := slices.Collect(strings.Lines(output))
	if over := len(lines) - OutputLines; over > 0 {
		half := OutputLines / 2
		head, tail = strings.Join(lines[:half], ""), strings.Join(lines[half+over:], "")
		mark = fmt.Sprintf("[... %d lines truncated ...]\n", over)
	}
	all := len(head) + len(tail)
	if all <= OutputBytes {
		return head + mark + tail
	}
	// the end leaves the beginning what it does not need, and the other way round
	head = safetext.WholeEnd(head[:min(len(head), max(OutputBytes/2, OutputBytes-len(tail)))])
	tail = safetext.WholeStart(tail[max(0, len(tail)-(OutputBytes-len(head))):])
	missing := fmt.Sprintf("[... %d bytes truncated ...]\n", all-len(head)-len(tail))
	if head != "" && !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	return head + mark + missing + tail
}

// Name is what a finding of a check is known again by, and accepted by: its test, or its file with the rule, or the
// check.
func (f Finding) Name(check string) string {
	switch {
	case f.Test != "":
		return ConcernName(f.Test)
	case f.File != "" && f.Rule != "":
		return ConcernName(f.File + ":" + f.Rule)
	case f.File != "":
		return ConcernName(f.File)
	}
	return ConcernName(check)
}

// Failing names what fails in a verdict, each name once: the check alone where nothing is named.
func (v Verdict) Failing() []string {
	if len(v.Findings) == 0 || len(v.Findings) >= MaxFindings {
		return []string{ConcernName(v.Check)}
	}
	var names []string
	for _, f := range v.Findings {
		if name := f.Name(v.Check); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// The names of the checks that every run has; the others are named by their commands.
const (
	SCMCheck    = "scm"    // what a run of a prompt does with an iteration that passed
	AgentCheck  = "agent"  // the turn ended by itself
	ClaimCheck  = "claim"  // the agent says that it is done
	DiffCheck   = "diff"   // something changed at all
	PlanCheck   = "plan"   // of a plan: its rules were kept
	ReviewCheck = "review" // a fresh context approves
)
