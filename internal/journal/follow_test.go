package journal

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

// A journal is followed while it is written: whole records count, once each, and a line that is half there waits for
// its end.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	f := Follow(dir)
	if _, _, err := f.Next(); err == nil {
		t.Error("there is no journal, and no error")
	}
	j := open(t, dir)
	see := func(records int, grew bool) {
		t.Helper()
		s, more, err := f.Next()
		if err != nil || s.Records != records || more != grew {
			t.Errorf("%d records, grew %v, %v; want %d, %v", s.Records, more, err, records, grew)
		}
	}
	see(0, false)
	if _, err := j.Append(start("r")); err != nil {
		t.Fatal(err)
	}
	see(1, true)
	see(1, false)
	name := filepath.Join(dir, File)
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	noError(t, err)
	defer file.Close()
	write := func(text string) {
		if _, err := file.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"type":"turning","iter`)
	see(1, false)
	write(`ation":1}` + "\n" + `{"type":"tur`)
	see(2, true)
	// Written anew, as when an agent has removed it, it is read from its beginning.
	text, err := os.ReadFile(name)
	noError(t, err)
	noError(t, os.Rename(name, name+".old"))
	noError(t, os.WriteFile(name, text, 0o600))
	see(2, true)
	noError(t, os.WriteFile(name, []byte("{}\n"), 0o600))
	if _, _, err := f.Next(); err == nil {
		t.Error("a line that is no record is skipped")
	}
}

func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"20260101-a", "20260102-b", "20260103-c"} {
		if _, err := open(t, filepath.Join(dir, name)).Append(loop.Record{Type: loop.TurnBegun}); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(int64(1000*(i%2)), 0) // b was written to last
		noError(t, os.Chtimes(filepath.Join(dir, name, File), at, at))
	}
	noError(t, os.Mkdir(filepath.Join(dir, "empty"), 0o700))
	places, err := Places(dir)
	if err != nil || len(places) != 3 {
		t.Fatalf("%v, %v", places, err)
	}
	for i, want := range []string{"20260102-b", "20260103-c", "20260101-a"} {
		if got := filepath.Base(places[i].Dir); got != want {
			t.Errorf("place %d is %s, want %s", i, got, want)
		}
	}
	if none, err := Places(filepath.Join(dir, "nowhere")); len(none) > 0 || err != nil {
		t.Errorf("%v, %v", none, err)
	}
}
