package check

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// Command is a check that runs a shell command: it says no by its exit code (S1-88…S1-98). It runs as the agent's user, with an
// environment that holds no token and no key.
type Command struct {
	Title         string // its name; the command when it has none of its own
	Line          string // for the shell
	Hard          bool
	FailAction    loop.FailAction
	Hint          string
	Timeout       time.Duration
	TruncateChars int    // runes of output that the next prompt gets
	TruncateFrom  string // which of them: "head" (the default), "tail" or "both" (C9)

	Dir     string
	Env     []string
	As      *proc.User
	LogDir  string              // where guardrail_<iteration>_<slug>.log goes
	LogAs   string              // the same as the prompt names it, from Dir; empty: LogDir
	LogNth  int                 // of the checks whose log would have the same name: this is the nth; 0 and 1 are the first
	Redact  func(string) string // takes secrets out before anything is cut; nil: nothing does
	Console io.Writer           // what a person sees live; nil: nothing
}

const (
	logBytes  = 64 << 20 // of one check's log file
	shellExit = 126      // from here on, a shell says that it could not run the command: 126 not executable, 127 not found
)

// Shell is what a command line is given to, by the operating system as Go names it (S1-88, S1-89).
func Shell(system string) []string {
	if system == "windows" {
		return []string{"cmd", "/c"}
	}
	return []string{"sh", "-c"}
}

// Name is the check's name in verdicts.
func (c *Command) Name() string { return c.Title }

// Severity is hard unless the setting says soft.
func (c *Command) Severity() loop.Severity {
	if c.Hard {
		return loop.Hard
	}
	return loop.Soft
}

// Needs a turn that left something to judge.
func (c *Command) Needs() Need { return SomeWork }

// Run runs the command to its end or its time limit.
func (c *Command) Run(ctx context.Context, at At) (v loop.Verdict, err error) {
	name := c.logName(at.Iteration.N)
	log, err := proc.CreateLog(filepath.Join(c.LogDir, name), logBytes)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	if c.As != nil { // the next prompt names the file, and the agent is that user
		if err := os.Chmod(filepath.Join(c.LogDir, name), 0o644); err != nil {
			return v, fmt.Errorf("letting the agent read the check's output: %w", err)
		}
	}
	most := max(loop.OutputBytes, utf8.UTFMax*c.TruncateChars)
	kept := proc.NewTail(most, most)
	to := io.MultiWriter(log, kept)
	if c.Console != nil {
		lines := newInert(c.Console)
		defer lines.flush()
		to = io.MultiWriter(log, kept, lines)
	}
	r, err := proc.Run(ctx, proc.Spec{
		Argv: append(Shell(runtime.GOOS), c.Line), Dir: c.Dir, Env: c.Env, As: c.As, Timeout: c.Timeout, Stdout: to, Stderr: to,
	})
	if err != nil {
		return v, err
	}
	output := kept.String()
	if c.Redact != nil {
		output = c.Redact(output)
	}
	v.Exit, v.LogFile, v.FailAction = r.Exit, name, c.FailAction
	v.Pass = r.Class == proc.Exited && r.Exit == 0
	if v.Pass {
		return v, nil
	}
	v.Reason = c.reason(r)
	if line := telling(output); line != "" && r.Class == proc.Exited && r.Exit < shellExit {
		v.Reason += ": " + line
	}
	v.Missing = r.Class == proc.NotFound || r.Class == proc.Exited && (r.Exit == shellExit || r.Exit == shellExit+1)
	v.Output = loop.Excerpt(output)
	v.Tell = c.tell(r, filepath.Join(cmp.Or(c.LogAs, c.LogDir), name), output)
	return v, nil
}

func (c *Command) logName(iteration int) string {
	if c.LogNth > 1 {
		return fmt.Sprintf("guardrail_%d_%s_%d.log", iteration, Slug(c.Line), c.LogNth)
	}
	return fmt.Sprintf("guardrail_%d_%s.log", iteration, Slug(c.Line))
}

