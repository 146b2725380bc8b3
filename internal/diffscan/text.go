package diffscan

import (
	"fmt"
	"path"
	"strings"

	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/safetext"
)

const lineBytes = 4 << 10 // of a line that is examined; no one writes longer ones

// clip shortens a line that is examined.
func clip(text string) string { return text[:min(len(text), lineBytes)] }

func all(patterns ...string) (list []*pattern) {
	for _, p := range patterns {
		list = append(list, lazy(p))
	}
	return list
}

func isComment(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "#") || strings.HasPrefix(text, "//") || strings.HasPrefix(text, "<!--")
}

// quote writes foreign text into a message.
func quote(text string) string {
	return fmt.Sprintf("%q", safetext.Shorten(strings.TrimSpace(text), 120))
}

// commentMarks are what begins a comment, by the ending of a file's name. Others have none that is known: their lines
// are not read as comments, since "todo" may be anything there.
var commentMarks = map[string][]string{
	"slash": {"//", "/*"},
	"hash":  {"#"},
	"dash":  {"--"},
	"html":  {"<!--", "//", "/*", "{/*"},
	"lisp":  {";"},
	"php":   {"//", "#", "/*"},
	"latex": {"%"},
}

var commentsOf = map[string]string{
	".go": "slash", ".js": "slash", ".jsx": "html", ".ts": "slash", ".tsx": "html", ".mjs": "slash", ".cjs": "slash",
	".mts": "slash", ".cts": "slash", ".rs": "slash", ".java": "slash", ".kt": "slash",
	".kts": "slash", ".scala": "slash", ".groovy": "slash", ".gradle": "slash", ".cs": "slash", ".c": "slash",
	".h": "slash", ".cc": "slash", ".cpp": "slash", ".hpp": "slash", ".cxx": "slash", ".m": "slash",
	".mm": "slash", ".swift": "slash", ".dart": "slash", ".zig": "slash", ".proto": "slash", ".css": "slash",
	".scss": "slash", ".less": "slash", ".sol": "slash", ".v": "slash",
	".py": "hash", ".pyi": "hash", ".rb": "hash", ".sh": "hash", ".bash": "hash", ".zsh": "hash", ".yml": "hash",
	".yaml": "hash", ".toml": "hash", ".pl": "hash", ".pm": "hash", ".r": "hash", ".ex": "hash",
	".exs": "hash", ".jl": "hash", ".nix": "hash", ".tf": "hash", ".mk": "hash", ".ps1": "hash", ".cmake": "hash",
	".nim": "hash", ".cr": "hash",
	".sql": "dash", ".lua": "dash", ".hs": "dash", ".elm": "dash", ".adb": "dash", ".ads": "dash",
	".vue": "html", ".svelte": "html", ".xml": "html", ".php": "php", ".clj": "lisp", ".cljs": "lisp", ".lisp": "lisp",
	".el": "lisp", ".scm": "lisp", ".erl": "latex",
}

// splitComment parts a line into code and comment. Text in quotes is code; a line of a block that begins with a
// star is comment.
func splitComment(name, text string) (code, comment string) {
	kind := commentsOf[strings.ToLower(path.Ext(name))]
	if base := strings.ToLower(path.Base(name)); kind == "" &&
		(base == "makefile" || base == "dockerfile" || base == "justfile" || base == "rakefile" || base == "gemfile") {
		kind = "hash"
	}
	marks := commentMarks[kind]
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "* ") && (kind == "slash" || kind == "php") {
		return "", trimmed
	}
	var quote byte
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '`' || c == '\'' && closesSoon(text[i+1:]):
			quote = c
		default:
			for _, m := range marks {
				if strings.HasPrefix(text[i:], m) &&
					(m != "#" || i == 0 || text[i-1] == ' ' || text[i-1] == '\t' || text[i-1] == ';') {
					return text[:i], text[i:]
				}
			}
		}
	}
	return text, ""
}

// closesSoon tells a quote from an apostrophe and from the mark of a lifetime.
func closesSoon(rest string) bool { return strings.Contains(rest, "'") }

type pattern = regex.Pattern

// lazy is a pattern that is compiled when it is first asked.
func lazy(text string) *pattern { return regex.Lazy(text) }
