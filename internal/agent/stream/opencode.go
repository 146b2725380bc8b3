package stream

import (
	"cmp"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ralph-loop/ralph/internal/loop"
)

// NewOpencode decodes the output of `opencode run --format json`.
func NewOpencode(clock func() time.Time, emit func(Event)) *Decoder {
	return newDecoder(&opencode{clock: clock}, clock, emit)
}

// opencode adds up the steps, because the format has no result. How the last step ended is how all ended.
type opencode struct {
	clock   func() time.Time
	session string
	reason  string // how the last step ended: "stop", "tool-calls", "length"; "" while one continues
	failed  *Result
	usage   loop.Usage
}

func (c *opencode) object(o gjson.Result, emit func(Event)) bool {
	kind, part := o.Get("type").Str, o.Get("part")
	if kind == "" || !o.Get("sessionID").Exists() {
		return false
	}
	at := millis(o.Get("timestamp"))
	told := func(e Event) {
		if e.At.IsZero() {
			e.At = at
		}
		emit(e)
	}
	if id := o.Get("sessionID").Str; id != c.session && id != "" {
		c.session = strings.Clone(id[:min(len(id), longestName)])
		told(Event{Kind: Session, Session: c.session})
	}
	switch kind {
	case "step_start":
		c.reason = ""
	case "text":
		told(Event{Kind: Text, Message: part.Get("messageID").Str, Text: part.Get("text").String()})
	case "tool_use":
		opencodeTool(part, told)
	case "step_finish":
		c.step(part, told)
	case "error":
		c.fail(o.Get("error"), told)
	}
	return true
}

// opencodeTool reports a use of a tool, which opencode does only when it is done.
func opencodeTool(part gjson.Result, emit func(Event)) {
	state := part.Get("state")
	t := Tool{ID: part.Get("callID").Str, Name: part.Get("tool").Str, Input: summary(state.Get("input"))}
	t.Input = cmp.Or(t.Input, short(state.Get("title").Str))
	message := part.Get("messageID").Str
	emit(Event{Kind: ToolStart, At: millis(state.Get("time.start")), Tool: t, Message: message})
	if t.Name == "todowrite" {
		emit(Event{Kind: Todo, Todos: todos(state.Get("input.todos"))})
	}
	t.Input = ""
	t.Failed = state.Get("status").Str == "error" || state.Get("metadata.exit").Int() != 0
	t.answer(cmp.Or(state.Get("output").String(), state.Get("error").String()))
	emit(Event{Kind: ToolEnd, At: millis(state.Get("time.end")), Tool: t, Message: message})
}

func (c *opencode) step(part gjson.Result, emit func(Event)) {
	used := loop.Usage{
		CostUSD: part.Get("cost").Float(), Input: part.Get("tokens.input").Int(),
		Output:    part.Get("tokens.output").Int() + part.Get("tokens.reasoning").Int(), // which are paid alike
		CacheRead: part.Get("tokens.cache.read").Int(), CacheWrite: part.Get("tokens.cache.write").Int(),
	}
	c.usage = c.usage.Plus(used)
	reason := part.Get("reason").Str
	c.reason = strings.Clone(reason[:min(len(reason), longestName)])
	emit(Event{Kind: Progress, Message: part.Get("id").Str, Usage: used})
}

// fail notes why it will end. A limit says when it ends by a header of the model's answer.
func (c *opencode) fail(e gjson.Result, emit func(Event)) {
	data, said := e.Get("data"), cmp.Or(e.Get("data.message").String(), e.Get("name").String(), e.String())
	said = strings.Clone(said[:min(len(said), OutputBytes)])
	c.failed = &Result{
		Failed: true, Subtype: "error", Status: int(data.Get("statusCode").Int()), Why: strings.Clone(e.Get("name").Str),
		Errors: []string{said},
	}
	if after := data.Get("responseHeaders.retry-after"); c.failed.Status == 429 && after.Int() > 0 {
		emit(Event{Kind: Limit, Limit: Window{Rejected: true, Resets: c.after(after.Int())}})
	}
}

// after is some seconds from now on, in whole seconds.
func (c *opencode) after(seconds int64) time.Time {
	return c.clock().Add(time.Duration(min(seconds, 1<<30)) * time.Second).UTC().Truncate(time.Second)
}

// close emits the result. After a step that used tools another one must follow, so it was cut short there.
func (c *opencode) close(emit func(Event)) {
	r := c.failed
	if r == nil {
		if c.reason == "" || c.reason == "tool-calls" {
			return
		}
		r = &Result{Subtype: c.reason, Failed: c.reason != "stop"}
	}
	r.Usage = c.usage
	emit(Event{Kind: Ended, Session: c.session, Result: *r})
	c.failed, c.reason = nil, ""
}

// millis is a time in milliseconds since 1970; zero for anything else.
func millis(r gjson.Result) time.Time {
	if n := r.Int(); n > 0 {
		return time.UnixMilli(n).UTC()
	}
	return time.Time{}
}
