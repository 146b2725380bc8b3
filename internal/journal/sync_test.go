package journal

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// floor is what a seal says is on the disk, in bytes, and how often it says so.
func floor(t *testing.T, name string) (size int64, times int) {
	t.Helper()
	s, err := readSeal(name)
	noError(t, err)
	text, _ := os.ReadFile(name)
	return s.marks[0].Bytes, bytes.Count(text, []byte(`"is":"synced"`))
}

func TestSync(t *testing.T) {
	dir, name := filepath.Join(t.TempDir(), "runs", "r"), filepath.Join(t.TempDir(), "seals", "r")
	j := reopen(t, dir, name)
	noError(t, j.Sync())
	for n := range 3 {
		r := turning(n)
		if n == 0 {
			r = start("r")
		}
		appendTo(t, j, r)
		if size, _ := floor(t, name); size == j.size {
			t.Errorf("record %d is on the disk, and nobody has put it there", n)
		}
		noError(t, j.Sync())
		noError(t, j.Sync()) // nothing is new
		if size, times := floor(t, name); size != j.size || times != n+2 {
			t.Errorf("%d bytes of %d are on the disk, as is said %d times", size, j.size, times)
		}
	}
	// A journal whose file was removed gets another one, which is put on the disk too.
	noError(t, os.RemoveAll(dir))
	appendTo(t, j, turning(4))
	noError(t, j.Sync())
	if size, _ := floor(t, name); size != j.size || !j.sync.placed {
		t.Errorf("%d bytes of %d are on the disk", size, j.size)
	}
	if again := reopen(t, dir, name); again.State().Records != 4 {
		t.Errorf("%d records", again.State().Records)
	}
}

// In the background, syncs that are asked for while one is at work become one.
func TestSyncSoon(t *testing.T) {
	dir, name := filepath.Join(t.TempDir(), "runs", "r"), filepath.Join(t.TempDir(), "seals", "r")
	j := reopen(t, dir, name)
	appendTo(t, j, start("r"))
	const many = 200
	for n := range many {
		j.SyncSoon(time.Duration(n%3) * time.Millisecond)
		appendTo(t, j, turning(n))
		if n%50 == 0 {
			noError(t, os.RemoveAll(dir)) // an agent cleans up meanwhile
		}
	}
	j.SyncSoon(time.Hour)
	appendTo(t, j, turning(0))
	noError(t, j.Close())
	if size, times := floor(t, name); size != j.size || times > many+1 {
		t.Errorf("%d bytes of %d are on the disk, as is said %d times", size, j.size, times)
	}
	if again := reopen(t, dir, name); again.State().Records != many+2 {
		t.Errorf("%d records", again.State().Records)
	}
}

func TestSyncThatFails(t *testing.T) {
	for what, sync := range map[string]func(j *Journal) error{
		"at once": (*Journal).Sync,
		"in the background": func(j *Journal) error {
			j.SyncSoon(0)
			j.sync.work.Wait()
			_, err := j.Append(turning(1))
			return err
		},
		"before another": func(j *Journal) error { j.SyncSoon(time.Hour); return j.Sync() },
		"at the end":     func(j *Journal) error { j.SyncSoon(time.Hour); return j.Close() },
	} {
		dir, name := filepath.Join(t.TempDir(), "runs", "r"), filepath.Join(t.TempDir(), "seals", "r")
		j := reopen(t, dir, name)
		appendTo(t, j, start("r"))
		noError(t, j.file.Close())
		if err := sync(j); err == nil || !strings.Contains(err.Error(), "putting the journal on the disk: ") {
			t.Errorf("%s: %v", what, err)
		}
		if size, _ := floor(t, name); size != 0 {
			t.Errorf("%s: the seal says that %d bytes are on the disk", what, size)
		}
	}
}

func TestDiscard(t *testing.T) {
	dir, name := filepath.Join(t.TempDir(), "runs", "r"), filepath.Join(t.TempDir(), "seals", "r")
	j := reopen(t, dir, name)
	appendTo(t, j, start("r"))
	noError(t, j.Sync())
	noError(t, j.Discard())
	_ = j.Close() // as everybody does at the end
	for _, gone := range []string{dir, name} {
		if _, err := os.Lstat(gone); err == nil {
			t.Errorf("%s is still there", gone)
		}
	}
	if _, ok, err := FindSealed(dir, name, "issue-1"); ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
}
