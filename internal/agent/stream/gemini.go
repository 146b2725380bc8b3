package stream

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ralph-loop/ralph/internal/loop"
)

// NewGemini decodes the output of `gemini --output-format stream-json`.
func NewGemini(clock func() time.Time, emit func(Event)) *Decoder {
	return newDecoder(&gemini{}, clock, emit)
}

// gemini counts messages, since their pieces carry no id, and remembers what the errors said, since the result does not
// always.
type gemini struct {
	message int  // the number of the message that comes
	midway  bool // nothing has come after its last piece
	errors  []string
}

func (g *gemini) object(o gjson.Result, emit func(Event)) bool {
	kind, at := o.Get("type").Str, o.Get("timestamp").Time()
	told := func(e Event) {
		e.At = at
		emit(e)
	}
	switch kind {
	case "init":
		told(Event{Kind: Session, Session: o.Get("session_id").Str})
	case "message":
		g.say(o, told)
	case "tool_use":
		g.use(o, told)
	case "tool_result":
		g.answer(o, told)
	case "error":
		g.problem(o, told)
	case "result":
		g.result(o, told)
	default:
		return kind != "" && (o.Get("timestamp").Exists() || o.Get("session_id").Exists())
	}
	return true
}

// say hands on a piece of the model's message; the user's is the prompt. What comes between two pieces makes two
// messages of them.
func (g *gemini) say(o gjson.Result, emit func(Event)) {
	if o.Get("role").Str != "assistant" {
		return
	}
	if !g.midway {
		g.message++
	}
	g.midway = true
	emit(Event{Kind: Text, Message: strconv.Itoa(g.message), Text: o.Get("content").String(),
		Delta: o.Get("delta").Bool()})
}

func (g *gemini) use(o gjson.Result, emit func(Event)) {
	g.midway = false
	t := Tool{ID: o.Get("tool_id").Str, Name: o.Get("tool_name").Str, Input: summary(o.Get("parameters"))}
	emit(Event{Kind: ToolStart, Tool: t})
	if t.Name == "write_todos" {
		emit(Event{Kind: Todo, Todos: todos(o.Get("parameters.todos"))})
	}
}

func (g *gemini) answer(o gjson.Result, emit func(Event)) {
	g.midway = false
	t := Tool{ID: o.Get("tool_id").Str, Failed: o.Get("status").Str == "error"}
	t.answer(cmp.Or(o.Get("output").String(), o.Get("error.message").Str))
	emit(Event{Kind: ToolEnd, Tool: t})
}

// mostErrors is how many errors of a turn are remembered: the last ones.
const mostErrors = 5

// problem: an error is why the turn will fail, a warning is only to be seen.
func (g *gemini) problem(o gjson.Result, emit func(Event)) {
	g.midway = false
	said := o.Get("message").String()
	if o.Get("severity").Str == "warning" {
		emit(Event{Kind: Noise, Text: said})
		return
	}
	g.errors = append(g.errors, strings.Clone(said[:min(len(said), OutputBytes)]))
	g.errors = g.errors[max(0, len(g.errors)-mostErrors):]
}

func (g *gemini) result(o gjson.Result, emit func(Event)) {
	r := Result{Subtype: o.Get("status").Str, Why: o.Get("error.type").Str, Usage: geminiUsage(o.Get("stats"))}
	r.Failed = r.Subtype == "error"
	if r.Failed {
		if said := o.Get("error.message").String(); said != "" {
			g.errors = append(g.errors, said)
		}
		r.Errors, g.errors = g.errors, nil
		r.Status = StatusIn(strings.Join(r.Errors, "\n"))
	}
	emit(Event{Kind: Ended, Result: r})
}

// geminiUsage: what gemini calls input_tokens has the cache's in it; only the total has those of thinking, which are
// paid as output.
func geminiUsage(s gjson.Result) loop.Usage {
	sent, cached := s.Get("input_tokens").Int(), s.Get("cached").Int()
	return loop.Usage{
		Input: max(0, sent-cached), CacheRead: cached,
		Output: max(s.Get("output_tokens").Int(), s.Get("total_tokens").Int()-sent),
	}
}
