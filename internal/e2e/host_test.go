//go:build e2e

package e2e_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// workflow uses host/action.yml as a repository would, and writes its outputs where the test finds them.
const workflow = `on: issues
jobs:
  ralph:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5.0.1
      - id: ralph
        uses: ./host
        with:
          github_token: ${{ secrets.GITHUB_TOKEN }}
          agent: ${{ env.AGENT }}
          timeout_minutes: '5'
          ralph_path: ${{ env.RALPH_PATH }}
          build: 'true'
      - env:
          OUTCOME: ${{ steps.ralph.outputs.outcome }}
          PULL: ${{ steps.ralph.outputs.pr_number }}
          ITERATIONS: ${{ steps.ralph.outputs.iterations }}
          BRANCH: ${{ steps.ralph.outputs.branch_name }}
        run: |
          printf 'outcome=%s\npr_number=%s\niterations=%s\nbranch_name=%s\n' "$OUTCOME" "$PULL" "$ITERATIONS" "$BRANCH" >"$OUTPUTS"
        shell: bash
`

// TestHostAction has a runner take a labelled issue to a pull request with host/action.yml, which builds ralph from
// this source. Act, the runner, is not GitHub's: permissions, concurrency and time limits of jobs are not what is
// tested here.
func TestHostAction(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	log := run(t, act(t, s, ""), 0)
	s.check(t)
	got := outputs(t, filepath.Join(s.dir, "outputs"))
	want := map[string]string{"outcome": "done", "pr_number": "2", "iterations": "2", "branch_name": "ralph/issue-1"}
	for name, value := range want {
		if got[name] != value {
			t.Errorf("output %s is %q, want %q", name, got[name], value)
		}
	}
	if t.Failed() {
		t.Log(log)
	}
}

// TestHostActionWithoutABinary says what is wrong when ralph_path is.
func TestHostActionWithoutABinary(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	log := run(t, act(t, s, "/no/such/ralph"), 1)
	if want := `input ralph_path is "/no/such/ralph", which is no program`; !strings.Contains(log, want) {
		t.Errorf("%s is not in\n%s", want, log)
	}
	if pulls := s.hub.Pulls("alice", "demo"); len(pulls) != 0 {
		t.Errorf("%+v", pulls)
	}
}

// act is the command that runs the workflow on the scene's event, in a checkout of its own that holds this source.
func act(t *testing.T, s scene, ralphPath string) *exec.Cmd {
	t.Helper()
	program := os.Getenv("RALPH_E2E_ACT")
	if program == "" {
		t.Skip("left out: RALPH_E2E_ACT names no act; make e2e installs it")
	}
	checkout := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "cmd", "internal", "host"} {
		run(t, exec.Command("cp", "-R", filepath.Join("..", "..", name), checkout), 0)
	}
	flow := filepath.Join(checkout, ".github", "workflows", "ralph.yml")
	if err := os.MkdirAll(filepath.Dir(flow), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(flow, []byte(workflow), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-qm", "source"}} {
		git := exec.Command("git", append([]string{"-C", checkout, "-c", "user.name=e2e", "-c", "user.email=e2e@example.com"},
			args...)...)
		run(t, git, 0)
	}
	args := []string{"issues", "-W", flow, "-C", checkout, "-e", filepath.Join(s.dir, "event.json"), "-P",
		"ubuntu-latest=-self-hosted",
		"--defaultbranch", "main", "--actor", "alice", "--no-cache-server", "-s", "GITHUB_TOKEN=" + token}
	for _, pair := range append(s.github(), "AGENT="+filepath.Join(s.dir, "agent"),
		"OUTPUTS="+filepath.Join(s.dir, "outputs"), "RALPH_PATH="+ralphPath) {
		args = append(args, "--env", pair)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 12*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = checkout
	cmd.Env = withoutWorkflow(os.Environ())
	return cmd
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
