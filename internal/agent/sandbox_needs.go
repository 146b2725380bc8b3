package agent

import (
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	disk "github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
)

// sandboxNeeds is what an agent needs of a machine in a sandbox: the hosts of its model and of its login, and files in the home
// of its user. A login may be renewed, so it is the user's own file; settings are shown; what the agent writes all the
// time is a copy.
type sandboxNeeds struct {
	hosts []string
	files []sandbox.File
	dir   string // of its files, from home
	from  string // the variable that says another place for it; empty: none
}

var needs = map[string]sandboxNeeds{
	"amp": {
		hosts: []string{"ampcode.com", "*.ampcode.com"},
		files: slices.Concat(shared(".local/share/amp/secrets.json"), copied(".config/amp")),
	},
	"claude": {
		hosts: []string{"*.anthropic.com", "claude.ai", "platform.claude.com"},
		files: slices.Concat(shared(".claude/.credentials.json"),
			shown(".claude/settings.json", ".claude/CLAUDE.md", ".claude/agents", ".claude/commands",
				".claude/skills", ".claude/plugins", ".claude/hooks", ".claude/rules", ".claude/output-styles"),
			copied(claudeState)),
		dir: ".claude", from: "CLAUDE_CONFIG_DIR",
	},
	"codex": {
		hosts: []string{"api.openai.com", "auth.openai.com", "chatgpt.com"},
		files: slices.Concat(shared(".codex/auth.json"),
			shown(".codex/config.toml", ".codex/AGENTS.md", ".codex/prompts", ".codex/rules", ".codex/skills")),
		dir: ".codex", from: "CODEX_HOME",
	},
	"gemini": {
		hosts: []string{"generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com",
			"accounts.google.com", "aiplatform.googleapis.com"},
		files: slices.Concat(shared(".gemini/oauth_creds.json", ".gemini/google_accounts.json"),
			shown(".gemini/settings.json", ".gemini/GEMINI.md",
				".gemini/extensions", ".gemini/commands", ".gemini/policies"), copied(".gemini/installation_id")),
	},
	"opencode": {
		hosts: []string{"models.dev", "opencode.ai", "*.opencode.ai", "api.anthropic.com", "api.openai.com",
			"generativelanguage.googleapis.com", "openrouter.ai"},
		// it writes beside its settings
		files: slices.Concat(shared(".local/share/opencode/auth.json"), copied(".config/opencode")),
	},
}

func shared(paths ...string) []sandbox.File { return files(sandbox.Shared, paths) }

func shown(paths ...string) []sandbox.File { return files(sandbox.Shown, paths) }

func copied(paths ...string) []sandbox.File { return files(sandbox.Copied, paths) }

func files(how sandbox.Access, paths []string) (list []sandbox.File) {
	for _, path := range paths {
		list = append(list, sandbox.File{Path: path, Access: how})
	}
	return list
}

// claudeState may have a key in it; what else is in it are the user's servers, which count only with the repository's.
const claudeState = ".claude.json"

// baseURLs are variables that say where a model is, as do URLs among an agent's flags.
var baseURLs = []string{
	"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "AMP_URL",
	"OPENCODE_MODELS_URL", "OLLAMA_HOST",
}

var (
	aURL = lazy(`https?://[^\s"',;<>]+`)
	// aSetting is a setting of an agent that says where something is that it speaks to.
	aSetting = lazy(`(?i)(?:base_?url|endpoint|url)["']?\s*[:=]\s*["'](https?://[^"'\s]+)`)
)

// Needs is what the agent of these options needs in a sandbox.
func Needs(o Options) sandbox.Agent {
	d, known := dialectOf(o.Command)
	a := sandbox.Agent{}
	if known {
		n := needs[d.name]
		a.Name, a.Hosts = d.name, slices.Clone(n.hosts)
		for _, f := range n.files {
			if dir := proc.Value(o.Parent, n.from); n.from != "" && filepath.IsAbs(dir) { // everything is there then
				f.Path = filepath.Join(dir, strings.TrimPrefix(f.Path, n.dir+"/"))
				f.At = f.Path
			}
			if o.Gateway != nil && (f.Access == sandbox.Shared || f.Path == claudeState && !o.AgentSettings) {
				continue // a login, which the gateway makes needless
			}
			a.Files = append(a.Files, f)
		}
	}
	said := append(slices.Clone(o.Flags), providerURLs(a.Files, (&turnInput{Options: o}).home())...)
	for _, name := range baseURLs {
		if value := proc.Value(o.Parent, name); value != "" && (!known || slices.Contains(d.pass, name)) {
			if !strings.Contains(value, "://") {
				value = "http://" + value
			}
			said = append(said, value)
		}
	}
	if place := proc.Value(o.Parent, "GOOGLE_CLOUD_LOCATION"); known && d.name == "gemini" && place != "" {
		a.Hosts = append(a.Hosts, place+"-aiplatform.googleapis.com")
	}
	for _, flag := range said {
		for _, found := range aURL.FindAllString(flag, -1) {
			if host := hostOf(found); host != "" && !slices.Contains(a.Hosts, host) {
				a.Hosts = append(a.Hosts, host)
			}
		}
	}
	return a
}

// providerURLs are the URLs that the user's own settings of the agent name.
func providerURLs(files []sandbox.File, home string) (urls []string) {
	for _, f := range files {
		if f.Access == sandbox.Shared { // a login
			continue
		}
		path := f.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(home, path)
		}
		names := []string{path}
		if entries, err := os.ReadDir(path); err == nil {
			names = nil
			for _, e := range entries {
				names = append(names, filepath.Join(path, e.Name()))
			}
		}
		for _, name := range names {
			if !slices.Contains([]string{".json", ".jsonc", ".toml"}, filepath.Ext(name)) {
				continue
			}
			text, _ := disk.Read(name)
			for _, found := range aSetting.FindAllSubmatch(text, -1) {
				urls = append(urls, string(found[1]))
			}
		}
	}
	return urls
}

// hostOf is the host and port of a URL.
func hostOf(said string) string {
	u, err := url.Parse(said)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}
