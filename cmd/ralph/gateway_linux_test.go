package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/model"
	"github.com/ralph-loop/ralph/internal/fake/need"
)

// seeker looks for the key wherever a process can look, and says how often it was found. It knows the key's parts alone,
// so that it does not find itself; NUMBER tells it from the keys of rows beside it, whose processes it can see.
const seeker = `#!/bin/bash
needle=made-up; needle=$needle-NUMBER
printf %s "$needle" | grep -azHf - /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n' | sed 's|^|seen in |'
env | grep "$needle" | sed 's|^|seen in env: |'
grep -ra "$needle" "$HOME" "$PWD" 2>/dev/null | sed 's|^|seen in files: |'
echo "sought by $1, whose gateway is ${ANTHROPIC_BASE_URL:-nowhere}"
`

// carriedClaude seeks, asks its model by the gateway, and works or approves.
const carriedClaude = `#!/bin/bash
[ "$1" != --version ] || { echo 2.1.329; exit; }
p=$(cat)
who=agent; case "$p" in *"# Review"*) who=reviewer;; esac
seek $who >&2
body='{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}'
address=${ANTHROPIC_BASE_URL#http://}
exec 3<>/dev/tcp/${address%:*}/${address#*:}
printf 'POST /v1/messages HTTP/1.1\r\nHost: model\r\nx-api-key: %s\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%s' \
	"$(sh -c "$(printf %s "$*" | sed -n 's/.*"apiKeyHelper":"\([^"]*\)".*/\1/p')")" ${#body} "$body" >&3
echo "$who was answered $(head -1 <&3)" >&2
case $who in
reviewer)
	tree=$(printf '%s' "$p" | sed -n 's/.*to the tree \([0-9a-f]*\):/\1/p' | head -1)
	echo '{"type":"result","subtype":"success","is_error":false,"result":"","structured_output":{"verdict":"approve","tree":"'$tree'","summary":"fine","issues":[]},"usage":{"input_tokens":1,"output_tokens":1}}';;
*)
	echo "hello" > hello.txt
	echo '{"type":"result","subtype":"success","is_error":false,"result":"<response>DONE</response>","usage":{"input_tokens":1,"output_tokens":1}}';;
esac
`

// TestNobodyBelowHoldsTheKey: agent, reviewer and check find the model's key nowhere, while the model is asked with it.
func TestNobodyBelowHoldsTheKey(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		mode, gateway string
		found         bool // as it would be without: the probe can find it
	}{{"off", "auto", false}, {"landlock", "auto", false}, {"bwrap", "auto", false}, {"bwrap", "require", false},
		{"bwrap", "off", true}} {
		if !every && i != 0 && i != 2 {
			continue
		}
		t.Run(c.mode+", gateway "+c.gateway, func(t *testing.T) {
			mode := c.mode
			t.Parallel()
			need.Program(t, "bash")
			if mode == "bwrap" {
				need.Program(t, "bwrap")
			}
			number := fmt.Sprintf("%d0123456789", i+1)
			key := "made-up-" + number
			m := model.New(model.Turn{Text: "Hello."})
			defer m.Close()
			m.Key = key
			home, repo := t.TempDir(), t.TempDir()
			put(t, filepath.Join(home, "bin", "claude"), carriedClaude, 0o755)
			put(t, filepath.Join(home, "bin", "seek"), strings.ReplaceAll(seeker, "NUMBER", number), 0o755)
			put(t, filepath.Join(home, ".gitconfig"), "[user]\n\tname = A\n\temail = a@example.com\n", 0o600)
			if mode != "off" { // where the home is not out of reach
				put(t, filepath.Join(home, ".claude", ".credentials.json"), `{"accessToken":"`+key+`"}`, 0o600)
				put(t, filepath.Join(home, ".claude.json"), `{"primaryApiKey":"`+key+`"}`, 0o600)
			}
			put(t, filepath.Join(repo, "issue.md"), "# Say hello\n\nWrite hello.txt.\n\n## Acceptance criteria\n\n- it greets\n", 0o644)
			put(t, filepath.Join(repo, ".ralph", "settings.json"), `{"agent": {"command": "claude"}, "sandbox": "`+mode+
				`", "guardrails": [{"name": "seek", "command": "seek check; test -f hello.txt"}]}`, 0o644)
			command := func(dir string, args ...string) *exec.Cmd {
				c := exec.Command(args[0], args[1:]...)
				c.Dir = dir
				c.Env = []string{"HOME=" + home, "PATH=" + filepath.Join(home, "bin") + ":" + os.Getenv("PATH"),
					"ANTHROPIC_API_KEY=" + key, "ANTHROPIC_BASE_URL=" + m.URL, "GIT_CONFIG_NOSYSTEM=1"}
				return c
			}
			for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-qm", "seed"}} {
				if out, err := command(repo, append([]string{"git"}, args...)...).CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			out, err := command(repo, "ralph", "run", "--issue", "issue.md", "-m", "1", "--gateway", c.gateway).CombinedOutput()
			told := string(out) + logs(t, repo)
			if err != nil {
				t.Errorf("%v\n%s", err, told)
			}
			if found := regexp.MustCompile(`seen in .*`).FindAllString(told, -1); len(found) > 0 != c.found {
				t.Errorf("the key was found: %q", found)
			}
			if c.found {
				return
			}
			for _, want := range []string{"sought by agent, whose gateway is http://127.0.0.1:",
				"agent was answered HTTP/1.1 200 OK",
				"sought by reviewer, whose gateway is http://127.0.0.1:", "reviewer was answered HTTP/1.1 200 OK",
				"sought by check, whose gateway is nowhere"} {
				if !strings.Contains(told, want) {
					t.Errorf("%q is missing", want)
				}
			}
			if n := len(m.Requests()); n == 0 {
				t.Error("the model was not asked")
			}
			if strings.Contains(told, key) {
				t.Error("the key is in the logs")
			}
		})
	}
}

// logs are the files of all runs in a clone.
func logs(t *testing.T, repo string) (text string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(repo, ".ralph", "runs", "*", "*.[jl]*"))
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err == nil {
			text += fmt.Sprintf("== %s\n%s\n", filepath.Base(file), content)
		}
	}
	return text
}
