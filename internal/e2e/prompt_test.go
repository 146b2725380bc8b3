//go:build e2e

package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// cli is a real agent CLI and what its user has set to point it at another model: variables, and files in HOME, with
// {model} for the model's address.
type cli struct {
	name, model string
	env         []string
	files       map[string]string
}

// command runs ralph with the CLI in a directory, for a user who has the CLI's variables and files in a new home.
func (c cli) command(t *testing.T, model, dir string, args ...string) (cmd *exec.Cmd, home string) {
	t.Helper()
	bin, home := installed(t, c.name), scratch(t)
	for name, text := range c.files {
		putFile(t, filepath.Join(home, name), text)
	}
	args = append(args, "--agent", c.name)
	if c.model != "" {
		args = append(args, "--model", c.model)
	}
	cmd = exec.CommandContext(t.Context(), compiledRalph(t), args...)
	cmd.Dir = dir
	cmd.Env = append(withoutWorkflow(os.Environ()), "HOME="+home, "PATH="+filepath.Dir(bin)+":"+os.Getenv("PATH"))
	for _, pair := range c.env {
		cmd.Env = append(cmd.Env, strings.ReplaceAll(pair, "{model}", model))
	}
	return cmd, home
}

// project is a repository with files, of which some are committed.
func project(t *testing.T, files map[string]string, committed ...string) string {
	t.Helper()
	dir := scratch(t)
	for name, text := range files {
		putFile(t, filepath.Join(dir, name), text)
	}
	made := exec.Command("sh", append([]string{"-c", `git init -q -b main && git config user.name e2e &&
		git config user.email e2e@example.com && git add -- "$@" && git commit -q --allow-empty -m begin`, "sh"}, committed...)...)
	made.Dir = dir
	run(t, made, 0)
	return dir
}

// claude is the real CLI with a key of its own.
var claude = cli{name: "claude", env: []string{"ANTHROPIC_BASE_URL={model}", "ANTHROPIC_API_KEY=k"}}

// installed is where a real CLI is, or the test is not run.
func installed(t *testing.T, name string) string {
	t.Helper()
	install := exec.Command("sh", "../../testdata/install-agents.sh", name)
	var said strings.Builder
	install.Stderr = &said
	out, err := install.Output()
	if err != nil {
		left := fmt.Sprintf("not run: the real %s cannot be had: %v\n%s", name, err, said.String())
		if slices.Contains(strings.Fields(os.Getenv("CI_E2E_AGENTS")), name) {
			t.Fatal(left)
		}
		t.Skip(left)
	}
	return strings.TrimSpace(string(out))
}

// scratch is a fresh directory outside of the system's temporary one, under which codex makes no sandbox.
func scratch(t *testing.T) string {
	t.Helper()
	tools, err := filepath.Abs("../../.tools")
	noError(t, err)
	dir, err := os.MkdirTemp(tools, "e2e-")
	noError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
