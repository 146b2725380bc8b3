package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/status"
	"github.com/ralph-loop/ralph/internal/safetext"
)

type replayCommand struct {
	File       string `arg:"" placeholder:"FILE" help:"What the agent printed on standard output; - is standard input."`
	Agent      string `required:"" placeholder:"NAME" help:"Whose output it is: claude, codex, amp, gemini, opencode, command for any other program that prints text, or such a program."`
	JSON       bool   `name:"json" help:"Print what ralph makes of it as one JSON object."`
	Exit       int    `placeholder:"N" help:"The exit code that the agent ended with; negative: the signal that ended it (--exit=-9). Default: 0."`
	Stderr     string `placeholder:"FILE" help:"What the agent printed on standard error. Default: for NAME.jsonl the file NAME.stderr beside it, when there is one."`
	PromptFile string `placeholder:"FILE" help:"What the agent was asked, which is no claim where a program prints it again."`
	Completion string `name:"completion-response" short:"c" default:"DONE" help:"What the agent says in <response> to claim that it is done."`
	NoColor    bool   `help:"Show no colors."`
	Timestamps bool   `help:"Begin each line with the time."`
}

// Run implements ralph replay. Its exit code says whether the recording could be read, whatever it tells.
func (c *replayCommand) Run(ctx context.Context, p process) error {
	turn, err := c.replay(ctx, p)
	if err == nil && c.JSON {
		_, err = p.out.Write(plainJSON(newTurnJSON(turn)))
	}
	return invalid.Mark(err)
}

func (c *replayCommand) replay(ctx context.Context, p process) (loop.Turn, error) {
	o := agent.Options{Command: c.Agent, Dir: p.dir, Host: agent.Host{Parent: p.environ},
		Answer: agent.Answer{Completion: c.Completion}, Clock: time.Now}
	if !c.JSON {
		o.Console, o.Format = safetext.Colored(p.out), stream.FormatFor(p.place())
		o.Format.UseColor = o.Format.UseColor && !c.NoColor
		o.Format.ShowTimestamp = c.Timestamps
	}
	r := agent.Recording{Exit: c.Exit}
	stdout, err := open(p, c.File)
	if err != nil {
		return loop.Turn{}, err
	}
	defer stdout.Close()
	r.Stdout = until{ctx, stdout}
	if name := c.stderr(p); name != "" {
		stderr, err := open(p, name)
		if err != nil {
			return loop.Turn{}, err
		}
		defer stderr.Close()
		r.Stderr = until{ctx, stderr}
	}
	if c.PromptFile != "" {
		prompt, err := os.ReadFile(p.path(c.PromptFile))
		if err != nil {
			return loop.Turn{}, fmt.Errorf("reading the prompt: %w", err)
		}
		r.Prompt = string(prompt)
	}
	return agent.Replay(o, r)
}

// stderr is the file of standard error, or "".
func (c *replayCommand) stderr(p process) string {
	if c.Stderr != "" {
		return c.Stderr
	}
	if before, ok := strings.CutSuffix(c.File, ".jsonl"); ok {
		if _, err := os.Stat(p.path(before + ".stderr")); err == nil {
			return before + ".stderr"
		}
	}
	return ""
}

func open(p process, name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(p.in), nil
	}
	file, err := os.Open(p.path(name))
	if err != nil {
		return nil, fmt.Errorf("reading a recording: %w; name a file, or - for standard input", err)
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil, errors.Join(fmt.Errorf("reading a recording: %s is a directory; name a file, or - for standard input",
			name), file.Close())
	}
	return file, nil
}

// turnJSON is a turn, for programs.
type turnJSON struct {
	Class  loop.Class `json:"class"`
	Reason string     `json:"reason"`
	Text   string     `json:"text"`
	Claims []string   `json:"claims"`
	Done   bool       `json:"done"`
	usageJSON
	ResetAt    status.Moment `json:"reset_at"`
	Tools      int           `json:"tools"`
	ToolErrors int           `json:"tool_errors"`
	Session    string        `json:"session"`
}

func newTurnJSON(t loop.Turn) turnJSON {
	claims := []string{}
	if t.Claim.Tag != "" {
		claims = []string{t.Claim.Text}
	}
	return turnJSON{t.Class, t.Reason, t.Text, claims, t.Claim.Done, usageJSON(t.Usage), status.Moment{Time: t.ResetAt.UTC()},
		t.Tools, t.ToolErrors, t.Session}
}
