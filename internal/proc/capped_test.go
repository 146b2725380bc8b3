package proc

import (
	"slices"
	"strings"
	"testing"
)

// TestCappedRedacts: what is written is redacted in whole lines, however it is parted; the last line needs no end.
func TestCappedRedacts(t *testing.T) {
	redact := func(s string) string { return strings.ReplaceAll(s, "secret", "-") }
	for _, row := range []struct {
		name, text, want string
		most             int64
	}{
		{"lines", "a secret\nno\nsecret", "a -\nno\n-", 1000},
		{"none", "", "", 1000},
		{"more than is kept", "secret secret\nand more\n", "- -\n\n[... the output was cut after 4 bytes ...]\n", 4},
		{"a long line", strings.Repeat("x", 200_000) + "secret\n", strings.Repeat("x", 200_000) + "-\n", 1 << 20},
	} {
		for _, size := range []int{1, 3, 1 << 20} {
			var b strings.Builder
			c := NewCapped(&b, row.most)
			c.Redact(redact)
			for chunk := range slices.Chunk([]byte(row.text), size) {
				_, _ = c.Write(chunk)
			}
			if err := c.Close(); err != nil || b.String() != row.want {
				t.Errorf("%s, in parts of %d: %.200q %v", row.name, size, b.String(), err)
			}
		}
	}
}
