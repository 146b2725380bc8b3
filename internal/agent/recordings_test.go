package agent_test

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/fake/archive"
	"github.com/ralph-loop/ralph/internal/loop"
)

// notStarted are recordings of processes that could not even be started: the prompt was too long for an argument.
var notStarted = map[string]bool{"claude/big-argv-1m5": true}

// TestRecordings holds what the recordings of real CLIs come to, as CASE.want next to each says. Its first line is the
// exit code of the process, below 0 the signal that ended it; -update writes the others.
func TestRecordings(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"amp", "claude", "codex", "gemini", "opencode"} {
		files := recordings(t, name)
		for file := range files {
			id, ok := strings.CutSuffix(file, ".jsonl")
			if !ok || notStarted[id] {
				continue
			}
			t.Run(id, func(t *testing.T) {
				t.Parallel()
				want := files[id+".want"]
				var exit int
				if _, err := fmt.Sscanf(want, "exit: %d\n", &exit); err != nil {
					t.Fatalf("%s.want does not begin with the exit code: %v", id, err)
				}
				got := outcome(played(t, id, exit), exit)
				if *update {
					entry := path.Base(id) + ".want"
					if err := archive.Put("../../testdata/agents/"+name+".txtar", entry,
						txtar.File{Name: entry, Data: []byte(got)}); err != nil {
						t.Fatal(err)
					}
				} else if got != want {
					t.Errorf("got:\n%s\nwant:\n%s", got, want)
				}
			})
		}
	}
}

// outcome is a turn in words.
func outcome(turn loop.Turn, exit int) string {
	resets := "never"
	if !turn.ResetAt.IsZero() {
		resets = turn.ResetAt.Format(time.RFC3339)
	}
	return fmt.Sprintf("exit: %d\nclass: %s\nreason: %s\nresets: %s\nusage: %+v\ntools: %d, of which %d failed\nclaims done: %t\ntext: %q\n",
		exit, turn.Class, turn.Reason, resets, turn.Usage, turn.Tools, turn.ToolErrors, turn.Claim.Done, turn.Text)
}

// recordings are what the real CLI of that name printed: "claude/success.jsonl" on standard output, "claude/success.stderr"
// on standard error.
func recordings(t testing.TB, name string) map[string]string {
	t.Helper()
	return archive.Files(t, "../../testdata/agents/"+name+".txtar")
}

// recording is a recorded turn, such as "claude/success".
func recording(t testing.TB, name string, exit int) agent.Recording {
	t.Helper()
	files := recordings(t, path.Dir(name))
	stdout, known := files[name+".jsonl"]
	if !known {
		t.Fatalf("there is no recording %s", name)
	}
	return agent.Recording{Stdout: strings.NewReader(stdout), Stderr: strings.NewReader(files[name+".stderr"]), Exit: exit}
}

// recordedFile is what a recording has on standard output, as a file's path for a fake to print.
func recordedFile(t *testing.T, name string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), path.Base(name))
	text, err := io.ReadAll(recording(t, name, 0).Stdout)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// played is the turn of a recording, some time before its limits are reset.
func played(t *testing.T, name string, exit int) loop.Turn {
	t.Helper()
	r := recording(t, name, exit)
	r.Prompt = "Create hello.txt in this repository."
	o := agent.Options{Command: path.Dir(name), Answer: agent.Answer{Completion: "DONE"},
		Clock: func() time.Time { return time.Date(2026, 11, 21, 3, 20, 0, 0, time.UTC) }}
	turn := must(agent.Replay(o, r))
	return turn
}
