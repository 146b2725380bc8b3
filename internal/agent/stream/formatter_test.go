package stream_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/loop"
)

// noon is when everything here happens.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// shown is what people see of events and of a turn's end.
func shown(o stream.FormatOptions, turn *loop.Turn, events ...stream.Event) string {
	var out bytes.Buffer
	f := stream.NewFormatter(&out, o)
	for _, e := range events {
		if e.At.IsZero() {
			e.At = noon
		}
		f.Event(e)
	}
	f.Flush()
	if turn != nil {
		f.Done(noon, *turn)
	}
	return out.String()
}

func begins(id, name, input string) stream.Event {
	return stream.Event{Kind: stream.ToolStart, Tool: stream.Tool{ID: id, Name: name, Input: input}}
}

func answers(id, output string) stream.Event {
	t := stream.Tool{ID: id, Output: output, Chars: len(output), Lines: strings.Count(output, "\n") + 1}
	if output == "" {
		t.Lines = 0
	}
	return stream.Event{Kind: stream.ToolEnd, Tool: t}
}

func fails(id, output string) stream.Event {
	e := answers(id, output)
	e.Tool.Failed = true
	return e
}

func says(text string) stream.Event { return stream.Event{Kind: stream.Text, Text: text} }

func pieces(message string, parts ...string) []stream.Event {
	var events []stream.Event
	for _, p := range parts {
		events = append(events, stream.Event{Kind: stream.Text, Message: message, Text: p, Delta: true})
	}
	return events
}

func nested(events ...stream.Event) []stream.Event {
	for i := range events {
		events[i].Nested = true
	}
	return events
}

// example is a turn with a bit of everything.
var example = []stream.Event{
	begins("t1", "Read", "/path/to/file.go"),
	{Kind: stream.ToolEnd, Tool: stream.Tool{ID: "t1", Output: "package main\n", Lines: 45, Chars: 1234}},
	{Kind: stream.Todo, Todos: []stream.Item{
		{Text: "Read the file", Status: "completed"}, {Text: "Edit the code", Status: "in_progress"},
		{Text: "Run tests", Status: "pending"},
	}},
}

var exampleEnd = loop.Turn{
	Class: loop.OK, Usage: loop.Usage{CostUSD: 5.76, Input: 350_000, CacheRead: 850_000, Output: 45_000}, Tools: 58,
	ToolErrors: 4,
	Duration:   6*time.Minute + 7*time.Second,
}

