package proc

import (
	"strings"
	"testing"
)

// FuzzPlain: what is shown as it is would come out of the long way as it is.
func FuzzPlain(f *testing.F) {
	for _, line := range []string{"plain text\twith tab", " \t::x", "##[x", "# #[::", "a\x7f", "é", "\x1b[m", "\v::x", " :: x"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if isPlain(line) && disarmed(line) != line {
			t.Errorf("%q is not as plain as it seems: %q", line, disarmed(line))
		}
	})
}

func BenchmarkInert(b *testing.B) {
	line := strings.Repeat("a line of a hundred characters, as compilers write", 2)
	for name, line := range map[string]string{"plain": line, "accents": "é" + line, "colours": "\x1b[31m" + line + "\x1b[0m"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Inert(line)
			}
		})
	}
}
