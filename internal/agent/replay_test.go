package agent_test

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/fake/archive"
	"github.com/ralph-loop/ralph/internal/loop"
)

var update = flag.Bool("update", false, "write the golden files")

// places are the three ways in which a turn is shown.
var places = []struct {
	name  string
	place stream.Place
}{
	{"terminal", stream.Place{Terminal: true, Environ: []string{"TERM=xterm"}}},
	{"the log of a job", stream.Place{CI: true}},
	{"pipe", stream.Place{}},
}

// replay shows what people see of a recording, with ␛ for the one control character there is.
func replay(t *testing.T, name string, exit int, place stream.Place) string {
	t.Helper()
	var console bytes.Buffer
	o := agent.Options{
		Command: filepath.Dir(name), Answer: agent.Answer{Completion: "DONE"},
		Display: agent.Display{Console: &console, Format: stream.FormatFor(place)},
		Clock:   func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
	}
	if _, err := agent.Replay(o, recording(t, name, exit)); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(console.String(), "\x1b", "␛")
}

// TestReplayedConsole shows recorded turns at the three kinds of places, as testdata/console.txtar has them.
func TestReplayedConsole(t *testing.T) {
	t.Parallel()
	golden := archive.Files(t, "testdata/console.txtar")
	for name, exit := range map[string]int{
		"claude/success": 0, "claude/two-tools": 0, "claude/partial": 0, "claude/bash-fails": 0, "claude/perm-dontask": 0,
		"claude/json":             0,
		"claude/stream-input-two": 0, "claude/limits-warning-oauth": 0, "claude/empty-answer": 0,
		"claude/max-turns": 1, "claude/e429sub-oauth": 1, "claude/e529": 1, "claude/refused-conn": 1, "claude/bad-flag": 1,
		"claude/no-auth":      1,
		"claude/sigterm-tool": 143, "claude/sigkill-tool": -9,
		"amp/documented-success": 0, "amp/e402-credits": 1,
		"codex/success": 0, "codex/bash-fails": 0, "codex/flaky429": 0, "codex/e429plan": 1,
		"gemini/success": 0, "gemini/two-tools": 0, "gemini/textout": 0, "gemini/e401": 1,
		"opencode/success": 0, "opencode/bash-fails": 0, "opencode/two-tools": 0, "opencode/e401": 1,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := strings.ReplaceAll(name, "/", "-")
			for _, p := range places {
				entry := id + "/" + p.name
				got := replay(t, name, exit, p.place)
				if *update {
					if err := archive.Put("testdata/console.txtar", entry, txtar.File{Name: entry, Data: []byte(got)}); err != nil {
						t.Fatal(err)
					}
				} else if want, known := golden["console/"+entry]; !known || got != want {
					t.Errorf("%s: the console differs from testdata/console.txtar, which -update writes:\n%s", p.name, got)
				}
			}
		})
	}
}

// TestReplay has a row for each thing that replaying takes from outside the stream.
func TestReplay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		command, out, err, prompt string
		exit                      int
		class                     loop.Class
		claim, reason             string
	}{
		"text of claude": {command: "claude", out: "Fine.\n<response>done</response>", class: loop.OK,
			claim: "done"},
		"text of a path to claude": {command: "/opt/bin/claude", out: "Fine.", class: loop.OK},
		"text of a program": {command: "./mine", out: "Fine. <response>DONE</response>", class: loop.OK,
			claim: "DONE"},
		"text of any program": {command: "command", out: "Fine.", class: loop.OK},
		"the prompt is not its word": {command: "command", out: "Say <response>DONE</response>\nFine.",
			prompt: "Say <response>DONE</response>", class: loop.OK},
		"nothing":                    {command: "claude", class: loop.Empty},
		"an exit code":               {command: "command", out: "hm", exit: 3, class: loop.Broke, reason: "exit code 3"},
		"a signal":                   {command: "command", out: "hm", exit: -9, class: loop.Killed, reason: "SIGKILL"},
		"a signal of another number": {command: "command", out: "hm", exit: -64, class: loop.Killed, reason: "signal 64"},
		"words on its standard error": {command: "command", err: "error: 429 too many requests, try again in 5 s", exit: 1,
			class: loop.UsageLimit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn, err := agent.Replay(agent.Options{Command: c.command, Dir: dir, Answer: agent.Answer{Completion: "DONE"}},
				agent.Recording{Stdout: strings.NewReader(c.out), Stderr: strings.NewReader(c.err), Exit: c.exit, Prompt: c.prompt})
			if err != nil || turn.Class != c.class || turn.Claim.Text != c.claim || !strings.Contains(turn.Reason, c.reason) {
				t.Errorf("turn = %+v, %v", turn, err)
			}
		})
	}
	var unknown *agent.UnknownError
	if _, err := agent.Replay(agent.Options{Command: "clod", Dir: dir, Host: agent.Host{Parent: []string{"PATH=" + dir}}},
		agent.Recording{Stdout: strings.NewReader("")}); !errors.As(err, &unknown) {
		t.Errorf("an unknown agent: %v", err)
	}
}

