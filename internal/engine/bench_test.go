package engine

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/prompt"
)

// still is a tree in which nothing changes, so that git is left out of the measurement.
type still struct{}

func (still) Commit(context.Context, string, loop.State) (loop.Commit, error) {
	return loop.Commit{SHA: "c", Tree: "t", Empty: true}, nil
}

func (still) Prepare(context.Context, check.Input, bool) (*loop.Verdict, error) { return nil, nil }

func (still) Explain(context.Context, check.Input, *loop.Verdict) error { return nil }

func (still) Clean(context.Context) ([]string, error) { return nil, nil }

func (still) Restore(context.Context) error { return nil }

func asItIs(text string) string { return text }

// BenchmarkIteration is one iteration without git: prompt, agent process, journal, checks. The agent and the check are
// processes that do nothing; what the same two cost when they are started bare is taken off, and what is left is
// reported as own-ms/iteration.
func BenchmarkIteration(b *testing.B) {
	dir := b.TempDir()
	script := filepath.Join(dir, "agent")
	// a program
	noError(b, os.WriteFile(script, []byte("#!/bin/sh\ncat > /dev/null\necho working\n"), 0o700))
	file, err := journal.Open(filepath.Join(dir, "run"))
	noError(b, err)
	defer func() { _ = file.Close() }()
	quiet := func(string, ...any) {}
	l := &Journal{File: file, Clock: time.Now, Redact: asItIs}
	c := Coder{
		agent.Options{Command: script, Dir: dir, Host: agent.Host{Parent: os.Environ()}, Answer: agent.Answer{Completion: "DONE"}},
		&Run{Spec: &Spec{Place: Place{Workspace: Directory(dir), Logs: dir}, Output: Output{Redact: asItIs}}, Dir: dir, Journal: l, budget: &Budget{state: l.State}},
	}
	checks := check.List{
		Tree: still{}, Clock: time.Now, Log: quiet,
		Checks: []check.Check{
			check.Turn{}, check.Claim{Completion: "DONE"}, check.Diff{},
			&check.Command{
				Title: "true", Line: "true", Hard: true,
				OnFailure: check.OnFailure{TruncateChars: 5000}, Place: check.Place{Dir: dir, Env: os.Environ(), LogDir: dir},
			},
		},
	}
	start := loop.Record{
		Type: loop.Started, At: time.Now(), Start: &loop.Start{Run: "r", Task: "t", MaxIterations: b.N},
	}
	if _, err := l.Append(context.Background(), start); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	result, err := loop.Run(context.Background(), context.Background(), loop.Limits{}, loop.Ports{
		Agent: c, Tree: still{}, Checks: checks, Journal: l, Prompt: prompt.Writer{Completion: "DONE"},
		Clock: time.Now, Log: quiet,
	})
	b.StopTimer()
	if err != nil || result.Outcome != loop.Capped || len(result.State.Iterations) != b.N {
		b.Fatalf("%s (%s), %d iterations, %v", result.Outcome, result.Reason, len(result.State.Iterations), err)
	}
	own := b.Elapsed() - bare(b, script)
	b.ReportMetric(own.Seconds()*1000/float64(b.N), "own-ms/iteration")
}

// bare is how long the same processes take by themselves.
func bare(b *testing.B, script string) time.Duration {
	b.Helper()
	begun := time.Now()
	for range b.N {
		for _, cmd := range []*exec.Cmd{exec.Command(script), exec.Command("sh", "-c", "true")} {
			cmd.Stdout = io.Discard
			noError(b, cmd.Run())
		}
	}
	return time.Since(begun)
}
