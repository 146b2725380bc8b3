package report

import (
	"encoding/base64"
	"testing"
)

// TestRedactor: what internal/secret finds is replaced, what overlaps once, and what no one sees in the middle of a
// secret does not save its end. A text without a secret stays as it is.
func TestRedactor(t *testing.T) {
	const value = "p@ss word/With+Signs=1"
	redact := Redactor([]string{value, "abc", "", "  trimmed-value\n", "prefix-1234", "prefix-1234-and-more",
		"-----BEGIN OPENSSH PRIVATE KEY-----\r\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ\r\nAAAAYQ==\r\n-----END OPENSSH PRIVATE KEY-----", "hunter-two-and-three"})
	for in, want := range map[string]string{
		"nothing to hide: abc": "nothing to hide: abc",
		value + value:          "[redacted]",
		"Basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:"+value)): "Basic [redacted]",
		"prefix-1234-and-more": "[redacted]",
		"ghp_0123456789abcdefghijABCDEFGHIJ012345 gho_0123456789abcdefghij": "[redacted] [redacted]",
		"key=sk-ant-api03-AbC_dEf-123;":                                     "key=[redacted];",
		"sk-ant-api03-abc\u200Bdefghijklm1234567 end":                       "[redacted] end",
		"hunter-two\u2060-and-three":                                        "[redacted]",
		"gh\x1b[31mp_0123456789abcdefghijABCDEFGHIJ":                        "[redacted]",
		"\x1b[31mred\x1b[0m ze\u200Bro":                                     "\x1b[31mred\x1b[0m ze\u200Bro",
		"\x1b[31mred\x1b[0m ze\u200Bro hunter-two-and-three":                "\x1b[31mred\x1b[0m ze\u200Bro [redacted]",
	} {
		got := redact(in)
		if got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
		if again := redact(got); again != got {
			t.Errorf("%q becomes %q, a second time %q", in, got, again)
		}
	}
}
