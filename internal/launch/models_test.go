//go:build unix

package launch

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/work"
)

const modelKey = "sk-ant-of-the-server-0123456789"

// claude asks its model once a turn, and works or approves. What it has of keys it writes down.
const claude = `#!/bin/bash
[ "$1" != --version ] || { echo 2.1.329; exit; }
p=$(cat)
env | grep -a of-the-server >> FOUND
body='{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}'
address=${ANTHROPIC_BASE_URL#http://}
exec 3<>/dev/tcp/${address%:*}/${address#*:}
printf 'POST /v1/messages HTTP/1.1\r\nHost: model\r\nx-api-key: %s\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%s' \
	"$(sh -c "$(printf %s "$*" | sed -n 's/.*"apiKeyHelper":"\([^"]*\)".*/\1/p')")" ${#body} "$body" >&3
answer=$(cat <&3)
printf '%s\n' "${answer%%$'\n'*}" >> ANSWERS
case "$p" in
*"# Review"*)
	tree=$(printf '%s' "$p" | sed -n 's/.*to the tree \([0-9a-f]*\):/\1/p' | head -1)
	echo '{"type":"result","subtype":"success","is_error":false,"result":"","structured_output":{"verdict":"approve","tree":"'$tree'","summary":"fine","issues":[]},"usage":{"input_tokens":1,"output_tokens":1}}';;
*)
	echo 'add() { echo $(($1 + $2)); }' > add.sh
	echo '{"type":"result","subtype":"success","is_error":false,"result":"<response>DONE</response>","usage":{"input_tokens":1,"output_tokens":1}}';;
esac
`

// TestModels: the model is asked with the server's key, which the job does not have, wherever that is.
func TestModels(t *testing.T) {
	for _, where := range []string{"here", "on a runner"} {
		t.Run(where, func(t *testing.T) { modelsOfAJob(t, where == "here") })
	}
}

func modelsOfAJob(t *testing.T, here bool) {
	t.Parallel()
	var mu sync.Mutex
	asked := map[string]int{}
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.URL.Path+" "+r.Header.Get("X-Api-Key")]++
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"type":"message","model":"claude-sonnet-4-5","usage":{"input_tokens":1000,"output_tokens":500}}`)
	}))
	defer provider.Close()
	w := newWorld(t)
	bin := filepath.Join(w.dir, "bin")
	program := strings.NewReplacer("FOUND", w.shared("found"), "ANSWERS", w.shared("answers")).Replace(claude)
	noError(t, errors.Join(os.Mkdir(bin, 0o755), os.WriteFile(filepath.Join(bin, "claude"), []byte(program), 0o755)))
	w.agent = "claude"
	w.by.Environ = append(w.by.Environ, "PATH="+bin+":"+os.Getenv("PATH"))
	job := w.labeled("5f1e-e", 1)
	job.Models.Environ = []string{"ANTHROPIC_API_KEY=" + modelKey, "ANTHROPIC_BASE_URL=" + provider.URL, "OTHER=1"}
	start := w.by.Start
	if job.Claim = (&keeps{}).claim(); !here {
		start = runnersOf(t, w.gh, func(_ int64, r work.Runner) {
			if err := r.Run(context.Background(), w.by.Environ, time.Now); err != nil {
				t.Error(err)
			}
		}).Start
	}
	r, err := start(t.Context(), job)
	noError(t, err)
	w.must(r, loop.Done)
	mu.Lock()
	defer mu.Unlock()
	if len(asked) != 1 || asked["/v1/messages "+modelKey] != 2 || w.file("found") != "" ||
		w.file("answers") != strings.Repeat("HTTP/1.1 200 OK\r\n", 2) {
		t.Errorf("asked: %v; found: %s; answers: %s", asked, w.file("found"), w.file("answers"))
	}
}

// TestModelsRefused: what the server does not allow is not asked.
func TestModelsRefused(t *testing.T) {
	t.Parallel()
	asked := 0
	provider := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer provider.Close()
	const background = `{"model": "gpt-5.5", "background": true}`
	for _, c := range []struct {
		allowed config.Allowance
		body    string
		want    string // in the answer; empty: the provider is asked
	}{
		{config.Allowance{MaxCostUSD: 2}, "{}", "maxCostUsd of this server cannot limit this run"},
		{config.Allowance{MaxCostUSD: 2}, background, "gatewayThrough"},
		{config.Allowance{MaxCostUSD: 2, GatewayThrough: []string{"background"}}, background, ""},
	} {
		asked = 0
		m := Models{Environ: []string{"OPENAI_API_KEY=" + modelKey, "OPENAI_BASE_URL=" + provider.URL + "/v1"}}.Within(c.allowed)
		turn, environ, err := m.open("http://job", "bearer", t.Logf)
		noError(t, err)
		defer turn.Close()
		if got := strings.Join(environ, " "); got != "OPENAI_API_KEY=bearer OPENAI_BASE_URL=http://job/openai/v1" {
			t.Error(got)
		}
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, turn.URL()+"/openai/v1/responses", strings.NewReader(c.body))
		req.Header.Set("Authorization", "Bearer "+turn.Bearer())
		resp, err := http.DefaultClient.Do(req)
		noError(t, err)
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		if !strings.Contains(string(text), c.want) || (asked > 0) != (c.want == "") {
			t.Errorf("%s: asked %d times, %s: %s", c.body, asked, resp.Status, text)
		}
	}
}

// TestHasKey: an agent has one where it reads the one of its provider that its jobs get.
func TestHasKey(t *testing.T) {
	t.Parallel()
	for key, agents := range map[string][]string{"ANTHROPIC_AUTH_TOKEN": {"claude", "/usr/bin/claude"},
		"ANTHROPIC_API_KEY": {"claude", "/usr/bin/claude", "opencode"}, "CODEX_API_KEY": {"codex"}, "AMP_API_KEY": nil} {
		for _, agent := range []string{"claude", "opencode", "codex", "gemini", "amp", "/usr/bin/claude"} {
			got, known := (Models{Environ: []string{key + "=x", "OPENAI_API_KEY="}}).HasKey(agent)
			if got != slices.Contains(agents, agent) || !known {
				t.Errorf("%s with %s: %v, %v", agent, key, got, known)
			}
		}
	}
	if _, known := (Models{}).HasKey("/opt/ours"); known {
		t.Error("somebody knows the key of a program of one's own")
	}
	if turn, environ, err := (Models{}).open("", "", t.Logf); turn != nil || environ != nil || err != nil {
		t.Error("a job without keys has models", turn, environ, err)
	}
}
