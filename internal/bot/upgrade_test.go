//go:build unix

package bot

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/loop"
)

// recordedWorld is a world as an earlier version left it: its job of issue 1 was killed in the second turn, that of
// issue 2 came to its limit.
func recordedWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	dir := filepath.Join(w.dir, "recorded")
	if err := fake.Unpack(filepath.Join("..", "..", "testdata", "upgrade", "bot.tar.gz"), dir); err != nil {
		t.Fatal(err)
	}
	if err := w.gh.Restore(owner, name, dir); err != nil {
		t.Fatal(err)
	}
	w.inputs["agent"] = w.script("agent",
		approver(`printf 'add() { echo $(($1 + $2)); }\n' > add.sh; echo "<response>DONE</response>"`))
	w.env["GITHUB_RUN_ID"] = "78"
	w.setClock(t, 2*time.Hour)
	return w
}

// recordedAt is when the lease of the recorded job ends.
func (w *world) recordedAt(t *testing.T) time.Time {
	t.Helper()
	_, text, _ := strings.Cut(w.show("refs/ralph/leases/issue-1", "lease.json"), `"until": "`)
	text, _, _ = strings.Cut(text, `"`)
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// setClock sets the job's clock to so long after the end of that lease, or later.
func (w *world) setClock(t *testing.T, after time.Duration) {
	t.Helper()
	w.late = max(0, time.Until(w.recordedAt(t).Add(after)))
}

// holds fails unless a branch of the remote holds a commit.
func (w *world) holds(branch, commit string) {
	w.t.Helper()
	if !slices.Contains(strings.Fields(w.git("rev-list", branch)), commit) {
		w.t.Errorf("%s does not hold %s", branch, commit)
	}
}

// TestKilledJobOfAnEarlierVersion: whatever would go on with it does, on the same branch, pull request and comments.
func TestKilledJobOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	for what, ask := range map[string]func(w *world) (loop.Result, error){
		"the label again": func(w *world) (loop.Result, error) { return w.label("alice") },
		"a comment":       func(w *world) (loop.Result, error) { return w.comment("alice", "/ralph retry") },
		"the next sweep":  func(w *world) (loop.Result, error) { return w.sweep() },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := recordedWorld(t)
			tip, said := w.commitOf("ralph/issue-1"), len(w.bodies(1))+len(w.bodies(3))
			result := w.must(loop.Done)(ask(w))
			if n := len(result.State.Iterations); n != 2 {
				t.Errorf("%d iterations, want 2", n)
			}
			w.holds("ralph/issue-1", tip)
			if n := len(w.bodies(1)) + len(w.bodies(3)); n != said+1 { // that it is done
				t.Errorf("%d comments, want the %d that there were and one more", n, said)
			}
			pulls := w.gh.Pulls(owner, name)
			if len(pulls) != 2 || pulls[0].Draft || pulls[0].Head != "ralph/issue-1" {
				t.Errorf("pull requests: %+v", pulls)
			}
			if lease := w.git("for-each-ref", "refs/ralph/leases"); lease != "" {
				t.Errorf("the lease is still held: %s", lease)
			}
		})
	}
}

// TestLivingJobOfAnEarlierVersion: its lease is believed.
func TestLivingJobOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	w := recordedWorld(t)
	w.late = time.Until(w.recordedAt(t).Add(-time.Minute))
	record := w.commitOf("refs/ralph/runs/issue-1")
	if result, err := w.comment("alice", "/ralph retry"); err != nil || result.Outcome != "" {
		t.Errorf("outcome %q, %v", result.Outcome, err)
	}
	if w.commitOf("refs/ralph/runs/issue-1") != record ||
		!strings.Contains(w.out.String(), "already running (workflow run 1, attempt 1") {
		t.Errorf("the record is at %s, it was at %s", w.commitOf("refs/ralph/runs/issue-1"), record)
	}
}

