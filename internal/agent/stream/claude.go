package stream

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

// Claude decodes the output of `claude -p --output-format stream-json --verbose`, written to it in any pieces; also the one object or
// array that the format json gives. Close hands on a last line without an end. Memory stays below a small multiple of MaxLine whatever
// is written.
type Claude struct {
	lines lines
	emit  func(Event)
}

// NewClaude decodes to emit, which is called from Write and Close.
func NewClaude(emit func(Event)) *Claude {
	c := &Claude{emit: emit}
	c.lines.each = c.line
	return c
}

// Write implements io.Writer. It never fails.
func (c *Claude) Write(p []byte) (int, error) { return c.lines.Write(p) }

// Close decodes what is left. It never fails.
func (c *Claude) Close() error {
	c.lines.flush()
	return nil
}

// claudeLine is what is read of a line. What a kind of line does not have stays zero.
type claudeLine struct {
	Type    string        `json:"type"`
	Subtype string        `json:"subtype"`
	Session string        `json:"session_id"`
	Parent  string        `json:"parent_tool_use_id"`
	Message claudeMessage `json:"message"`
	Error   string        `json:"error"` // of an assistant line: the CLI wrote it itself, because the model failed

	Attempt int `json:"attempt"`
	Retries int `json:"max_retries"`
	Status  int `json:"error_status"`

	Limit struct {
		Status string `json:"status"`
		Resets int64  `json:"resetsAt"`
		Type   string `json:"rateLimitType"`
	} `json:"rate_limit_info"`

	IsError    bool            `json:"is_error"`
	APIStatus  int             `json:"api_error_status"`
	Why        string          `json:"terminal_reason"`
	Result     string          `json:"result"`
	Errors     []string        `json:"errors"`
	Structured json.RawMessage `json:"structured_output"`
	Cost       float64         `json:"total_cost_usd"`
	Usage      claudeUsage     `json:"usage"`
	Turns      int             `json:"num_turns"`
}

type claudeMessage struct {
	ID      string        `json:"id"`
	Content []claudeBlock `json:"content"`
	Usage   claudeUsage   `json:"usage"`
}

type claudeBlock struct {
	Type  string          `json:"type"`
	Text  string          `json:"text"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type claudeUsage struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
}

func (u claudeUsage) with(cost float64) loop.Usage {
	return loop.Usage{CostUSD: cost, Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}
}

// userLine begins a line that holds a tool's answer. They are the bulk of a stream, and nothing in them is the agent's word, so they
// are not decoded.
var userLine = []byte(`{"type":"user"`)

func (c *Claude) line(line []byte) {
	switch {
	case bytes.HasPrefix(line, userLine):
		c.emit(Event{Kind: ToolEnd})
	case line[0] == '[':
		var array []json.RawMessage
		if json.Unmarshal(line, &array) != nil {
			c.noise(line) // also the first line of an array that is spread over many
			return
		}
		for _, element := range array {
			c.object(element)
		}
	default:
		c.object(bytes.TrimRight(line, ","))
	}
}

func (c *Claude) object(raw []byte) {
	var l claudeLine
	err := json.Unmarshal(raw, &l)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) { // a control character in a string is not JSON, and has been seen
		err = json.Unmarshal(bytes.Map(controlToSpace, raw), &l)
	}
	var mismatch *json.UnmarshalTypeError // a field of another type than today's; the others are read
	if err != nil && !errors.As(err, &mismatch) {
		c.noise(raw)
		return
	}
	c.tell(l)
}

func (c *Claude) tell(l claudeLine) {
	switch l.Type {
	case "system":
		switch l.Subtype {
		case "init":
			c.emit(Event{Kind: Session, Session: l.Session})
		case "api_retry":
			c.emit(Event{Kind: Retry, Retry: Attempt{l.Attempt, l.Retries, l.Status}})
		}
	case "assistant":
		if l.Error == "" {
			c.message(l)
		}
	case "user":
		c.emit(Event{Kind: ToolEnd})
	case "rate_limit_event":
		w := Window{Rejected: l.Limit.Status == "rejected", Type: l.Limit.Type}
		if l.Limit.Resets > 0 {
			w.Resets = time.Unix(l.Limit.Resets, 0).UTC()
		}
		c.emit(Event{Kind: Limit, Limit: w})
	case "result":
		c.emit(Event{Kind: Ended, Session: l.Session, Result: Result{
			Failed: l.IsError || strings.HasPrefix(l.Subtype, "error"), Subtype: l.Subtype, Status: l.APIStatus, Why: l.Why,
			Text: l.Result, Errors: l.Errors, Structured: nonNull(l.Structured), Usage: l.Usage.with(l.Cost), Turns: l.Turns,
		}})
	}
}

func (c *Claude) message(l claudeLine) {
	for _, block := range l.Message.Content {
		e := Event{Message: l.Message.ID, Nested: l.Parent != "", Usage: l.Message.Usage.with(0)}
		switch block.Type {
		case "text":
			e.Kind, e.Text = Text, block.Text
		case "tool_use":
			e.Kind, e.Tool = ToolStart, Tool{block.ID, block.Name, summary(block.Input)}
		default:
			continue
		}
		c.emit(e)
	}
}

func (c *Claude) noise(line []byte) {
	c.emit(Event{Kind: Noise, Text: string(line[:min(len(line), 4<<10)])})
}

// telling are the inputs that say what a tool's use is about, the most telling first.
var telling = []string{"file_path", "path", "pattern", "command", "url", "query", "description", "prompt"}

// summary is what a tool's use is about, in one line of at most 120 characters.
func summary(input json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return ""
	}
	for _, name := range telling {
		var value string
		if json.Unmarshal(fields[name], &value) == nil && value != "" {
			value = strings.Join(strings.Fields(value), " ")
			if r := []rune(value); len(r) > 120 {
				value = string(r[:119]) + "…"
			}
			return value
		}
	}
	return ""
}

func nonNull(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

func controlToSpace(r rune) rune {
	if r < ' ' {
		return ' '
	}
	return r
}