func (c *Command) reason(r proc.Result) string {
	switch r.Class {
	case proc.TimedOut:
		return fmt.Sprintf("it was stopped after its time limit of %s", c.Timeout)
	case proc.Signalled:
		return "it was ended by " + r.Signal
	case proc.NotFound, proc.NotExecutable:
		return fmt.Sprintf("there is no shell to run it (%s)", Shell(runtime.GOOS)[0])
	}
	switch r.Exit {
	case shellExit:
		return "the command cannot be executed (exit code 126)"
	case shellExit + 1:
		return "a program of the command was not found (exit code 127); install it before ralph runs, or change the check"
	}
	return fmt.Sprintf("it exited with code %d", r.Exit)
}

var failing = regexp.MustCompile(`(?i)\b(fail(ed|ure|s)?|errors?|panic|exception|fatal)\b|✕|✗|✖`)

// telling is the first line of an output that tells what failed, or else its last line that says anything.
func telling(output string) string {
	last := ""
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(proc.Inert(line))
		if failing.MatchString(line) {
			return shorten(line, 120)
		}
		if line != "" {
			last = line
		}
	}
	return shorten(last, 120)
}

// tell is the message of S1-95 for the next prompt. The command stands there as it was written, so that the agent can run it.
func (c *Command) tell(r proc.Result, log, output string) string {
	var b strings.Builder
	switch r.Class {
	case proc.TimedOut:
		fmt.Fprintf(&b, "Guardrail \"%s\" was stopped after %s.\n", c.Line, c.Timeout)
	case proc.Exited:
		fmt.Fprintf(&b, "Guardrail \"%s\" failed with exit code %d.\n", c.Line, r.Exit)
	default:
		fmt.Fprintf(&b, "Guardrail \"%s\" failed: %s.\n", c.Line, c.reason(r))
	}
	if c.Hint != "" {
		fmt.Fprintf(&b, "Hint: %s\n", c.Hint)
	}
	fmt.Fprintf(&b, "Output file: %s\n", log)
	b.WriteString("Output (truncated):\n" + truncate(output, c.TruncateChars, c.TruncateFrom))
	return b.String()
}

const cutMark = "... [truncated]"

// truncate keeps so many runes of an output, whole ones, and says so when that is not all of it (S1-92, S1-93, C9).
func truncate(s string, runes int, from string) string {
	if len(s) <= runes || utf8.RuneCountInString(s) <= runes {
		return s
	}
	switch from {
	case "tail":
		return cutMark + "\n" + lastRunes(s, runes)
	case "both":
		return firstRunes(s, runes-runes/2) + cutMark + "\n" + lastRunes(s, runes/2)
	}
	return firstRunes(s, runes) + cutMark
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

func lastRunes(s string, n int) string {
	end := len(s)
	for ; n > 0 && end > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:end])
		end -= size
	}
	return s[end:]
}

var notSlug = regexp.MustCompile(`[^A-Za-z0-9]+`)

// Slug makes a command part of a file name (S1-98).
func Slug(command string) string {
	s := strings.Trim(notSlug.ReplaceAllString(command, "_"), "_")
	if len(s) > 50 {
		s = strings.TrimRight(s[:50], "_")
	}
	return s
}

// inert writes whole lines to a console, each made harmless.
type inert struct {
	to   *bufio.Writer
	part []byte
	cut  bool // there is more of the line than part
}

const maxConsoleLine = 4 << 10

func newInert(to io.Writer) *inert { return &inert{to: bufio.NewWriter(to)} }

func (w *inert) Write(p []byte) (int, error) {
	for _, b := range p {
		if b == '\n' {
			w.line()
			continue
		}
		if w.cut = len(w.part) == maxConsoleLine; !w.cut {
			w.part = append(w.part, b)
		}
	}
	return len(p), nil
}

func (w *inert) line() {
	line := proc.Inert(string(w.part))
	if w.cut { // maybe within a character
		line = proc.Inert(strings.ToValidUTF8(string(w.part), "")) + " [...]"
	}
	_, _ = fmt.Fprintf(w.to, "  │ %s\n", line)
	_ = w.to.Flush()
	w.part, w.cut = w.part[:0], false
}

func (w *inert) flush() {
	if len(w.part) > 0 {
		w.line()
	}
}
