package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

func start(run string) loop.Record {
	return loop.Record{Type: loop.Started, At: time.Unix(0, 0).UTC(), Start: &loop.Start{Run: run, Task: "issue-1", MaxIterations: 5}}
}

func open(t *testing.T, dir string) *Journal {
	t.Helper()
	j, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func TestReopenedJournalTellsTheSame(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	for _, r := range []loop.Record{start("r"), {Type: loop.TurnBegun, Iteration: 1, Mode: loop.Implement}} {
		if _, err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	again := open(t, dir).State()
	if again.Start.Run != "r" || again.Turning == nil || again.Turning.Iteration != 1 || again.Records != 2 {
		t.Errorf("state = %+v", again)
	}
}

func TestUnfinishedLineIsCutOff(t *testing.T) {
	dir := t.TempDir()
	if _, err := open(t, dir).Append(start("r")); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, File)
	whole, _ := os.ReadFile(name)
	if err := os.WriteFile(name, append(whole, `{"type":"turned","tu`...), 0o600); err != nil {
		t.Fatal(err)
	}
	j := open(t, dir)
	if _, err := j.Append(loop.Record{Type: loop.TurnBegun, Iteration: 1}); err != nil {
		t.Fatal(err)
	}
	records, _, err := Read(bytes.NewReader(j.Bytes()))
	if err != nil || len(records) != 2 {
		t.Errorf("%d records, %v; want 2", len(records), err)
	}
	if onDisk, _ := os.ReadFile(name); !bytes.Equal(onDisk, j.Bytes()) {
		t.Error("the file and Bytes differ")
	}
}

func TestForeignLinesAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		"{}\n":                                 "line 1: a record of the unknown type",
		"not json\n":                           "line 1 is not a record",
		`{"type":"started"}` + "\n":            "line 1: a started record without its content",
		`{"type":"invented"}` + "\n":           "written by a newer ralph",
		strings.Repeat("x", maxLine+10) + "\n": "longer than",
	} {
		if _, _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Read(%.30q): %v, want %q", text, err, want)
		}
	}
}

func TestLock(t *testing.T) {
	dir := t.TempDir()
	unlock, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	var held *HeldError
	if _, err := Lock(dir); !errors.As(err, &held) || err.Error() != "ERROR: Another Ralph loop active (PID "+strconv.Itoa(os.Getpid())+")" {
		t.Errorf("second lock: %v", err)
	}
	unlock()
	if _, err := os.Stat(filepath.Join(dir, LockFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock is still there: %v", err)
	}
}

func TestStaleLockIsTakenOver(t *testing.T) {
	for _, content := range []string{"999999999\n", "", "garbage"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, LockFile), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		unlock, err := Lock(dir)
		if err != nil {
			t.Fatalf("lock holding %q: %v", content, err)
		}
		unlock()
	}
}

func TestUnlockLeavesAnothersLock(t *testing.T) {
	dir := t.TempDir()
	unlock, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, LockFile)
	if err := os.WriteFile(name, []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	unlock()
	if _, err := os.Stat(name); err != nil {
		t.Errorf("another's lock was removed: %v", err)
	}
}
