package check

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

// TestStray: a command that must not run where it should is not run, and its check fails with the reason.
func TestStray(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	c := command(t, "touch '"+ran+"'")
	c.Stray = func() error { return errors.New("\"web\" is a link") }
	verdicts, _ := judgeOne(t, at(silent, changed), &tree{}, c)
	v := verdicts[0]
	if v.Pass || v.Reason != `it was not run: "web" is a link` || !strings.Contains(v.PromptText, `"web" is a link`) ||
		v.Hash == "" || v.Missing {
		t.Errorf("%+v", v)
	}
	verify := verifier(t, task.External, task.Verification{Command: "touch '" + ran + "'"})
	verify.Runner.Stray = c.Stray
	if got := verify.external(context.Background(), verify.Criteria.Config, "", Input{}); got.Pass ||
		got.Reason != `Command failed: "web" is a link` {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("it was run")
	}
	c.Stray = func() error { return nil }
	if verdicts, _ := judgeOne(t, at(silent, changed), &tree{}, c); !verdicts[0].Pass {
		t.Errorf("%+v", verdicts[0])
	}
	if _, err := os.Stat(ran); err != nil {
		t.Error(err)
	}
}

// TestFindingsBelow: a command that works below the top names files from there; its findings name them from the top.
func TestFindingsBelow(t *testing.T) {
	for file, want := range map[string]string{"src/a.go": "web/app/src/a.go", "./a.go": "web/app/a.go",
		"../lib/b.go": "web/lib/b.go", "/abs/c.go": "/abs/c.go", "": ""} {
		c := Command{Place: Place{Below: "web/app"}}
		before := []loop.Finding{{File: file, Line: 3}}
		if got := c.fromTop(before); got[0].File != want || got[0].Line != 3 || before[0].File != file {
			t.Errorf("%q is %q, want %q", file, got[0].File, want)
		}
		if got := (&Command{}).fromTop(before); got[0].File != file {
			t.Errorf("at the top %q is %q", file, got[0].File)
		}
	}
	c := command(t, "echo 'src/a.go:12: want 3, got 4'; exit 1")
	c.Below = "web"
	verdicts, _ := judgeOne(t, at(silent, changed), &tree{}, c)
	if f := verdicts[0].Findings; len(f) != 1 || f[0].File != "web/src/a.go" || f[0].Line != 12 {
		t.Errorf("%+v", verdicts[0])
	}
}
