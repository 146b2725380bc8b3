package stream

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/regex"
)

// NewCodex decodes the output of `codex exec --json`.
func NewCodex(clock func() time.Time, emit func(Event)) *Decoder {
	return newDecoder(&codex{began: map[string]bool{}}, clock, emit)
}

// What comes from an agent may have no end: how many tools without an answer are remembered, and how much of an id.
const (
	mostBegun   = 1 << 10
	longestName = 256
)

// codex remembers which tools have started, because some items come only when they are completed, and the last failure,
// because one that ends everything can come as a notice only.
type codex struct {
	began   map[string]bool // by id
	failure string
}

func (c *codex) object(o gjson.Result, emit func(Event)) bool {
	kind := o.Get("type").Str
	switch kind {
	case "thread.started":
		emit(Event{Kind: Session, Session: o.Get("thread_id").Str})
	case "turn.started":
	case "item.started", "item.updated", "item.completed":
		c.item(o.Get("item"), kind, emit)
	case "turn.completed":
		c.failure = ""
		emit(Event{Kind: Ended, Result: Result{Subtype: kind, Usage: codexUsage(o.Get("usage"))}})
	case "turn.failed":
		c.fail(kind, o.Get("error.message").Str, emit)
	case "error":
		c.notice(o.Get("message").Str, emit)
	default:
		return strings.HasPrefix(kind, "thread.") || strings.HasPrefix(kind, "turn.") || strings.HasPrefix(kind, "item.")
	}
	return true
}

// reconnecting is how a notice of a failed request begins: "Reconnecting... 2/5 (unexpected status 401 …)".
var reconnecting = regex.Lazy(`^Reconnecting\.\.\.\s*(?:(\d+)/(\d+))?\s*(.*)`)

// notice: most are of requests that are tried again. The last one may be why it ended.
func (c *codex) notice(message string, emit func(Event)) {
	m := reconnecting.FindStringSubmatch(message)
	if m == nil {
		c.failure = strings.Clone(message)
		return
	}
	number, _ := strconv.Atoi(m[1])
	most, _ := strconv.Atoi(m[2])
	emit(Event{Kind: Retry, Retry: Attempt{Number: number, Most: most, Status: StatusIn(message), Text: short(m[3])}})
}

func (c *codex) fail(how, message string, emit func(Event)) {
	if message == "" {
		message = c.failure
	}
	c.failure = ""
	emit(Event{Kind: Ended, Result: Result{Failed: true, Subtype: how, Status: StatusIn(message),
		Errors: []string{message}}})
}

// close: a failure that no end of a turn has followed is the end.
func (c *codex) close(emit func(Event)) {
	if c.failure != "" {
		c.fail("error", "", emit)
	}
}

// status is how a message names the HTTP status of an answer: "unexpected status 401 Unauthorized", "last status: 429",
// "code":500.
var status = regex.Lazy(`\bstatus:? (\d{3})\b|"code":\s?(\d{3})\b`)

// StatusIn is the HTTP status that a message names; 0 when it names none.
func StatusIn(message string) int {
	m := status.FindStringSubmatch(message)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1] + m[2])
	return n
}

func (c *codex) item(i gjson.Result, kind string, emit func(Event)) {
	completed := kind == "item.completed"
	switch i.Get("type").Str {
	case "agent_message":
		if completed {
			emit(Event{Kind: Text, Message: i.Get("id").Str, Text: i.Get("text").Str})
		}
	case "todo_list":
		emit(Event{Kind: Todo, Todos: todos(i.Get("items"))})
	case "error": // a warning, whatever it is called
		emit(Event{Kind: Noise, Text: i.Get("message").Str})
	case "reasoning", "":
	default:
		c.tool(i, completed, emit)
	}
}

// tool emits a use of a tool. For one that comes only when it is completed, it emits the start first.
func (c *codex) tool(i gjson.Result, completed bool, emit func(Event)) {
	t := codexTool(i)
	if !c.began[t.ID] {
		emit(Event{Kind: ToolStart, Tool: t})
	}
	if !completed {
		if len(c.began) >= mostBegun { // none of them will answer
			clear(c.began)
		}
		c.began[strings.Clone(t.ID[:min(len(t.ID), longestName)])] = true
		return
	}
	delete(c.began, t.ID)
	state, exit := i.Get("status").Str, i.Get("exit_code")
	t.Failed = state == "failed" || state == "declined" || exit.Int() != 0
	t.Input = ""
	t.answer(codexAnswer(i))
	emit(Event{Kind: ToolEnd, Tool: t})
}

func codexTool(i gjson.Result) Tool {
	t := Tool{ID: i.Get("id").Str}
	switch kind := i.Get("type").Str; kind {
	case "command_execution":
		t.Name, t.Input = "Shell", short(withoutShell(i.Get("command").Str))
	case "file_change":
		var paths []string
		for _, change := range i.Get("changes").Array() {
			paths = append(paths, change.Get("path").Str)
		}
		t.Name, t.Input = "Edit", short(strings.Join(paths, " "))
	case "web_search":
		t.Name, t.Input = "WebSearch", summary(i)
	case "mcp_tool_call":
		t.Name, t.Input = fmt.Sprintf("%s.%s", i.Get("server").Str, i.Get("tool").Str), summary(i.Get("arguments"))
	default:
		t.Name, t.Input = strings.Clone(kind), summary(i)
	}
	return t
}

// withoutShell is a command without the shell that codex wraps each in: `/bin/bash -lc 'go test ./...'`.
func withoutShell(command string) string {
	shell, rest, ok := strings.Cut(command, " -lc ")
	if !ok || strings.ContainsAny(shell, " \t") || !strings.HasSuffix(shell, "sh") {
		return command
	}
	if n := len(rest); n > 1 && (rest[0] == '\'' || rest[0] == '"') && rest[n-1] == rest[0] {
		return rest[1 : n-1]
	}
	return rest
}

func codexAnswer(i gjson.Result) string {
	if said := i.Get("error.message").Str; said != "" {
		return said
	}
	if output := i.Get("aggregated_output"); output.Exists() {
		return output.Str
	}
	return flat(i.Get("result.content"))
}

// codexUsage: what codex calls input has the cache's tokens in it, and what it calls output those of thinking. It
// counts from the beginning of the thread, so a resumed one has those of the turns before too.
func codexUsage(u gjson.Result) loop.Usage {
	usage := loop.Usage{
		Output: u.Get("output_tokens").Int(), CacheRead: u.Get("cached_input_tokens").Int(),
		CacheWrite: u.Get("cache_write_input_tokens").Int(),
	}
	usage.Input = max(0, u.Get("input_tokens").Int()-usage.CacheRead-usage.CacheWrite)
	return usage
}
