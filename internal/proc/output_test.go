package proc_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/proc"
)

// broken is a writer on a full disk.
type broken struct{}

var errDisk = errors.New("the disk is full")

func (broken) Write([]byte) (int, error) { return 0, errDisk }

func TestTail(t *testing.T) {
	for _, c := range []struct {
		head, tail int
		in, want   string
	}{
		{4, 4, "", ""},
		{4, 4, "12345678", "12345678"},
		{4, 4, "123456789", "1234\n[... 1 bytes truncated ...]\n6789"},
		{4, 4, "123\n56789", "123\n[... 1 bytes truncated ...]\n6789"},
		{0, 3, "abcdef", "[... 3 bytes truncated ...]\ndef"},
		{3, 0, "abcdef", "abc\n[... 3 bytes truncated ...]\n"},
		{4, 4, "abc€xyz€", "abc\n[... 5 bytes truncated ...]\nz€"}, // no character is cut in two
	} {
		for piece := 1; piece <= len(c.in)+1; piece++ {
			tail := proc.NewTail(c.head, c.tail)
			for rest := c.in; rest != ""; {
				n := min(piece, len(rest))
				if wrote, err := tail.Write([]byte(rest[:n])); wrote != n || err != nil {
					t.Fatal(wrote, err)
				}
				rest = rest[n:]
			}
			if got := tail.String(); got != c.want || tail.Len() != int64(len(c.in)) {
				t.Errorf("%q in pieces of %d: %q, want %q", c.in, piece, got, c.want)
			}
		}
	}
}

func TestCapped(t *testing.T) {
	var to bytes.Buffer
	c := proc.NewCapped(&to, 5)
	for _, piece := range []string{"123", "45", "", "67", "8"} {
		if n, err := c.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Error(n, err)
		}
	}
	if to.String() != "12345\n[... the output was cut after 5 bytes ...]\n" {
		t.Errorf("got %q", to.String())
	}
	for most, want := range map[int64]string{
		3: "123\n[... the output was cut after 3 bytes ...]\n[... 2 bytes truncated ...]\n678",
		6: "123456\n[... the output was cut after 6 bytes ...]\n78",
		8: "12345678",
	} {
		to.Reset()
		c := proc.NewCapped(&to, most)
		c.KeepEnd(3)
		for _, piece := range []string{"1234", "5", "678"} {
			_, _ = c.Write([]byte(piece))
		}
		if err := c.Close(); err != nil || to.String() != want {
			t.Errorf("at most %d bytes and the last 3: %q, want %q, %v", most, to.String(), want, err)
		}
	}
	full := proc.NewCapped(broken{}, 5)
	if n, err := full.Write([]byte("123")); n != 3 || err != nil {
		t.Error("a full disk stops the run")
	}
	if full.Close() == nil {
		t.Error("a full disk is not told at all")
	}
}

// A link that was planted where the log goes is replaced, not followed.
func TestCreateLog(t *testing.T) {
	dir := t.TempDir()
	victim, path := filepath.Join(dir, "victim"), filepath.Join(dir, "runs", "1", "turn.log")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(victim, []byte("precious"), 0o644),
		os.Symlink(victim, path)); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"first", "second"} {
		log := must(proc.CreateLog(path, 100))
		_, _ = log.Write([]byte(text))
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	}
	got, _ := os.ReadFile(path)
	kept, _ := os.ReadFile(victim)
	info, err := os.Lstat(path)
	if err != nil || string(got) != "second" || string(kept) != "precious" || info.Mode() != 0o600 {
		t.Errorf("log %q, victim %q, %v, %v", got, kept, info.Mode(), err)
	}
}
