package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/failure"
	disk "github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Command is a check that runs a shell command and judges how it ended, what it printed and whether it tested anything
// . It runs as the agent's user, with an environment that holds no token and no key.
type Command struct {
	Title         string // its name; the command when it has none of its own
	Line          string // for the shell
	Bash          bool   // run by bash with pipefail, instead of the system's shell
	Hard          bool
	FailAction    loop.FailAction
	Hint          string
	Timeout       time.Duration // at which it is stopped, which is a failure
	TruncateChars int           // runes of output that the next prompt gets
	TruncateFrom  string        // which of them: "head" (the default), "tail" or "both"
	Expect        Expect
	// Report names the report that the command writes, a path or a pattern of path.Match from Dir: JUnit XML or SARIF. It
	// can only add failures and the number of tests. Empty: there is none.
	Report string
	// HidesExit says that the line keeps exit codes to itself, by a pipe or "|| true": then every failure counts that the
	// output tells of, not only that of its closing summary.
	HidesExit bool
	// VacuousOK lets a command pass that says that it ran no test. For runs in which exit codes alone decide, and for
	// commands that ran none on the base commit either.
	VacuousOK bool
	// OnClaim says that it is asked only when the agent claims to be done.
	OnClaim bool
	Programs
	// Soft is after how long OnSoft is told, once, from another goroutine, that the command takes long; 0:
	// never. The list puts its log in for an OnSoft that is nil.
	Soft   time.Duration
	OnSoft func(warning string)

	Dir string
	// Dir from the top of the worktree, with slashes: where the files of findings are named from; empty: Dir is the top
	Below string
	// asked before it begins: why nothing may run in Dir, which fails the check; nil: something always may
	Stray   func() error
	Env     []string
	As      *proc.User
	Box     proc.Box            // what it is kept in; nil: nothing
	Limits  proc.Limits         // what it may take of the machine
	LogDir  string              // where guardrail_<iteration>_<slug>.log goes
	LogAs   string              // the same as the prompt names it, from Dir; empty: LogDir
	LogNth  int                 // of the checks whose log would have the same name: this is the nth; 0 and 1 are the first
	Redact  func(string) string // takes secrets out before anything is cut; nil: nothing does
	Console io.Writer           // what a person sees live; nil: nothing

	// it runs a second time in this iteration, and has a log of its own for that
	rerun bool
	// what it runs with beside the change, for the name of its log; empty: nothing
	with  string
	start func(context.Context, proc.Spec) (proc.Result, error) // nil: proc.Run
}

const (
	logBytes  = 64 << 20         // of one check's log file
	keptBytes = 64 << 10         // of an output's beginning, and as many of its end, which are read and shown
	silence   = 30 * time.Second // after which a command may be one that waits for changes of files
	shellExit = 126              // from here on, a shell says that it could not run the command: 126 not executable, 127 not found
)

// Name is the check's name in verdicts.
func (c *Command) Name() string { return c.Title }

// Severity is hard unless the setting says soft.
func (c *Command) Severity() loop.Severity {
	if c.Hard {
		return loop.Hard
	}
	return loop.Soft
}

// Needs a turn that left something to judge, and a claim where it waits for one.
func (c *Command) Needs() Need {
	if c.OnClaim {
		return SomeWork | AClaim
	}
	return SomeWork
}

// Run runs the command to its end or its time limit, and judges it.
func (c *Command) Run(ctx context.Context, at Input) (v loop.Verdict, err error) {
	if c.Stray != nil {
		if why := c.Stray(); why != nil {
			return c.unready(why), nil
		}
	}
	name := c.logName(at.Iteration.N)
	before, err := c.reports()
	if err != nil {
		return v, err
	}
	o, err := c.logged(ctx, name)
	if err != nil {
		return v, err
	}
	if err := c.readReports(&o, before); err != nil {
		return v, err
	}
	v = c.verdict(o, name)
	c.environment(at, o, &v)
	return v, nil
}

// unready is the verdict on a command that must not run where it should.
func (c *Command) unready(why error) loop.Verdict {
	return loop.Verdict{
		Exit: -1, FailAction: c.FailAction, Reason: "it was not run: " + why.Error(),
		PromptText: fmt.Sprintf("The check `%s` was not run: %v.", c.Title, why),
	}
}

// logged runs the process, and keeps what it prints in a log of that name.
func (c *Command) logged(ctx context.Context, name string) (o ending, err error) {
	log, err := c.createLog(name)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	return c.run(ctx, log, filepath.Join(cmp.Or(c.LogAs, c.LogDir), name))
}

