package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// sealedRun is a run of two records, and its seal.
func sealedRun(t *testing.T) (dir, name string) {
	t.Helper()
	dir, name = filepath.Join(t.TempDir(), ".ralph", "runs", "20261121-1"), filepath.Join(t.TempDir(), "state", "seals", "clone", "20261121-1")
	j := openSealed(t, dir, name)
	first := start("20261121-1")
	first.Start.Branch = "ralph/feature"
	for _, r := range []loop.Record{first, {Type: loop.TurnBegun, Iteration: 1, Mode: loop.Implement}} {
		if _, err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	return dir, name
}

func openSealed(t *testing.T, dir, name string) *Journal {
	t.Helper()
	j, err := OpenSealed(dir, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	if j.Unsealed() != nil {
		t.Fatal(j.Unsealed())
	}
	return j
}

func overwrite(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestForgedJournalIsRefused: whatever is done to a journal that no agent may write.
func TestForgedJournalIsRefused(t *testing.T) {
	forged := []byte(`{"type":"turning","iteration":1,"mode":"review"}` + "\n")
	for name, forge := range map[string]func(text []byte) []byte{
		"gone on with":       func(text []byte) []byte { return append(text, forged...) },
		"cut by a record":    func(text []byte) []byte { return text[:bytes.IndexByte(text, '\n')+1] },
		"cut in a record":    func(text []byte) []byte { return text[:len(text)-1] },
		"emptied":            func([]byte) []byte { return nil },
		"changed in a place": func(text []byte) []byte { return bytes.Replace(text, []byte("issue-1"), []byte("issue-2"), 1) },
		"another":            func([]byte) []byte { return forged },
		"no journal":         func([]byte) []byte { return []byte("x\n") },
	} {
		t.Run(name, func(t *testing.T) {
			dir, seal := sealedRun(t)
			file := filepath.Join(dir, File)
			text, _ := os.ReadFile(file)
			overwrite(t, file, forge(text))
			before, _ := os.ReadFile(file)
			_, err := OpenSealed(dir, seal)
			var tampered *TamperedError
			if !errors.As(err, &tampered) || err.Error() != "the journal of run 20261121-1 was changed by something other than ralph; its work is on branch ralph/feature: begin afresh with --fresh" {
				t.Errorf("%v", err)
			}
			if after, _ := os.ReadFile(file); !bytes.Equal(before, after) {
				t.Error("it was changed once more")
			}
			// Put back as it was, it is taken again.
			overwrite(t, file, text)
			openSealed(t, dir, seal)
		})
	}
	t.Run("removed", func(t *testing.T) {
		dir, seal := sealedRun(t)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenSealed(dir, seal); !errors.As(err, new(*TamperedError)) {
			t.Error(err)
		}
	})
	t.Run("a run that never was", func(t *testing.T) {
		dir, seal := sealedRun(t)
		dir, seal = filepath.Join(filepath.Dir(dir), "20261121-2"), filepath.Join(filepath.Dir(seal), "20261121-2")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		overwrite(t, filepath.Join(dir, File), forged)
		_, err := OpenSealed(dir, seal)
		if !errors.As(err, new(*TamperedError)) || !strings.HasSuffix(err.Error(), "so the run cannot go on: begin afresh") {
			t.Error(err)
		}
	})
	t.Run("changed meanwhile", func(t *testing.T) {
		dir, seal := sealedRun(t)
		j := openSealed(t, dir, seal)
		file := filepath.Join(dir, File)
		for i, forge := range []func(text []byte) []byte{
			func(text []byte) []byte { return append(text, forged...) },
			func(text []byte) []byte { return text[:10] },
			func([]byte) []byte { return nil },
		} {
			text, _ := os.ReadFile(file)
			overwrite(t, file, forge(text))
			if _, err := j.Append(loop.Record{Type: loop.TurnBegun, Iteration: i + 2}); err != nil {
				t.Fatal(err)
			}
			if now, _ := os.ReadFile(file); !bytes.Equal(now, j.Bytes()) {
				t.Errorf("%d: the file is not what was written", i)
			}
			if got := openSealed(t, dir, seal).State(); got.Turning.Iteration != i+2 {
				t.Errorf("%d: %+v", i, got.Turning)
			}
		}
	})
}

// TestCrashWhileAppending: the seal and the journal at every point of an append.
func TestCrashWhileAppending(t *testing.T) {
	next := loop.Record{Type: loop.TurnBegun, Iteration: 2}
	for name, c := range map[string]struct {
		upTo    func(t *testing.T, j *Journal, line []byte)
		records int
	}{
		"before anything":  {func(*testing.T, *Journal, []byte) {}, 2},
		"a seal half made": {func(t *testing.T, j *Journal, _ []byte) { overwrite(t, j.seal.file.Name()+".new", []byte(`{"sta`)) }, 2},
		"sealed":           {func(t *testing.T, j *Journal, line []byte) { announce(t, j, line) }, 2},
		"a line half made": {func(t *testing.T, j *Journal, line []byte) { announce(t, j, line); writeAt(t, j, line[:9]) }, 2},
		"all but its end":  {func(t *testing.T, j *Journal, line []byte) { announce(t, j, line); writeAt(t, j, line[:len(line)-1]) }, 2},
		"written":          {func(t *testing.T, j *Journal, line []byte) { announce(t, j, line); writeAt(t, j, line) }, 3},
		"written and sealed": {func(t *testing.T, j *Journal, line []byte) {
			done := announce(t, j, line)
			writeAt(t, j, line)
			noError(t, done())
		}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			dir, seal := sealedRun(t)
			j := openSealed(t, dir, seal)
			line, err := encode(next)
			noError(t, err)
			c.upTo(t, j, line)
			again := openSealed(t, dir, seal)
			if got := again.State().Records; got != c.records {
				t.Fatalf("%d records, want %d", got, c.records)
			}
			_, err = again.Append(next)
			noError(t, err)
			if got := openSealed(t, dir, seal).State().Records; got != c.records+1 {
				t.Errorf("%d records after one more, want %d", got, c.records+1)
			}
		})
	}
}

func announce(t *testing.T, j *Journal, line []byte) func() error {
	t.Helper()
	done, err := j.seal.announce(line, "b")
	noError(t, err)
	return done
}

func writeAt(t *testing.T, j *Journal, text []byte) {
	t.Helper()
	_, err := j.file.WriteAt(text, j.size)
	noError(t, err)
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestFirstCrash: a run that died before its first record was whole.
func TestFirstCrash(t *testing.T) {
	dir, seal := filepath.Join(t.TempDir(), "r"), filepath.Join(t.TempDir(), "s", "r")
	j := openSealed(t, dir, seal)
	line, _ := encode(start("r"))
	announce(t, j, line)
	writeAt(t, j, line[:20])
	if got := openSealed(t, dir, seal).State().Records; got != 0 {
		t.Error(got)
	}
}

// TestUnsealed: a journal of another machine's, and one whose seal cannot be written.
func TestUnsealed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "r")
	if _, err := open(t, dir).Append(start("r")); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "seals", "clone", "r")
	openSealed(t, dir, name)
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
	if _, err := j.Append(start("r")); err != nil {
		t.Error(err)
	}

	overwrite(t, name, []byte("{}"))
	if _, err := OpenSealed(dir, name); err == nil || !strings.Contains(err.Error(), "is damaged: if you trust the journal, remove the seal") {
		t.Error(err)
	}
}

// BenchmarkAppend: the records of a turn, 2 KiB each, in a journal that grows.
func BenchmarkAppend(b *testing.B) {
	for _, sealed := range []bool{false, true} {
		b.Run(fmt.Sprintf("sealed=%v", sealed), func(b *testing.B) {
			name := ""
			if sealed {
				name = filepath.Join(b.TempDir(), "seals", "r")
			}
			j, err := OpenSealed(filepath.Join(b.TempDir(), "r"), name)
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