// TestFailedJobOfAnEarlierVersion: it is gone on with when somebody asks, and its failure branch stays as it is; a
// fresh one keeps all of it.
func TestFailedJobOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	for what, iterations := range map[string]int{"/ralph retry": 3, "/ralph retry --fresh": 1} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := recordedWorld(t)
			w.issue = 2
			tip, failed := w.commitOf("ralph/issue-2"), w.git("for-each-ref", "refs/heads/wip")
			result := w.must(loop.Done)(w.comment("alice", what))
			if n := len(result.State.Iterations); n != iterations {
				t.Errorf("%d iterations, want %d", n, iterations)
			}
			kept := w.git("for-each-ref", "refs/heads/wip")
			if iterations == 1 {
				if w.holdsAny("wip/archive", tip); !strings.Contains(kept, "wip/archive/ralph-fail-issue-2-") ||
					strings.Contains(kept, "refs/heads/wip/ralph-fail") {
					t.Errorf("what is kept: %s", kept)
				}
				return
			}
			w.holds("ralph/issue-2", tip)
			if kept != failed {
				t.Errorf("the failure branch was %q and is %q", failed, kept)
			}
		})
	}
}

// TestRecordOfALaterVersion: of what this version does not know, a field is skipped; with a record it is that
// version's to go on, and a fresh start does not need it.
func TestRecordOfALaterVersion(t *testing.T) {
	t.Parallel()
	t.Run("a field", func(t *testing.T) {
		t.Parallel()
		w := recordedWorld(t)
		w.rewriteRecord(func(journal string) string {
			return strings.ReplaceAll(journal, `{"type":`, `{"later":{"x":[1]},"type":`)
		})
		result := w.must(loop.Done)(w.comment("alice", "/ralph retry"))
		if n := len(result.State.Iterations); n != 2 {
			t.Errorf("%d iterations, want 2", n)
		}
	})
	t.Run("a record", func(t *testing.T) {
		t.Parallel()
		w := recordedWorld(t)
		w.rewriteRecord(func(journal string) string { return journal + `{"type":"dreamt"}` + "\n" })
		tip := w.commitOf("ralph/issue-1")
		w.must(loop.Invalid)(w.comment("alice", "/ralph retry"))
		if told := strings.Join(w.bodies(1), "\n"); !strings.Contains(told, "newer ralph") ||
			!strings.Contains(told, "retry --fresh") {
			t.Errorf("told on the issue: %s", told)
		}
		w.holds("ralph/issue-1", tip)
		w.must(loop.Done)(w.comment("alice", "/ralph retry --fresh"))
		w.holdsAny("wip/archive", tip)
	})
}

// commitOf is the commit that a ref of the remote is at.
func (w *world) commitOf(ref string) string { return strings.TrimSpace(w.git("rev-parse", ref)) }

// holdsAny fails unless one of some branches of the remote holds a commit.
func (w *world) holdsAny(branches, commit string) {
	w.t.Helper()
	if w.git("for-each-ref", "--contains", commit, "refs/heads/"+branches) == "" {
		w.t.Errorf("no branch of %s holds %s", branches, commit)
	}
}

// rewriteRecord changes the journal of issue 1 on the remote.
func (w *world) rewriteRecord(change func(journal string) string) {
	w.t.Helper()
	w.write("journal", change(w.show("refs/ralph/runs/issue-1", "journal.jsonl")))
	blob := strings.TrimSpace(w.git("hash-object", "-w", filepath.Join(w.dir, "journal")))
	w.write("tree", "100644 blob "+blob+"\tjournal.jsonl\n")
	cmd := exec.Command("sh", "-c",
		`git update-ref refs/ralph/runs/issue-1 $(git -c user.name=ralph -c user.email=r@example.com commit-tree -m record -p refs/ralph/runs/issue-1 $(git mktree < "$TREE"))`)
	cmd.Env = append(os.Environ(), "GIT_DIR="+w.gh.GitDir(owner, name), "TREE="+filepath.Join(w.dir, "tree"))
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%v\n%s", err, out)
	}
}
