package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/failure"
	disk "github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

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
	return c.run(ctx, log, c.logFile(name))
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

// run runs the process. Everything that reads the whole output reads it as it comes. name is the log's, for people.
func (c *Command) run(ctx context.Context, log io.Writer, name string) (ending, error) {
	kept := newKept(max(keptBytes, utf8.UTFMax*c.TruncateChars), c.redacted)
	seen, tests := c.Expect.sought(), failure.NewTestCounter()
	writers := []io.Writer{log, kept, seen, tests}
	if c.Console != nil {
		shown := &console{to: c.Console, log: name, left: keptBytes}
		defer shown.end()
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
		Warning: proc.Warning{Soft: c.Soft, OnSoft: c.warn}, Silence: proc.Silence{Idle: silence, Waits: waits},
		Stdout: to, Stderr: to,
	})
	return ending{Result: r, output: kept.String(), seen: seen, tests: tests.Tests(), once: once,
		names: c.redactedNames(tests.Names())}, err
}

// warn tells that the command takes long.
func (c *Command) warn() {
	if c.slow == nil {
		return
	}
	warning := fmt.Sprintf("%s has taken %s", c.Title, safetext.Duration(c.Soft))
	if c.Timeout > 0 {
		warning += fmt.Sprintf("; it is stopped at %s", safetext.Duration(c.Timeout))
	}
	c.slow(warning)
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
	v.Findings = c.fromTop(o.findings(said))
	v.MissingNames = said.MissingNames()
	name := c.Title
	if c.failedItself(o) && o.output != "" {
		v.Hash = said.Signature(name)
	} else { // not the output says why it failed
		v.Hash = failure.Signature(name, no+"\n"+o.output)
		name += "\n" + no
	}
	v.Measure = said.Measure(name, v.Findings, o.tests.Failed, c.source(o.output))
	if v.Measure != nil && o.report.failures > len(v.Findings) { // a verdict keeps no more of them
		all := loop.Quantity{Name: loop.Findings, Value: float64(o.report.failures)}
		v.Measure.Quantities = append([]loop.Quantity{all}, v.Measure.Quantities...)
	}
	v.Reason, v.Killed = no, killed(o.Result)
	if c.failedItself(o) && o.Exit < shellExit {
		if line := firstFailureLine(v.Findings, o.output); line != "" {
			v.Reason += ": " + line
		}
	}
	v.Missing = o.Class == proc.NotFound || c.failedItself(o) && cannotRun(o.Exit)
	v.Output = loop.Excerpt(o.output)
	v.PromptText = c.failureText(o, no, c.logFile(log))
	return v
}

// killed reports whether a signal that was not ours ended a process, or its shell says that one did.
func killed(r proc.Result) bool {
	return r.Class == proc.Signalled || r.Class == proc.Exited && (r.Exit == 128+2 || r.Exit == 128+9 || r.Exit == 128+15)
}

// failedItself reports whether the command itself failed, by its exit code.
func (c *Command) failedItself(o ending) bool { return o.Class == proc.Exited && c.exit(o) != "" }

// readReports reads what the run has written. A report that existed before says nothing about this run.
func (c *Command) readReports(o *ending, before map[string]fs.FileInfo) error {
	now, err := c.reports()
	if err != nil || len(now) == 0 {
		return err
	}
	root, err := os.OpenRoot(c.Dir)
	if err != nil {
		return fmt.Errorf("reading the report %s: %w", c.Expect.Report, err)
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

// redactedNames are names of tests without secrets.
func (c *Command) redactedNames(n *loop.TestNames) *loop.TestNames {
	if n == nil || c.Redact == nil {
		return n
	}
	clean := *n
	for _, list := range []*[]string{&clean.Passed, &clean.Failed, &clean.Skipped} {
		if len(*list) > 0 {
			*list = strings.Split(c.Redact(strings.Join(*list, "\n")), "\n")
		}
	}
	return &clean
}

// findings are those of the report, which says them better, or else those of the output.
func (o ending) findings(said failure.Output) []loop.Finding {
	found := o.report.findings
	if len(found) == 0 {
		found = said.Findings()
	}
	return found[:min(len(found), loop.MaxFindings)]
}

// fromTop names the files of findings from the top of the worktree. A command that works below it names them from
// there.
func (c *Command) fromTop(found []loop.Finding) []loop.Finding {
	if c.Below == "" {
		return found
	}
	out := slices.Clone(found)
	for i, f := range out {
		if f.File != "" && !path.IsAbs(f.File) && !filepath.IsAbs(f.File) {
			out[i].File = path.Join(c.Below, filepath.ToSlash(f.File))
		}
	}
	return out
}

// mostNamed is how many files are read that an output names.
const mostNamed = 100

// source are the lines of the files that an output names, trimmed: a tool that shows some of them says no more by that.
func (c *Command) source(output string) map[string]bool {
	root, err := os.OpenRoot(c.Dir)
	if err != nil {
		return nil
	}
	defer func() { _ = root.Close() }()
	lines, tried := map[string]bool{}, map[string]bool{}
	for _, word := range strings.FieldsFunc(output, func(r rune) bool { return strings.ContainsRune(" \t\r\n:()[]{}<>'\"`,;|", r) }) {
		word = strings.TrimPrefix(strings.TrimRight(word, "."), c.Dir+"/")
		if !strings.ContainsAny(word, "./") || tried[word] || len(tried) == mostNamed {
			continue
		}
		tried[word] = true
		if info, err := root.Lstat(filepath.FromSlash(word)); err != nil || !info.Mode().IsRegular() {
			continue
		}
		content, _ := disk.ReadIn(root, filepath.FromSlash(word), clippedBytes<<8)
		for line := range strings.Lines(string(content)) {
			if line = strings.TrimSpace(line); line != "" {
				lines[line] = true
			}
		}
	}
	return lines
}

// naming is a command whose runners name each test, as far as a variable of theirs asks for that, and that judges nothing else.
func naming(c *Command, with string) Command {
	again := *c
	again.with, again.Lacks, again.Expect.VacuousOK, again.Expect.MinTests = with, nil, true, nil
	again.Env = slices.Clone(c.Env)
	for _, asks := range [][2]string{{"GOFLAGS", "-v"}, {"PYTEST_ADDOPTS", "-vv"}} {
		i := slices.IndexFunc(again.Env, func(v string) bool { return strings.HasPrefix(v, asks[0]+"=") })
		if i < 0 {
			again.Env = append(again.Env, asks[0]+"="+asks[1])
		} else {
			again.Env[i] += " " + asks[1]
		}
	}
	return again
}

func (c *Command) logName(iteration int) string {
	name := fmt.Sprintf("guardrail_%d_%s", iteration, Slug(c.Line))
	if c.LogNth > 1 {
		name += fmt.Sprintf("_%d", c.LogNth)
	}
	if c.with != "" {
		name += "_" + c.with
	}
	return name + ".log"
}

// firstFailureLine is the first place that an output names, or else the line of it that tells.
func firstFailureLine(findings []loop.Finding, output string) string {
	if len(findings) > 0 {
		return safetext.Shorten(safetext.Inert(place(findings[0])), 120)
	}
	return telling(output)
}

// telling is the line of an output that tells what failed.
func telling(output string) string {
	lines := safetext.Map(strings.Split(output, "\n"), safetext.Inert)
	return safetext.Shorten(failure.Telling(strings.Join(lines, "\n")), 120)
}
