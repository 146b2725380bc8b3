//go:build e2e

package e2e_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestContainerOnTheBot has a job take an issue to a pull request, with a review, in containers of the engine that runs
// here. Of docker and podman, one that does not run is passed over.
func TestContainerOnTheBot(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	image := boxImage(t, s)
	s.commit(t, "demo", "choose the sandbox", map[string]string{".ralph/settings.json": `{"sandbox": "container"}`})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, compiledRalph(t), "action")
	cmd.Dir = openDir(t)
	cmd.Env = append(s.github(), "CI=true", "GITHUB_ACTIONS=true", "GITHUB_EVENT_NAME=issues",
		"GITHUB_EVENT_PATH="+filepath.Join(s.dir, "event.json"), "GITHUB_RUN_ID=1", "GITHUB_RUN_ATTEMPT=1",
		"GITHUB_WORKSPACE="+filepath.Join(cmd.Dir, "workspace"), "GITHUB_OUTPUT="+filepath.Join(cmd.Dir, "outputs"),
		"GITHUB_STEP_SUMMARY="+filepath.Join(cmd.Dir, "summary"), "RALPH_WORKSPACE="+filepath.Join(cmd.Dir, "ralph"),
		"RALPH_SANDBOX_IMAGE="+image, "HOME="+cmd.Dir, "PATH="+s.dir+":"+os.Getenv("PATH"), "INPUT_GITHUB_TOKEN="+token,
		"INPUT_AGENT=agent", "INPUT_REVIEWER_AGENT=agent", "INPUT_MAX_ITERATIONS=3")
	log := maskless(ends(t, cmd))
	if !strings.Contains(log, "sandbox: container") || !strings.Contains(log, "check review: passed") || strings.Contains(log, token) {
		t.Errorf("no container, no review or a token is in\n%s", strings.ReplaceAll(log, token, "..."))
	}
	s.check(t)
}

// boxImage is an image of programs of this machine and the scene's agent.
func boxImage(t *testing.T, s scene) string {
	t.Helper()
	engine := ""
	for _, name := range []string{"docker", "podman"} {
		if path, err := exec.LookPath(name); err == nil && engine == "" && exec.Command(path, "info").Run() == nil {
			engine = path
		}
	}
	if engine == "" {
		t.Skip("left out: neither docker nor podman runs here (Debian: apt-get install podman crun catatonit)")
	}
	root := t.TempDir()
	for _, program := range []string{"sh", "git", "make", "grep", "sed", "cat", "id", "env", "tr", "sort"} {
		path, err := exec.LookPath(program)
		noError(t, err)
		needs, _ := exec.Command("ldd", path).Output()
		run(t, exec.Command("install", "-D", path, filepath.Join(root, "bin", program)), 0)
		for _, library := range regexp.MustCompile(`/\S+`).FindAllString(string(needs), -1) {
			run(t, exec.Command("install", "-D", library, filepath.Join(root, library)), 0)
		}
	}
	run(t, exec.Command("install", "-D", filepath.Join(s.dir, "agent"), filepath.Join(root, "bin", "agent")), 0)
	archive := filepath.Join(t.TempDir(), "box.tar")
	run(t, exec.Command("tar", "-C", root, "-cf", archive, "."), 0)
	const image = "ralph-e2e-box:local"
	run(t, exec.Command(engine, "import", archive, image), 0)
	if out, err := exec.Command(engine, "run", "--rm", "--network", "none", image, "/bin/git", "--version").CombinedOutput(); err != nil {
		t.Skipf("left out: %s starts no container here: %v\n%s", engine, err, out)
	}
	return image
}
