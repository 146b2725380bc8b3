package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

// aRun is a run of two records, and its seal: the first record is on the disk for certain.
func aRun(t *testing.T) (dir, name string) {
	t.Helper()
	dir, name = filepath.Join(t.TempDir(), ".ralph", "runs", "20261121-1"),
		filepath.Join(t.TempDir(), "state", "seals", "clone", "20261121-1")
	j := reopen(t, dir, name)
	first := start("20261121-1")
	first.Start.Branch = "ralph/feature"
	appendTo(t, j, first)
	noError(t, j.Sync())
	appendTo(t, j, turning(1))
	return dir, name
}

func turning(n int) loop.Record {
	return loop.Record{Type: loop.TurnBegun, Iteration: n, Mode: loop.Implement}
}

func appendTo(t *testing.T, j *Journal, records ...loop.Record) {
	t.Helper()
	for _, r := range records {
		_, err := j.Append(r)
		noError(t, err)
	}
}

func reopen(t *testing.T, dir, name string) *Journal {
	t.Helper()
	j, err := OpenSealed(dir, name)
	noError(t, err)
	t.Cleanup(func() { _ = j.Close() })
	noError(t, j.Unsealed())
	return j
}

func overwrite(t *testing.T, name string, text []byte) {
	t.Helper()
	noError(t, os.WriteFile(name, text, 0o600))
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const (
	forged   = `{"type":"turning","iteration":1,"mode":"review"}` + "\n"
	tampered = "the journal of run 20261121-1 was changed by something other than ralph; its work is on branch " +
		"ralph/feature: start fresh with --fresh"
	missing = "the journal of run 20261121-1 is missing or empty, though ralph had written to it; its work is on " +
		"branch ralph/feature: put it back, or start fresh with --fresh"
)

// TestForgedJournalIsRefused: whatever is done to a journal that no agent may write.
func TestForgedJournalIsRefused(t *testing.T) {
	firstLine := func(text []byte) int { return bytes.IndexByte(text, '\n') + 1 }
	for name, c := range map[string]struct {
		forge func(text []byte) []byte
		want  string
	}{
		"gone on with":            {func(text []byte) []byte { return append(text, forged...) }, tampered},
		"gone on with, and more":  {func(text []byte) []byte { return append(text, forged+"{"...) }, tampered},
		"the end replaced":        {func(text []byte) []byte { return append(text[:firstLine(text)], forged...) }, tampered},
		"cut where it was synced": {func(text []byte) []byte { return text[:firstLine(text)-1] }, tampered},
		"cut before":              {func(text []byte) []byte { return text[:10] }, tampered},
		"emptied":                 {func([]byte) []byte { return nil }, missing},
		"filled with zeroes":      {func(text []byte) []byte { return make([]byte, len(text)) }, missing},
		"removed":                 {nil, missing},
		"changed in a place": {func(text []byte) []byte {
			return bytes.Replace(text, []byte("issue-1"), []byte("issue-2"), 1)
		}, tampered},
		"changed behind the first": {func(text []byte) []byte {
			return bytes.Replace(text, []byte(`"implement"`), []byte(`"review"`), 1)
		}, tampered},
		"another":    {func([]byte) []byte { return []byte(forged) }, tampered},
		"no journal": {func([]byte) []byte { return []byte("x\n") }, tampered},
	} {
		t.Run(name, func(t *testing.T) {
			dir, seal := aRun(t)
			file := filepath.Join(dir, File)
			text, _ := os.ReadFile(file)
			if c.forge == nil {
				noError(t, os.RemoveAll(dir))
			} else {
				overwrite(t, file, c.forge(bytes.Clone(text)))
			}
			before, _ := os.ReadFile(file)
			_, err := OpenSealed(dir, seal)
			if !errors.As(err, new(*TamperedError)) || err.Error() != c.want {
				t.Errorf("%v", err)
			}
			if _, ok, found := FindSealed(dir, seal, "issue-1"); ok || found == nil || found.Error() != err.Error() {
				t.Errorf("found: %v, %v", ok, found)
			}
			if after, _ := os.ReadFile(file); !bytes.Equal(before, after) {
				t.Error("it was changed once more")
			}
			// Put back as it was, it is taken again.
			noError(t, os.MkdirAll(dir, 0o755))
			overwrite(t, file, text)
			if j := reopen(t, dir, seal); j.Cut() != "" || j.State().Records != 2 {
				t.Errorf("%q, %d records", j.Cut(), j.State().Records)
			}
		})
	}
	t.Run("a run that never was", func(t *testing.T) {
		dir, seal := aRun(t)
		dir, seal = filepath.Join(filepath.Dir(dir), "20261121-2"), filepath.Join(filepath.Dir(seal), "20261121-2")
		noError(t, os.MkdirAll(dir, 0o755))
		overwrite(t, filepath.Join(dir, File), []byte(forged))
		_, err := OpenSealed(dir, seal)
		if !errors.As(err, new(*TamperedError)) ||
			!strings.HasSuffix(err.Error(), "so the run cannot continue: start fresh with --fresh") {
			t.Error(err)
		}
	})
	t.Run("changed meanwhile", func(t *testing.T) {
		dir, seal := aRun(t)
		j := reopen(t, dir, seal)
		file := filepath.Join(dir, File)
		for i, forge := range []func(text []byte) []byte{
			func(text []byte) []byte { return append(text, forged...) },
			func(text []byte) []byte { return text[:10] },
			func([]byte) []byte { return nil },
		} {
			text, _ := os.ReadFile(file)
			overwrite(t, file, forge(text))
			appendTo(t, j, turning(i+2))
			if now, _ := os.ReadFile(file); !bytes.Equal(now, j.Bytes()) {
				t.Errorf("%d: the file is not what was written", i)
			}
			if got := reopen(t, dir, seal).State(); got.Turning.Iteration != i+2 {
				t.Errorf("%d: %+v", i, got.Turning)
			}
		}
	})
}

// TestEndedRunWithoutItsJournal: nobody goes on with it, so that it only has to be told.
func TestEndedRunWithoutItsJournal(t *testing.T) {
	dir, seal := aRun(t)
	j := reopen(t, dir, seal)
	ended := func(o loop.Outcome) loop.Record { return loop.Record{Type: loop.Ended, End: &loop.End{Outcome: o}} }
	for outcome, over := range map[loop.Outcome]bool{loop.Interrupted: false, loop.Waiting: false, loop.Done: true,
		loop.Capped: true} {
		appendTo(t, j, loop.Record{Type: loop.Resumed, Resume: &loop.Resume{}}, ended(outcome))
		noError(t, j.Sync())
		var tampered *TamperedError
		if _, _, err := FindSealed(filepath.Join(dir, "gone"), seal, "issue-1"); !errors.As(err, &tampered) ||
			tampered.Over != over || !tampered.Missing {
			t.Errorf("%s: %+v", outcome, err)
		}
		if _, ok, err := FindSealed(filepath.Join(dir, "gone"), seal, "issue-2"); ok || err != nil {
			t.Errorf("%s, another task: %v, %v", outcome, ok, err)
		}
	}
}

// TestUnsealed: a journal of another machine's, and one whose seal cannot be written.
func TestUnsealed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "r")
	appendTo(t, open(t, dir), start("r"))
	name := filepath.Join(t.TempDir(), "seals", "clone", "r")
	if s, ok, err := FindSealed(dir, name, "issue-1"); !ok || err != nil || s.Records != 1 {
		t.Error(ok, err)
	}
	j := reopen(t, dir, name)
	noError(t, j.Sync())
	if info, err := os.Stat(name); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Error(info, err)
	}
	overwrite(t, filepath.Join(dir, File), nil)
	if _, err := OpenSealed(dir, name); err == nil {
		t.Error("it was sealed, and changed")
	}

	file := filepath.Join(t.TempDir(), "file")
	overwrite(t, file, nil)
	j, err := OpenSealed(filepath.Join(t.TempDir(), "r"), filepath.Join(file, "clone", "r"))
	if err != nil || j.Unsealed() == nil || !strings.Contains(j.Unsealed().Error(), "sealing the journal: ") {
		t.Fatal(err)
	}
	defer j.Close()
	appendTo(t, j, start("r"))
	noError(t, j.Sync())
}

