// Package stream decodes what coding agents print while they work into one event model, and shows it to people.
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
	ToolEnd   Kind = "tool-end"   // a tool answered: Tool, Nested
	Todo      Kind = "todo"       // it wrote its list of things to do: Todos
	Retry     Kind = "retry"      // its provider did not answer and it tries again: Retry. No sign of life
	Progress  Kind = "progress"   // it told something else: a sign of life. Message, Usage
	Limit     Kind = "limit"      // its provider told of a usage limit: Limit
	Ended     Kind = "result"     // it says how it ended: Result
	Noise     Kind = "noise"      // a line that is not the agent's format: Text
)

// Event is one thing that an agent's output told. Everything in it is the agent's word.
type Event struct {
	Kind    Kind
	At      time.Time // when the agent says it was, else when it was read
	Session string
	Text    string
	Message string // id of the message that Text or Tool is of; blocks of one message share it
	Nested  bool   // a helper of the agent's own said or did it, not the agent
	Delta   bool   // of Text: it continues where the Text before of the same message ended, in the middle of a line or word
	Told    bool   // of Text: it is plain text whose lines were emitted as Noise already
	// Beheaded: of Text, its beginning is missing.
	Beheaded bool
	Tool     Tool
	Todos    []Item
	Retry    Attempt
	Limit    Window
	Result   Result
	// of Text, ToolStart and Progress: what the message had read by then; the same for every block of it
	Usage loop.Usage
}

// Tool is one use of a tool. Its start and its end share the ID.
type Tool struct {
	ID     string
	Name   string // of ToolStart
	Input  string // of ToolStart: what it is about, in one line: a path, a command
	Output string // of ToolEnd: the beginning of its answer, at most OutputBytes
	Lines  int    // of the whole answer
	Chars  int    // of the whole answer
	Failed bool
}

// OutputBytes is how much of a tool's answer an event carries.
const OutputBytes = 4 << 10

// Item is one entry of an agent's list of things to do.
type Item struct {
	Text   string
	Status string // "in_progress" or "completed"; anything else is pending
}

// Attempt is one failed request to a model.
type Attempt struct {
	Number, Most int
	Status       int    // HTTP status; 0 without an answer
	Text         string // what the agent says about it
	// Delay is how long the agent waits before it retries; 0: unknown.
	Delay time.Duration
}

// Window is a usage limit of a subscription.
type Window struct {
	Rejected bool
	Resets   time.Time // zero: unknown
}

// Result is how the agent says that it ended.
type Result struct {
	Failed     bool
	Subtype    string // "success" is also what a failed request to the model is called: read Failed
	Status     int    // HTTP status of the model's last answer when it was an error; 0 none
	Why        string // "api_error", "max_turns", "prompt_too_long"
	Stop       string // why the model's last answer ended: "end_turn", "refusal"
	Text       string
	Errors     []string
	Structured json.RawMessage // the answer in the form asked for; nil none
	Usage      loop.Usage      // of the whole turn
}
