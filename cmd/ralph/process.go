package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"golang.org/x/term"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
)

// process is what a command gets of the outside.
type process struct {
	environ []string
	dir     string
	in      *os.File
	out     io.Writer // a console: everything printed there is inert
	args    []string  // what follows the program's name
	notices *shared   // where signals are reported; nil: nowhere that a command could change
}

// environment is the environment that this process was started with, as config reads it.
func (p process) environment() (config.Environment, error) {
	return config.ReadEnvironment(environment(p.environ))
}

// session is this terminal, for a command that prints on standard output.
func (p process) session() (session.Session, error) {
	env, err := p.environment()
	return session.Session{Env: env, Parent: p.environ, Dir: p.dir, Out: p.out, Clock: now}, err
}

// terminal reports whether someone can answer a question on standard input.
func (p process) terminal() bool { return p.in != nil && term.IsTerminal(int(p.in.Fd())) }

// path is the path of a file or a directory that was named on the command line; an empty one is the current directory.
func (p process) path(name string) string { return session.From(p.dir, name) }

// place is where a command's output goes.
func (p process) place() stream.Place {
	env, _ := p.environment() // an error is reported by the commands that need the rest of it
	return stream.Place{Terminal: isTerminal(p.out), CI: env.CI || env.Actions, Environ: p.environ}
}

// endedError carries a command's exit code, and what is still to be printed.
type endedError struct {
	code int
	err  error
}

func (e *endedError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// ended is the exit code for the error of a command, and what to print. After a signal nothing is printed: the error
// only says what the signal stopped.
func ended(ctx context.Context, err error) *endedError {
	known, ok := errors.AsType[*endedError](err)
	switch {
	case err == nil:
		return &endedError{}
	case ok:
		return known
	case errors.Is(err, session.ErrAborted):
		return &endedError{loop.Interrupted.ExitCode(), err}
	case ctx.Err() != nil:
		return &endedError{loop.Interrupted.ExitCode(), nil}
	case invalid.Is(err):
		return &endedError{loop.Invalid.ExitCode(), err}
	}
	return &endedError{loop.Failed.ExitCode(), err}
}

func environment(environ []string) map[string]string {
	m := make(map[string]string, len(environ))
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		m[name] = value
	}
	return m
}

var now = func() time.Time { return time.Now().UTC() }

// print prints a value for programs or for people, for whom what others wrote is made harmless.
func (p process) print(asJSON bool, value any, text string) error {
	if text = safetext.InertLines(text); asJSON {
		text = string(plainJSON(value))
	}
	_, err := io.WriteString(p.out, text)
	return err
}

// plainJSON is a value as JSON that people can read too: indented, and with the < and > of tags as they are.
func plainJSON(value any) []byte {
	text, err := config.Indented(value)
	if err != nil { // strings, numbers and booleans
		panic(err)
	}
	return []byte(inertJSON(string(text)))
}

// inertJSON is the same JSON without a character that a terminal or a runner acts on.
func inertJSON(text string) string {
	var out strings.Builder
	last := rune(0)
	for _, r := range text {
		switch {
		case r > 0xFFFF && unicode.Is(unicode.C, r):
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		case r != '\n' && unicode.Is(unicode.C, r), r == '#' && last == '#':
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			out.WriteRune(r)
		}
		last = r
	}
	return out.String()
}
