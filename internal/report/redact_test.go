package report

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"
)

func TestRedactor(t *testing.T) {
	const secret = "p@ss word/With+Signs=1"
	redact := Redactor([]string{secret, "abc", "", "  trimmed-value\n",
		"line one of a long secret\nline two of a long secret", "prefix-1234", "prefix-1234-and-more"})
	std := base64.StdEncoding.EncodeToString
	tests := []struct{ name, in, want string }{
		{"nothing", "nothing to hide: abc", "nothing to hide: abc"},
		{"value", "x " + secret + " y", "x [redacted] y"},
		{"twice", secret + secret, "[redacted]"},
		{"base64", "x " + std([]byte(secret)) + " y", "x [redacted] y"},
		{"raw base64", base64.RawStdEncoding.EncodeToString([]byte(secret)), "[redacted]"},
		{"URL base64", base64.RawURLEncoding.EncodeToString([]byte(secret)), "[redacted]"},
		{"basic auth", "Basic " + std([]byte("x-access-token:"+secret)), "Basic [redacted]"},
		{"query escape", url.QueryEscape(secret), "[redacted]"},
		{"path escape", url.PathEscape(secret), "[redacted]"},
		{"trimmed", "a trimmed-value b", "a [redacted] b"},
		{"several lines", "line one of a long secret\nline two of a long secret", "[redacted]"},
		{"several lines, escaped", `line one of a long secret\nline two of a long secret`, "[redacted]"},
		{"one of several lines", "line two of a long secret!", "[redacted]!"},
		{"longest first", "prefix-1234-and-more", "[redacted]"},
		{"GitHub", "ghp_0123456789abcdefghijABCDEFGHIJ012345 gho_0123456789abcdefghij", "[redacted] [redacted]"},
		{"GitHub, of users and refreshed", "ghu_0123456789abcdefghij, ghr_0123456789abcdefghij", "[redacted], [redacted]"},
		{"GitHub, with dots", "ghs_abcdefghij.klmnopqrst.uvwxyz0123456789_tail-x end", "[redacted] end"},
		{"GitHub, fine-grained", "github_pat_11ABCDEFG0abcdefghijkl_mnop end", "[redacted] end"},
		{"Anthropic", "key=sk-ant-api03-AbC_dEf-123;", "key=[redacted];"},
		{"OpenAI", "sk-proj-abcdefghij0123456789XYZ", "[redacted]"},
		{"Google", "AIzaSyA-0123456789abcdefghijklmnopqrstu", "[redacted]"},
		{"AWS", "AKIAIOSFODNN7EXAMPLE", "[redacted]"},
		{"AWS, for a while", "(ASIAIOSFODNN7EXAMPLE)", "([redacted])"},
		{"JSON web token", "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxMjM0NTYifQ.c2lnbmF0dXJlLWhlcmU", "[redacted]"},
		{"private key", "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\nb",
			"a\n[redacted]\nb"},
		{"private key, cut", "a\n-----BEGIN OPENSSH PRIVATE KEY-----\nMIIE", "a\n[redacted]"},
		{"not keys", "task-force, disk-space-is-nearly-used-up, sk-learn, sk-a-very-long-name-without-digits, BEGIN PUBLIC " +
			"KEY", "task-force, disk-space-is-nearly-used-up, sk-learn, sk-a-very-long-name-without-digits, BEGIN PUBLIC KEY"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := redact(tt.in)
			if got != tt.want {
				t.Errorf("redact(%q)\n got %q\nwant %q", tt.in, got, tt.want)
			}
			if again := redact(got); again != got {
				t.Errorf("a second time: %q", again)
			}
		})
	}
}

// Whoever prints a key prints it a line at a time: each line is a secret, the short last one, too.
func TestRedactorKnowsTheLinesOfAKey(t *testing.T) {
	lines := []string{"-----BEGIN OPENSSH PRIVATE KEY-----",
		"b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW", "QyNTUxOQAAACDk3", "AAAAYQ==",
		"-----END OPENSSH PRIVATE KEY-----"}
	redact := Redactor([]string{strings.Join(lines, "\r\n")})
	for _, line := range lines[1:4] {
		if got := redact("| " + line + " |"); got != "| [redacted] |" {
			t.Errorf("%q is shown as %q", line, got)
		}
	}
}

// Whatever stands before a value, no six characters in a row of its base64 are left.
func TestRedactorFindsBase64Anywhere(t *testing.T) {
	const secret = "0123456789abcdefghijklmnop"
	redact := Redactor([]string{secret})
	for _, before := range []string{"", "a", "ab", "abc", "user:"} {
		for _, after := range []string{"", "z", "zy", "zyx"} {
			in := base64.StdEncoding.EncodeToString([]byte(before + secret + after))
			got := redact(in)
			rest := strings.ReplaceAll(got, redacted, "")
			if !strings.Contains(got, redacted) || len(rest) > len(in)-len(secret) {
				t.Errorf("%q + secret + %q: %q of %q is left", before, after, got, in)
			}
		}
	}
}

// TestPartedSecrets: what nobody sees in the middle of a secret does not save its end, and a text without one stays as
// it is.
func TestPartedSecrets(t *testing.T) {
	redact := Redactor([]string{"hunter-two-and-three"})
	for text, want := range map[string]string{
		"sk-ant-api03-abc\u200Bdefghijklm1234567 end":        "[redacted] end",
		"hunter-two\u2060-and-three":                         "[redacted]",
		"gh\x1b[31mp_0123456789abcdefghijABCDEFGHIJ":         "[redacted]",
		"\x1b[31mred\x1b[0m ze\u200Bro":                      "\x1b[31mred\x1b[0m ze\u200Bro",
		"\x1b[31mred\x1b[0m ze\u200Bro hunter-two-and-three": "\x1b[31mred\x1b[0m ze\u200Bro [redacted]",
	} {
		if got := redact(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
