package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestDemo runs the demonstration with a ralph that is built for it.
func TestDemo(t *testing.T) {
	ralph := build(t)
	kept := t.TempDir()
	out := demonstrate(t, ralph, 0, "-keep", kept)
	for _, want := range []string{
		"pull request #3 is a draft", "fail action APPEND", "check review: failed",
		"pull request #3 is ready for review",
		"label ralph:failed put on #2", "❌ Stopped after ",
		"✓ On its branch make test passes", "✓ Issue #1 is labelled ralph:review",
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
	out := demonstrate(t, idle, 1)
	for _, want := range []string{
		"✗ There is a pull request for issue #1", "✗ There is a pull request with the work on issue #2",
		"not everything is as it should be",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
}

// build makes the programs as make does, and returns ralph's path.
func build(t *testing.T) string {
	t.Helper()
	ralph := filepath.Join(t.TempDir(), "ralph")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", ralph,
		"github.com/ralph-loop/ralph/cmd/ralph").CombinedOutput(); err != nil {
		t.Fatalf("building ralph: %v\n%s", err, out)
	}
	return ralph
}

// demonstrate runs the demo in a process of its own, which ends with the code, and returns all that it printed.
func demonstrate(t *testing.T, ralph string, code int, flags ...string) string {
	t.Helper()
	demo := filepath.Join(t.TempDir(), "demo")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", demo,
		".").CombinedOutput(); err != nil {
		t.Fatalf("building the demo: %v\n%s", err, out)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, demo, append([]string{"-ralph", ralph}, flags...)...)
	out, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Fatalf("exit code %d, want %d:\n%s", got, code, out)
	}
	return string(out)
}