// BenchmarkAppend: the records of a turn, 2 KiB each, in a journal that grows.
func BenchmarkAppend(b *testing.B) {
	for _, sealed := range []bool{false, true} {
		b.Run(fmt.Sprintf("sealed=%v", sealed), func(b *testing.B) {
			name := ""
			if sealed {
				name = filepath.Join(b.TempDir(), "seals", "r")
			}
			j, err := OpenSealed(filepath.Join(b.TempDir(), "runs", "r"), name)
			if err != nil {
				b.Fatal(err)
			}
			defer j.Close()
			j.Forget()
			first := start("r")
			first.Start.Spec = strings.Repeat("x", 2<<10)
			for b.Loop() {
				if _, err := j.Append(first); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRecordsOfAnIteration is what the four records of an iteration take who waits for them, with and without a
// sync in the background, and with one that is waited for. The agent and the check between them take a millisecond
// each.
func BenchmarkRecordsOfAnIteration(b *testing.B) {
	for name, sync := range map[string]func(*Journal) error{
		"none":       func(*Journal) error { return nil },
		"background": func(j *Journal) error { j.SyncSoon(20 * time.Millisecond); return nil },
		"waited for": (*Journal).Sync,
	} {
		b.Run("sync="+name, func(b *testing.B) {
			j, err := OpenSealed(filepath.Join(b.TempDir(), "runs", "r"), filepath.Join(b.TempDir(), "seals", "r"))
			if err != nil {
				b.Fatal(err)
			}
			defer j.Close()
			j.Forget()
			first := start("r")
			first.Start.Spec = strings.Repeat("x", 2<<10)
			took := time.Duration(0)
			for b.Loop() {
				begun := time.Now()
				err := sync(j)
				for range 2 {
					_, failed := j.Append(first)
					err = errors.Join(err, failed)
					took += time.Since(begun)
					time.Sleep(time.Millisecond)
					begun = time.Now()
					_, failed = j.Append(first)
					err = errors.Join(err, failed)
				}
				took += time.Since(begun)
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(took.Microseconds())/float64(b.N), "µs-waited/iteration")
		})
	}
}
