package agent_test

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/fake/archive"
	"github.com/ralph-loop/ralph/internal/loop"
)

var update = flag.Bool("update", false, "write the golden files")

// must is a value that only the machine can fail to give.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

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

// TestReplay has a row for each thing that the words and the end of any program say.
func TestReplay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	const (
		prompt = "Do it well.\nWhen done, say <response>DONE</response>.\n"
		done   = "<response>DONE</response>"
		limits = "I wrote the code for: usage limit reached, invalid API key, 429 too many requests."
	)
	for name, c := range map[string]struct {
		out, err string
		exit     int
		class    loop.Class // "": OK
		done     bool
		text     string // "": what it prints; "-": nothing; "cut": its end
		reason   string
	}{
		"says and claims":                           {out: "Fine.\n<response>done</response>", done: true},
		"what it says aside":                        {out: "Fine.", err: done},
		"an echo is no claim":                       {out: prompt + "Fine.\n", text: "Fine."},
		"an echo with CRLF":                         {out: strings.ReplaceAll(prompt, "\n", "\r\n") + "Fine.\n", text: "Fine."},
		"an echo twice, then it":                    {out: prompt + prompt + done, done: true, text: done},
		"an echo after much else":                   {out: strings.Repeat("x", 2_000_000) + prompt + "Fine.\n", text: "cut"},
		"an echo of which the beginning is missing": {out: prompt + strings.Repeat("x", 1<<20-40), text: "cut"},
		"nothing but the echo":                      {out: prompt, class: loop.Empty, text: "-", reason: "said nothing"},
		"nothing":                                   {out: " \n\t\n", class: loop.Empty, text: "-", reason: "said nothing"},
		"an unfinished promise":                     {out: "<promise>COMPLETE"},
		"the first tag, of any text":                {out: "<promise>complete</promise><response>no</response>", done: true},
		"fails": {out: done, err: "no luck\n", exit: 4, class: loop.Broke, done: true,
			reason: "exit code 4: see its log (it said: no luck)"},
		"fails in its output": {out: "no luck.", exit: 3, class: loop.Broke, reason: "exit code 3: see its log (it said: no luck)"},
		"waits for a human": {out: "Which one?", exit: 42, class: loop.Waits,
			reason: "waits for a person: read its output, answer it, then resume the run (it said: Which one?)"},
		"a program is missing": {err: "sh: 1: no-such-program: not found", exit: 127, class: loop.Missing,
			reason: "could not run a program (exit code 127): install it"},
		"an interpreter is missing": {err: "./a: line 2: ./b: /no/such: bad interpreter: No such file", exit: 1, class: loop.Missing,
			reason: "could not run a program (exit code 1)"},
		"a program is missing after a claim": {out: done, err: "sh: 1: x: not found", exit: 127, class: loop.Broke, done: true,
			reason: "could not run a program (exit code 127)"},
		"a usage limit": {out: "Claude AI usage limit reached|4102444800", exit: 1, class: loop.UsageLimit,
			reason: "rate limit is reached: try again later"},
		"a usage limit aside": {err: "error: 429 too many requests, try again in 5 s", exit: 1, class: loop.UsageLimit},
		"no key": {out: "Working.", err: "Error: Invalid API key", exit: 1, class: loop.Auth,
			reason: "check the one that it takes (it said: Error: Invalid API key)"},
		"talks of limits and is OK":  {out: limits},
		"talked of limits, long ago": {out: limits + strings.Repeat("\n1", 9), exit: 1, class: loop.Broke, reason: "exit code 1"},
		"a number is no status": {out: "500 tests passed, 429 failed, 503 skipped; time limit exceeded",
			err: "invalid argument: see src/login.ts", exit: 1, class: loop.Broke, reason: "exit code 1"},
		"killed by its shell's word": {exit: 137, class: loop.Killed, reason: "ended by a signal"},
		"a signal":                   {out: "hm", exit: -9, class: loop.Killed, reason: "SIGKILL"},
		"a signal of another number": {out: "hm", exit: -64, class: loop.Killed, reason: "signal 64"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn, err := agent.Replay(agent.Options{Command: "./mine", Dir: dir, Answer: agent.Answer{Completion: "DONE"}},
				agent.Recording{Stdout: strings.NewReader(c.out), Stderr: strings.NewReader(c.err), Exit: c.exit, Prompt: prompt})
			if err != nil || turn.Class != cmp.Or(c.class, loop.OK) || turn.Claim.Done != c.done || !strings.Contains(turn.Reason, c.reason) {
				t.Errorf("turn = %+v, %v", turn, err)
			}
			if want := strings.Trim(cmp.Or(c.text, c.out), "-"); c.text != "cut" && turn.Text != want || len(turn.Text) > loop.TextBytes {
				t.Errorf("text = %q, want %q", turn.Text, want)
			}
		})
	}
	var unknown *agent.UnknownError
	if _, err := agent.Replay(agent.Options{Command: "clod", Dir: dir, Host: agent.Host{Parent: []string{"PATH=" + dir}}},
		agent.Recording{Stdout: strings.NewReader("")}); !errors.As(err, &unknown) {
		t.Errorf("an unknown agent: %v", err)
	}
	if _, err := agent.Replay(agent.Options{Command: "claude"}, agent.Recording{Stdout: iotest.ErrReader(io.ErrClosedPipe)}); !errors.Is(err,
		io.ErrClosedPipe) {
		t.Errorf("a recording that cannot be read: %v", err)
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

// TestConsoleIsCut: of a turn its beginning is shown, one line says where the rest is, and how it ended is shown.
func TestConsoleIsCut(t *testing.T) {
	t.Parallel()
	var console bytes.Buffer
	o := agent.Options{Command: "command", LogFile: "/run/agent_1.log", Display: agent.Display{Console: &console}}
	if _, err := agent.Replay(o, agent.Recording{Stdout: strings.NewReader(strings.Repeat(strings.Repeat("x", 63)+"\n", 100_000))}); err != nil {
		t.Fatal(err)
	}
	begin, ok := strings.CutSuffix(console.String(), "[... the rest is not shown here; the output is in agent_1.log ...]\n\n[OK] Complete\n")
	if !ok || len(begin) != 2<<20 {
		t.Errorf("%d bytes, which end with %q", console.Len(), console.String()[console.Len()-200:])
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
