package bot

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/local"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/session"
)

// apart is a world whose repository has two projects, of which one can be mended and the other cannot.
func apart(t *testing.T) *world {
	w := newWorld(t)
	w.commit("web/Makefile", makefile, "web/add.sh", "add() { echo $(($1 - $2)); }\n", "api/Makefile",
		"test:\n\t@echo nobody may run this >&2; exit 1\n", "api/readme", "x\n")
	w.inputs["working_directory"] = "web"
	return w
}

// TestWorkingDirectory: agent and checks work there, what is detected is what is there, and what is committed is named
// from the top.
func TestWorkingDirectory(t *testing.T) {
	seldom(t)
	t.Parallel()
	w := apart(t)
	told := w.shared("where")
	w.inputs["setup"] = "echo setup $(pwd) >> " + told
	w.inputs["agent"] = w.script("agent", "echo agent $(pwd) >> "+told+"; "+w.script("mend", fixer))
	result := w.must(loop.Done)(w.label("alice"))
	if got := result.State.Start.Checks; len(got) != 1 || got[0] != "make test" {
		t.Errorf("the checks are %q", got)
	}
	if text := w.show("ralph/issue-1", "web/add.sh"); text != "# adds\nadd() { echo $(($1 + $2)); }\n" {
		t.Errorf("web/add.sh is %q", text)
	}
	if names := w.git("diff", "--name-only", "main", "ralph/issue-1"); names != "web/add.sh\n" {
		t.Errorf("changed are %q", names)
	}
	var inside, top int
	for line := range strings.Lines(w.file("where")) {
		if strings.HasSuffix(line, "/work/web\n") || strings.HasSuffix(line, "/judge/demo/web\n") {
			inside++
		} else { // the reviewer, in a checkout of its own
			top++
			if strings.HasPrefix(line, "setup") || strings.HasSuffix(line, "/web\n") {
				t.Errorf("%s", line)
			}
		}
	}
	if inside < 4 || top < 1 {
		t.Errorf("%d in web, %d elsewhere:\n%s", inside, top, w.file("where"))
	}
}

// TestWorkingDirectoryThatLeadsOut: whatever the agent puts in its place, nothing runs behind it: neither a check nor
// another turn.
func TestWorkingDirectoryThatLeadsOut(t *testing.T) {
	t.Parallel()
	for _, c := range some(1, []struct{ name, do, why string }{
		{"a link out", `rm -rf web; ln -s OUTSIDE web`, `"web" is a link`},
		{"a link aside", `rm -rf web; ln -s api web`, `"web" is a link`},
		{"a file", `rm -rf web; echo x >web`, `"web" is not a directory`},
		{"nothing", `rm -rf web`, `there is no "web"`},
	}...) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := apart(t)
			ran, turns := w.shared("ran"), w.shared("turns")
			outside := filepath.Join(w.dir, "outside")
			if err := os.Mkdir(outside, 0o755); err != nil {
				t.Fatal(err)
			}
			w.write("outside/Makefile", "test:\n\techo outside >>"+ran+"\n")
			w.inputs["agent"] = w.script("agent",
				"cat >/dev/null; echo turn >>"+turns+"; cd ..; "+strings.ReplaceAll(c.do, "OUTSIDE", outside)+
					"; echo \"<response>DONE</response>\"\n")
			result := w.must(loop.Failed)(w.label("alice"))
			if !strings.Contains(result.Reason, c.why) || w.file("ran") != "" || w.file("turns") != "turn\n" {
				t.Errorf("reason %q, ran %q, turns %q", result.Reason, w.file("ran"), w.file("turns"))
			}
			it := result.State.Last()
			if it == nil || len(it.Verdicts) == 0 {
				t.Fatal("nothing was judged")
			}
			for _, v := range it.Verdicts {
				if v.Check == "make test" && (v.Pass || !strings.Contains(v.Reason, c.why)) {
					t.Errorf("%+v", v)
				}
			}
		})
	}
}

// TestWorkingDirectoryOfAPrompt: a run of a prompt needs no git for it.
func TestWorkingDirectoryOfAPrompt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	agent := filepath.Join(dir, "agent.sh")
	for name, text := range map[string]string{"agent.sh": "#!/bin/sh\ncat >/dev/null; echo worked >done.txt; echo " +
		"'<response>DONE</response>'\n", "web/keep": "", "file": ""} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil { // an agent must be executable
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/tmp", filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	run := func(where, command string) (loop.Result, error) {
		p := &local.PromptRun{Prompt: "work",
			Session: session.Session{Dir: dir, Out: new(strings.Builder), Err: new(strings.Builder),
				Parent: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "RALPH_SANDBOX=off"}, Clock: time.Now,
				Flags: config.Layer{Name: "flags",
					JSON: []byte(`{"agent": {"command": "` + command + `"}, "workingDirectory": "` + where +
						`", "guardrails": [{"command": "grep -q worked done.txt"}]}`)}}}
		return p.Run(context.Background(), context.Background())
	}
	for _, command := range []string{agent, "./agent.sh"} { // a path is one from where the settings are
		result, err := run("web", command)
		if err != nil || result.Outcome != loop.Done {
			t.Fatalf("%s: %s (%s), %v", command, result.Outcome, result.Reason, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "web", "done.txt")); err != nil {
		t.Error(err)
	}
	for where, why := range map[string]string{"out": "is a link", "none": "there is no", "file": "is not a directory"} {
		if result, err := run(where, agent); result.Outcome != loop.Invalid || err == nil ||
			!strings.Contains(err.Error(), why) {
			t.Errorf("%s: %s, %v", where, result.Outcome, err)
		}
	}
}
