//go:build e2e

package e2e_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// job is what a runner printed of a job, with when.
type job struct {
	begun, ended time.Time
	lines        []printed
	code         int
}

type printed struct {
	at   time.Time
	text string
}

// at is when the runner printed a line with the text; zero: it did not.
func (j job) at(text string) time.Time {
	for _, line := range j.lines {
		if strings.Contains(line.text, text) {
			return line.at
		}
	}
	return time.Time{}
}

// log is all of it, without what a log may not have.
func (j job) log() string {
	var b strings.Builder
	for _, line := range j.lines {
		b.WriteString(line.at.Sub(j.begun).Round(time.Millisecond).String() + " ")
		b.WriteString(strings.ReplaceAll(line.text, token, "...") + "\n")
	}
	return b.String()
}

// runner is act, with a cache of its own and where GitHub and the model are for its jobs.
type runner struct {
	program, cache string
	args, env      []string
	engine         []string // where its engine is; nil: where act looks for it
}

// do runs a workflow on an event, in an empty checkout of the scene's repository.
func (r runner) do(t *testing.T, s scene, event, workflow string) job {
	t.Helper()
	checkout := t.TempDir()
	flow := filepath.Join(checkout, ".github", "workflows", "ralph.yml")
	putFile(t, flow, workflow)
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-qm", "workflow"}} {
		run(t, exec.Command("git", append([]string{"-C", checkout, "-c", "user.name=e2e", "-c", "user.email=e2e@example.com"},
			args...)...), 0)
	}
	args := append([]string{event, "-W", flow, "-C", checkout, "-e", filepath.Join(s.dir, "event.json"),
		"--defaultbranch", "main", "--actor", "alice", "--no-cache-server", "-s", "GITHUB_TOKEN=" + token,
		"-s", "ANTHROPIC_API_KEY=" + realKey}, r.args...)
	for _, pair := range append(s.github(), r.env...) {
		args = append(args, "--env", pair)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 16*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.program, args...)
	cmd.Dir = checkout
	cmd.Env = append(withoutWorkflow(os.Environ()), "XDG_CACHE_HOME="+r.cache, "NO_COLOR=1")
	cmd.Env = append(cmd.Env, r.engine...)
	return watched(t, cmd)
}

// watched runs a command and notes when it printed what.
func watched(t *testing.T, cmd *exec.Cmd) (j job) {
	t.Helper()
	out, in, err := os.Pipe()
	noError(t, err)
	cmd.Stdout, cmd.Stderr = in, in
	j.begun = time.Now()
	noError(t, cmd.Start())
	_ = in.Close()
	lines := bufio.NewReader(out)
	for {
		text, err := lines.ReadString('\n')
		if text != "" {
			j.lines = append(j.lines, printed{time.Now(), strings.TrimSpace(text)})
		}
		if err == io.EOF {
			break
		}
		noError(t, err)
	}
	_ = cmd.Wait()
	j.ended, j.code = time.Now(), cmd.ProcessState.ExitCode()
	return j
}

// withoutWorkflow drops what a workflow that runs this test has set: act's steps would inherit it.
func withoutWorkflow(environ []string) []string {
	var kept []string
	for _, pair := range environ {
		if !strings.HasPrefix(pair, "GITHUB_") && !strings.HasPrefix(pair, "RUNNER_") && !strings.HasPrefix(pair, "INPUT_") {
			kept = append(kept, pair)
		}
	}
	return kept
}
