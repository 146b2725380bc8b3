package stream

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ralph-loop/ralph/internal/loop"
)

// NewClaude decodes the output of `claude -p --output-format stream-json --verbose`, and that of `amp --stream-json`,
// which has the same shape.
func NewClaude(clock func() time.Time, emit func(Event)) *Decoder {
	return newDecoder(&claude{}, clock, emit)
}

// claude knows what the turn has cost.
type claude struct {
	spent loop.Usage
	total float64 // the cost of the whole session, as the last result told it
}

func (c *claude) object(o gjson.Result, emit func(Event)) bool {
	kind, message := o.Get("type").Str, o.Get("message")
	nested := o.Get("parent_tool_use_id").Str != ""
	switch kind {
	case "system":
		c.system(o, emit)
	case "assistant":
		if o.Get("error").Str == "" { // the CLI wrote it itself, because the model failed
			c.message(message, nested, emit)
		}
	case "user":
		c.answers(message, nested, emit)
	case "rate_limit_event":
		c.limit(o.Get("rate_limit_info"), emit)
	case "result":
		c.result(o, emit)
	default:
		return kind != ""
	}
	return true
}

func (c *claude) system(o gjson.Result, emit func(Event)) {
	switch o.Get("subtype").Str {
	case "init":
		emit(Event{Kind: Session, Session: strings.Clone(o.Get("session_id").Str)})
	case "api_retry":
		emit(Event{Kind: Retry, Retry: Attempt{
			Number: int(o.Get("attempt").Int()), Most: int(o.Get("max_retries").Int()), Status: int(o.Get("error_status").Int()),
			Text: strings.Clone(o.Get("error").Str),
		}})
	case "model_fallback":
		emit(Event{Kind: Retry, Retry: Attempt{Text: strings.Clone(o.Get("content").Str)}})
	}
}

func (c *claude) limit(info gjson.Result, emit func(Event)) {
	w := Window{Rejected: info.Get("status").Str == "rejected"}
	if at := info.Get("resetsAt").Int(); at > 0 {
		w.Resets = time.Unix(at, 0).UTC()
	}
	emit(Event{Kind: Limit, Limit: w})
}

// message emits the blocks of one line. The CLI writes a line a block, each with the whole message's id and usage; a
// message without an id is all in one line, and only its first block has the usage.
func (c *claude) message(m gjson.Result, nested bool, emit func(Event)) {
	base := Event{Message: m.Get("id").Str, Nested: nested, Usage: claudeUsage(m.Get("usage"))}
	m.Get("content").ForEach(func(_, block gjson.Result) bool {
		e, input := base, block.Get("input")
		switch block.Get("type").Str {
		case "text":
			e.Kind, e.Text = Text, block.Get("text").Str
		case "tool_use":
			e.Kind, e.Tool = ToolStart, Tool{ID: block.Get("id").Str, Name: block.Get("name").Str, Input: summary(input)}
		default:
			return true
		}
		if emit(e); base.Message == "" {
			base.Usage = loop.Usage{}
		}
		if e.Tool.Name == "TodoWrite" || e.Tool.Name == "todo_write" {
			emit(Event{Kind: Todo, Nested: base.Nested, Todos: todos(input.Get("todos"))})
		}
		return true
	})
}

func (c *claude) answers(m gjson.Result, nested bool, emit func(Event)) {
	m.Get("content").ForEach(func(_, block gjson.Result) bool {
		if block.Get("type").Str != "tool_result" {
			return true
		}
		t := Tool{ID: block.Get("tool_use_id").Str, Failed: block.Get("is_error").Bool()}
		t.answer(flat(block.Get("content")))
		emit(Event{Kind: ToolEnd, Tool: t, Nested: nested})
		return true
	})
}

func (c *claude) result(o gjson.Result, emit func(Event)) {
	c.spend(o)
	r := Result{
		Subtype: strings.Clone(o.Get("subtype").Str), Status: int(o.Get("api_error_status").Int()),
		Why:  strings.Clone(o.Get("terminal_reason").Str),
		Stop: strings.Clone(o.Get("stop_reason").Str), Text: strings.Clone(o.Get("result").Str), Usage: c.spent,
	}
	r.Failed = o.Get("is_error").Bool() || strings.HasPrefix(r.Subtype, "error")
	o.Get("errors").ForEach(func(_, e gjson.Result) bool {
		r.Errors = append(r.Errors, strings.Clone(e.String()))
		return true
	})
	if said := o.Get("error").String(); said != "" {
		r.Errors = append(r.Errors, strings.Clone(said))
	}
	if s := o.Get("structured_output"); s.IsObject() || s.IsArray() {
		r.Structured = json.RawMessage(s.Raw)
	}
	emit(Event{Kind: Ended, Session: strings.Clone(o.Get("session_id").Str), Result: r})
}

// spend adds what one result tells. The tokens of "usage" are of this result, but total_cost_usd is of the whole
// session, which may have begun before this turn: newer CLIs tell the difference, a model each.
func (c *claude) spend(o gjson.Result) {
	total, cost := o.Get("total_cost_usd").Float(), 0.0
	used, since := claudeUsage(o.Get("usage")), loop.Usage{}
	delta := o.Get("model_usage_since_last_result")
	delta.ForEach(func(_, m gjson.Result) bool {
		cost += m.Get("costUSD").Float()
		since = since.Plus(loop.Usage{
			Input: m.Get("inputTokens").Int(), Output: m.Get("outputTokens").Int(),
			CacheRead: m.Get("cacheReadInputTokens").Int(), CacheWrite: m.Get("cacheCreationInputTokens").Int(),
		})
		return true
	})
	if !delta.IsObject() {
		cost = total - c.total
	}
	if used == (loop.Usage{}) { // an answer that was interrupted
		used = since
	}
	used.CostUSD, c.total = max(cost, 0), total
	c.spent = c.spent.Plus(used)
}

func claudeUsage(u gjson.Result) loop.Usage {
	return loop.Usage{Input: u.Get("input_tokens").Int(), Output: u.Get("output_tokens").Int(),
		CacheRead: u.Get("cache_read_input_tokens").Int(), CacheWrite: u.Get("cache_creation_input_tokens").Int()}
}
