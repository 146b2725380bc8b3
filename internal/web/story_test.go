package web_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/fake/webpages"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

// TestHintsSayWhetherTheyWereRead: a hint waits until a turn has begun with it, on the page and in its stream; what an
// iteration's agent was told is folded in it, and that of the turn that goes on stands before them.
func TestHintsSayWhetherTheyWereRead(t *testing.T) {
	s := open(t, nil)
	w := s.world
	const id = "run-new"
	w.Put(web.Run{Run: store.Run{ID: id, Repository: webpages.Demo, Title: "New", State: web.Running}})
	script := sample.Begin(nil)
	turning := func(n int, prompt string) {
		before := len(script.Records)
		script.Turning(n, loop.Implement)
		w.Facts(id, script.Records[before:]...)
		w.Shown(id, web.ShownBody{Iteration: n, Prompt: prompt})
	}
	page := func() string {
		_, text := s.asks("alice", "GET", "/runs/"+id, "", nil)
		return text
	}
	w.Facts(id, script.Records...)
	turning(1, "first words")
	if text := page(); !strings.Contains(text, "What the agent is told now") || !strings.Contains(text, "first words") {
		t.Error("what the agent is told now is not shown")
	}
	w.Hint(id, "alice", "mind the gap")
	if text := page(); strings.Count(text, ">mind the gap</pre>") != 1 ||
		!strings.Contains(text, "waits for the next turn") {
		t.Error("a hint that nobody has read does not say so")
	}
	before := len(script.Records)
	script.Turned(1, loop.Turn{Class: loop.OK, Text: "I did it."})
	script.Committed(1, loop.FileChange{Path: "a.go", Added: 1})
	script.Judged(1, sample.Pass("claim"))
	script.Add(loop.Record{Type: loop.Hinted, Hint: &loop.Hint{ID: "word-3", By: "alice", Text: "mind the gap"}})
	w.Facts(id, script.Records[before:]...)
	text := page()
	if strings.Count(text, ">mind the gap</pre>") != 1 || !strings.Contains(text, "waits for the next turn") ||
		strings.Contains(text, "What the agent is told now") || !strings.Contains(text, "What the agent was told") {
		t.Error("a hint that the run has taken in, and no turn has read")
	}
	lines := s.follows("bob", "/runs/"+id+"/live?after=7", nil)
	turning(2, "second words")
	read := strings.Join(until(t, lines, "second words"), "\n")
	if !strings.Contains(read, "read in iteration 2") {
		t.Errorf("the stream: %s", read)
	}
	if text := page(); !strings.Contains(text, "read in iteration 2") || strings.Contains(text, "waits for the next") {
		t.Error("a hint that was read does not say so")
	}
}
