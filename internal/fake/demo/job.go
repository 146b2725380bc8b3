package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
)

// jobGrace is the time that an interrupted job has for its last commit and its reports.
const jobGrace = 12 * time.Second

// solve labels the issue that ralph solves, and runs its job.
func (s *stage) solve(ctx context.Context) (exit int, err error) {
	s.screen.print("A repository whose tests fail, an issue that says why, and a second one that cannot be solved.")
	s.watch.look()
	s.screen.print("\nalice labels issue #1. The agent will fail once; a reviewer will ask for one more thing.")
	return s.job(ctx, solvable, "coder.sh", "5")
}

// giveUp adds the test that cannot pass, labels its issue, and runs the job until three iterations have failed.
func (s *stage) giveUp(ctx context.Context) (exit int, err error) {
	s.screen.print("\nalice adds a test for issue #2, which cannot pass, and labels it. The run may take 3 " +
		"iterations.")
	roots, err := files.ReadFile("roots.sh")
	if err != nil {
		return 0, err
	}
	if _, err := s.hub.CommitFiles(owner, name, "main", "Test the root of 2",
		map[string]string{"tests/roots.sh": string(roots)}); err != nil {
		return 0, fmt.Errorf("adding the hopeless test: %w", err)
	}
	return s.job(ctx, hopeless, "hopeless.sh", "3")
}

// job adds the label and does what a runner does then: it writes the event to a file and runs ralph action.
func (s *stage) job(ctx context.Context, issue int, agent, iterations string) (exit int, err error) {
	s.hub.Label(owner, name, issue, "ralph", owner)
	s.watch.look()
	dir := s.jobDir(issue)
	if err := os.MkdirAll(filepath.Join(dir, "workspace"), 0o755); err != nil {
		return 0, fmt.Errorf("making the job's directory: %w", err)
	}
	event := filepath.Join(dir, "event.json")
	if err := os.WriteFile(event, s.hub.LabeledPayload(owner, name, issue, "ralph", owner), 0o600); err != nil {
		return 0, fmt.Errorf("writing the event: %w", err)
	}
	env := append(s.environ(dir), "CI=true", "GITHUB_ACTIONS=true", "GITHUB_EVENT_NAME=issues", "GITHUB_EVENT_PATH="+event,
		"GITHUB_REPOSITORY="+owner+"/"+name, fmt.Sprintf("GITHUB_RUN_ID=%d", issue), "GITHUB_RUN_ATTEMPT=1",
		"GITHUB_WORKSPACE="+filepath.Join(dir, "workspace"), "GITHUB_OUTPUT="+filepath.Join(dir, "output"),
		"GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary.md"), "RALPH_WORKSPACE="+filepath.Join(dir, "ralph"),
		"INPUT_GITHUB_TOKEN="+token, "INPUT_MAX_ITERATIONS="+iterations,
		"INPUT_AGENT="+s.agent(agent), "INPUT_REVIEWER_AGENT="+s.agent("reviewer.sh"))
	log := &jobLog{print: s.screen.job}
	result, err := proc.Run(ctx, proc.Spec{
		Argv: []string{s.ralph, "action"}, Dir: dir, Env: env, Stdout: log, Stderr: log, Ending: proc.Ending{Grace: jobGrace},
	})
	s.watch.look()
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case err != nil:
		return 0, fmt.Errorf("running %s: %w", s.ralph, err)
	case result.Class != proc.Exited:
		return 0, fmt.Errorf("running %s: it ended by itself: %s %s", s.ralph, result.Class, result.Signal)
	}
	s.screen.job(fmt.Sprintf("(the job has ended with exit code %d after %.1f s)", result.Exit, result.Duration.Seconds()))
	return result.Exit, nil
}

// jobLog prints the lines of a job's log. It prints only the titles of groups and the messages from the runner's commands.
type jobLog struct {
	print func(line string)
	part  string // of a line that has not ended
}

// Write implements io.Writer.
func (l *jobLog) Write(p []byte) (int, error) {
	lines := strings.Split(l.part+string(p), "\n")
	l.part = lines[len(lines)-1]
	for _, line := range lines[:len(lines)-1] {
		command, text, isCommand := strings.Cut(strings.TrimPrefix(line, "::"), "::")
		if !strings.HasPrefix(line, "::") || !isCommand {
			l.print(line)
			continue
		}
		switch kind, _, _ := strings.Cut(command, " "); kind {
		case "group":
			l.print(text)
		case "notice", "warning", "error":
			l.print(kind + ": " + strings.NewReplacer("%0A", "\n", "%0D", "\r", "%25", "%").Replace(text))
		}
	}
	return len(p), nil
}
