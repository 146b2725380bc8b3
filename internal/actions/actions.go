// Package actions is the door to the runner of GitHub Actions: masks, log groups, annotations, the job summary,
// outputs.
package actions

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/sethvargo/go-githubactions"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Runner speaks to the runner a job runs on. Outside of one it prints messages plainly and drops the rest. It is safe
// for concurrent use.
type Runner struct {
	mu      sync.Mutex
	out     *lineWriter
	text    *safetext.Console // what is no command of ours
	action  *githubactions.Action
	inside  bool
	output  string // file of GITHUB_OUTPUT
	summary string // file of GITHUB_STEP_SUMMARY
	token   string // ends the foreign output that is being written; empty: commands are obeyed
	depth   int    // how often StopCommands was called and not yet resumed
}

// New makes the runner that getenv describes. Its log goes to stdout.
func New(getenv func(string) string, stdout io.Writer) *Runner {
	out := &lineWriter{w: stdout}
	return &Runner{
		out:     out,
		text:    safetext.NewConsole(out),
		action:  githubactions.New(githubactions.WithGetenv(getenv), githubactions.WithWriter(out)),
		inside:  getenv("GITHUB_ACTIONS") == "true",
		output:  getenv("GITHUB_OUTPUT"),
		summary: getenv("GITHUB_STEP_SUMMARY"),
	}
}

// Inside reports whether there is a runner that obeys commands.
func (r *Runner) Inside() bool { return r.inside }

// Mask makes the runner replace a secret by *** in everything that is logged after it. Of one with several lines, a
// key, each line is a secret, too: what prints it prints it a line at a time. A line of a few characters does not
// count, because it would be found everywhere.
func (r *Runner) Mask(secret string) {
	if secret == "" {
		return
	}
	r.command(func() { r.action.AddMask(secret) }, "")
	if !strings.Contains(secret, "\n") {
		return
	}
	for line := range strings.Lines(secret) {
		if line = strings.TrimSpace(line); len(line) >= leastLine {
			r.command(func() { r.action.AddMask(line) }, "")
		}
	}
}

// leastLine is how many characters a line of a secret must have to be masked on its own.
const leastLine = 8

// IDToken is a new token of GitHub's that says which job this is. The audience is whom it is for: an address.
func (r *Runner) IDToken(ctx context.Context, audience string) (string, error) {
	return r.action.GetIDToken(ctx, audience)
}

// Group folds what is logged until EndGroup under a title.
func (r *Runner) Group(title string) {
	title = safetext.Inert(title)
	r.command(func() { r.action.Group(title) }, title+"\n")
}

// EndGroup ends the group that Group began.
func (r *Runner) EndGroup() { r.command(r.action.EndGroup, "") }

// Notice shows a message on the page of the workflow run.
func (r *Runner) Notice(message string) { r.say("notice: ", r.action.Noticef, message) }

// Warning shows a message on the page of the workflow run.
func (r *Runner) Warning(message string) { r.say("warning: ", r.action.Warningf, message) }

// Error shows a message on the page of the workflow run. It does not make the job fail: the exit code does.
func (r *Runner) Error(message string) { r.say("error: ", r.action.Errorf, message) }

// say shows a message of which nothing commands a terminal.
func (r *Runner) say(grade string, show func(string, ...any), message string) {
	message = strings.TrimSuffix(safetext.InertLines(message), "\n")
	r.command(func() { show("%s", message) }, grade+message+"\n")
}

// Write logs a part of the log between the commands of this package, never within one. It is text: what looks like a
// command in it is not obeyed, whether StopCommands was called or not.
func (r *Runner) Write(p []byte) (int, error) { return r.write(r.text, p) }

func (r *Runner) write(to io.Writer, p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inside && r.token == "" && (bytes.Contains(p, []byte("::")) || bytes.Contains(p, []byte("##["))) {
		r.stop()
		defer r.resume()
	}
	return to.Write(p)
}

// Console is where lines are logged that were made inert before they were colored.
func (r *Runner) Console() io.Writer { return colored{r, safetext.Colored(r.text)} }

type colored struct {
	r    *Runner
	text io.Writer
}

func (c colored) Write(p []byte) (int, error) { return c.r.write(c.text, p) }

// StopCommands makes the runner read what follows as text, until resume is called: an agent or a check that prints
// ::set-output or ::add-mask must not be obeyed. What this package itself says in between is obeyed anyway.
func (r *Runner) StopCommands() (resume func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.depth++; r.depth == 1 {
		r.stop()
	}
	return sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.depth--; r.depth == 0 {
			r.resume()
		}
	})
}

// command says something to the runner, or prints what stands for it outside of one.
func (r *Runner) command(say func(), plain string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endLine() // a command is one only at the beginning of a line
	if !r.inside {
		_, _ = io.WriteString(r.out, plain)
		return
	}
	if r.depth > 0 {
		r.resume()
		defer r.stop()
	}
	say()
}

// stop begins foreign output with a token that no one can have seen before.
func (r *Runner) stop() {
	if !r.inside {
		return
	}
	r.token = "ralph-" + rand.Text()
	r.endLine()
	_, _ = fmt.Fprintf(r.out, "::stop-commands::%s\n", r.token)
}

func (r *Runner) resume() {
	if r.token == "" {
		return
	}
	r.endLine()
	_, _ = fmt.Fprintf(r.out, "::%s::\n", r.token)
	r.token = ""
}

// endLine ends the line that the log is in.
func (r *Runner) endLine() {
	r.out.endLine()
	r.text.Break()
}

// lineWriter knows whether it is at the beginning of a line. A log that cannot be written is no reason to stop a
// run, and go-githubactions panics on it: errors are swallowed.
type lineWriter struct {
	w      io.Writer
	inLine bool
}

func (l *lineWriter) Write(p []byte) (int, error) {
	if len(p) > 0 {
		_, _ = l.w.Write(p)
		l.inLine = p[len(p)-1] != '\n'
	}
	return len(p), nil
}

func (l *lineWriter) endLine() {
	if l.inLine {
		_, _ = l.Write([]byte("\n"))
	}
}
