package model

import (
	"encoding/json"
	"slices"
	"strings"
)

// Turn is what the model answers once.
type Turn struct {
	Text  string
	Tools []Tool
	Fail  Failure // an HTTP error instead of an answer
	End   Ending  // how the answer ends; "" is well
}

// Failure is an HTTP error, which every protocol tells in its own way.
type Failure string

// The failures.
const (
	Limit       Failure = "limit"        // 429: too many requests, try again in a second
	LimitReset  Failure = "limit-reset"  // 429: the usage limit is reached until ResetAt
	Overloaded  Failure = "overloaded"   // 529 or 503
	ServerError Failure = "server-error" // 500
	Auth        Failure = "auth"         // 401: the key is wrong
	Billing     Failure = "billing"      // no credit
	TooLong     Failure = "too-long"     // 400: the prompt does not fit
)

// Ending is how an answer goes wrong.
type Ending string

// The endings.
const (
	Hang   Ending = "hang"   // it begins, and then nothing comes, until the client leaves
	Cut    Ending = "cut"    // it begins, and then the connection is cut
	Refuse Ending = "refuse" // the model refuses to do it
)

// Tool is one use of a tool that the model asks for. What Write and Bash make is done by whatever tool the client
// offers for it; a client that offers none is asked anyway, as a model may that does not obey.
type Tool struct {
	Name    string // "Read", "StructuredOutput": a tool of one client only
	Input   map[string]any
	path    string // of a file to write
	content string
	command string // for a shell
}

// Write asks for a file to be written; path may be relative to where the agent works.
func Write(path, content string) Tool { return Tool{path: path, content: content} }

// Bash asks for a shell command.
func Bash(command string) Tool { return Tool{command: command} }

// use is one use of a tool as a client knows it.
type use struct {
	id, name string
	input    object
}

func (u use) json() string {
	text, _ := json.Marshal(u.input)
	return string(text)
}

// writers and shells are the tools for files and commands, with what their parameters are called.
var (
	writers = []struct{ name, path, content string }{
		{"Write", "file_path", "content"}, {"write_file", "file_path", "content"}, {"write", "filePath", "content"},
	}
	shells = []struct{ name, command string }{
		{"Bash", "command"}, {"bash", "command"}, {"run_shell_command", "command"}, {"exec_command", "cmd"},
		{"shell_command", "command"},
	}
)

// by is the call of a tool that does it; ok is false when none can.
func (t Tool) by(tools []string) (u use, ok bool) {
	switch {
	case t.Name != "":
		return use{name: t.Name, input: t.Input}, true
	case t.path != "":
		for _, w := range writers {
			if slices.Contains(tools, w.name) {
				return use{name: w.name, input: object{w.path: t.path, w.content: t.content}}, true
			}
		}
		return Bash("printf %s " + quoted(t.content) + " > " + quoted(t.path)).by(tools)
	}
	for _, s := range shells {
		if slices.Contains(tools, s.name) {
			return use{name: s.name, input: object{s.command: t.command, "description": "run a command"}}, true
		}
	}
	return use{}, false
}

// quoted is a word of a shell command.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
