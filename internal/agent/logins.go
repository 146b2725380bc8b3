package agent

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/tidwall/gjson"

	disk "github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/proc"
)

// login is how people get an agent, and log in to its model.
type login struct {
	install string
	how     string
	file    string // of the login, below the directory
	dir     string // below HOME, unless the environment says otherwise
	dirFrom string // the name in the environment that does; "" none
	lax     bool   // it may well work without a credential that can be seen
}

var logins = map[string]login{
	"amp": {"npm install -g @sourcegraph/amp", "set AMP_API_KEY, or run: amp login", "amp/secrets.json", ".local/share",
		"XDG_DATA_HOME", false},
	// which has a keychain
	"claude": {"npm install -g @anthropic-ai/claude-code",
		"set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN, or log in by running: claude", ".credentials.json", ".claude",
		"CLAUDE_CONFIG_DIR", runtime.GOOS == "darwin"},
	"codex": {"npm install -g @openai/codex", "set OPENAI_API_KEY, or run: codex login", "auth.json", ".codex",
		"CODEX_HOME", false},
	"gemini": {"npm install -g @google/gemini-cli", "set GEMINI_API_KEY, or log in by running: gemini", "oauth_creds.json",
		".gemini", "", false},
	// there are models without
	"opencode": {"npm install -g opencode-ai", "set the key of its model's provider, or run: opencode auth login",
		"opencode/auth.json", ".local/share", "XDG_DATA_HOME", true},
}

// loginFile is the file in which an agent's CLI keeps its login, and the home that it belongs to.
func loginFile(name string, o Options) (file, home string) {
	l := logins[name]
	home = (&turnInput{Options: o}).home()
	dir := filepath.Join(home, filepath.FromSlash(l.dir))
	if l.dirFrom != "" && filepath.IsAbs(proc.Value(o.Parent, l.dirFrom)) {
		dir = proc.Value(o.Parent, l.dirFrom)
	}
	return filepath.Join(dir, filepath.FromSlash(l.file)), home
}

// savedLogin is what is in that file, as JSON, and how people write its path: "~/.codex/auth.json". It is empty
// where there is none that can be read.
func savedLogin(name string, o Options) (saved gjson.Result, where string) {
	file, home := loginFile(name, o)
	text, err := disk.Read(file)
	if err != nil || !gjson.ValidBytes(text) {
		return gjson.Result{}, ""
	}
	return gjson.ParseBytes(text), fromHome(file, home)
}

// loginHint says what a person does when a login counts no more.
func (d dialect) loginHint(where string) string {
	return fmt.Sprintf("the login of %s in %s has expired or was refused: log in again, then resume the run (%s)",
		d.name, where, logins[d.name].how)
}

// fromHome writes a path as people do: ~/.codex/auth.json.
func fromHome(path, home string) string {
	if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok && home != "" {
		return "~/" + filepath.ToSlash(rest)
	}
	return path
}
