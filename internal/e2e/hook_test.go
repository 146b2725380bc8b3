//go:build e2e && unix

package e2e_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake/model"
	"github.com/ralph-loop/ralph/internal/hook"
)

// hookedAgents are the real agents that know hooks: where each reads them in its home, and how it is run there.
var hookedAgents = map[string]struct {
	file string
	more string // beside the hooks in that file
	env  []string
	args []string
}{
	"claude": {
		file: ".claude/settings.json",
		env: []string{"ANTHROPIC_BASE_URL=@@", "ANTHROPIC_API_KEY=k", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			"DISABLE_AUTOUPDATER=1", "IS_SANDBOX=1"},
		args: []string{"-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"},
	},
	"codex": {
		file: ".codex/hooks.json",
		env:  []string{"FAKE_KEY=k"},
		args: []string{"exec", "--json", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust",
			"-m", "gpt-5.5", "-c", "analytics.enabled=false", "-c", "model_provider=fake",
			"-c", `model_providers.fake={name="fake",base_url="@@/v1",wire_api="responses",env_key="FAKE_KEY"}`, "-"},
	},
	"gemini": {
		file: ".gemini/settings.json",
		more: `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`,
		env: []string{"GOOGLE_GEMINI_BASE_URL=@@", "GEMINI_API_KEY=k", "GEMINI_CLI_TRUST_WORKSPACE=true",
			"GEMINI_CLI_NO_RELAUNCH=true"},
		args: []string{"-m", "gemini-2.5-flash", "--output-format", "stream-json", "--yolo"},
	},
}

// TestRealAgentsObeyHooks: a refused command is not run and its reason reaches the model; so does how full the context
// is; the agent does not stop before everything is committed.
func TestRealAgentsObeyHooks(t *testing.T) {
	t.Parallel()
	ralph := compiledRalph(t)
	for name, a := range hookedAgents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bin := installed(t, name)
			script := []model.Turn{
				{Tools: []model.Tool{model.Bash("echo x > made.txt; cd / && rm -rf home-of-nobody")}},
				{Tools: []model.Tool{model.Bash("echo x > done.txt")}},
				{Text: "DONE"},
				{Tools: []model.Tool{model.Bash("git add -A && git commit -qm all")}},
				{Text: "DONE"},
			}
			m := model.New(script...)
			defer m.Close()
			home, dir := t.TempDir(), t.TempDir()
			settings, _, err := hook.Install(name, "ralph", []byte(a.more))
			if err != nil {
				t.Fatal(err)
			}
			putFile(t, filepath.Join(home, a.file), string(settings))
			putFile(t, filepath.Join(dir, "ralph/tasks.json"),
				`{"project":"p","branchName":"b","description":"d","userStories":[]}`)
			putFile(t, filepath.Join(dir, hook.ActiveFile), `{"skipReview":true}`)
			env := []string{"HOME=" + home, "PATH=" + filepath.Dir(bin) + ":" + filepath.Dir(ralph) + ":" + os.Getenv("PATH"),
				"CLAUDE_CONTEXT_WINDOW=100"}
			var args []string
			for _, v := range a.env {
				env = append(env, strings.ReplaceAll(v, "@@", m.URL))
			}
			for _, v := range a.args {
				args = append(args, strings.ReplaceAll(v, "@@", m.URL))
			}
			in(t, dir, env, "", "sh", "-c", "git init -q && git config user.name a && git config user.email a@b.c && git add "+
				"ralph && git commit -qm first && echo .ralph-active >> .git/info/exclude")
			out := in(t, dir, env, "Do it.", bin, args...)
			for _, id := range regexp.MustCompile(`"(?:session|thread)_id":"([^"]+)"`).FindAllStringSubmatch(out, -1) {
				_ = os.Remove("/tmp/" + hook.AlertsFile(id[1]))
				_ = os.Remove("/tmp/" + hook.BlocksFile(id[1]))
			}
			asked := ""
			for _, r := range m.Requests() {
				asked += r.Body
			}
			for _, want := range []string{"Refused (recursive-delete): rm deletes /home-of-nobody",
				"[CRITICAL] About 100% of the context window is used. Wrap up immediately.",
				"There are uncommitted changes. Before you stop:"} {
				if !strings.Contains(asked, want) {
					t.Errorf("the model is not told %q\n%s", want, out)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, "made.txt")); err == nil {
				t.Error("the refused command was run")
			}
			if got := in(t, dir, env, "", "git", "log", "--format=%s"); got != "all\nfirst\n" {
				t.Errorf("commits: %q\n%s", got, out)
			}
		})
	}
}

func putFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// in runs a program in a directory, and returns what it prints.
func in(t *testing.T, dir string, env []string, stdin, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, program, args...)
	c.Dir, c.Env, c.Stdin = dir, env, strings.NewReader(stdin)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		t.Fatalf("%s: %v\n%s\n%s", program, err, &out, &errs)
	}
	return out.String()
}
