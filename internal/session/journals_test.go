package session

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
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
		got, err := sealFile(tt.system, tt.env, clone, "20261121-1")
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
	one, _ := sealFile("linux", env, "/home/alice/clone", "r")
	other, _ := sealFile("linux", env, "/home/alice/other", "r")
	if filepath.Dir(one) == filepath.Dir(other) {
		t.Error("two clones have the same seals")
	}
}

// TestRunWithoutASeal: a run whose journal cannot be sealed says so and continues.
func TestRunWithoutASeal(t *testing.T) {
	var out bytes.Buffer
	dir := t.TempDir()
	s := &Session{Dir: dir, Out: &out, Parent: []string{"HOME=" + dir, "LocalAppData=" + dir}}
	s.Redact = func(text string) string { return text }
	book, err := s.OpenJournal(filepath.Join(dir, ".ralph", "runs", "20261121-2"))
	if err != nil || !strings.Contains(out.String(), "the run's journal is not sealed: the directory for it, ") {
		t.Fatal(err, out.String())
	}
	_ = book.Close()
}
