package session

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
)

func TestSealFile(t *testing.T) {
	const clone = "/home/alice/clone"
	for _, tt := range []struct {
		system string
		env    []string
		want   string // the state directory
	}{
		{"linux", []string{"HOME=/home/a", "XDG_STATE_HOME=/state"}, "/state"},
		{"linux", []string{"HOME=/home/a", "XDG_STATE_HOME=state"}, "/home/a/.local/state"},
		{"linux", []string{"HOME=/home/a"}, "/home/a/.local/state"},
		{"linux", []string{"HOME=/home/a", "HOME=/home/b"}, "/home/b/.local/state"},
		{"linux", nil, ""},
		{"linux", []string{"HOME=relative"}, ""},
		{"linux", []string{"HOME=/home/alice/clone"}, ""},
		{"linux", []string{"HOME=/home/alice/clone2"}, "/home/alice/clone2/.local/state"},
		{"darwin", []string{"HOME=/Users/a", "XDG_STATE_HOME=/state"}, "/Users/a/Library/Application Support"},
		{"windows", []string{"LocalAppData=/local"}, "/local"},
		{"freebsd", []string{"HOME=/home/a"}, "/home/a/.local/state"},
	} {
		got, err := SealFile(tt.system, tt.env, clone, "20261121-1")
		if tt.want == "" {
			if err == nil {
				t.Errorf("%v: %s", tt.env, got)
			}
			continue
		}
		begins, ends := filepath.Join(tt.want, "ralph", "seals")+"/", "/20261121-1"
		if middle := strings.TrimSuffix(strings.TrimPrefix(got, begins), ends); err != nil || len(middle) != 64 ||
			strings.Contains(middle, "/") {
			t.Errorf("%v: %s %v, want it in %s", tt.env, got, err, tt.want)
		}
	}
	env := []string{"HOME=/home/a"}
	one, _ := SealFile("linux", env, "/home/alice/clone", "r")
	other, _ := SealFile("linux", env, "/home/alice/other", "r")
	if filepath.Dir(one) == filepath.Dir(other) {
		t.Error("two clones have the same seals")
	}
}

// TestSealedBook: a run whose journal was forged does not go on, and one that cannot be sealed says so.
func TestSealedBook(t *testing.T) {
	var out bytes.Buffer
	seat := &Session{
		Dir: t.TempDir(), Out: &out, Clock: time.Now,
		Parent: []string{"HOME=" + t.TempDir(), "LocalAppData=" + t.TempDir()},
	}
	seat.Redact = func(text string) string { return text }
	dir := filepath.Join(seat.Dir, ".ralph", "runs", "20261121-1")
	book, err := seat.OpenJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	record := loop.Record{
		Type: loop.Started, At: time.Now(), Start: &loop.Start{Run: "20261121-1", Task: "t", Branch: "ralph/t"},
	}
	if _, err := book.Append(record); err != nil {
		t.Fatal(err)
	}
	if err := book.Close(); err != nil || out.Len() > 0 {
		t.Fatal(err, out.String())
	}
	name := filepath.Join(dir, "journal.jsonl")
	text, _ := os.ReadFile(name)
	if err := os.WriteFile(name, append(text, `{"type":"turning","iteration":1}`+"\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := seat.OpenJournal(dir); !invalid.Is(err) ||
		!strings.Contains(err.Error(), "its work is on branch ralph/t: start fresh with --fresh") {
		t.Error(err)
	}
	seat.Parent = []string{"HOME=" + seat.Dir, "LocalAppData=" + seat.Dir}
	book, err = seat.OpenJournal(filepath.Join(seat.Dir, ".ralph", "runs", "20261121-2"))
	if err != nil || !strings.Contains(out.String(), "the run's journal is not sealed: the directory for it, ") {
		t.Fatal(err, out.String())
	}
	_ = book.Close()
}