// TestFormatter shows two ways of showing one turn, a recording in a pipe has the third; the first is the example of S1-126, to the letter.
func TestFormatter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options stream.FormatOptions
		want    string
	}{
		"emoji": {stream.FormatOptions{UseEmoji: true}, `⏺ Read(/path/to/file.go)
✅ Result ← Read (45 lines, 1234 chars)
  ⎿  package main

📋 Todo List
  ✅ Read the file
  🔄 Edit the code ← ACTIVE
  ⏸️ Run tests
  📊 Progress: 1/3 (33%)

✅ Complete (cost: $5.76, tokens: 1.2M in (850K cached) / 45K out, tools: 58, errors: 4, time: 6m7s)
`},
		"color and time": {stream.FormatOptions{UseEmoji: true, UseColor: true, ShowTimestamp: true, Zone: time.UTC},
			`[12:00:00] ␛[36m⏺ Read(/path/to/file.go)␛[0m
[12:00:00] ␛[32m✅ Result ← Read (45 lines, 1234 chars)␛[0m
[12:00:00] ␛[2m  ⎿  package main␛[0m
[12:00:00] ␛[1m📋 Todo List␛[0m
[12:00:00] ␛[2m  ✅ Read the file␛[0m
[12:00:00] ␛[33m  🔄 Edit the code ← ACTIVE␛[0m
[12:00:00]   ⏸️ Run tests
[12:00:00]   📊 Progress: 1/3 (33%)
[12:00:00] ␛[32m✅ Complete (cost: $5.76, tokens: 1.2M in (850K cached) / 45K out, tools: 58, errors: 4, time: 6m7s)␛[0m
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := strings.ReplaceAll(shown(c.options, &exampleEnd, example...), "\x1b", "␛")
			if got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

// TestFormatterRules has a row for each rule of what is shown.
func TestFormatterRules(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 5000)
	for name, c := range map[string]struct {
		options stream.FormatOptions
		events  []stream.Event
		want    string
	}{
		"tools at the same time are told apart": {events: []stream.Event{
			begins("a", "Read", "a.go"), begins("b", "Read", "b.go"), answers("b", ""), answers("a", "text"),
		}, want: "> Read(a.go)\n> Read(b.go)\n[OK] Result <- Read (no output)\n[OK] Result <- Read(a.go) (1 line, 4 " +
			"chars)\n  |  text\n"},
		"an answer after something else names its tool's use": {events: []stream.Event{
			begins("a", "Bash", "make"), {Kind: stream.Retry,
				Retry: stream.Attempt{Number: 1, Most: 5, Status: 529, Text: "overloaded"}}, answers("a", ""),
		}, want: "> Bash(make)\n[RETRY] The model did not answer, attempt 1 of 5 (HTTP 529): overloaded\n[OK] Result <- " +
			"Bash(make) (no output)\n"},
		"a tool that failed": {events: []stream.Event{begins("a", "Bash", "make"), fails("a", "no rule")},
			want: "> Bash(make)\n[ERR] Error <- Bash (1 line, 7 chars)\n  |  no rule\n"},
		"a helper's doing is indented": {events: append([]stream.Event{begins("t", "Task", "look")},
			nested(begins("a", "Read", "a.go"), answers("a", "one\ntwo"), says("I see.\n\nGood."))...),
			want: "> Task(look)\n  > Read(a.go)\n  [OK] Result <- Read (2 lines, 7 chars)\n    |  one\n       two\n\n  I " +
				"see.\n\n  Good.\n"},
		"three lines of an answer": {events: []stream.Event{answers("a", "1\n\n 2\n3\n4\n")},
			want: "[OK] Result <- tool (6 lines, 10 chars)\n  |  1\n      2\n     3\n"},
		"four hundred characters of an answer": {events: []stream.Event{answers("a", long[:397]+"\nééééé\né")},
			want: "[OK] Result <- tool (3 lines, 411 chars)\n  |  " + long[:397] + "\n     ééé[...]\n"},
		"the list of things to do stands for its tool": {events: []stream.Event{
			begins("a", "TodoWrite", ""), {Kind: stream.Todo,
				Todos: []stream.Item{{Text: "look", Status: "completed"}, {Text: "do\nit", Status: "completed"}, {Text: "test"}}},
			answers("a", "modified"), says("Next."),
		}, want: "Todo List\n  [x] look\n  [x] do it\n  [ ] test\n  Progress: 2/3 (67%)\n\nNext.\n"},
		"a list that cannot be written": {events: []stream.Event{begins("a", "todo_write", ""), fails("a", "bad")},
			want: "[ERR] Error <- todo_write (1 line, 3 chars)\n  |  bad\n"},
		"text, tool, text": {events: []stream.Event{says("I look.\n"), begins("a", "Read", "a"),
			answers("a", ""), says("\n\nFine.\n\n\nDone.\n\n")},
			want: "I look.\n> Read(a)\n[OK] Result <- Read (no output)\n\nFine.\n\nDone.\n"},
		"pieces become lines": {events: pieces("m", "I lo", "ok", ".\nAnd", " see", ".\n", "\n", "So."),
			want: "I look.\nAnd see.\n\nSo.\n"},
		"what is not shown parts no pieces": {events: slices.Insert(pieces("m", "I lo", "ok."), 1,
			stream.Event{Kind: "progress"}), want: "I look.\n"},
		"pieces of two messages": {events: append(pieces("m", "One"), pieces("n", "two", " three")...),
			want: "One\ntwo three\n"},
		"no line is without a time": {options: stream.FormatOptions{ShowTimestamp: true, Zone: time.FixedZone("", 3600)},
			events: []stream.Event{says("One.\n\nTwo.")}, want: "[13:00:00] One.\n[13:00:00] Two.\n"},
		"white space says nothing": {events: append(pieces("m", " ", "\n"), says(" \n ")), want: ""},
		"a text told as lines before": {events: []stream.Event{{Kind: stream.Noise, Text: "one"},
			{Kind: stream.Text, Text: "one", Told: true}}, want: "one\n"},
		"a long line is cut": {events: []stream.Event{says(long + "\nnext")},
			want: long[:2048] + " [...]\nnext\n"},
		"a long line in pieces is cut": {events: pieces("m", long[:1500], long[:1500], long, long+"\nne", "xt"),
			want: long[:2048] + " [...]\nnext\n"},
		"no line begins a command": {events: []stream.Event{says(
			"::set-env name=x::y\n ##[group]x\n\x1b]0;title\x07\x1b[31mred\x1b[0m\u202e"),
			begins("a", "x\n::add-mask::y", "::z")}, want: ": :set-env name=x::y\n ## [group]x\nred\n> x ::add-mask::y(::z)\n"},
		"what is no event for people": {events: []stream.Event{{Kind: stream.Session, Session: "s"},
			{Kind: stream.Limit}, {Kind: stream.Ended}, {Kind: "new"}}, want: ""},
		"a secret at the cut": {options: stream.FormatOptions{Redact: hideSecret},
			events: []stream.Event{says(long[:2040] + "hunter2-hunter2"), answers("a", long[:395]+" hunter2-hunter2")},
			want:   long[:2040] + "***\n[OK] Result <- tool (1 line, 411 chars)\n  |  " + long[:395] + " ***\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := shown(c.options, nil, c.events...); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

func hideSecret(s string) string { return strings.ReplaceAll(s, "hunter2-hunter2", "***") }

// TestFormatterEnds has a row for each way a turn can end.
func TestFormatterEnds(t *testing.T) {
	t.Parallel()
	for want, turn := range map[string]loop.Turn{
		"[OK] Complete\n": {Class: loop.OK},
		"[OK] Complete (tokens: 999 in / 0 out, time: 3.2s)\n": {Class: loop.OK,
			Usage: loop.Usage{Input: 999}, Duration: 3210 * time.Millisecond},
		"[OK] Complete (cost: $0.0016, tools: 1)\n": {Class: loop.OK,
			Usage: loop.Usage{CostUSD: 0.0016}, Tools: 1},
		"[ERR] Failed (class: limit, cost: $0.25, errors: 2)\n  |  until 12:00: try again then\n": {Class: loop.UsageLimit,
			Usage: loop.Usage{CostUSD: 0.25}, ToolErrors: 2, Reason: "until 12:00: try again then"},
		// nothing of it came before
		"Fine.\nDone.\n\n[OK] Complete\n": {Class: loop.OK, Text: "Fine.\nDone."},
		"[ERR] Failed (class: cut)\n":     {Class: loop.CutShort, Text: "Fine."},
		"[WAIT] Waiting (time: 1m0s)\n  |  it asks: which?\n": {Class: loop.Waits, Duration: time.Minute,
			Reason: "it asks: which?"},
	} {
		if got := shown(stream.FormatOptions{}, &turn); got != want {
			t.Errorf("got:\n%s\nwant:\n%s", got, want)
		}
	}
}

func TestFormatterNumbers(t *testing.T) {
	t.Parallel()
	for tokens, want := range map[int64]string{
		999: "999", 1000: "1K", 1234: "1.2K", 99_949: "99.9K", 99_950: "100K", 999_499: "999K", 999_500: "1M", 9_000_000_000_000: "9000B",
	} {
		if got := shown(stream.FormatOptions{},
			&loop.Turn{Class: loop.OK, Usage: loop.Usage{Input: tokens}}); got != "[OK] Complete (tokens: "+want+
			" in / 0 out)\n" {
			t.Errorf("%d tokens: %s", tokens, got)
		}
	}
	for d, want := range map[time.Duration]string{time.Microsecond: "1ms", 420 * time.Millisecond: "420ms",
		9949 * time.Millisecond: "9.9s", 61500 * time.Millisecond: "1m2s", time.Hour: "1h0m0s"} {
		if got := shown(stream.FormatOptions{}, &loop.Turn{Class: loop.OK, Duration: d}); got != "[OK] Complete (time: "+want+
			")\n" {
			t.Errorf("%s: %s", d, got)
		}
	}
}

// TestFormatterListsAreBounded: of a thousand things to do, a hundred are shown.
func TestFormatterListsAreBounded(t *testing.T) {
	t.Parallel()
	got := shown(stream.FormatOptions{}, nil, stream.Event{Kind: stream.Todo, Todos: make([]stream.Item, 1000)})
	if n := strings.Count(got, "\n"); n != 103 || !strings.Contains(got, "[...] 900 more\n  Progress: 0/1000 (0%)") {
		t.Errorf("%d lines:\n%s", n, got)
	}
}

// TestFormatterForgetsTools: an agent whose tools never answer does not fill the memory.
func TestFormatterForgetsTools(t *testing.T) {
	t.Parallel()
	var events []stream.Event
	for i := range 5000 {
		events = append(events, begins(fmt.Sprint(i), "Bash", fmt.Sprint("input ", i)))
	}
	got := shown(stream.FormatOptions{}, nil,
		append(events, answers("1", ""), answers("4999", ""), answers(strings.Repeat("z", 1<<20), ""))...)
	if !strings.HasSuffix(got, "[OK] Result <- tool (no output)\n[OK] Result <- Bash(input 4999) (no output)\n[OK] "+
		"Result <- tool (no output)\n") {
		t.Errorf("ends with %q", got[len(got)-200:])
	}
}

// TestFormatFor has a row for each rule of what a place allows.
func TestFormatFor(t *testing.T) {
	t.Parallel()
	screen := []string{"TERM=xterm-256color"}
	for name, c := range map[string]struct {
		place         stream.Place
		emoji, colors bool
	}{
		"a terminal":                   {stream.Place{Terminal: true, Environ: screen}, true, true},
		"the log of a job":             {stream.Place{CI: true, Environ: screen}, true, false},
		"a pipe":                       {stream.Place{Environ: screen}, false, false},
		"a job with a terminal":        {stream.Place{Terminal: true, CI: true, Environ: screen}, true, false},
		"NO_COLOR":                     {stream.Place{Terminal: true, Environ: append(screen, "NO_COLOR=1")}, true, false},
		"NO_COLOR, empty":              {stream.Place{Terminal: true, Environ: append(screen, "NO_COLOR=")}, true, true},
		"CLICOLOR=0":                   {stream.Place{Terminal: true, Environ: append(screen, "CLICOLOR=0")}, true, false},
		"CLICOLOR=1 in a pipe":         {stream.Place{Environ: append(screen, "CLICOLOR=1")}, false, false},
		"CLICOLOR_FORCE in a pipe":     {stream.Place{Environ: []string{"CLICOLOR_FORCE=1"}}, false, true},
		"CLICOLOR_FORCE=0":             {stream.Place{Environ: []string{"CLICOLOR_FORCE=0"}}, false, false},
		"NO_COLOR over CLICOLOR_FORCE": {stream.Place{Environ: []string{"CLICOLOR_FORCE=1", "NO_COLOR=1"}}, false, false},
		"a dumb terminal":              {stream.Place{Terminal: true, Environ: []string{"TERM=dumb"}}, true, false},
		"a terminal of no kind":        {stream.Place{Terminal: true}, true, false},
	} {
		got := stream.FormatFor(c.place)
		if got.UseEmoji != c.emoji || got.UseColor != c.colors {
			t.Errorf("%s: emoji %t, colors %t", name, got.UseEmoji, got.UseColor)
		}
	}
}

// FuzzFormatter: whatever an agent says, no terminal sequence, workflow command or line over the limit comes of it.
func FuzzFormatter(f *testing.F) {
	f.Add("::error::x", "\x1b[31m", "a\r\n::b", true)
	f.Add("##[command]", "\u0085::x", "\u2028", false)
	command := regexp.MustCompile(`(?m)^\s*::|##\p{M}*\[|[\x00-\x08\x0b-\x1f\x7f-\x9f]`)
	f.Fuzz(func(t *testing.T, a, b, c string, delta bool) {
		got := shown(stream.FormatOptions{}, &loop.Turn{Class: loop.Broke, Reason: c},
			stream.Event{Kind: stream.Text, Text: a, Delta: delta}, stream.Event{Kind: stream.Text, Text: b, Delta: delta},
			begins(a, b, c), fails(a, b),
			stream.Event{Kind: stream.Todo, Todos: []stream.Item{{Text: a, Status: b}}},
			stream.Event{Kind: stream.Noise, Text: c},
			stream.Event{Kind: stream.Retry, Retry: stream.Attempt{Text: b}})
		for line := range strings.Lines(strings.ToValidUTF8(got, "\x00")) {
			if found := command.FindString(strings.ToValidUTF8(line, "\x00")); found != "" || len(line) > 3<<10 {
				t.Errorf("%d bytes with %q: %q", len(line), found, line)
			}
		}
	})
}
