package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	disk "github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// gemini is Google's Gemini CLI: the prompt on standard input, events as JSON lines.
//
// The repository's .gemini directory, its .env file and GEMINI.md (which the prompt names) are kept out: the folder is
// not trusted. Since the CLI refuses to work in such a folder unless the user's own settings say that trust is not
// asked for, it gets a home of its own for the turn, in which what the user has in ~/.gemini is linked and the settings
// are the user's with that said. What tools it may use a policy of ours says then, since --yolo counts only in a
// trusted folder. ~/.gemini/.env is not read.
//
// Hooks are an extension in that home: those of settings count only in a folder that is trusted. In one that is not,
// the CLI refuses every git command, whatever a policy says, so that it cannot commit.
//
// Of a failed request it leaves a file in the temporary directory that may hold the whole conversation, so it gets one
// of its own, too.
//
// Its notices of requests that it tries again come on standard error. It stops with 0 and without a result when it is
// interrupted.
var gemini = dialect{
	name: "gemini",
	keys: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"},
	pass: []string{"GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA",
		"GOOGLE_CLOUD_PROJECT",
		"GOOGLE_CLOUD_LOCATION", "GEMINI_MODEL", "GEMINI_CLI_CUSTOM_HEADERS", "GEMINI_TELEMETRY_ENABLED"},
	arguments:      geminiArguments,
	environment:    geminiEnvironment,
	gateway:        &gatewayConfig{geminiCarry, geminiReach, nil},
	prepare:        geminiFiles,
	maxPromptBytes: 8 << 20, // bytes; it cuts off what is more
	login:          geminiAccount,
	needs: sandboxNeeds{
		hosts: []string{"generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com",
			"accounts.google.com", "aiplatform.googleapis.com"},
		files: slices.Concat(shared(".gemini/oauth_creds.json", ".gemini/google_accounts.json"),
			shown(".gemini/settings.json", ".gemini/GEMINI.md",
				".gemini/extensions", ".gemini/commands", ".gemini/policies"), copied(".gemini/installation_id")),
	},
	output: output{
		decode:   stream.NewGemini,
		counts:   true,
		ends:     true,
		ownExits: true,
		noisy:    true,
		phrases: []phrase{
			{loop.Auth, lazy(`^exit=41 `)},
			{loop.Rejected, lazy(`^exit=(42|52|55) `)}, // no input, a broken configuration, a folder that is not trusted
			{loop.MaxTurns, lazy(`^exit=53 `)},
			{loop.UsageLimit, lazy(`Suggested retry after`)}, // whatever it says of quotas and billing
			{loop.Billing, lazy(`requires billing`)},
			{loop.Empty, lazy(`returned an empty response`)},
			{loop.Declined, lazy(`(?i)response was blocked|prohibited_content|blocked due to|blocked by safety`)},
			{loop.Network, lazy(`(?i)ended without a finish reason|API Error: terminated|stream (was|is) (interrupted|incomplete)`)},
		},
		refusal: lazy(`Unknown argument|Invalid values:|Error resuming session`),
	},
}

var geminiAccount = login{install: "npm install -g @google/gemini-cli",
	how: "set GEMINI_API_KEY, or log in by running: gemini", file: "oauth_creds.json", dir: ".gemini"}

const geminiPolicy = "policy.toml"

func geminiArguments(t *turnInput) []string {
	args := []string{"--output-format", "stream-json"}
	if t.Text {
		args = []string{"--output-format", "text"}
	}
	switch {
	case t.reads() || !t.AgentSettings:
		args = append(args, "--policy", t.path(geminiPolicy))
	default:
		args = append(args, "--yolo")
	}
	if t.Model != "" {
		args = append(args, "-m", t.Model)
	}
	return slices.Concat(t.Flags, args)
}

func geminiEnvironment(o Options) []string {
	return []string{"GEMINI_CLI_NO_RELAUNCH=true", fmt.Sprintf("GEMINI_CLI_TRUST_WORKSPACE=%t", o.AgentSettings)}
}

// What gemini's tools may do. The last priority of a tier is 999; the CLI's own rules are below that tier.
const (
	geminiAll     = "[[rule]]\ntoolName = \"*\"\ndecision = \"allow\"\npriority = 998\nallowRedirection = true\n"
	geminiNothing = "[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 999\n"
	geminiReading = "[[rule]]\ntoolName = [\"read_file\", \"read_many_files\", \"list_directory\", \"glob\", " +
		"\"grep_search\"]\ndecision = \"allow\"\npriority = 999\n\n" +
		"[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 998\n"
)

