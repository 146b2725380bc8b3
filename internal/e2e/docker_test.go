//go:build e2e

package e2e_test

import (
	"os/exec"
	"strings"
	"testing"
)

const image = "ralph-e2e:test"

// TestImage builds the target of the Dockerfile that has no agent, and has a container take a labeled issue to a pull
// request as GitHub does: ralph is root and process 1.
func TestImage(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	e.need(t, "GO_IMAGE", "BASE_IMAGE")
	run(t, e.docker(t, "build", "--network=host", "--target", "ralph", "--build-arg", "VERSION=v0.0.0-e2e",
		"--tag", image, "../.."), 0)
	if out := run(t, e.docker(t, "run", "--rm", "--network=none", "--entrypoint", "ralph", image, "--version"),
		0); !strings.Contains(out, "v0.0.0-e2e") {
		t.Errorf("it calls itself %s", out)
	}
	issueInContainer(t, e)
}

func issueInContainer(t *testing.T, e engine) {
	s := newScene(t)
	for _, name := range []string{"output", "summary"} {
		s.write(t, name, "")
	}
	args := []string{"run", "--rm", "--network=host", "--volume", s.dir + ":/scene", "--workdir", "/github/workspace"}
	environ := append(s.github(), "GITHUB_ACTIONS=true", "GITHUB_EVENT_NAME=issues", "GITHUB_EVENT_PATH=/scene/event.json",
		"GITHUB_ACTOR=alice", "GITHUB_TRIGGERING_ACTOR=alice", "GITHUB_RUN_ID=1", "GITHUB_RUN_ATTEMPT=1", "HOME=/github/home",
		"GITHUB_OUTPUT=/scene/output", "GITHUB_STEP_SUMMARY=/scene/summary", "INPUT_GITHUB_TOKEN="+token,
		"INPUT_AGENT=/scene/agent")
	for _, pair := range environ {
		args = append(args, "--env", pair)
	}
	log := maskless(ends(t, e.docker(t, append(args, image)...)))
	s.check(t)
	if user, _, _ := strings.Cut(s.git(t, "show", "ralph/issue-1:seen.txt"), "\n"); user != "ralph-agent" {
		t.Errorf("the agent ran as %s", user)
	}
	if output := s.read(t, "output"); !strings.Contains(output, "\ndone\n") {
		t.Errorf("outputs: %s", output)
	}
	if summary := s.read(t, "summary"); summary == "" || strings.Contains(summary, token) {
		t.Errorf("summary: %s", summary)
	}
	if strings.Contains(log, token) {
		t.Error("the log has the token")
	}
	if t.Failed() {
		t.Log(strings.ReplaceAll(log, token, "..."))
	}
}

// ends is run for a program that must end well, and whose output may name the token to mask it.
func ends(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, strings.ReplaceAll(string(out), token, "..."))
	}
	return string(out)
}

// maskless drops the commands that tell the runner what to mask: they must name it, and the runner does not log them.
func maskless(log string) string {
	var kept strings.Builder
	for line := range strings.Lines(log) {
		if !strings.HasPrefix(line, "::add-mask::") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}