// groups notes what a console says about groups, among its lines.
type groups struct{ bytes.Buffer }

func (g *groups) Group(title string) { g.WriteString("{" + title + "\n") }
func (g *groups) EndGroup()          { g.WriteString("}\n") }

// TestConsoleGroups: what happens in a turn is folded, and how it ended is not.
func TestConsoleGroups(t *testing.T) {
	t.Parallel()
	var console groups
	o := agent.Options{Command: "command", Display: agent.Display{Console: &console, Groups: &console, Title: "claude, iteration 1"}}
	if _, err := agent.Replay(o, agent.Recording{Stdout: strings.NewReader("one"),
		Stderr: strings.NewReader("two")}); err != nil {
		t.Fatal(err)
	}
	if got, want := console.String(), "{claude, iteration 1\none\nstderr: two\n}\n\n[OK] Complete\n"; got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// watched is a reader of pieces that asks what is shown of all before it gives the next.
type watched struct {
	pieces []string
	shown  func() string
	seen   []string
}

func (w *watched) Read(p []byte) (int, error) {
	w.seen = append(w.seen, w.shown())
	if len(w.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(p, w.pieces[0])
	w.pieces = w.pieces[1:]
	return n, nil
}

// TestReplayShowsAtOnce: what came is shown before more of it is taken.
func TestReplayShowsAtOnce(t *testing.T) {
	t.Parallel()
	var console bytes.Buffer
	stdout := &watched{pieces: []string{"one\ntwo\nthr", "ee\n", "four"}, shown: console.String}
	stderr := &watched{pieces: []string{"a\nb", "c\n"}, shown: console.String}
	if _, err := agent.Replay(agent.Options{Command: "command", Display: agent.Display{Console: &console}},
		agent.Recording{Stdout: stdout, Stderr: stderr}); err != nil {
		t.Fatal(err)
	}
	if got, want := stdout.seen, []string{"", "one\ntwo\n", "one\ntwo\nthree\n", "one\ntwo\nthree\n"}; !slices.Equal(got,
		want) {
		t.Errorf("standard output: %q, want %q", got, want)
	}
	if got, want := stderr.seen[1], "one\ntwo\nthree\nstderr: a\n"; got != want {
		t.Errorf("standard error: %q, want %q", got, want)
	}
}

// counted counts what is written, and whether it is whole lines.
type counted struct{ writes, lines, broken int }

func (c *counted) Write(p []byte) (int, error) {
	c.writes++
	c.lines += bytes.Count(p, []byte("\n"))
	if !bytes.HasSuffix(p, []byte("\n")) {
		c.broken++
	}
	return len(p), nil
}

// TestReplayShowsManyLinesAtOnce: a Write each would take longer than all else.
func TestReplayShowsManyLinesAtOnce(t *testing.T) {
	t.Parallel()
	var console counted
	const lines = 100_000
	if _, err := agent.Replay(agent.Options{Command: "command", Display: agent.Display{Console: &console}},
		agent.Recording{Stdout: strings.NewReader(strings.Repeat("a line\n", lines))}); err != nil {
		t.Fatal(err)
	}
	if console.lines < lines || console.writes > lines/100 || console.broken > 0 {
		t.Errorf("%+v", console)
	}
}

// many is a reader of one text so many times, then of an error.
type many struct {
	text  string
	times int
	err   error
	rest  string
}

func (m *many) Read(p []byte) (int, error) {
	if m.rest == "" {
		if m.times == 0 {
			return 0, m.err
		}
		m.times--
		m.rest = m.text
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// TestReplayReadsItsErrors: a recording that cannot be read to its end tells nothing.
func TestReplayReadsItsErrors(t *testing.T) {
	t.Parallel()
	if _, err := agent.Replay(agent.Options{Command: "claude"},
		agent.Recording{Stdout: &many{text: "x\n", times: 2, err: os.ErrDeadlineExceeded}}); !errors.Is(err,
		os.ErrDeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

// BenchmarkReplay200MB says how much memory it takes to show any amount of output.
func BenchmarkReplay200MB(b *testing.B) {
	lines := strings.SplitAfter(recordings(b, "claude")["claude/success.jsonl"], "\n")
	bulk := strings.Join(lines[1:3], "") +
		strings.Replace(lines[3], "File created", strings.Repeat("some words of output ", 500), 1)
	times := 200 << 20 / len(bulk)
	b.SetBytes(int64(times * len(bulk)))
	for b.Loop() {
		turn, err := agent.Replay(agent.Options{Command: "claude", Display: agent.Display{Console: io.Discard}},
			agent.Recording{Stdout: &many{text: bulk, times: times, err: io.EOF}})
		if err != nil || turn.Tools != times {
			b.Fatal(turn, err)
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/(1<<20), "MB-of-memory")
}