// geminiFiles writes the policy, makes the temporary directory, and the home in which the folder need not be trusted.
func geminiFiles(t *turnInput) error {
	policy := geminiAll
	switch {
	case t.NoTools:
		policy = geminiNothing
	case t.ReadOnly:
		policy = geminiReading
	}
	if err := t.file(geminiPolicy, policy); err != nil {
		return err
	}
	if err := os.Mkdir(t.path("tmp"), 0o700); err != nil {
		return err
	}
	t.env = append(t.env, "TMPDIR="+t.path("tmp"))
	if err := geminiSystem(t); err != nil {
		return err
	}
	if t.AgentSettings && len(t.hooks()) == 0 {
		return nil
	}
	if err := os.Mkdir(t.path(".gemini"), 0o700); err != nil {
		return err
	}
	theirs := filepath.Join(t.home(), ".gemini")
	if err := geminiLinks(theirs, t.path(".gemini"), t.AgentSettings); err != nil {
		return err
	}
	settings, err := geminiSettings(theirs, t.Options)
	if err != nil {
		return err
	}
	if err := geminiHooks(t, theirs); err != nil {
		return err
	}
	t.env = append(t.env, "GEMINI_CLI_HOME="+t.dir)
	return t.file(filepath.Join(".gemini", "settings.json"), settings)
}

