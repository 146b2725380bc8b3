package safetext

import (
	"bytes"
	"strings"
	"testing"
)

// TestConsole: however a text is parted into writes, what comes out commands neither a terminal nor a runner.
func TestConsole(t *testing.T) {
	for _, row := range []struct{ in, want string }{
		{"plain é 漢 \n\ttext", "plain é 漢 \n\ttext"},
		{"a\n::error::x\n  ::add-mask::y", "a\n: :error::x\n  : :add-mask::y"},
		{"std::vector a::b", "std::vector a::b"},
		{"x ##[group]y ###[z", "x ## [group]y ### [z"},
		{"question? ", "question? "},
		{"\u202e\u200bhidden\x07\x9b", "hidden\uFFFD"},
	} {
		for size := 1; size <= len(row.in); size++ {
			var out bytes.Buffer
			c := NewConsole(&out)
			for in := row.in; in != ""; {
				n := min(size, len(in))
				if done, err := c.Write([]byte(in[:n])); done != n || err != nil {
					t.Fatal(done, err)
				}
				in = in[n:]
			}
			if got := out.String(); got != row.want {
				t.Errorf("%q in writes of %d: %q", row.in, size, got)
			}
		}
	}
}

// TestConsoleSequences: a terminal sequence is gone where it comes whole, and is text where it comes in parts.
func TestConsoleSequences(t *testing.T) {
	var out bytes.Buffer
	c := NewConsole(&out)
	_, _ = c.Write([]byte("\x1b]52;c;ZXZpbA==\x07a\x1b[2Jb\x1b[31mc\n"))
	_, _ = c.Write([]byte("\x1b"))
	_, _ = c.Write([]byte("[2J\n"))
	if out.String() != "abc\n[2J\n" {
		t.Errorf("%q", out.String())
	}
	out.Reset()
	_, _ = Colored(c).Write([]byte("\x1b[31m::error::x\x1b[0m \x1b[8;1mhid\x1b[2Jden\x1b[1000m\n"))
	if out.String() != "\x1b[31m: :error::x\x1b[0m hidden\n" {
		t.Errorf("colored: %q", out.String())
	}
	if Raw(c) != &out || Raw(&out) != &out || Raw(Colored(c)) != &out || Colored(&out) != &out {
		t.Error("what is below a console is lost")
	}
}

// FuzzConsole: two writes of one line are as harmless as one.
func FuzzConsole(f *testing.F) {
	f.Add(":", ":x")
	f.Add("##", "[x")
	f.Add("\xf0\x9f", "\x98\x80")
	f.Add(" \u0301:", ":")
	f.Fuzz(func(t *testing.T, a, b string) {
		var out bytes.Buffer
		c := NewConsole(&out)
		_, _ = c.Write([]byte(a))
		_, _ = c.Write([]byte(b))
		for line := range strings.Lines(out.String()) {
			if line = strings.TrimSuffix(line, "\n"); Inert(line) != line {
				t.Errorf("%q and %q: %q", a, b, line)
			}
		}
	})
}
