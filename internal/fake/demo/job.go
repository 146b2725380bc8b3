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

// jobGrace is what an interrupted job has for its last commit and its reports.
const jobGrace = 12 * time.Second

// solvable labels the issue that gets done and runs its job.
func (s *stage) solvable(ctx context.Context) (exit int, err error) {
	s.screen.print("A repository whose tests fail, an issue that says why, and a second one that cannot be solved.")
	s.watch.look()
	s.screen.print("\nalice labels issue #1. The agent will fail once; a reviewer will ask for one more thing.")
	return s.job(ctx, solvable, "coder.sh", "5")
}

// hopeless adds the test that cannot pass, labels its issue and runs the job, which three iterations stop.
func (s *stage) hopeless(ctx context.Context) (exit int, err error) {
	s.screen.print("\nalice adds a test for issue #2, which cannot pass, and labels it. The run may take 3 " +
		"iterations.")
	if _, err := s.hub.CommitFiles(owner, name, "main", "Test the root of 2",
		map[string]string{"tests/roots.sh": roots}); err != nil {
		return 0, fmt.Errorf("adding the hopeless test: %w", err)
	}
	return s.job(ctx, hopeless, "hopeless.sh", "3")
}

// job puts the label on and does what a runner does then: it writes the event to a file and runs ralph action.
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
	env := append(s.runner(dir, event, issue),
		"INPUT_GITHUB_TOKEN="+token, "INPUT_MAX_ITERATIONS="+iterations,
		"INPUT_AGENT="+filepath.Join(s.dir, "agents", agent),
		"INPUT_REVIEWER_AGENT="+filepath.Join(s.dir, "agents", "reviewer.sh"))
	log := &jobLog{say: s.screen.job}
	result, err := proc.Run(ctx, proc.Spec{
		Argv: []string{s.ralph, "action"}, Dir: dir, Env: env, Stdout: log, Stderr: log, Ending: proc.Ending{Grace: jobGrace},
	})
	log.end()
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

// runner is the environment of a job, as far as ralph looks at it: nothing of ours but PATH.
func (s *stage) runner(dir, event string, run int) []string {
	return []string{
		"CI=true", "GITHUB_ACTIONS=true", "GITHUB_EVENT_NAME=issues", "GITHUB_EVENT_PATH=" + event,
		"GITHUB_REPOSITORY=" + owner + "/" + name, "GITHUB_SERVER_URL=" + s.hub.URL(), "GITHUB_API_URL=" + s.hub.APIURL(),
		"GITHUB_GRAPHQL_URL=" + s.hub.GraphQLURL(), fmt.Sprintf("GITHUB_RUN_ID=%d", run), "GITHUB_RUN_ATTEMPT=1",
		"GITHUB_WORKSPACE=" + filepath.Join(dir, "workspace"), "GITHUB_OUTPUT=" + filepath.Join(dir, "output"),
		"GITHUB_STEP_SUMMARY=" + filepath.Join(dir, "summary.md"), "RALPH_WORKSPACE=" + filepath.Join(dir, "ralph"),
		"HOME=" + dir, "PATH=" + os.Getenv("PATH"),
	}
}

// jobLog shows a job's log as a runner does: it obeys commands instead of showing them, and hides what it was told to
// hide.
type jobLog struct {
	say   func(line string)
	part  string   // of a line that has not ended
	masks []string // what is shown as ***
	deaf  string   // the word that makes it obey again; empty while it does
}

// Write implements io.Writer.
func (l *jobLog) Write(p []byte) (int, error) {
	lines := strings.Split(l.part+string(p), "\n")
	l.part = lines[len(lines)-1]
	for _, line := range lines[:len(lines)-1] {
		l.line(strings.TrimSuffix(line, "\r"))
	}
	return len(p), nil
}

// end shows what came without a line's end.
func (l *jobLog) end() {
	if l.part != "" {
		l.line(l.part)
	}
	l.part = ""
}

func (l *jobLog) line(line string) {
	command, text, isCommand := strings.Cut(strings.TrimPrefix(line, "::"), "::")
	if !strings.HasPrefix(line, "::") || !isCommand || l.deaf != "" && command != l.deaf {
		l.show(line)
		return
	}
	text = strings.NewReplacer("%0A", "\n", "%0D", "\r", "%25", "%").Replace(text)
	command, _, _ = strings.Cut(command, " ")
	switch command {
	case l.deaf:
		l.deaf = ""
	case "stop-commands":
		l.deaf = text
	case "add-mask":
		l.masks = append(l.masks, text)
	case "endgroup":
	case "group":
		l.show(text)
	default: // notice, warning, error
		l.show(command + ": " + text)
	}
}

func (l *jobLog) show(text string) {
	for _, secret := range l.masks {
		text = strings.ReplaceAll(text, secret, "***")
	}
	for line := range strings.Lines(text) {
		l.say(strings.TrimRight(line, "\r\n"))
	}
}
