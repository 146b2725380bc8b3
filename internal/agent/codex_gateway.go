package agent

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/proc"
)

var (
	// codexElsewhere are settings by which codex asks another provider, as a line of its settings or the value of -c.
	codexElsewhere = lazy(`(?m)^\s*(model_provider|openai_base_url|profile)\s*=`)
	// codexElsewhereFlag are flags by which it does.
	codexElsewhereFlag = lazy(`^(-p|--profile|--profile=.*|-p[^-].*|--oss|--local-provider.*)$|` +
		`^(-c|--config=)?\s*(model_provider|openai_base_url|profile)\s*=`)
)

func codexCarry(o Options) ([]Route, string) {
	for _, flag := range o.Flags {
		if codexElsewhereFlag.MatchString(flag) {
			return nil, "a flag of the agent names another provider"
		}
	}
	dir := proc.Value(o.Parent, "CODEX_HOME")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join((&turnInput{Options: o}).home(), ".codex")
	}
	own := filepath.Join(dir, "config.toml")
	if info, err := os.Lstat(own); err == nil && info.Mode().IsRegular() && info.Size() < settingBytes {
		if text, _ := os.ReadFile(own); codexElsewhere.Match(text) {
			return nil, "codex's own settings name a provider"
		}
	}
	key, where := cmp.Or(o.Keys["CODEX_API_KEY"], o.Keys["OPENAI_API_KEY"]), ""
	base, why := openaiBase(o)
	if key == "" && why == "" {
		key, where, why = codexLogin(o)
	}
	if key == "" || why != "" {
		return nil, why
	}
	return []Route{{Base: base, Header: "authorization", Value: "Bearer " + key, Formats: []string{responsesFormat},
		Extra: openaiHeaders(o), Login: where}}, ""
}

// codexLogin is the key that codex has saved, and where; or why the login there cannot use the gateway. A file
// without a word on how it logs in goes by its key, if it has one.
func codexLogin(o Options) (key, where, why string) {
	saved, where := savedLogin("codex", o)
	key = saved.Get("OPENAI_API_KEY").Str
	switch mode := saved.Get("auth_mode").Str; {
	case mode == "apikey", mode == "" && key != "":
		return key, where, ""
	case saved.Get("tokens").IsObject() || mode != "":
		return "", "", "the login in " + where + " is one of ChatGPT's, which only codex can use: set OPENAI_API_KEY, or " +
			"log in by running: codex login --with-api-key"
	}
	return "", "", ""
}

// codexBearer is the variable that the provider's settings name. The commands that codex runs do not get it.
const codexBearer = "RALPH_TURN"

func codexReach(t *turnInput) []string { return []string{codexBearer + "=" + t.way.Bearer()} }

// codexProvider makes the gateway codex's provider. Its other ways out ask hosts that have nothing to do with the turn.
func codexProvider(t *turnInput) []string {
	if t.way == nil {
		return nil
	}
	provider := fmt.Sprintf(`model_providers.ralph={name="ralph",base_url="%s/v1",wire_api="responses",env_key="%s"}`,
		strings.TrimRight(t.at(""), "/"), codexBearer)
	return []string{"-c", "model_provider=ralph", "-c", provider,
		"-c", `shell_environment_policy.exclude=["` + codexBearer + `"]`, "-c", "features.plugins=false"}
}
