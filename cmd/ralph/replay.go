package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/loop"
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
	NoColor    bool   `help:"Show no colours."`
	Timestamps bool   `help:"Begin each line with the time."`
}

// Run implements ralph replay. Its exit code says whether the recording could be read, whatever it tells.
func (c *replayCommand) Run(ctx context.Context, p process) error {
	turn, err := c.replay(ctx, p)
	switch {
	case errors.Is(err, context.Canceled):
		return &endedError{loop.Interrupted.ExitCode(), nil}
	case err != nil:
		return &endedError{loop.Invalid.ExitCode(), err}
	}
	if c.JSON {
		_, err = p.out.Write(replayed(turn))
	}
	return err
}

func (c *replayCommand) replay(ctx context.Context, p process) (loop.Turn, error) {
	o := agent.Options{Command: c.Agent, Dir: p.dir, Parent: p.environ, Completion: c.Completion, Clock: time.Now}
	if !c.JSON {
		o.Console, o.Format = safetext.Coloured(p.out), c.format(p)
	}
	r := agent.Recording{Exit: c.Exit}
	stdout, err := open(p, c.File)
	if err != nil {
		return loop.Turn{}, err
	}
	defer stdout.Close()
	r.Stdout = until{ctx, stdout}
	if name := c.stderr(p.dir); name != "" {
		stderr, err := open(p, name)
		if err != nil {
			return loop.Turn{}, err
		}
		defer stderr.Close()
		r.Stderr = until{ctx, stderr}
	}
	if c.PromptFile != "" {
		prompt, err := os.ReadFile(from(p.dir, c.PromptFile))
		if err != nil {
			return loop.Turn{}, fmt.Errorf("reading the prompt: %w", err)
		}
		r.Prompt = string(prompt)
	}
	return agent.Replay(o, r)
}

// stderr is the file of standard error; "" is none.
func (c *replayCommand) stderr(dir string) string {
	if c.Stderr != "" {
		return c.Stderr
	}
	if before, ok := strings.CutSuffix(c.File, ".jsonl"); ok {
		if _, err := os.Stat(from(dir, before+".stderr")); err == nil {
			return before + ".stderr"
		}
	}
	return ""
}

func (c *replayCommand) format(p process) stream.FormatOptions {
	format := stream.FormatFor(place(p))
	format.UseColor = format.UseColor && !c.NoColor
	format.ShowTimestamp = c.Timestamps
	return format
}

// place is where a command's output goes.
func place(p process) stream.Place {
	env, _ := config.ReadEnvironment(environment(p.environ)) // what is wrong with the rest of it is nothing to us here
	return stream.Place{Terminal: isTerminal(p.out), CI: env.CI || env.Actions, Environ: p.environ}
}

func open(p process, name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(p.in), nil
	}
	file, err := os.Open(from(p.dir, name))
	if err != nil {
		return nil, fmt.Errorf("reading a recording: %w; name a file, or - for standard input", err)
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil, errors.Join(fmt.Errorf("reading a recording: %s is a directory; name a file, or - for standard input",
			name), file.Close())
	}
	return file, nil
}

// from is the path of a file that was named in a directory.
func from(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// replayed is a turn as a JSON object.
func replayed(t loop.Turn) []byte {
	view := struct {
		Class      loop.Class `json:"class"`
		Reason     string     `json:"reason"`
		Text       string     `json:"text"`
		Claims     []string   `json:"claims"`
		Done       bool       `json:"done"`
		CostUSD    float64    `json:"cost_usd"`
		Input      int64      `json:"input_tokens"`
		Output     int64      `json:"output_tokens"`
		CacheRead  int64      `json:"cache_read_tokens"`
		CacheWrite int64      `json:"cache_write_tokens"`
		ResetAt    *time.Time `json:"reset_at"`
		Tools      int        `json:"tools"`
		ToolErrors int        `json:"tool_errors"`
		Session    string     `json:"session"`
	}{
		t.Class, t.Reason, t.Text, []string{}, t.Claim.Done, t.Usage.CostUSD, t.Usage.Input, t.Usage.Output,
		t.Usage.CacheRead,
		t.Usage.CacheWrite, nil, t.Tools, t.ToolErrors, t.Session,
	}
	if t.Claim.Tag != "" {
		view.Claims = append(view.Claims, t.Claim.Text)
	}
	if !t.ResetAt.IsZero() {
		at := t.ResetAt.UTC()
		view.ResetAt = &at
	}
	return plainJSON(view)
}

// plainJSON is a value as JSON that people can read too: indented, and with the < and > of tags as they are.
func plainJSON(value any) []byte {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(value); err != nil { // texts, numbers and booleans
		panic(err)
	}
	return []byte(inertJSON(out.String()))
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
