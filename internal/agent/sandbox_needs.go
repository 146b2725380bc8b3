package agent

import (
	"cmp"
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
		n := d.needs
		a.Name, a.Hosts = d.name, slices.Clone(n.hosts)
		for _, f := range n.files {
			if dir := proc.Value(o.Parent, d.login.dirFrom); n.moves && filepath.IsAbs(dir) {
				f.Path = filepath.Join(dir, strings.TrimPrefix(f.Path, d.login.dir+"/"))
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
			for _, found := range aSetting.FindAllStringSubmatch(string(text), -1) {
				urls = append(urls, found[1])
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
	usual := map[string]string{"http": "80", "https": "443"}
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), usual[u.Scheme]))
}
