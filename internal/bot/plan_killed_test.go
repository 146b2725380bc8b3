//go:build unix

package bot

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/local"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/session"
)

// dieIn names the clone whose plan is run by the process that is killed.
const dieIn = "RALPH_TEST_DIE_IN"

// Plan runs the plan of a clone.
func Plan(clone, agent string, out io.Writer, stored func(loop.Record)) (loop.Result, error) {
	l := &local.IssueRun{Plan: "ralph", Session: session.Session{
		Watch:  session.Watch{Stored: stored},
		Parent: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(clone), "RALPH_SANDBOX=off"}, Dir: clone,
		Out: out, Clock: time.Now,
		Flags: config.Layer{Name: "flags", JSON: []byte(`{"agent": {"command": "` + agent + `"}, "sandbox": "off"}`)},
	}}
	return l.Run(context.Background(), context.Background())
}

// worker is an agent that goes by .ralph-active alone, so that a turn may be taken again: it implements badly first,
// hands in, approves.
const worker = `#!/bin/sh
p=$(cat)
mode=$(sed -n 's/.*"iterationMode": "\(.*\)".*/\1/p' .ralph-active); story=$(sed -n 's/.*"story": "\(.*\)".*/\1/p' .ralph-active)
echo "$mode $story"
case $mode in
implement)
	if [ -e $story ]; then echo good > $story; else echo bad > $story; fi
	awk -v id="$story" '/"id": / { split($0, part, "\""); here = part[4] == id } here && /"reviewStatus"/ { sub(/null/, "\"needs_review\"") } { print }' ralph/tasks.json > .t && cat .t > ralph/tasks.json && rm .t;;
review)
	tree=$(printf '%s' "$p" | sed -n 's/.*"tree": *"\([0-9a-f]*\)".*/\1/p' | head -1)
	printf '{"verdict":"approve","tree":"%s","summary":"It is good.","issues":[]}\n' "$tree";;
esac
`

// planClone is a clone with a plan of two stories, which nobody has committed, and what its agent is.
func planClone(t *testing.T) (clone, agent string) {
	t.Helper()
	dir := t.TempDir()
	clone, agent = filepath.Join(dir, "clone"), filepath.Join(dir, "agent")
	p := plan.Plan{Project: "p", BranchName: "ralph/p", Description: "d", VerifyCommands: []string{"! grep -q bad US-*"}}
	for _, id := range []string{"US-001", "US-002"} {
		p.Stories = append(p.Stories, plan.Story{ID: id, Title: "Write " + id, AcceptanceCriteria: []string{"it is good"},
			Priority: 1})
	}
	for name, text := range map[string]string{agent: worker, clone + "/README": "hello\n",
		clone + "/ralph/prd.md": "Two files.\n", clone + "/ralph/tasks.json": string(p.Marshal())} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil { // the agent is a program
			t.Fatal(err)
		}
	}
	gitIn(t, clone, "init", "-q", "-b", "main")
	gitIn(t, clone, "add", "README")
	gitIn(t, clone, "commit", "-q", "-m", "seed")
	return clone, agent
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=Alice", "-c", "user.email=alice@example.com"},
		args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// killedAt runs what the environment names in a process of its own, which is killed at a record, and returns its output.
func killedAt(t *testing.T, record string, environ ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), dieAt + "=" + record}, environ...)
	said, err := cmd.CombinedOutput()
	if !cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
		t.Fatalf("it was not killed at %s: %v\n%s", record, err, said)
	}
	return string(said)
}

// noneLost holds that a clone's refs of a kind, --all or --branches, still have the commits they had before, a line each.
func noneLost(t *testing.T, clone, kind, before string) {
	t.Helper()
	after := gitIn(t, clone, "log", "--format=%H", kind)
	for _, c := range strings.Fields(before) {
		if !strings.Contains(after, c) {
			t.Errorf("commit %s is lost", c)
		}
	}
}

// TestPlanKilledAtAnyRecord kills the run of a plan right after a record of each kind: the next run goes on, no commit
// is lost, nothing is approved twice or without its review, and in the end the branch's file says what counts.
func TestPlanKilledAtAnyRecord(t *testing.T) {
	t.Parallel()
	for _, at := range some(1, "committed 2", "started 1", "corrected 1", "baselined 1", "turning 1", "turned 1", "committed 1",
		"judged 1", "corrected 2", "turned 3", "committed 3", "judged 3", "judged 6", "ended 1") {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			clone, agent := planClone(t)
			said := killedAt(t, at, dieIn+"="+clone, "AGENT="+agent)
			before := gitIn(t, clone, "log", "--format=%H", "--all")
			var out bytes.Buffer
			result, err := Plan(clone, agent, &out, nil)
			if err != nil || result.Outcome != loop.Done {
				t.Fatalf("%s (%s), %v\n%s\n%s", result.Outcome, result.Reason, err, said, out.String())
			}
			noneLost(t, clone, "--all", before)
			content := gitIn(t, clone, "show", "ralph/p:ralph/tasks.json")
			p, err := plan.Parse("tasks.json", []byte(content))
			if err != nil || !p.Complete(plan.Rules{ReviewCap: 5}) {
				t.Fatalf("%v: %s", err, content)
			}
			for _, s := range p.Stories {
				if s.ReviewCount != 1 {
					t.Errorf("%s was reviewed %d times", s.ID, s.ReviewCount)
				}
			}
			if log := gitIn(t, clone, "log", "--format=%s", "main..ralph/p"); strings.Count(log, "review: [") != 2 {
				t.Errorf("reviews in the log:\n%s", log)
			}
			if got := gitIn(t, clone, "status", "--porcelain", "--branch"); got != "## main\n?? ralph/\n" {
				t.Errorf("the clone: %s", got)
			}
		})
	}
}
