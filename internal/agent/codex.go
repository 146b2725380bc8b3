package agent

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// codex is OpenAI's Codex: `codex exec` with the prompt on standard input, events as JSON lines. It tells no cost, and
// of a resumed session the tokens of all its turns.
//
// It works in its own sandbox, which Options.Flags may choose or switch off, but not for a reviewer. A command that the
// sandbox refuses leaves no trace in its events, and where no sandbox can be made (a container that forbids it) it
// refuses all. Of a home in the temporary directory it warns on standard error; some versions refuse all there too. The
// repository's .codex directory is kept out, and with it AGENTS.md, which the prompt names; its skills (.codex/skills,
// .agents/skills) are not. Hooks are arguments, in the place of those that its user has for the same event.
var codex = dialect{
	name: "codex",
	keys: []string{"CODEX_API_KEY", "OPENAI_API_KEY"},
	pass: []string{"CODEX_HOME", "CODEX_CA_CERTIFICATE", "OPENAI_BASE_URL", "OPENAI_ORGANIZATION",
		"OPENAI_PROJECT"},
	first:          []string{"exec"},
	flags:          codexFlags,
	arguments:      codexArguments,
	environment:    codexEnvironment,
	gateway:        &gatewayConfig{codexCarry, codexReach, nil},
	prepare:        codexFiles,
	maxPromptBytes: 1 << 20, // characters; it refuses more
	decode:         stream.NewCodex,
	counts:         true,
	ends:           true,
	readRetry:      codexHears,
	class:          codexClass,
}

const codexSchema = "schema.json"

// codexFiles: it takes a schema as a file, and leaves its last words in one.
func codexFiles(t *turnInput) error {
	if t.Schema == "" {
		return nil
	}
	return t.file(codexSchema, t.Schema)
}

func codexArguments(t *turnInput) []string {
	args := []string{"--skip-git-repo-check", "-c", "analytics.enabled=false", "-c", codexTrust(t.Options)}
	args = append(args, codexHooks(t.Options)...)
	args = append(args, codexProvider(t)...)
	if t.Text {
		args = append(args, "--color", "never", "-o", t.path(answerFile))
	} else {
		args = append(args, "--json")
	}
	switch {
	case t.Box != nil: // one sandbox in another often cannot be made, and then it refuses every command
		args = append(args, "--dangerously-bypass-approvals-and-sandbox")
	case t.reads(): // it has no way to be without its shell
		args = append(args, "--sandbox", "read-only")
	case !slices.ContainsFunc(t.Flags, func(flag string) bool { return codexSandbox(flag) != 0 }):
		args = append(args, "--sandbox", "workspace-write")
	}
	if t.Model != "" {
		args = append(args, "-m", t.Model)
	}
	if t.Schema != "" {
		args = append(args, "--output-schema", t.path(codexSchema))
	}
	if isSession(t.Resume) {
		args = append(args, "resume", t.Resume)
	}
	return append(args, "-")
}

// codexTrust says whether the repository's own settings count: by default not, even when the user has trusted the
// directory before.
func codexTrust(o Options) string {
	level := map[bool]string{true: "trusted", false: "untrusted"}[o.AgentSettings]
	dirs := []string{orHere(o.Dir)}
	if real, err := filepath.EvalSymlinks(dirs[0]); err == nil && real != dirs[0] {
		dirs = append(dirs, real)
	}
	var entries []string
	for _, dir := range dirs {
		quoted, _ := json.Marshal(dir) // which is a string of TOML too
		entries = append(entries, string(quoted)+`={trust_level="`+level+`"}`)
	}
	return "projects={" + strings.Join(entries, ",") + "}"
}

// codexSandbox is how many arguments a flag is that chooses what the agent may write or run: 0 when it is none, 2 when
// a value follows.
func codexSandbox(flag string) int {
	switch flag {
	case "--dangerously-bypass-approvals-and-sandbox", "--yolo", "--approve-for-me", "--full-auto":
		return 1
	case "-s", "--sandbox":
		return 2
	}
	if strings.HasPrefix(flag, "--sandbox=") || strings.HasPrefix(flag, "-s") && !strings.HasPrefix(flag, "--") {
		return 1
	}
	return 0
}

// codexFlags are the user's flags, for a reviewer without those that let it write: given both, codex would heed them
// rather than ours. In our sandbox it has none of its own.
func codexFlags(t *turnInput) []string {
	o := t.Options
	if !o.reads() && o.Box == nil {
		return o.Flags
	}
	var flags []string
	for i := 0; i < len(o.Flags); i++ {
		flag := o.Flags[i]
		switch n := codexSandbox(flag); {
		case n > 0:
			i += n - 1
		case !o.reads():
			flags = append(flags, flag)
		case flag == "--add-dir":
			i++
		case flag == "--dangerously-bypass-hook-trust", flag == "--trust", strings.HasPrefix(flag, "--add-dir="):
		default:
			flags = append(flags, flag)
		}
	}
	return flags
}

// codexEnvironment: `codex exec` reads a key only by its own name, and logs in with none otherwise.
func codexEnvironment(o Options) []string {
	env := []string{"CODEX_NON_INTERACTIVE=1", "RUST_LOG=" + codexLog}
	if o.Keys["CODEX_API_KEY"] == "" && o.Keys["OPENAI_API_KEY"] != "" {
		env = append(env, "CODEX_API_KEY="+o.Keys["OPENAI_API_KEY"])
	}
	return env
}

var (
	codexRefusal = lazy(
		`(?i)^model: \S+$|not inside a trusted directory|error loading config|required mcp servers failed|` +
			`failed to read model instructions|no rollout found|invalid_json_schema`)
	// codexStarts is what it says on standard error of every run.
	codexStarts = lazy(`(?m)^Reading (additional input|prompt) from stdin\.\.\.\s*$`)
)

// codexClass judges what only codex says.
func codexClass(f facts) loop.Class {
	if !f.failed() {
		return ""
	}
	said := plainer.Replace(f.words())
	switch {
	case strings.Contains(said, "reason: max_output_tokens"):
		return loop.MaxTurns
	case strings.Contains(said, "reason: content_filter"):
		return loop.Declined
	case strings.Contains(said, "Missing environment variable"):
		return loop.Auth
	case strings.Contains(said, "high demand, which may cause temporary errors"): // which is how it words a status 500
		return loop.OutOfOrder
	case codexRefusal.MatchString(said):
		return loop.Rejected
	case f.result == nil && f.any && !f.plain && f.end.Class == proc.Exited &&
		strings.TrimSpace(codexStarts.ReplaceAllString(f.stderr, "")) == "":
		return loop.CutShort // it was interrupted, and says nothing of it
	}
	return ""
}
