package config

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Setting is a row of the table of settings: all that is said of one key. Its validation, its default, its place in the
// JSON schema and in docs/settings.md, and the action's input that sets it come from here.
type Setting struct {
	Key  string // of its object alone: "timeout" of agent.timeout; empty for the entries of a list
	Kind Kind
	// Summary is the first sentence on the key, which editors, inputs and flags show without its backquotes; More is what
	// only docs/settings.md adds. Both are Markdown.
	Summary, Details string
	// Where is who reads the key, when it is not read by every run: one of those below. What is forUser, no other layer
	// than the user's own may set.
	Where string

	Default  any    // a value as JSON has it; nil: none
	NoValue  string // Default in the words of docs/settings.md, where there is no value to show: "detected"
	Unset    string // what happens when no layer sets the key, where no value says the same
	Required bool

	Choices  []string // of a text: all that is allowed
	Min, Max float64  // of a number
	MaxLen   int      // entries of a list, or characters of a text; 0: any number
	Pattern  *pattern // of a text
	Allowed  string   // what the pattern or the format allows, for errors
	Entry    *Setting // of a list
	Distinct bool     // of a list: it has an entry, and none twice
	Keys     []Setting

	// Input is the action's input that sets the key, empty for none. InputSays describes it where Says does not.
	Input, InputSays string
	Syntax           syntaxOf // of that input
}

// Kind is what a value has to be.
type Kind int

// The kinds of values.
const (
	Text       Kind = iota
	Integer         // Min to Max
	Number          // Min to Max
	Boolean         // true or false
	Duration24      // a text such as "10m", at most 24h
	Path            // a text: a path in the repository that leads neither out of it nor into .git
	List            // of Entry
	Object          // with Keys; without any, its content is someone else's to check
)

// Where a key counts, if not everywhere.
const (
	ForBot    = "Bot only"
	ForLaptop = "Laptop only"
	ForPrompt = "`ralph run` with a prompt only"
	forUser   = "Settings of a user only"
	forServer = "`ralph serve` only"
)

// UnmarshalText reads the one kind that is not that of a type: "path", a text.
func (k *Kind) UnmarshalText(text []byte) error {
	if *k = Path; string(text) != "path" {
		return fmt.Errorf("no row can be of the kind %q", text)
	}
	return nil
}

// syntaxOf is how the text of an input becomes a list.
type syntaxOf string

const (
	byFields syntaxOf = ""      // at commas and whitespace; "none" is the empty list
	byShell  syntaxOf = "shell" // as a shell splits arguments
	byLines  syntaxOf = "lines" // a command a line
)

// Sentences are what the table says of each key, for the flags that set it: under "agent_timeout" of agent.timeout.
func Sentences() map[string]string {
	sentences := map[string]string{}
	var collect func(above string, rows []Setting)
	collect = func(above string, rows []Setting) {
		for _, row := range rows {
			sentences[above+row.Key] = plainText(row.Summary)
			collect(above+row.Key+"_", row.Keys)
		}
	}
	collect("", Table())
	return sentences
}

// plainText is a sentence in Markdown for those who show it as it is.
func plainText(markdown string) string { return strings.ReplaceAll(markdown, "`", "") }

// fields splits at commas and white space.
func fields(s string) []string {
	if s == "" {
		return nil
	}
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}

// commands are the lines that hold one: blank lines and lines that begin with # do not.
func commands(s string) []string {
	var found []string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			found = append(found, line)
		}
	}
	return found
}

// words splits as a shell does: at white space, but not within quotes or after a backslash. Nothing is expanded.
func words(s string) ([]string, error) {
	var found []string
	var word strings.Builder
	begun, quote := false, rune(0)
	escaped := false
	for _, r := range s {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, begun = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case unicode.IsSpace(r):
			if begun {
				found = append(found, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote is not closed")
	}
	if escaped {
		return nil, errors.New("nothing follows the last backslash")
	}
	if begun {
		found = append(found, word.String())
	}
	return found, nil
}
