package engine

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
)

// What becomes of an agent's credential.
const (
	stays    = "s" // with ralph: the agent is carried
	handed   = "h" // to the agent, and the log says so
	silent   = "-" // there is nothing to say
	withheld = "w" // from the agent, and the log says so
	refused  = "x" // the run ends before anything is spent
)

// TestCarried: what the setting gateway comes to, for each agent and credential, on a laptop, in a job, and where a
// sandbox is required.
func TestCarried(t *testing.T) {
	t.Parallel()
	key := map[string]string{"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "GEMINI_API_KEY": "k", "AMP_API_KEY": "k"}
	columns := []struct {
		gateway, sandbox string
		job              bool
	}{{config.GatewayAuto, "", false}, {config.GatewayAuto, "", true}, {config.GatewayAuto, sandbox.Require, false},
		{config.GatewayAuto, sandbox.Require, true}, {config.GatewayRequire, "", false},
		{config.GatewayRequire, sandbox.Require, true},
		{config.Off, "", false}, {config.Off, sandbox.Require, true}}
	for _, c := range []struct {
		name, command string
		keys          map[string]string
		file, text    string // in the home
		parent        []string
		want          string // a column each
	}{
		{"claude with a key", "claude", key, "", "", nil, "ssssss--"},
		{"claude with a subscription", "claude", nil, ".claude/.credentials.json",
			`{"claudeAiOauth":{"accessToken":"t","expiresAt":1}}`, nil, // renewed when the turn begins
			"ssssss--"},
		{"claude led to another provider", "claude", key, "", "", []string{"ANTHROPIC_BASE_URL=nowhere"}, "hxhxxx--"},
		{"codex with a key", "codex", key, "", "", nil, "ssssss--"},
		{"codex with a key in its login", "codex", nil, ".codex/auth.json", `{"OPENAI_API_KEY":"k"}`, nil,
			"ssssss--"},
		{"codex with ChatGPT", "codex", nil, ".codex/auth.json", `{"tokens":{"access_token":"t"}}`, nil,
			"hxhxxx--"},
		{"gemini with Google's login", "gemini", nil, ".gemini/oauth_creds.json", `{"access_token":"t"}`, nil,
			"hxhxxx--"},
		{"gemini with nothing", "gemini", nil, "", "", nil, "----xx--"},
		{"opencode with a key in its login", "opencode", nil, ".local/share/opencode/auth.json",
			`{"openai":{"type":"api","key":"k"}}`, nil, "ssssss--"},
		{"amp with a key", "amp", key, "", "", nil, "xxxxxx--"},
		{"amp whose settings name its key", "amp", map[string]string{"AMP_API_KEY": "k"}, "", "", []string{"NAMED=AMP_API_KEY"},
			"hhxxxx--"},
		{"claude at Bedrock", "claude", nil, "", "", []string{"CLAUDE_CODE_USE_BEDROCK=1", "AWS_REGION=x"}, "xxxxxxxx"},
		{"claude at Bedrock, named", "claude", nil, "", "",
			[]string{"CLAUDE_CODE_USE_BEDROCK=1", "AWS_REGION=x", "NAMED=CLAUDE_CODE_USE_BEDROCK,AWS_*"}, "----xx--"},
		{"amp with nothing", "amp", nil, "", "", nil, "--xxxx--"},
		{"any program with a key", "./agent.sh", key, "", "", nil, "wwwwss--"},
		{"any program whose settings name the key", "./agent.sh", map[string]string{"OPENAI_API_KEY": "k"}, "", "",
			[]string{"NAMED=OPENAI_API_KEY"}, "hhhhss--"},
		{"any program with nothing", "./agent.sh", nil, "", "", nil, "--------"},
	} {
		home := t.TempDir()
		if c.file != "" {
			path := filepath.Join(home, c.file)
			made := os.MkdirAll(filepath.Dir(path), 0o755)
			noError(t, errors.Join(made, os.WriteFile(path, []byte(c.text), 0o600)))
		}
		all := ""
		for _, at := range columns {
			spec := &Spec{Rules: Rules{Settings: config.Settings{Gateway: at.gateway, Sandbox: at.sandbox}},
				Place: Place{InJob: at.job}}
			o, says, err := spec.withGateway(agent.Options{Command: c.command, Host: agent.Host{Keys: c.keys, Home: home, Parent: c.parent, Allow: strings.Split(proc.Value(c.parent, "NAMED"), ",")}}, nil)
			got := silent
			switch {
			case err != nil:
				got = refused
			case o.Gateway != nil:
				got = stays
			case says != "" && len(o.Keys) < len(c.keys):
				got = withheld
			case says != "":
				got = handed
			}
			all += got
			if kept := o.Keys != nil; err != nil && (kept || !invalid.Is(err)) || err == nil && kept != (c.keys != nil) {
				t.Errorf("%s at %+v: keys %v, %v", c.name, at, o.Keys, err)
			}
			if err != nil && !strings.Contains(err.Error(), "set") {
				t.Errorf("%s at %+v: %v does not say what to do", c.name, at, err)
			}
		}
		if all != c.want {
			t.Errorf("%s: %s, want %s", c.name, all, c.want)
		}
	}
}

// TestOwnPrices: the settings say what a model costs, before the list; of one that neither has, the log says so once.
func TestOwnPrices(t *testing.T) {
	t.Parallel()
	cached := 0.5
	spec := &Spec{Rules: Rules{Settings: config.Settings{Gateway: config.GatewayAuto, Prices: []config.Price{
		{Model: "mine", Input: 4, Output: 8, Cached: &cached}, {Model: "gpt-5.5", Input: 1, Output: 1}}}}}
	var said []string
	spec.Log = func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	answers := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, `{"model":%q,"usage":{"input_tokens":3000000,"output_tokens":1000000,`+
			`"input_tokens_details":{"cached_tokens":1000000}}}`, gjson.GetBytes(asked, "model").Str)
	}))
	defer answers.Close()
	told := &sync.Map{}
	for _, c := range []struct {
		model string
		cost  float64
	}{{"mine", 2*4 + 0.5 + 8}, {"gpt-5.5", 4}, {"nobodys", 0}, {"nobodys", 0}} {
		o, _, err := spec.withGateway(agent.Options{Command: "codex", Host: agent.Host{Keys: map[string]string{"OPENAI_API_KEY": "k"}, Home: t.TempDir(), Parent: []string{"OPENAI_BASE_URL=" + answers.URL + "/v1"}}}, told)
		noError(t, err)
		if got := o.Gateway.Prices(c.model); got != (c.cost > 0) {
			t.Errorf("the price of %s is known: %t", c.model, got)
		}
		way, err := o.Gateway.Open(agent.CheckGateway(o).Routes, loop.Left{})
		noError(t, err)
		r, _ := http.NewRequest("POST", way.URL()+"/v1/responses", strings.NewReader(`{"model":"`+c.model+`"}`))
		r.Header.Set("Authorization", "Bearer "+way.Bearer())
		answer, err := http.DefaultClient.Do(r)
		noError(t, err)
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		if err := way.Close(); err != nil {
			t.Error(err)
		}
		if u, asked := way.Usage(); !asked || u.CostUSD != c.cost || u.Tokens() != 4_000_000 {
			t.Errorf("%s: %+v, %t, want %v dollars", c.model, u, asked, c.cost)
		}
	}
	if len(said) != 1 || !strings.Contains(said[0], "the price of the model \"nobodys\" is not known") {
		t.Errorf("the log says %q", said)
	}
}
