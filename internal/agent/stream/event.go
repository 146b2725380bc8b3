// Package stream decodes what coding agents print while they work into one event model (S1-119…S1-131).
package stream

import (
	"encoding/json"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

// Kind is what an event tells.
type Kind string

// The kinds of events. A decoder passes over what it does not know.
const (
	Session   Kind = "session"    // the agent began: Session
	Text      Kind = "text"       // the agent said something: Text, Message, Nested
	ToolStart Kind = "tool-start" // it uses a tool: Tool, Nested
	ToolEnd   Kind = "tool-end"   // a tool answered
	Retry     Kind = "retry"      // its provider did not answer and it tries again: Retry. No sign of life (C12)
	Limit     Kind = "limit"      // its provider told of a usage limit: Limit
	Ended     Kind = "result"     // it says how it ended: Result
	Noise     Kind = "noise"      // a line that is not the agent's format: Text
)

// Event is one thing that an agent's output told. Everything in it is the agent's word.
type Event struct {
	Kind    Kind
	Session string
	Text    string
	Message string // id of the message that Text or Tool is of; blocks of one message share it
	Nested  bool   // a helper of the agent's own said it, not the agent
	Tool    Tool
	Retry   Attempt
	Limit   Window
	Result  Result
	Usage   loop.Usage // of Text and ToolStart: what the message had read by then; the same for every block of it
}

// Tool is one use of a tool.
type Tool struct {
	ID, Name string
	Input    string // what it is about, in one line: a path, a command
}

// Attempt is one failed request to a model.
type Attempt struct {
	Number, Most int
	Status       int // HTTP status; 0 without an answer
}

// Window is a usage limit of a subscription.
type Window struct {
	Rejected bool
	Type     string    // "five_hour"
	Resets   time.Time // zero: not told
}

// Result is how the agent says that it ended.
type Result struct {
	Failed     bool
	Subtype    string // "success" is also what a failed request to the model is called: read Failed
	Status     int    // HTTP status of the model's last answer when it was an error; 0 none
	Why        string // "api_error", "max_turns", "prompt_too_long"
	Text       string
	Errors     []string
	Structured json.RawMessage // the answer in the form asked for; nil none
	Usage      loop.Usage      // of the whole turn
	Turns      int
}
