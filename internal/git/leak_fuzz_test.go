package git

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/secret"
)

// FuzzCommitFilter: a secret in what a commit adds is found whatever is around it and however the diff is parted, and
// what is added is not held beyond a bound.
func FuzzCommitFilter(f *testing.F) {
	f.Add("diff --git a/x b/x\n@@ -0,0 +1 @@\n+", "\n", uint8(3), true)
	f.Add("+-----BEGIN PRIVATE KEY-----\n+", "\x00\\n", uint8(200), true)
	f.Add("+"+strings.Repeat("sk-", 99), "\r\n", uint8(0), false)
	known := secret.NewRedactor([]string{held})
	f.Fuzz(func(t *testing.T, before, after string, size uint8, has bool) {
		text := before + after
		if has {
			text = before + held + after
		}
		s := &search{known: known.Finder()}
		for rest := []byte(text); len(rest) > 0; rest = rest[min(len(rest), int(size)+1):] {
			if n, err := s.Write(rest[:min(len(rest), int(size)+1)]); n == 0 || err != nil {
				t.Fatalf("%d, %v", n, err)
			}
			if s.added.Len() > mostAdded+mostLine || len(s.line) > mostLine {
				t.Fatal("it holds too much")
			}
		}
		if suspected := s.suspects(); strings.Contains(text, held) && !suspected {
			t.Fatalf("%q passes in parts of %d", text, size)
		}
	})
}
