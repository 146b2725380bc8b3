package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// FuzzReadAnswer: no text verifies anything unless it ends with a line that begins with VERIFIED:, or with an object.
func FuzzReadAnswer(f *testing.F) {
	for _, text := range []string{"VERIFIED: x", "NOT_VERIFIED: x", "x\nVERIFIED: y\n", `{"verified":true,"reason":"x"}`,
		`{"a":{"verified":true}}`, "VERIFIED: x\n{", "```json\n{\"verified\":true}\n```"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		verified, _, ok := readAnswer(loop.Turn{Text: text})
		if verified && !ok {
			t.Error("it is verified by what is no answer")
		}
		trimmed := strings.TrimSpace(text)
		last := strings.TrimSpace(trimmed[strings.LastIndex(trimmed, "\n")+1:])
		object := strings.HasSuffix(strings.TrimSpace(strings.TrimSuffix(trimmed, "```")), "}")
		if verified && !strings.HasPrefix(last, "VERIFIED:") && !object {
			t.Errorf("%q is verified", text)
		}
	})
}

// FuzzSought: a text is found in a stream however the stream is cut, and little of the stream is kept.
func FuzzSought(f *testing.F) {
	f.Add("aab", "aaab", uint8(2))
	hay := strings.Repeat("ab", 500)
	for size := range 40 {
		f.Add("needle in hay", hay+"needle in hay"+hay, uint8(size))
	}
	f.Add("", "", uint8(0))
	f.Fuzz(func(t *testing.T, text, stream string, size uint8) {
		look := Expect{Contains: []string{text}, NotContains: []string{"aaaa"}}.sought()
		for chunk := range slices.Chunk([]byte(stream), int(size)+1) {
			if _, _ = look.Write(chunk); len(look.end) > max(len(text), 4) {
				t.Fatalf("%d bytes are kept", len(look.end))
			}
		}
		if look.has(text) != strings.Contains(stream, text) || look.has("aaaa") != strings.Contains(stream, "aaaa") {
			t.Errorf("%q in %q by %d: missing %v", text, stream, size, look.missing)
		}
	})
}
