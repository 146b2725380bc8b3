package gateway

import (
	"strings"
	"testing"
)

// TestWritten: about how long an event's text is, of which a cut answer is estimated.
func TestWritten(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(`word\n`, 1000)
	for _, c := range []struct {
		p           Protocol
		event       string
		least, most int64
	}{
		{Anthropic, `{"type":"content_block_delta","delta":{"type":"text_delta","text":"twelve bytes"}}`, 12, 12},
		{Anthropic, `{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{\"a\"" }}`, 6, 6},
		{Anthropic, `{"type":"content_block_delta","delta":{"type":"text_delta","text":"` + long + `"}}`, 6000, 6010},
		{Responses, `{"type":"response.output_text.delta","delta": "abc","obfuscation":"xxxxxxxxx"}`, 3, 3},
		{Chat, `{"choices":[{"delta":{"content":null,"reasoning_content":"abcd"}}]}`, 4, 4},
		{Gemini, `{"candidates":[{"content":{"parts":[{"text":"ab"}]}}]}`, 2, 2},
		{Gemini, `{"x":"` + strings.Repeat("x", mostFrame) + `","text":"ab"}`, 0, 0},
		{Anthropic, `{"type":"ping"}`, 0, 0},
	} {
		if n := written(c.p, []byte(c.event)); n < c.least || n > c.most {
			t.Errorf("%.80s: %d bytes, want %d to %d", c.event, n, c.least, c.most)
		}
	}
}
