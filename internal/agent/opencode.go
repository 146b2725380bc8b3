package agent

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// opencode is the opencode CLI: `opencode run` with the prompt on standard input, events as JSON lines, with what each
// step cost by the user's own prices. It reports a command only when it has ended, which looks like silence, and
// retried requests only in its log.
//
// It knows no hooks but plugins, so Options.Hooks say nothing to it.
//
// The repository's opencode.json, .opencode directory and rules (AGENTS.md, which the prompt names) are kept out.
// Skills that it finds in .claude and .agents directories are not.
var opencode = dialect{
	name: "opencode",
	keys: []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY",
		"OPENROUTER_API_KEY", "OPENCODE_API_KEY"},
	pass: []string{"OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_MODELS_URL", "OPENCODE_MODELS_PATH",
		"OPENCODE_DISABLE_MODELS_FETCH",
		"OPENCODE_DISABLE_DEFAULT_PLUGINS", "OPENCODE_DISABLE_AUTOCOMPACT", "OPENCODE_EXPERIMENTAL_BASH_DEFAULT_TIMEOUT_MS",
		"OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "OLLAMA_HOST"},
	arguments:   opencodeArguments,
	environment: opencodeEnvironment,
	gateway:     &gatewayConfig{opencodeCarry, opencodeReach, nil},
	prepare:     opencodeFiles,
	login:       opencodeAccount,
	needs: sandboxNeeds{
		hosts: []string{"models.dev", "opencode.ai", "*.opencode.ai", "api.anthropic.com", "api.openai.com",
			"generativelanguage.googleapis.com", "openrouter.ai"},
		// it writes beside its settings
		files: slices.Concat(shared(".local/share/opencode/auth.json"), copied(".config/opencode")),
	},
	output: output{
		decode:    stream.NewOpencode,
		prices:    true,
		counts:    true,
		ends:      true,
		readRetry: opencodeHears,
		phrases: []phrase{
			{loop.MaxTurns, lazy(`^[^:]* (subtype=length|why=MessageOutputLengthError) `)},
			{loop.Declined, lazy(`^[^:]* (subtype=content-filter|why=ContentFilterError) `)},
			{loop.Auth, lazy(`^[^:]* why=ProviderAuthError `)},
			{loop.TooLong, lazy(`^[^:]* why=ContextOverflowError `)},
			{loop.Rejected, lazy(`(?s)^[^:]* why=\S*ModelNotFound|(?i)^[^:]* subtype=[^ :].*` + opencodeRefusal)},
		},
		refusal: lazy(`(?i)` + opencodeRefusal),
	},
}

var opencodeAccount = login{install: "npm install -g opencode-ai",
	how:  "set the key of its model's provider, or run: opencode auth login",
	file: "opencode/auth.json", dir: ".local/share", dirFrom: "XDG_DATA_HOME", lax: true} // there are models without

func opencodeArguments(t *turnInput) []string {
	args := slices.Concat([]string{"run"}, t.Flags)
	if !t.Text {
		args = append(args, "--format", "json")
	}
	if !t.reads() {
		args = append(args, "--auto")
	}
	if t.Model != "" {
		args = append(args, "-m", t.Model)
	}
	return args
}

// opencodeReading are the permissions of a reviewer: the last rule that matches a tool counts.
const opencodeReading = `{"*":"deny","read":"allow","grep":"allow","glob":"allow","list":"allow"}`

func opencodeEnvironment(o Options) []string {
	env := []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_SHARE=1",
		"OPENCODE_DISABLE_TERMINAL_TITLE=1",
		"OPENCODE_PRINT_LOGS=1", "OPENCODE_LOG_LEVEL=ERROR"}
	if !o.AgentSettings {
		env = append(env, "OPENCODE_DISABLE_PROJECT_CONFIG=1")
	}
	switch {
	case o.NoTools:
		env = append(env, `OPENCODE_PERMISSION={"*":"deny"}`)
	case o.ReadOnly:
		env = append(env, "OPENCODE_PERMISSION="+opencodeReading)
	}
	return env
}

// opencodeRefusal is how it answers flags, models and sessions that it does not know, and settings that it cannot read.
const opencodeRefusal = `(?:^opencode run \[message|model not found|session not found|` +
	`config(uration)? (file )?(at|is|invalid)|configinvaliderror|configjsonerror)`

// opencodePaths are the ends of the addresses by which opencode calls the providers that a gateway carries to.
var opencodePaths = map[string]string{"anthropic": "/v1", "openai": "/v1", "google": "/v1beta"}

// opencodeProviders are those, with the variables that opencode reads.
func opencodeProviders() []provider {
	gemini := google
	gemini.from, gemini.keys = "", []string{"GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"}
	claude := anthropic
	claude.keys = claude.keys[:1]
	return []provider{claude, openai, gemini}
}

