// Package hook decides what the hooks of a coding agent say: how full its context is, whether it may stop, whether a
// command is one that it should not run. It decides from what it is handed; files, processes and the environment are
// read by who calls it.
//
// What hooks say is early feedback for the agent. The harness judges every iteration itself.
package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// MostInput is how much of standard input a hook reads, in bytes.
const MostInput = 8 << 20

// Input is what an agent hands to a hook on standard input. Claude Code, Codex and Gemini CLI use the same names.
type Input struct {
	SessionID      string    `json:"session_id"`
	TranscriptPath string    `json:"transcript_path"`
	Cwd            string    `json:"cwd"`
	Event          string    `json:"hook_event_name"`
	Source         string    `json:"source"` // of SessionStart: startup, resume, clear or compact
	StopHookActive bool      `json:"stop_hook_active"`
	Tool           string    `json:"tool_name"`
	ToolInput      ToolInput `json:"tool_input"`
}

// ToolInput is what a tool is called with, as far as the guard looks at it.
type ToolInput struct {
	Command      words  `json:"command"`   // or "cmd"
	FilePath     string `json:"file_path"` // or "path"
	NotebookPath string `json:"notebook_path"`
}

// UnmarshalJSON takes any value: other tools name their input as they like.
func (t *ToolInput) UnmarshalJSON(content []byte) error {
	var fields map[string]json.RawMessage
	if json.Unmarshal(content, &fields) != nil {
		return nil
	}
	for name, to := range map[string]any{
		"command": &t.Command, "cmd": &t.Command,
		"file_path": &t.FilePath, "path": &t.FilePath, "notebook_path": &t.NotebookPath,
	} {
		if value, ok := fields[name]; ok {
			_ = json.Unmarshal(value, to) // of another type: of another tool
		}
	}
	return nil
}

// words is a command as one string for a shell, or as a list of words, which becomes such a string.
type words string

// UnmarshalJSON implements json.Unmarshaler.
func (w *words) UnmarshalJSON(content []byte) error {
	var list []string
	if json.Unmarshal(content, &list) == nil {
		for i, word := range list {
			list[i] = Quote(word)
		}
		*w = words(strings.Join(list, " "))
		return nil
	}
	return json.Unmarshal(content, (*string)(w))
}

// TooLong says that the input is longer than MostInput.
type TooLong struct{}

func (TooLong) Error() string {
	return fmt.Sprintf("standard input holds more than %d MiB; a hook gets one JSON object", MostInput>>20)
}

// Read reads the input of a hook. Nothing at all is an empty Input. Its error is TooLong, or says what is not JSON.
func Read(in io.Reader) (Input, error) {
	text, err := io.ReadAll(io.LimitReader(in, MostInput+1))
	if err != nil {
		return Input{}, fmt.Errorf("reading standard input: %w", err)
	}
	if len(text) > MostInput {
		return Input{}, TooLong{}
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(text)) == 0 {
		return Input{}, nil
	}
	var i Input
	if err := json.Unmarshal(text, &i); err != nil {
		return Input{}, fmt.Errorf("reading standard input as the JSON object that agents hand to hooks: %w", err)
	}
	return i, nil
}

// Answer is what a hook prints; the zero value prints nothing, which lets the agent continue.
type Answer struct {
	Decision      string    `json:"decision,omitempty"` // "block" of a Stop hook, "deny" of Gemini's BeforeTool
	Reason        string    `json:"reason,omitempty"`
	SystemMessage string    `json:"systemMessage,omitempty"` // for the person, not for the agent
	Specific      *specific `json:"hookSpecificOutput,omitempty"`
}

type specific struct {
	Event                    string `json:"hookEventName"`
	AdditionalContext        string `json:"additionalContext,omitempty"`
	PermissionDecision       string `json:"permissionDecision,omitempty"`
	PermissionDecisionReason string `json:"permissionDecisionReason,omitempty"`
}

// JSON is the answer on one line; nothing for the zero value.
func (a Answer) JSON() []byte {
	if a == (Answer{}) {
		return nil
	}
	text, err := encoded(a, "", "")
	if err != nil {
		panic(err) // strings alone
	}
	return append(text, '\n')
}

// encoded is a value as JSON whose < and > stay as they are.
func encoded(value any, prefix, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent(prefix, indent)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Deny is the answer that keeps a tool from being used, in the words of the agent that asks.
func Deny(in Input, reason string) Answer {
	if in.Event == "BeforeTool" { // Gemini CLI
		return Answer{Decision: "deny", Reason: reason}
	}
	event := in.Event
	if event == "" {
		event = "PreToolUse"
	}
	return Answer{Specific: &specific{Event: event, PermissionDecision: "deny", PermissionDecisionReason: reason}}
}

var plainWord = lazy(`^[A-Za-z0-9/._\-+=:@%,]+\z`)

// Quote is a word as a shell reads it back.
func Quote(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
