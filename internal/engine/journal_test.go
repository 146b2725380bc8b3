package engine

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
)

// keptLedger is a ledger whose journal is sealed, so that it can be told what is on the disk.
func keptLedger(t *testing.T, tree *git.Tree) (l *Journal, seal string) {
	t.Helper()
	seal = filepath.Join(t.TempDir(), "seals", "r")
	file, err := journal.OpenSealed(filepath.Join(t.TempDir(), "runs", "r"), seal)
	noError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	return &Journal{File: file, Tree: tree, Clock: time.Now, Redact: asItIs}, seal
}

// onDisk is how many bytes of a journal its seal says are on the disk, and how often it says so.
func onDisk(t *testing.T, seal string) (size, times int) {
	t.Helper()
	text, err := os.ReadFile(seal)
	noError(t, err)
	for line := range strings.Lines(string(text)) {
		var entry struct {
			Is    string
			Bytes int
		}
		if _, object, _ := strings.Cut(line, " "); json.Unmarshal([]byte(object), &entry) == nil &&
			entry.Is == "synced" {
			size, times = entry.Bytes, times+1
		}
	}
	return size, times
}

// recordsOf are the records of a run of so many.
func recordsOf(n int) []loop.Record {
	records := []loop.Record{{Type: loop.Started, Start: &loop.Start{Run: "r", Task: "t"}}}
	for i := 1; i <= n; i++ {
		records = append(
			records, loop.Record{Type: loop.TurnBegun, Iteration: i},
			loop.Record{Type: loop.Turned, Iteration: i, Turn: &loop.Turn{}},
			loop.Record{
				Type: loop.Committed, Iteration: i, Commit: &loop.Commit{},
			},
			loop.Record{Type: loop.Judged, Iteration: i},
		)
	}
	return append(records, loop.Record{Type: loop.Ended, End: &loop.End{Outcome: loop.Capped}})
}

// TestRecordsAreOnDiskBeforeACommit: in a run with a tree, everything that a commit or a branch may rely on.
func TestRecordsAreOnDiskBeforeACommit(t *testing.T) {
	l, seal := keptLedger(t, &git.Tree{})
	for _, r := range recordsOf(2) {
		if _, err := l.Append(context.Background(), r); err != nil {
			t.Fatal(err)
		}
		if size, _ := onDisk(t, seal); (size == len(l.File.Bytes())) == (r.Type == loop.TurnBegun) {
			t.Errorf("after the %s record %d bytes of %d are on the disk", r.Type, size, len(l.File.Bytes()))
		}
	}
}

// TestPromptSyncsOnceAnIteration: at the beginning of each turn, of what came before it, and at the end.
func TestPromptSyncsOnceAnIteration(t *testing.T) {
	l, seal := keptLedger(t, nil)
	const many = 20
	before := 0
	for _, r := range recordsOf(many) {
		if r.Type == loop.TurnBegun {
			before = len(l.File.Bytes())
		}
		if _, err := l.Append(context.Background(), r); err != nil {
			t.Fatal(err)
		}
		if r.Type == loop.TurnBegun && r.Iteration%5 == 0 { // an agent that takes its time
			for size := 0; size < before; size, _ = onDisk(t, seal) {
				time.Sleep(time.Millisecond)
			}
		}
	}
	noError(t, l.File.Close())
	if size, times := onDisk(t, seal); size != len(l.File.Bytes()) || times > many+1 || times < many/5 {
		t.Errorf(
			"%d bytes of %d are on the disk, synced %d times in %d iterations", size, len(l.File.Bytes()), times,
			many,
		)
	}
}
