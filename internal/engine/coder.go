package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Coder is the agent as the loop sees it. Each turn is a new process, with its prompt and its output in files of their
// own.
type Coder struct {
	Options agent.Options
	top     string // of the worktree
	dir     string // the run's own directory, for its output
	prompts string // where the prompts are written for people to read
	State   func() loop.State
	byExit  bool // exit code 0 is a claim
	// a file whose presence after the turn is a claim, from the directory of the agent; empty: none
	doneFile string
	stray    func() error // why nothing may run in the agent's directory; nil: something always may
	redact   func(string) string
	verbose  func(format string, args ...any)
	budget   *Budget
}

// keptTurns is how many turns' files are kept, so that a long run does not fill the disk.
const keptTurns = 100

// Turn implements loop.Agent.
func (c Coder) Turn(ctx context.Context, asked string) (loop.Turn, error) {
	s := c.State()
	n := s.Turning.Iteration
	o := c.Options
	o.Completion, o.Promises = s.Claims(s.Turning.Role, o.Completion)
	o.LogFile, o.PromptFile = filepath.Join(c.dir, agentLog(n)), filepath.Join(c.prompts, promptFile(n))
	o.Title = "Iteration " + s.Of(n)
	defer loop.BeginStep(ctx, "the agent's turn of iteration "+s.Of(n), o.Timeout)()
	c.in(c.dir).remove(agentLog(n-keptTurns), wordsFile(n-keptTurns))
	c.in(c.prompts).remove(promptFile(n - keptTurns))
	if err := c.Write(o.PromptFile, asked); err != nil {
		return loop.Turn{}, err
	}
	if c.stray != nil {
		if err := c.stray(); err != nil {
			return loop.Turn{}, err
		}
	}
	if err := c.forgetDone(); err != nil {
		return loop.Turn{}, err
	}
	c.tell("Iteration %s starting", s.Of(n))
	c.tell("Prompt: %s", safetext.Shorten(asked, 200))
	t, err := c.budget.Turn(ctx, o, asked)
	if err == nil && !t.Claim.Done && s.Promise(s.Turning.Role) == "" {
		t.Claim = c.claim(t)
	}
	if took := t.Duration.Round(100 * time.Millisecond); t.Exit < 0 {
		c.tell("Agent did not end by itself (%s), class %s", took, t.Class)
	} else {
		c.tell("Agent exited with code %d (%s), class %s", t.Exit, took, t.Class)
	}
	c.tell("Completion: %s", describe(t.Claim))
	return t, errors.Join(err, c.keepWords(&t, n))
}

func agentLog(n int) string { return fmt.Sprintf("agent_%d.log", n) }

func promptFile(n int) string { return fmt.Sprintf("prompt_%03d.txt", n) }

// Write puts the prompt where people look for it, and the agent when its prompt is too long for its command line.
func (c Coder) Write(name, asked string) error {
	if c.redact != nil {
		asked = c.redact(asked)
	}
	mode := os.FileMode(0o600)
	if c.Options.As != nil { // the agent is another user, and may have to read it there
		mode = 0o644
	}
	if err := c.in(filepath.Dir(name)).write(filepath.Base(name), []byte(asked), mode); err != nil {
		return fmt.Errorf("writing the prompt down: %w", err)
	}
	return nil
}

// in is a directory that the turn's files are in.
func (c Coder) in(dir string) runDir { return runDir{c.top, dir} }

// forgetDone removes the marker of an earlier turn: only what this one leaves is its word.
func (c Coder) forgetDone() error {
	if c.doneFile == "" {
		return nil
	}
	at, name, err := c.done()
	if err == nil {
		err = errors.Join(at.Remove(name), at.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return invalid.Mark(fmt.Errorf("removing the setting doneFile of an earlier turn: %w", err))
	}
	return nil
}

// done is where the marker is: a directory, and a path in it. A link leads nowhere else.
func (c Coder) done() (*os.Root, string, error) {
	if filepath.IsAbs(c.doneFile) {
		at, err := os.OpenRoot(filepath.Dir(c.doneFile))
		return at, filepath.Base(c.doneFile), err
	}
	at, err := os.OpenRoot(c.Options.Dir)
	return at, filepath.Clean(c.doneFile), err
}

// isDone reports whether the marker is there.
func (c Coder) isDone() bool {
	at, name, err := c.done()
	if err != nil {
		return false
	}
	defer at.Close()
	info, err := at.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// claim is what a turn claims without a tag that says so: by its marker file, or by its exit code.
func (c Coder) claim(t loop.Turn) loop.Claim {
	if c.doneFile != "" && (c.stray == nil || c.stray() == nil) && c.isDone() {
		return loop.Claim{Done: true, Tag: "file", Text: c.doneFile}
	}
	if c.byExit && t.Class == loop.OK && t.Exit == 0 && t.Claim.Tag == "" {
		return loop.Claim{Done: true, Tag: "exit", Text: "0"}
	}
	return t.Claim
}

func describe(c loop.Claim) string {
	switch {
	case c.Done:
		return fmt.Sprintf("matched by <%s>%s", c.Tag, c.Text)
	case c.Tag != "":
		return fmt.Sprintf("not matched by <%s>%s", c.Tag, c.Text)
	}
	return "none found"
}

func (c Coder) tell(format string, args ...any) {
	if c.verbose != nil {
		c.verbose(format, args...)
	}
}

// CommandLine is what the agent is run with, as a shell would write it, for people to read: without secrets among the
// flags.
func CommandLine(c Coder) (string, error) {
	a, err := agent.New(c.Options)
	if err != nil {
		return "", err
	}
	return config.Redact(a.CommandLine()), nil
}
