package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/task"
)

func clock() time.Time { return time.Unix(0, 0) }

func tenth(d time.Duration) time.Duration { return d / 10 }

// TestWorkingDir: a command runs in the worktree, and no path leads it out (S2-28).
func TestWorkingDir(t *testing.T) {
	c := verifier(t, task.External, task.Verification{})
	top := c.Runner.Dir
	outside := t.TempDir()
	for _, err := range []error{os.MkdirAll(filepath.Join(top, "a/b"), 0o755),
		os.WriteFile(filepath.Join(top, "file"), nil, 0o644),
		os.Symlink("a/b", filepath.Join(top, "inside")), os.Symlink(outside, filepath.Join(top, "outside")),
		os.Symlink("../..", filepath.Join(top, "a/up"))} {
		noError(t, err)
	}
	for name, want := range map[string]string{
		"": "", ".": "", "a": "a", "a/b/": "a/b", "./a/../a": "a", "inside": "a/b", "a/b/../..": "",
		"file": "not a directory", "nothing": "not a directory", "outside": "not a directory", "a/up": "not a directory",
		"inside/../../..": "leads out", "..": "leads out",
		outside: "leads out", top: "leads out", "/": "leads out", "a\x00b": "not a directory",
	} {
		c.Criteria.Config.WorkingDir, c.Criteria.Config.Command = name, "pwd -P"
		v := verdictOf(t, c, promised("x"))
		if strings.Contains(want, " ") {
			if v.Pass || !strings.Contains(v.Reason, want) || !strings.HasPrefix(v.Reason, "Command failed: ") {
				t.Errorf("%q: %v %s", name, v.Pass, v.Reason)
			}
			continue
		}
		real, _ := filepath.EvalSymlinks(top)
		printed, _ := os.ReadFile(filepath.Join(c.Runner.LogDir, "verify_1_coder.log"))
		if got := strings.TrimSpace(string(printed)); !v.Pass || got != filepath.Join(real, want) {
			t.Errorf("%q: ran in %s: %s", name, got, v.Reason)
		}
	}
}

// TestCommandThatCannotRun: whatever keeps a command from running is a verification that failed (S2-80).
func TestCommandThatCannotRun(t *testing.T) {
	var logged []string
	c := verifier(t, task.External, task.Verification{Command: "true"})
	c.Log = func(format string, args ...any) { logged = append(logged, format) }
	c.Runner.LogDir = filepath.Join(t.TempDir(), "file")
	noError(t, os.WriteFile(c.Runner.LogDir, nil, 0o644))
	if v := verdictOf(t, c, promised("x")); v.Pass || !strings.HasPrefix(v.Reason, "Command failed: ") ||
		len(logged) != 1 {
		t.Errorf("verdict = %+v, logged %q", v, logged)
	}
	c = verifier(t, task.External, task.Verification{Command: "true"})
	c.Runner.Env = []string{"PATH=/nowhere"}
	if v := verdictOf(t, c, promised("x")); v.Pass || v.Reason != "Command failed: there is no shell to run it" {
		t.Errorf("verdict = %+v", v)
	}
}

// TestOutputIsRedacted: no secret gets into a verdict.
func TestOutputIsRedacted(t *testing.T) {
	c := verifier(t, task.External, task.Verification{Command: "echo hunter2; false"})
	c.Runner.Redact = func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }
	if v := verdictOf(t, c, promised("x")); v.Output != "***\n" || strings.Contains(v.PromptText, "hunter2") {
		t.Errorf("verdict = %+v", v)
	}
}