// opencodeOthers are keys of providers that it cannot be led away from, and what their models begin with.
var opencodeOthers = map[string]string{"OPENROUTER_API_KEY": "openrouter/", "OPENCODE_API_KEY": "opencode/"}

func opencodeCarry(o Options) (routes []Route, why string) {
	chosen, _, _ := strings.Cut(o.Model, "/")
	for key, model := range opencodeOthers {
		if o.Keys[key] != "" && (o.Model == "" || strings.HasPrefix(o.Model, model)) {
			return nil, "the key in " + key + " is for a provider whose address opencode knows itself"
		}
	}
	if where := opencodeOwn(o); where != "" {
		return nil, "opencode's own settings name providers: " + where
	}
	saved, where := opencodeAccount.saved(o)
	for _, p := range opencodeProviders() {
		name, key := p.key(o)
		login := ""
		if kept := saved.Get(p.name); key == "" && kept.Get("type").Str == "api" {
			name, key, login = p.keys[0], kept.Get("key").Str, where
		}
		r, why := p.route(o, name, key)
		if why != "" {
			return nil, why
		}
		if r.Base, r.Login = strings.TrimSuffix(r.Base, "/v1"), login; key != "" {
			routes = append(routes, r)
		}
	}
	if other := opencodeSaved(saved, routes); chosen == "" && other != "" && len(routes) > 0 {
		return nil, "the login for " + oneLine(other) + " in " + where + " cannot be carried, and no model is named: " +
			"name one of another provider in agent.model"
	}
	if chosen != "" && !named(routes, chosen) {
		return nil, "no key is for the model " + oneLine(o.Model)
	}
	return routes, ""
}

func named(routes []Route, name string) bool {
	return slices.ContainsFunc(routes, func(r Route) bool { return r.Name == name })
}

// opencodeSaved is a provider that opencode has a login for, and no route leads to; "" if all have routes.
func opencodeSaved(saved gjson.Result, routes []Route) (name string) {
	saved.ForEach(func(provider, _ gjson.Result) bool {
		if !named(routes, provider.Str) {
			name = provider.Str
		}
		return name == ""
	})
	return name
}

// opencodeOwn is the file of the user's settings that names a provider's address or key; "" if no file does.
func opencodeOwn(o Options) string {
	dir := filepath.Join((&turnInput{Options: o}).home(), ".config", "opencode")
	if xdg := proc.Value(o.Parent, "XDG_CONFIG_HOME"); filepath.IsAbs(xdg) && o.As == nil {
		dir = filepath.Join(xdg, "opencode")
	}
	names := []string{proc.Value(o.Parent, "OPENCODE_CONFIG")}
	for _, dir := range []string{dir, proc.Value(o.Parent, "OPENCODE_CONFIG_DIR")} {
		for _, name := range []string{"config.json", "opencode.json", "opencode.jsonc"} {
			names = append(names, filepath.Join(dir, name))
		}
	}
	for _, name := range names {
		if filepath.IsAbs(name) && settingsIn(name).Get("provider").Exists() {
			return name
		}
	}
	return ""
}

// opencodeBearer is the file that the settings name, so that no tool finds the bearer in its environment.
const opencodeBearer = "bearer"

func opencodeFiles(t *turnInput) error {
	if t.way == nil {
		return nil
	}
	return t.file(opencodeBearer, t.way.Bearer())
}

func opencodeReach(t *turnInput) []string {
	providers := map[string]any{}
	for _, r := range t.routes {
		providers[r.Name] = map[string]any{"options": map[string]any{"baseURL": t.at(r.Name) + opencodePaths[r.Name],
			"apiKey": "{file:" + t.path(opencodeBearer) + "}"}}
	}
	text, _ := json.Marshal(map[string]any{"provider": providers}) // strings
	return []string{"OPENCODE_CONFIG_CONTENT=" + string(text), "OPENCODE_DISABLE_MODELS_FETCH=1"}
}

var (
	opencodeLine = lazy(`^timestamp=\S+ level=[A-Z]+ `)
	opencodeFail = lazy(`message="stream error".* small=false .*error\.error="(?:AI_\w+Error: )?(.*?)"\s*$`)
)

// opencodeHears reads its log. It names a failed request that opencode retries, but neither a status nor how long it
// waits. small=true is a question for the session's title.
func opencodeHears(line string) (a stream.Attempt, ours bool) {
	if !opencodeLine.MatchString(line) {
		return a, false
	}
	if m := opencodeFail.FindStringSubmatch(line); m != nil {
		a.Text = oneLine(m[1])
	}
	return a, true
}
