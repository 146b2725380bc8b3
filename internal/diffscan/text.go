package diffscan

import (
	"fmt"
	"path"
	"slices"
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

// comments are what begins a comment, by the ending of a file's name, or by all of it. Other files have none that is known:
// their lines are not read as comments, since "todo" may be anything there.
var comments = []struct {
	of    string
	marks []string
}{
	{" .go .js .ts .mjs .cjs .mts .cts .rs .java .kt .kts .scala .groovy .gradle .cs .c .h .cc .cpp .hpp " +
		".cxx .m .mm .swift .dart .zig .proto .css .scss .less .sol .v ", []string{"//", "/*"}},
	{" .py .pyi .rb .sh .bash .zsh .yml .yaml .toml .pl .pm .r .ex .exs .jl .nix .tf .mk .ps1 .cmake .nim " +
		".cr makefile dockerfile justfile rakefile gemfile ", []string{"#"}},
	{" .sql .lua .hs .elm .adb .ads ", []string{"--"}},
	{" .jsx .tsx .vue .svelte .xml ", []string{"<!--", "//", "/*", "{/*"}},
	{" .clj .cljs .lisp .el .scm ", []string{";"}},
	{" .php ", []string{"//", "#", "/*"}},
	{" .erl ", []string{"%"}},
}

// commentMarks are what begins a comment in a file; nil: it is not known.
func commentMarks(name string) []string {
	base := strings.ToLower(path.Base(name))
	for _, c := range comments {
		if ending := path.Ext(base); ending != "" && strings.Contains(c.of, " "+ending+" ") || strings.Contains(c.of, " "+base+" ") {
			return c.marks
		}
	}
	return nil
}

// splitComment parts a line into code and comment. Text in quotes is code; a line of a block that begins with a
// star is comment.
func splitComment(name, text string) (code, comment string) {
	marks := commentMarks(name)
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "* ") && slices.Contains(marks, "/*") {
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
