package check

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestDiff has a row for every way of having changed nothing, and for what looks like one and is not.
func TestDiff(t *testing.T) {
	before := files{"a.go": "package a\n\nfunc F() int {\n\treturn 1\n}\n",
		"b.py": "def f():\n    if x:\n        return 1\n    return 2\n", "c.txt": "end", "void": "", "run.sh": "true\n",
		"server.log": "1\n"}
	only := "the agent claims to be done, but only "
	for name, c := range map[string]struct {
		change files
		want   string // the reason; empty: it passes
	}{
		"a line":                 {files{"a.go": "package a\n\nfunc F() int {\n\treturn 2\n}\n"}, ""},
		"a new file":             {files{"new.txt": "x\n"}, ""},
		"lines in another order": {files{"b.py": "def f():\n    return 2\n    if x:\n        return 1\n"}, ""},
		"spaces for tabs": {files{"a.go": "package a\n\nfunc F() int {\n    return 1\n}\n"},
			only + "white space changed"},
		"a final newline":                {files{"c.txt": "end\n"}, only + "white space changed"},
		"indentation that has a meaning": {files{"b.py": "def f():\n    if x:\n        return 1\n        return 2\n"}, ""},
		"spaces at the end of Python": {files{"b.py": "def f():\n    if x:  \n        return 1\n\n    return 2\n"},
			only + "white space changed"},
		"the state file": {files{".ralph_state.md": "x\n"},
			only + "files that ralph or the agent keeps for itself changed"},
		"files of the harness": {files{".ralph/runs/1/x": "x\n", ".ralph-active": "{}\n", ".ralph.lock": "1\n",
			"ralph/progress.txt": "x\n", "ralph/tasks.json": "{}"},
			only + "files that ralph or the agent keeps for itself changed"},
		"an agent's notes": {files{".claude/settings.local.json": "{}\n", ".aider.chat.history.md": "x\n",
			".codex/log/x": "x\n"}, only + "files that ralph or the agent keeps for itself changed"},
		"an agent's command": {files{".claude/commands/fix.md": "Fix it.\n"}, ""},
		"the file that says DONE": {files{"DONE": "done\n"},
			only + "files that ralph or the agent keeps for itself changed"},
		"a new log": {files{"build/out.log": "ok\n"},
			only + "files that ralph or the agent keeps for itself changed"},
		"a log that was there": {files{"server.log": "2\n"}, ""},
		"an empty file":        {files{"new.txt": ""}, only + "empty files changed"},
		"a mode": {files{"run.sh": gone, "run.sh*": "true\n"},
			only + "modes of files changed"},
		"a link":        {files{"link@": "a.go"}, ""},
		"a binary file": {files{"image": "\x00\x01"}, ""},
		"white space and a state file": {files{"c.txt": "end\n", ".ralph_state.md": "x\n"},
			only + "white space and files that ralph or the agent keeps for itself changed"},
		"white space, nothing and an empty": {files{"c.txt": "end\n", "e": "", ".ralph.lock": "1"},
			only + "white space, files that ralph or the agent keeps for itself and empty files changed"},
	} {
		t.Run(name, func(t *testing.T) {
			v := run(t, Diff{Changes: between(t, before, before.with(c.change)), Kept: []string{"./DONE"}}, judged())
			if v.Pass != (c.want == "") || v.Reason != c.want {
				t.Errorf("pass %v, %q; want %q", v.Pass, v.Reason, c.want)
			}
		})
	}
}

// TestDiffOfForm: what leaves the text of files as it is passes where the task asks for it, and needs to be accepted
// elsewhere.
func TestDiffOfForm(t *testing.T) {
	before := files{"a.go": "package a\n\nfunc F() {}\n", "run.sh": "#!/bin/sh\ntrue\n", "old.txt": ""}
	spaces := files{"a.go": "package a\n\nfunc F() { }\n"}
	crlf := files{"a.go": "package a\r\n\r\nfunc F() {}\r\n"}
	both := files{"x": "", "run.sh": gone, "run.sh*": before["run.sh"]}
	mode := files{"run.sh": gone, "run.sh*": before["run.sh"]}
	for name, c := range map[string]struct {
		change files
		task   string
		open   string // what is to be accepted; empty: nothing
	}{
		"formatting that is the task":        {spaces, "Format the code with gofmt", ""},
		"line ends that are the task":        {crlf, "Convert CRLF to LF", ""},
		"white space that is not the task":   {spaces, "Fix the discount", "white-space"},
		"a mode that is the task":            {mode, "Make run.sh executable", ""},
		"a mode that is the task, in digits": {mode, "run.sh should be 0755", ""},
		"a mode that is not the task":        {mode, "Fix the discount", "modes"},
		"a package":                          {files{"lib/__init__.py": ""}, "Fix the discount", ""},
		"a page of GitHub":                   {files{".nojekyll": ""}, "Serve _static", ""},
		"types":                              {files{"lib/py.typed": ""}, "Ship types", ""},
		"an empty file":                      {files{"x": ""}, "Fix the discount", "empty-files"},
		"an empty file that is the task":     {files{"old.txt": gone}, "Remove the empty old.txt", ""},
		"two kinds":                          {both, "Fix it", "empty-files modes"},
		"two kinds, and one is the task":     {both, "chmod +x run.sh", ""},
	} {
		at := judged()
		at.State.Start.Title = c.task
		v := run(t, Diff{Changes: between(t, before, before.with(c.change))}, at)
		names := strings.Join(loop.Names(v.Concerns), " ")
		if v.Pass != (c.open == "") || names != c.open || !v.Pass && v.Severity != loop.Soft {
			t.Errorf("%s: pass %v, %s, open: %q, want %q", name, v.Pass, v.Severity, names, c.open)
		}
	}
}

// TestDiffThatIsFormatting: white space is work when a hard check that failed on the base commit asks for it.
func TestDiffThatIsFormatting(t *testing.T) {
	failed := loop.Verdict{Check: "gofmt", Severity: loop.Hard}
	soft := loop.Verdict{Check: "gofmt", Severity: loop.Soft}
	passed := loop.Verdict{Check: "gofmt", Severity: loop.Hard, Pass: true}
	for name, c := range map[string]struct {
		before, now loop.Verdict
		want        bool
	}{
		"failed, passes":       {failed, passed, true},
		"failed, fails":        {failed, failed, false},
		"passed, passes":       {passed, passed, false},
		"warned, passes":       {soft, loop.Verdict{Check: "gofmt", Severity: loop.Soft, Pass: true}, false},
		"failed, another one":  {failed, loop.Verdict{Check: "test", Severity: loop.Hard, Pass: true}, false},
		"failed, was left out": {failed, loop.Verdict{Check: "gofmt", Severity: loop.Hard, Skipped: "it failed"}, false},
	} {
		at := judged()
		at.State.Baseline, at.Verdicts = []loop.Verdict{c.before}, []loop.Verdict{c.now}
		if v := run(t, Diff{Changes: between(t, files{"a.go": "x\n"}, files{"a.go": "\tx\n"})}, at); v.Pass != c.want {
			t.Errorf("%s: pass = %v", name, v.Pass)
		}
		if v := run(t, Diff{Changes: between(t, files{}, files{".ralph.lock": "1\n"})}, at); v.Pass {
			t.Errorf("%s: a lock file passes for formatting", name)
		}
	}
}
