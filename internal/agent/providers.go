package agent

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
	"github.com/tidwall/gjson"

	disk "github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Spoken in requests to models.
const (
	anthropicFormat = "anthropic"
	responsesFormat = "openai-responses"
	chatFormat      = "openai-chat"
	geminiFormat    = "gemini"
)

// provider is a provider of models that the gateway carries to.
type provider struct {
	name    string   // of its route, where an agent can have several
	public  string   // its address
	from    string   // the variable that says another one
	path    string   // the end of that variable's value that is no part of the address
	header  string   // that its key goes by
	keys    []string // the variables of its key; the first that is set counts
	formats []string
}

var (
	anthropic = provider{"anthropic", "https://api.anthropic.com", "ANTHROPIC_BASE_URL", "", "x-api-key",
		[]string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", claudeToken}, []string{anthropicFormat}}
	openai = provider{"openai", "https://api.openai.com", "OPENAI_BASE_URL", "/v1", "authorization",
		[]string{"OPENAI_API_KEY"}, []string{responsesFormat, chatFormat}}
	google = provider{"google", "https://generativelanguage.googleapis.com", "GOOGLE_GEMINI_BASE_URL", "",
		"x-goog-api-key", []string{"GEMINI_API_KEY"}, []string{geminiFormat}}
)

// claudeToken has the token of a subscription.
const claudeToken = "CLAUDE_CODE_OAUTH_TOKEN"

// key is the credential that counts of those that the harness holds; "" when it holds none.
func (p provider) key(o Options) (name, value string) {
	if i := slices.IndexFunc(p.keys, func(name string) bool { return o.Keys[name] != "" }); i >= 0 {
		return p.keys[i], o.Keys[p.keys[i]]
	}
	return "", ""
}

// route leads to the provider with a credential that has a name in the environment; why says that it cannot. Tokens of
// Anthropic go by another header than its keys.
func (p provider) route(o Options, name, value string) (r Route, why string) {
	r = Route{Name: p.name, Base: p.public, Header: p.header, Value: value, Formats: p.formats}
	if said := proc.Value(o.Parent, p.from); said != "" {
		base, ok := strings.CutSuffix(strings.TrimRight(said, "/"), p.path)
		if u, err := url.Parse(base); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return r, p.from + " is no address of a web server"
		} else if !ok {
			return r, p.from + " does not end in " + p.path
		}
		r.Base = base
	}
	if p.name == anthropic.name && name != "ANTHROPIC_API_KEY" {
		r.Header = "authorization"
	}
	if r.Header == "authorization" && value != "" {
		r.Value = "Bearer " + value
	}
	return r, ""
}

// only is the one route of an agent, with the headers that its user has for it; where is its login from.
func (p provider) only(o Options, name, value, where string) (r Route, why string) {
	r, why = p.route(o, name, value)
	r.Name, r.Login, r.Extra = "", where, p.extra(o)
	return r, why
}

// extra are more headers that the environment has for a provider's own tools.
func (p provider) extra(o Options) (headers []string) {
	switch p.name {
	case anthropic.name:
		for line := range strings.Lines(proc.Value(o.Parent, "ANTHROPIC_CUSTOM_HEADERS")) {
			if line = strings.TrimSpace(line); line != "" {
				headers = append(headers, line)
			}
		}
	case google.name:
		return geminiHeaders(proc.Value(o.Parent, "GEMINI_CLI_CUSTOM_HEADERS"))
	case openai.name:
		for _, h := range [][2]string{{"OpenAI-Organization", "OPENAI_ORGANIZATION"}, {"OpenAI-Project", "OPENAI_PROJECT"}} {
			if value := proc.Value(o.Parent, h[1]); value != "" {
				headers = append(headers, h[0]+": "+value)
			}
		}
	}
	return headers
}

