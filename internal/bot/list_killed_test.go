//go:build unix

package bot

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/local"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
)

// dieInList names the clone whose list of tasks is run by the process that is killed.
const dieInList = "RALPH_TEST_DIE_IN_LIST"

// listRun runs the tasks of a clone.
func listRun(clone, agent string, out io.Writer, stored func(loop.Record)) (local.ListResult, error) {
	l := &local.List{Tasks: "todo", IssueRun: local.IssueRun{Session: session.Session{
		Watch:  session.Watch{Stored: stored},
		Parent: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(clone), "RALPH_SANDBOX=off"}, Dir: clone,
		Out: out, Clock: time.Now,
		Flags: config.Layer{Name: "flags",
			JSON: []byte(`{"agent": {"command": "` + agent +
				`"}, "sandbox": "off", "review": false, "guardrails": [{"command": "test -d todo"}]}`)},
	}}}
	return l.Run(context.Background(), context.Background())
}

// maker is an agent that makes a file of the name in its task's title, when it finds what that needs and nothing else.
const maker = `#!/bin/sh
name=$(sed -n 's/.*Make \([a-z]\).*/\1/p' | head -1)
case $name in
a|b) ls ?.txt 2>/dev/null | grep -v "$name.txt" && exit 1;;
c) test -e a.txt && test -e b.txt || exit 1;;
esac
echo $name > $name.txt
echo '<response>DONE</response>'
`

// listClone is a clone with three tasks, of which the last needs the others, and what its agent is.
func listClone(t *testing.T) (clone, agent string) {
	t.Helper()
	dir := t.TempDir()
	clone, agent = filepath.Join(dir, "clone"), filepath.Join(dir, "agent")
	text := func(id, needs string) string {
		return "{id: " + id + ", title: Make " + id + ", dependencies: [" + needs +
			"], completion: {outcome: done, acceptance_criteria: [done]}}\n"
	}
	for name, text := range map[string]string{agent: maker, clone + "/todo/a.yaml": text("a", ""),
		clone + "/todo/b.yaml": text("b", ""), clone + "/todo/c.yaml": text("c", "a, b")} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil { // the agent is a program
			t.Fatal(err)
		}
	}
	gitIn(t, clone, "init", "-q", "-b", "main")
	gitIn(t, clone, "add", ".")
	gitIn(t, clone, "commit", "-q", "-m", "seed")
	if err := os.WriteFile(filepath.Join(clone, "mine.txt"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	return clone, agent
}

// TestListKilledAtAnyRecord kills a list of tasks right after a record of each kind, and where the branch of a run was
// made and its record was not: the next start goes on, every task has the work of what it needs and of nothing else,
// and in the end all of it is on one branch.
func TestListKilledAtAnyRecord(t *testing.T) {
	t.Parallel()
	for _, at := range some(1, "started 2 unwritten", "ended 3", "started 4", "started 1", "turned 1", "committed 1",
		"ended 1", "started 2", "judged 2", "ended 2", "started 3 unwritten", "started 3", "turning 3", "committed 3",
		"started 4 unwritten", "baselined 4", "ended 4") {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			clone, agent := listClone(t)
			record, unwritten := strings.CutSuffix(at, " unwritten")
			said := killedAt(t, record, dieInList+"="+clone, "AGENT="+agent)
			if unwritten {
				for _, pattern := range []string{clone + "/.ralph/runs/*", filepath.Dir(clone) + "/.local/state/ralph/seals/*/*"} {
					all, _ := filepath.Glob(pattern)
					if err := os.RemoveAll(all[len(all)-1]); err != nil {
						t.Fatal(err)
					}
				}
			}
			before := gitIn(t, clone, "log", "--format=%H", "--branches")
			var out bytes.Buffer
			result, err := listRun(clone, agent, &out, nil)
			if err != nil || result.Outcome != loop.Done || result.All == nil || result.All.Outcome != loop.Done {
				t.Fatalf("%s, %v\n%s\n%s", result.Outcome, err, said, out.String())
			}
			noneLost(t, clone, "--branches", before)
			for branch, want := range map[string]string{"ralph/a": "a.txt", "ralph/b": "b.txt", "ralph/c": "a.txt b.txt c.txt",
				"ralph/all-todo": "a.txt b.txt c.txt"} {
				if got := safetext.OneLine(gitIn(t, clone, "diff", "--name-only", "main", branch)); got != want {
					t.Errorf("%s has %s, want %s\n%s\n%s", branch, got, want, said, out.String())
				}
			}
			if got := gitIn(t, clone, "status", "--porcelain", "--branch"); got != "## main\n?? mine.txt\n" {
				t.Errorf("the clone: %s", got)
			}
			if n := strings.Count(gitIn(t, clone, "log", "--format=%s", "--branches"), "Merge "); n != 1 {
				t.Errorf("%d merges were made, want one: the same again is the same commit", n)
			}
		})
	}
}