func (c *Command) createLog(name string) (io.WriteCloser, error) {
	path := filepath.Join(c.LogDir, name)
	log, err := proc.CreateLog(path, logBytes)
	if err != nil {
		return nil, err
	}
	log.KeepEnd(keptBytes)
	log.Redact(c.Redact)
	if c.As != nil { // the next prompt names the file, and the agent is that user
		if err := log.Open(); err != nil {
			return nil, errors.Join(fmt.Errorf("letting the agent read the check's output: %w", err), log.Close())
		}
	}
	return log, nil
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

// run runs the process. Everything that reads the whole output reads it as it comes. name is the log's, for people.
func (c *Command) run(ctx context.Context, log io.Writer, name string) (ending, error) {
	kept := newKept(max(keptBytes, utf8.UTFMax*c.TruncateChars), c.redacted)
	seen, tests := c.Expect.sought(), failure.NewTestCounter()
	writers := []io.Writer{log, kept, seen, tests}
	if c.Console != nil {
		shown := newEcho(c.Console, name)
		defer func() { shown.end(kept) }()
		writers = append(writers, shown)
	}
	to := io.MultiWriter(writers...)
	once := ""
	waits := func() bool {
		if c.Watches != nil {
			once = c.Watches(c.Line, kept.String(), tests.Tests().Known)
		}
		return once != ""
	}
	start := c.start
	if start == nil {
		start = proc.Run
	}
	r, err := start(ctx, proc.Spec{
		Argv: c.argv(), Dir: c.Dir, Env: c.Env, As: c.As, Box: c.Box, Limits: c.Limits, Timeout: c.Timeout,
		Soft: c.Soft, OnSoft: c.warn, Idle: silence, Waits: waits,
		Stdout: to, Stderr: to,
	})
	return ending{Result: r, output: kept.String(), seen: seen, tests: tests.Tests(), once: once,
		names: c.redactedNames(tests.Names())}, err
}

func (c *Command) redacted(s string) string {
	if c.Redact == nil {
		return s
	}
	return c.Redact(s)
}

// warn tells that the command takes long.
func (c *Command) warn() {
	if c.OnSoft == nil {
		return
	}
	warning := fmt.Sprintf("%s has taken %s", c.Title, safetext.Duration(c.Soft))
	if c.Timeout > 0 {
		warning += fmt.Sprintf("; it is stopped at %s", safetext.Duration(c.Timeout))
	}
	c.OnSoft(warning)
}

// verdict is what the ending means.
func (c *Command) verdict(o ending, log string) loop.Verdict {
	v := loop.Verdict{Exit: o.Exit, LogFile: log, FailAction: c.FailAction, Tests: o.names}
	if o.tests.Known {
		v.Ran, v.AtLeast = &o.tests.Ran, o.tests.AtLeast
	}
	if v.Tests != nil && v.AtLeast {
		v.Tests.Cut = true
	}
	no := c.unmet(o)
	if no == "" {
		v.Pass, v.Reason = true, c.remark(o)
		return v
	}
	said := failure.Read(o.output)
	v.Findings = c.fromTop(o.findings(c.Title, said))
	v.MissingNames = said.MissingNames()
	v.Hash, v.Measure = c.signature(o, said, no), c.measure(o, said, no, v.Findings)
	v.Reason, v.Killed = no, killed(o.Result)
	if o.Class == proc.Exited && o.Exit < shellExit && c.exit(o) != "" {
		if line := firstFailureLine(v.Findings, o.output); line != "" {
			v.Reason += ": " + line
		}
	}
	v.Missing = o.Class == proc.NotFound || o.Class == proc.Exited && (o.Exit == shellExit || o.Exit == shellExit+1) &&
		c.exit(o) != ""
	v.Output = loop.Excerpt(o.output)
	v.PromptText = c.failureText(o, no, filepath.Join(cmp.Or(c.LogAs, c.LogDir), log))
	return v
}

// killed reports whether a signal that was not ours ended a process, or its shell says that one did.
func killed(r proc.Result) bool {
	return r.Class == proc.Signalled || r.Class == proc.Exited && (r.Exit == 128+2 || r.Exit == 128+9 || r.Exit == 128+15)
}

// signature is that of the output where the command itself failed, or else that of why it is not good enough, with the
// output.
func (c *Command) signature(o ending, said failure.Output, no string) string {
	if o.Class == proc.Exited && c.exit(o) != "" && o.output != "" {
		return said.Signature(c.Title)
	}
	return failure.Signature(c.Title, no+"\n"+o.output)
}

// measure is what can be counted of the failure.
func (c *Command) measure(o ending, said failure.Output, no string, found []loop.Finding) *loop.Measure {
	name, failing := c.Title, 0
	if o.tests.Known {
		failing = o.tests.Failed
	}
	if o.Class != proc.Exited || c.exit(o) == "" || o.output == "" {
		name += "\n" + no
	}
	m := said.Measure(name, found, failing, c.source(o.output))
	if m != nil && o.report.failures > len(found) { // a verdict keeps no more of them
		m.Quantities = append([]loop.Quantity{{Name: loop.Findings, Value: float64(o.report.failures)}}, m.Quantities...)
	}
	return m
}

// readReports reads what the run has written. A report from before says nothing of this run, whoever put it there.
func (c *Command) readReports(o *ending, before map[string]fs.FileInfo) error {
	now, err := c.reports()
	if err != nil || len(now) == 0 {
		return err
	}
	root, err := os.OpenRoot(c.Dir)
	if err != nil {
		return fmt.Errorf("reading the report %s: %w", c.Report, err)
	}
	defer func() { _ = root.Close() }()
	left := int64(maxReportsRead)
	for _, name := range slices.Sorted(maps.Keys(now)) {
		info := now[name]
		if old := before[name]; old != nil && unchanged(old, info) {
			continue
		}
		o.report.files++
		if left -= info.Size(); !info.Mode().IsRegular() || info.Size() > maxReportBytes || left < 0 {
			o.report.bad = fmt.Sprintf("its report %s cannot be read: it is not a regular file of at most %d MiB "+
				"(of all reports, %d MiB)", name, maxReportBytes>>20, maxReportsRead>>20)
			continue
		}
		content, err := disk.ReadIn(root, name, maxReportBytes)
		if err != nil {
			return fmt.Errorf("reading the report %s: %w", name, err)
		}
		o.report.take(name, []byte(c.redacted(string(content))))
	}
	o.tests = more(o.tests, o.report.tests)
	if o.names == nil {
		o.names = o.report.names
	}
	return nil
}
