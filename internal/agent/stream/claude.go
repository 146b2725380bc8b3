package stream

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/ralph-loop/ralph/internal/loop"
)

// NewClaude decodes the output of `claude -p --output-format stream-json --verbose`, and that of amp, which has the same shape.
func NewClaude(clock func() time.Time, emit func(Event)) *Decoder {
	return newDecoder(&claude{names: map[string]string{}}, clock, emit)
}

// claude knows the names of the tools that have begun, since their answers carry only their ids.
type claude struct{ names map[string]string }

func (c *claude) object(o gjson.Result, emit func(Event)) bool {
	switch o.Get("type").Str {
	case "system":
		c.system(o, emit)
	case "assistant":
		if o.Get("error").Str == "" { // the CLI wrote it itself, because the model failed
			c.message(o, emit)
		}
	case "user":
		c.answers(o, emit)
	case "rate_limit_event":
		w := Window{Rejected: o.Get("rate_limit_info.status").Str == "rejected", Type: o.Get("rate_limit_info.rateLimitType").Str}
		if at := o.Get("rate_limit_info.resetsAt").Int(); at > 0 {
			w.Resets = time.Unix(at, 0).UTC()
		}
		emit(Event{Kind: Limit, Limit: w})
	case "result":
		c.result(o, emit)
	default:
		return o.Get("type").Str != ""
	}
	return true
}

// long: the rest of a message that does not fit is nobody's word; that a tool has answered still counts.
func (c *claude) long(head []byte, total int64, emit func(Event)) {
	id := gjson.GetBytes(head, "message.content.0.tool_use_id").Str
	if gjson.GetBytes(head, "type").Str == "user" {
		emit(Event{Kind: ToolEnd, Tool: Tool{ID: id, Name: c.ended(id), Chars: int(total)}})
	}
}

func (c *claude) system(o gjson.Result, emit func(Event)) {
	switch o.Get("subtype").Str {
	case "init":
		emit(Event{Kind: Session, Session: o.Get("session_id").Str})
	case "api_retry":
		emit(Event{Kind: Retry, Retry: Attempt{
			Number: int(o.Get("attempt").Int()), Most: int(o.Get("max_retries").Int()), Status: int(o.Get("error_status").Int()), Text: o.Get("error").Str,
		}})
	}
}

func (c *claude) message(o gjson.Result, emit func(Event)) {
	m := o.Get("message")
	base := Event{Message: m.Get("id").Str, Nested: o.Get("parent_tool_use_id").Str != "", Usage: claudeUsage(m.Get("usage"), 0)}
	m.Get("content").ForEach(func(_, block gjson.Result) bool {
		e := base
		switch block.Get("type").Str {
		case "text":
			e.Kind, e.Text = Text, block.Get("text").Str
		case "tool_use":
			e.Kind, e.Tool = ToolStart, Tool{ID: block.Get("id").Str, Name: block.Get("name").Str, Input: summary(block.Get("input"))}
			c.names[e.Tool.ID] = e.Tool.Name
		default:
			return true
		}
		emit(e)
		if e.Tool.Name == "TodoWrite" || e.Tool.Name == "todo_write" {
			emit(Event{Kind: Todo, Nested: base.Nested, Todos: todos(block.Get("input.todos"))})
		}
		return true
	})
}

func (c *claude) answers(o gjson.Result, emit func(Event)) {
	nested := o.Get("parent_tool_use_id").Str != ""
	o.Get("message.content").ForEach(func(_, block gjson.Result) bool {
		if block.Get("type").Str != "tool_result" {
			return true
		}
		id := block.Get("tool_use_id").Str
		t := Tool{ID: id, Name: c.ended(id), Failed: block.Get("is_error").Bool()}
		t.answer(flat(block.Get("content")))
		emit(Event{Kind: ToolEnd, Tool: t, Nested: nested})
		return true
	})
}

// ended is the name of the tool that has answered.
func (c *claude) ended(id string) string {
	name := c.names[id]
	delete(c.names, id)
	return name
}

func (c *claude) result(o gjson.Result, emit func(Event)) {
	r := Result{
		Subtype: o.Get("subtype").Str, Status: int(o.Get("api_error_status").Int()), Why: o.Get("terminal_reason").Str,
		Text: o.Get("result").Str, Usage: claudeUsage(o.Get("usage"), o.Get("total_cost_usd").Float()), Turns: int(o.Get("num_turns").Int()),
	}
	r.Failed = o.Get("is_error").Bool() || strings.HasPrefix(r.Subtype, "error")
	o.Get("errors").ForEach(func(_, e gjson.Result) bool {
		r.Errors = append(r.Errors, e.String())
		return true
	})
	if said := o.Get("error").String(); said != "" {
		r.Errors = append(r.Errors, said)
	}
	if s := o.Get("structured_output"); s.IsObject() || s.IsArray() {
		r.Structured = json.RawMessage(s.Raw)
	}
	emit(Event{Kind: Ended, Session: o.Get("session_id").Str, Result: r})
}

func claudeUsage(u gjson.Result, cost float64) loop.Usage {
	return loop.Usage{
		CostUSD: cost, Input: u.Get("input_tokens").Int(), Output: u.Get("output_tokens").Int(),
		CacheRead: u.Get("cache_read_input_tokens").Int(), CacheWrite: u.Get("cache_creation_input_tokens").Int(),
	}
}

// flat is the text of an answer that is one text, or a list of parts.
func flat(content gjson.Result) string {
	if !content.IsArray() {
		return content.String()
	}
	var parts []string
	content.ForEach(func(_, part gjson.Result) bool {
		if t := part.Get("text"); t.Exists() {
			parts = append(parts, t.Str)
		}
		return true
	})
	return strings.Join(parts, "\n")
}

// answer notes a tool's answer: its beginning, and how much of it there is.
func (t *Tool) answer(text string) {
	t.Chars, t.Lines = utf8.RuneCountInString(text), strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		t.Lines++
	}
	t.Output = strings.ToValidUTF8(text[:min(len(text), OutputBytes)], "")
}

func todos(list gjson.Result) []Item {
	var items []Item
	list.ForEach(func(_, entry gjson.Result) bool {
		items = append(items, Item{Text: entry.Get("content").String(), Status: entry.Get("status").Str})
		return true
	})
	return items
}

// telling are the inputs that say what a tool's use is about, the most telling first.
var telling = []string{"file_path", "path", "pattern", "command", "url", "query", "description", "prompt"}

// summary is what a tool's use is about, in one line of at most 120 characters.
func summary(input gjson.Result) string {
	for _, name := range telling {
		if value := strings.Join(strings.Fields(input.Get(name).Str), " "); value != "" {
			if r := []rune(value); len(r) > 120 {
				value = string(r[:119]) + "…"
			}
			return value
		}
	}
	return ""
}
