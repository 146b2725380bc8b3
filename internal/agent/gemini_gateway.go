package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/tailscale/hujson"
	"github.com/tidwall/gjson"

	disk "github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/proc"
)

const geminiKey = "GEMINI_API_KEY"

// The ways to log in of gemini that go by a key.
const (
	geminiByKey    = "gemini-api-key"
	geminiByVertex = "vertex-ai"
)

// geminiWay is how gemini logs in with a key of the harness: which one it uses, which variable says where it counts,
// where it counts otherwise, and what the CLI calls it.
func geminiWay(o Options) (name, from, public, way string) {
	if isOn(proc.Value(o.Parent, "GOOGLE_GENAI_USE_VERTEXAI")) {
		return "GOOGLE_API_KEY", "GOOGLE_VERTEX_BASE_URL", "https://aiplatform.googleapis.com", geminiByVertex
	}
	return geminiKey, "GOOGLE_GEMINI_BASE_URL", "https://generativelanguage.googleapis.com", geminiByKey
}

func isOn(value string) bool { return value == "true" || value == "1" }

func geminiCarry(o Options) ([]Route, string) {
	name, from, public, way := geminiWay(o)
	if isOn(proc.Value(o.Parent, "GOOGLE_GENAI_USE_GCA")) {
		return nil, "GOOGLE_GENAI_USE_GCA leads gemini to a login of Google's"
	}
	if said := geminiChosen(filepath.Join((&turnInput{Options: o}).home(), ".gemini", "settings.json")); o.As == nil &&
		said != "" && said != way {
		return nil, "gemini's own settings say that it logs in by " + oneLine(said)
	}
	base, why := baseOf(o, from, public)
	key, where := o.Keys[name], ""
	if key == "" && name == geminiKey {
		key, where = geminiSaved(o)
	}
	if key == "" || why != "" {
		return nil, why
	}
	return []Route{{Base: base, Header: "x-goog-api-key", Value: key, Formats: []string{geminiFormat}, Login: where,
		Extra: geminiHeaders(proc.Value(o.Parent, "GEMINI_CLI_CUSTOM_HEADERS"))}}, ""
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
			said, ok := strings.CutPrefix(strings.TrimPrefix(strings.TrimSpace(line), "export "), geminiKey)
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
func geminiChosen(file string) string {
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() || info.Size() > settingBytes {
		return ""
	}
	text, err := os.ReadFile(file)
	if err == nil {
		text, err = hujson.Standardize(text)
	}
	if err != nil {
		return ""
	}
	return gjson.GetBytes(text, "security.auth.selectedType").Str
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

// geminiReach: both addresses are the gateway's, so that settings of the repository cannot choose the other.
func geminiReach(t *turnInput) []string {
	name, _, _, _ := geminiWay(t.Options)
	return []string{"GOOGLE_GEMINI_BASE_URL=" + t.at(""), "GOOGLE_VERTEX_BASE_URL=" + t.at(""),
		name + "=" + t.way.Bearer()}
}

// geminiCarried says in settings that the key counts, that nothing is told to Google, and that what gemini runs does not
// inherit the bearer. Variables that its user has named are inherited.
func geminiCarried(settings map[string]any, o Options) {
	_, _, _, way := geminiWay(o)
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
