package config

import (
	_ "embed" // the rows
	"encoding/json"
	"fmt"
	"github.com/pelletier/go-toml/v2"
	"reflect"
	"strings"
	"sync"
)

// Setting is a row of the table of settings: all that is said of one key. Its validation, its default, its place in the
// JSON schema and in docs/settings.md, and the action's input that sets it come from here.
type Setting struct {
	Key  string // of its object alone: "timeout" of agent.timeout; empty for the entries of a list
	Kind Kind
	// Summary is the first sentence on the key, which editors, inputs and flags show without its backquotes; More is what
	// only docs/settings.md adds. Both are Markdown.
	Summary, Details string
	// Where is who reads the key, when it is not read by every run: "Bot only", or forUser.
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

// forUser is where a key counts that no other layer than the user's own may set.
const forUser = "Settings of a user only"

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

//go:embed settings.toml
var settingsRows string

// Table is every key of the settings, in the order of the struct Settings, of which it has kinds and keys; the rest of
// each row is in settings.toml.
var Table = sync.OnceValue(func() []Setting {
	rows := map[string]Setting{}
	if err := toml.NewDecoder(strings.NewReader(settingsRows)).DisallowUnknownFields().Decode(&rows); err != nil {
		panic(err) // it is written wrongly, which every test finds
	}
	return rowsOf(reflect.TypeFor[Settings](), "", rows)
})

// rowsOf are the rows of a struct's fields; above is where it is: "agent.".
func rowsOf(object reflect.Type, above string, rows map[string]Setting) (list []Setting) {
	for _, field := range reflect.VisibleFields(object) {
		key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if key == "-" {
			continue
		}
		row := rows[above+key]
		row.Key = key
		row.shape(field.Type, above+key, rows)
		list = append(list, row)
	}
	return list
}

// shape takes the kind of a row from the type of its field, and what is below it.
func (s *Setting) shape(field reflect.Type, path string, rows map[string]Setting) {
	if field.Kind() == reflect.Pointer {
		field = field.Elem()
	}
	switch {
	case field == reflect.TypeFor[json.RawMessage]():
		s.Kind = Object
	case field == reflect.TypeFor[Duration]():
		s.Kind = Duration24
	case field.Kind() == reflect.Bool:
		s.Kind = Boolean
	case field.Kind() == reflect.Int, field.Kind() == reflect.Int64:
		s.Kind = Integer
	case field.Kind() == reflect.Float64:
		s.Kind = Number
	case field.Kind() == reflect.Struct:
		s.Kind, s.Keys = Object, rowsOf(field, path+".", rows)
	case field.Kind() == reflect.Slice:
		if s.Kind = List; s.Entry == nil {
			s.Entry = &Setting{}
		}
		s.Entry.shape(field.Elem(), path, rows)
	}
}

// defaults are the values that rows have when no layer sets them.
func defaults(rows []Setting) map[string]any {
	object := map[string]any{}
	for _, row := range rows {
		switch {
		case row.Default != nil:
			object[row.Key] = row.Default
		case row.Kind == Object && row.Keys != nil:
			if below := defaults(row.Keys); len(below) > 0 {
				object[row.Key] = below
			}
		}
	}
	return object
}

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