// geminiLinks links what the user has, as logins, sessions and commands, without the settings; with all, what says
// which folders are trusted and .env as well.
func geminiLinks(from, to string, all bool) error {
	entries, err := os.ReadDir(from)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading %s: %w", from, err)
	}
	for _, e := range entries {
		if name := e.Name(); name != "settings.json" && (all || name != "trustedFolders.json" && name != ".env") {
			if err := os.Symlink(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// geminiExtension is what the hooks are to the CLI.
const geminiExtension = "ralph-hooks-of-this-run"

// geminiHooks writes the hooks as an extension, beside links to those that the user has.
func geminiHooks(t *turnInput, theirs string) error {
	hooks := t.hooks()
	if len(hooks) == 0 {
		return nil
	}
	extensions := filepath.Join(".gemini", "extensions")
	if err := os.Remove(t.path(extensions)); err != nil && !errors.Is(err, fs.ErrNotExist) { // the link to all of them
		return err
	}
	own := filepath.Join(extensions, geminiExtension)
	if err := os.MkdirAll(t.path(filepath.Join(own, "hooks")), 0o700); err != nil {
		return err
	}
	if err := geminiLinks(filepath.Join(theirs, "extensions"), t.path(extensions), true); err != nil {
		return err
	}
	text, err := json.Marshal(map[string]any{"hooks": hooks})
	if err != nil {
		return err
	}
	if err := t.file(filepath.Join(own, "hooks", "hooks.json"), string(text)); err != nil {
		return err
	}
	return t.file(filepath.Join(own, "gemini-extension.json"), `{"name":"`+geminiExtension+`","version":"1.0.0"}`)
}

// geminiSettings are the user's settings, but, unless those of the repository count, that trust is not asked for, that
// no .env file of the repository counts and, when they do not say how to log in, that a key is used which we hold.
// Those of another user are not read: a link there could lead anywhere.
func geminiSettings(dir string, o Options) (string, error) {
	settings := map[string]any{}
	if o.As == nil {
		raw, err := disk.Read(filepath.Join(dir, "settings.json"))
		if err == nil {
			raw, err = hujson.Standardize(raw)
		}
		if err == nil {
			err = json.Unmarshal(raw, &settings)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("reading gemini's settings in %s: %w", dir, err)
		}
	}
	if !o.AgentSettings {
		into(settings, "security", "folderTrust")["enabled"] = false
		into(settings, "advanced")["ignoreLocalEnv"] = true
	}
	if o.Gateway != nil {
		geminiCarried(settings, o)
	}
	if auth := into(settings, "security", "auth"); o.Keys["GEMINI_API_KEY"] != "" && auth["selectedType"] == nil {
		auth["selectedType"] = "gemini-api-key"
	}
	raw, err := json.Marshal(settings)
	return string(raw), err
}

// The ways to log in of gemini that go by a key.
const (
	geminiByKey    = "gemini-api-key"
	geminiByVertex = "vertex-ai"
)

var vertex = provider{"google", "https://aiplatform.googleapis.com", "GOOGLE_VERTEX_BASE_URL", "", google.header,
	[]string{"GOOGLE_API_KEY"}, google.formats}

// geminiWay is the provider that gemini asks with a key of the harness, and what the CLI calls that.
func geminiWay(o Options) (p provider, way string) {
	if isOn(proc.Value(o.Parent, "GOOGLE_GENAI_USE_VERTEXAI")) {
		return vertex, geminiByVertex
	}
	return google, geminiByKey
}

func isOn(value string) bool { return value == "true" || value == "1" }

func geminiCarry(o Options) ([]Route, string) {
	p, way := geminiWay(o)
	if isOn(proc.Value(o.Parent, "GOOGLE_GENAI_USE_GCA")) {
		return nil, "GOOGLE_GENAI_USE_GCA leads gemini to a login of Google's"
	}
	if said := geminiChosen(filepath.Join((&turnInput{Options: o}).home(), ".gemini", "settings.json")); o.As == nil &&
		said != "" && said != way {
		return nil, "gemini's own settings say that it logs in by " + oneLine(said)
	}
	_, key := p.key(o)
	where := ""
	if key == "" && way == geminiByKey {
		key, where = geminiSaved(o)
	}
	r, why := p.only(o, "", key, where)
	if key == "" || why != "" {
		return nil, why
	}
	return []Route{r}, ""
}

// geminiSaved is the key that its user has in a file of variables, and where. gemini reads the first of these files
// that exists.
func geminiSaved(o Options) (key, where string) {
	home := (&turnInput{Options: o}).home()
	for _, name := range []string{filepath.Join(".gemini", ".env"), ".env"} {
		file := filepath.Join(home, name)
		text, err := disk.Read(file)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			said, ok := strings.CutPrefix(strings.TrimPrefix(strings.TrimSpace(line), "export "), google.keys[0])
			if said, found := strings.CutPrefix(strings.TrimSpace(said), "="); ok && found {
				key = unquoted(strings.TrimSpace(said))
			}
		}
		if key == "" {
			return "", ""
		}
		return key, fromHome(file, home)
	}
	return "", ""
}

// unquoted is a value of a file of variables without its quotes, or without what is said about it after a "#".
func unquoted(value string) string {
	if value != "" && strings.ContainsAny(value[:1], "\"'`") {
		value, _, _ = strings.Cut(value[1:], value[:1])
		return value
	}
	value, _, _ = strings.Cut(value, "#")
	return strings.TrimSpace(value)
}

// geminiChosen is the way to log in that a user's settings name; empty: none.
func geminiChosen(file string) string { return settingsIn(file).Get("security.auth.selectedType").Str }

// geminiReach: both addresses are the gateway's, so that settings of the repository cannot choose the other.
func geminiReach(t *turnInput) []string {
	p, _ := geminiWay(t.Options)
	return []string{google.from + "=" + t.at(""), vertex.from + "=" + t.at(""), p.keys[0] + "=" + t.way.Bearer()}
}

// geminiCarried says in settings that the key counts, that Google gets no statistics, and that what gemini runs does
// not inherit the bearer. Variables that its user has named are inherited.
func geminiCarried(settings map[string]any, o Options) {
	_, way := geminiWay(o)
	into(settings, "security", "auth")["selectedType"] = way
	into(settings, "privacy")["usageStatisticsEnabled"] = false
	redaction := into(settings, "security", "environmentVariableRedaction")
	redaction["enabled"], redaction["allowed"] = true, append([]string{}, o.Allow...)
}

// geminiSystem lays the same over the repository's own settings, where those count.
func geminiSystem(t *turnInput) error {
	if t.way == nil || !t.AgentSettings {
		return nil
	}
	settings := map[string]any{}
	geminiCarried(settings, t.Options)
	text, err := json.Marshal(settings)
	if err != nil {
		return err
	}
	t.env = append(t.env, "GEMINI_CLI_SYSTEM_SETTINGS_PATH="+t.path("system.json"))
	return t.file("system.json", string(text))
}

// geminiLogin is the way in that gemini's settings name and that needs neither key nor file of its own.
func geminiLogin(file, home string) string {
	way := geminiChosen(file)
	if slices.Contains([]string{geminiByVertex, "cloud-shell", "compute-default-credentials"}, way) {
		return way + " in " + fromHome(file, home)
	}
	return ""
}
