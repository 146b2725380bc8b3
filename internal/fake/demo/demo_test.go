package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDemo runs the demonstration with a ralph that is built for it.
func TestDemo(t *testing.T) {
	ralph, kept := filepath.Join(t.TempDir(), "ralph"), t.TempDir()
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", ralph,
		"github.com/ralph-loop/ralph/cmd/ralph").CombinedOutput(); err != nil {
		t.Fatalf("building ralph: %v\n%s", err, out)
	}
	out, err := demonstrate(t, ralph, kept)
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, want := range []string{
		"pull request #3 is a draft", "fail action APPEND", "check review: failed",
		"pull request #3 is ready for review",
		"label ralph:failed put on #2", "❌ Stopped after ",
		"✓ On its branch make test passes", "✓ Issue #1 is labeled ralph:review",
		"✓ Its work is kept on wip/ralph-fail-issue-2-",
		"✓ Every request was one that GitHub understands",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q", want)
		}
	}
	if n := strings.Count(out, "✓ "); n != 12 || strings.Contains(out, "✗ ") {
		t.Errorf("%d claims hold, want all 12", n)
	}
	if strings.Contains(out, token) {
		t.Error("the output holds the token")
	}
	for name, want := range map[string]string{
		"comment.md": "### ✅ Done after 3 iterations", "run.html": "<h2>Timeline</h2>",
	} {
		if text, err := os.ReadFile(filepath.Join(kept, name)); err != nil || !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s is kept without %q, %v", name, want, err)
		}
	}
}

// TestDemoOfNothing: a ralph that does nothing is found out.
func TestDemoOfNothing(t *testing.T) {
	idle := filepath.Join(t.TempDir(), "ralph")
	if err := os.WriteFile(idle, []byte("#!/bin/sh\n"), 0o755); err != nil { // it is a program
		t.Fatal(err)
	}
	out, err := demonstrate(t, idle, "")
	if err == nil || !strings.Contains(out, "✗ There is a pull request for issue #1") ||
		!strings.Contains(out, "✗ There is a pull request with the work on issue #2") {
		t.Errorf("%v\n%s", err, out)
	}
}

// demonstrate runs the demo, and returns all that it printed.
func demonstrate(t *testing.T, ralph, keep string) (string, error) {
	t.Helper()
	var out strings.Builder
	s, err := newStage(ralph, &out)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	err = s.run(t.Context(), keep, &out)
	return out.String(), err
}