// geminiHeaders are those of "Name: value, Name: value", where a value may have commas.
func geminiHeaders(text string) (list []string) {
	for part := range strings.SplitSeq(text, ",") {
		name, _, named := strings.Cut(part, ":")
		switch {
		case named && !strings.ContainsAny(strings.TrimSpace(name), " \t/"):
			list = append(list, strings.TrimSpace(part))
		case len(list) > 0:
			list[len(list)-1] += "," + part
		}
	}
	return list
}

// settingsIn are an agent's settings in a file of JSON with comments; none if it cannot be read.
func settingsIn(file string) gjson.Result {
	text, err := disk.Read(file)
	if err == nil {
		text, err = hujson.Standardize(text)
	}
	if err != nil {
		return gjson.Result{}
	}
	return gjson.ParseBytes(text)
}

// elsewhere are the providers that agents reach by credentials that the gateway cannot add to a request: the variable that
// chooses one, and those that it is reached by.
var elsewhere = []struct {
	agent, chosen, provider string
	needs                   []string
}{
	{"claude", "CLAUDE_CODE_USE_BEDROCK", "Amazon Bedrock", []string{"AWS_REGION", "AWS_PROFILE", "AWS_ACCESS_KEY_ID",
		"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"}},
	{"claude", "CLAUDE_CODE_USE_VERTEX", "Vertex AI", []string{"CLOUD_ML_REGION", "ANTHROPIC_VERTEX_PROJECT_ID",
		"GOOGLE_APPLICATION_CREDENTIALS"}},
	{"claude", "CLAUDE_CODE_USE_FOUNDRY", "Microsoft Foundry", []string{"ANTHROPIC_FOUNDRY_RESOURCE",
		"ANTHROPIC_FOUNDRY_BASE_URL", "ANTHROPIC_FOUNDRY_API_KEY"}},
	{"gemini", "GOOGLE_GENAI_USE_VERTEXAI", "Vertex AI", []string{"GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION",
		"GOOGLE_APPLICATION_CREDENTIALS"}},
	{"codex", "AZURE_OPENAI_API_KEY", "Azure OpenAI", nil},
	{"opencode", "AZURE_API_KEY", "Azure OpenAI", []string{"AZURE_RESOURCE_NAME"}},
	{"opencode", "AWS_BEARER_TOKEN_BEDROCK", "Amazon Bedrock", []string{"AWS_REGION"}},
}

func shared(paths ...string) []sandbox.File { return files(sandbox.Shared, paths) }

func shown(paths ...string) []sandbox.File { return files(sandbox.Shown, paths) }

func copied(paths ...string) []sandbox.File { return files(sandbox.Copied, paths) }

func files(how sandbox.Access, paths []string) []sandbox.File {
	return safetext.Map(paths, func(path string) sandbox.File { return sandbox.File{Path: path, Access: how} })
}

// fromHome writes a path as people do: ~/.codex/auth.json.
func fromHome(path, home string) string {
	if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok && home != "" {
		return "~/" + filepath.ToSlash(rest)
	}
	return path
}

// path is the file in which an agent's CLI keeps its login, and the home that it belongs to.
func (l login) path(o Options) (file, home string) {
	home = (&turnInput{Options: o}).home()
	dir := filepath.Join(home, filepath.FromSlash(l.dir))
	if l.dirFrom != "" && filepath.IsAbs(proc.Value(o.Parent, l.dirFrom)) {
		dir = proc.Value(o.Parent, l.dirFrom)
	}
	return filepath.Join(dir, filepath.FromSlash(l.file)), home
}

// saved is the content of that file, as JSON, and how people write its path: "~/.codex/auth.json". It is empty if the
// file cannot be read.
func (l login) saved(o Options) (saved gjson.Result, where string) {
	file, home := l.path(o)
	text, err := disk.Read(file)
	if err != nil || !gjson.ValidBytes(text) {
		return gjson.Result{}, ""
	}
	return gjson.ParseBytes(text), fromHome(file, home)
}

// loginHint says what a person does when a login has expired.
func (d dialect) loginHint(where string) string {
	return fmt.Sprintf("the login of %s in %s has expired or was refused: log in again, then resume the run (%s)",
		d.name, where, d.login.how)
}
