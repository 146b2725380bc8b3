package secret

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// samples are secrets of the lengths and alphabets that real ones have. They are drawn, and nobody's.
var samples = map[string]string{
	"a model's key": "sk-ant-api03-" + drawn(1, 95),
	"a token":       "ghs_" + drawn(2, 36), "a short password": "Tr0ub4dor&3/x=",
	"a passphrase": "a horse 42 staples", "a long token": drawn(3, 400), "a private key": "-----BEGIN RSA PRIVATE KEY-----\n" + wrapped(drawn(4, 1600), 64) +
		"-----END RSA PRIVATE KEY-----\n",
}

func drawn(seed uint64, n int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	r := rand.New(rand.NewPCG(seed, 7))
	out := make([]byte, n)
	for i := range out {
		out[i] = letters[r.IntN(len(letters))]
	}
	return string(out)
}

func wrapped(s string, at int) string {
	var b strings.Builder
	for chunk := range slices.Chunk([]byte(s), at) {
		b.Write(chunk)
		b.WriteByte('\n')
	}
	return b.String()
}

func std(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// ways are how programs write a secret.
var ways = map[string]func(s string) string{
	"as it is":                     func(s string) string { return s },
	"in JSON":                      func(s string) string { return fmt.Sprintf("%q", s) },
	"in JSON, in JSON":             func(s string) string { return fmt.Sprintf("%q", fmt.Sprintf("%q", wrapped(std(s), 76))) },
	"base64":                       std,
	"base64, from the second byte": func(s string) string { return std("x" + s + "y") },
	"base64, from the third byte":  func(s string) string { return std("xy" + s) },
	"base64 without padding":       func(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) },
	"base64 of addresses":          func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
	"base64, wrapped":              func(s string) string { return wrapped(std(s), 76) },
	"base64, wrapped early":        func(s string) string { return wrapped(std(s), 1) },
	"base64, wrapped and indented": func(s string) string { return strings.ReplaceAll(wrapped(std(s), 20), "\n", "\r\n\t  ") },
	"base64, wrapped, in JSON":     func(s string) string { return fmt.Sprintf("%q", wrapped(std(s), 60)) },
	"an address":                   url.QueryEscape,
	"an address, small":            func(s string) string { return smallEscapes(url.QueryEscape(s)) },
	"hex":                          func(s string) string { return hex.EncodeToString([]byte(s)) },
	"hex, capitals":                func(s string) string { return fmt.Sprintf("%X", s) },
	"hex, wrapped":                 func(s string) string { return wrapped(hex.EncodeToString([]byte(s)), 60) },
	"split by line ends":           func(s string) string { return wrapped(s, 9) },
	"split at each byte":           func(s string) string { return wrapped(s, 1) },
}

// rest is a text without what is found in it.
func rest(k *Redactor, text string) string {
	var b strings.Builder
	end := 0
	for _, s := range k.All(text) {
		b.WriteString(text[end:s.From] + "|")
		end = s.To
	}
	return b.String() + text[end:]
}

// TestNothingPasses: every way of writing every secret is found, wherever it is, and nothing of it is left but the bits
// that base64 shares with what is around it.
func TestNothingPasses(t *testing.T) {
	for name, value := range samples {
		known := NewRedactor([]string{value, "another-secret-0a1b2c"})
		for way, write := range ways {
			for _, text := range []string{write(value), "before\n+\t\"" + write(value) + "\" after\n", "k=" + write(value)} {
				if _, ok := known.First(text); !ok {
					t.Errorf("%s, %s, is not found", name, way)
				}
				if left := rest(known, text); len(left) > 40 {
					t.Errorf("%s, %s: left is %q", name, way, left)
				}
			}
		}
	}
}

// TestCut: what an output ends in is hidden, if it is enough of a secret; and each line of a key.
func TestCut(t *testing.T) {
	known := NewRedactor([]string{samples["a long token"], samples["a private key"]})
	for _, text := range []string{samples["a long token"][:leastPart], std(samples["a long token"])[:100],
		strings.Split(samples["a private key"], "\n")[3]} {
		if rest(known, "cut: "+text) != "cut: |" {
			t.Errorf("%q is left", rest(known, "cut: "+text))
		}
	}
}

// TestInnocent: what is no secret stays.
func TestInnocent(t *testing.T) {
	var all []string
	for _, value := range samples {
		all = append(all, value)
	}
	known := NewRedactor(append(all, "abc", "", "  \n", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"))
	for name, text := range map[string]string{
		"words":               strings.Repeat("The quick brown fox jumps over the lazy dog. ", 100),
		"another key":         "sk-AN-T-" + drawn(99, 9),
		"short values":        "abc",
		"a row of one letter": strings.Repeat("a", 30),
		"its fifteen first":   samples["a long token"][:15],
		"nothing":             "",
	} {
		if s := known.All(text); len(s) > 0 {
			t.Errorf("%s: %q is found, %s", name, text[s[0].From:s[0].To], s[0].As)
		}
	}
}

// TestShared: what others have too is hidden where it is shown, but no reason to refuse a commit.
func TestShared(t *testing.T) {
	known := NewRedactor([]string{samples["a private key"], "pass12"})
	for _, text := range []string{"-----BEGIN RSA PRIVATE KEY-----", strings.Split(samples["a private key"], "\n")[1], "pass12"} {
		if _, ok := known.First(text); ok || len(known.All(text)) == 0 {
			t.Errorf("%q refuses a commit, or is shown", text)
		}
	}
}

// TestFinder: it does not matter how a text is parted.
func TestFinder(t *testing.T) {
	value := samples["a model's key"]
	text := strings.Repeat("diff ", 5000) + std("k:"+value) + strings.Repeat(" more", 100)
	for _, size := range []int{1, 7, 64, 4096, len(text)} {
		f := NewRedactor([]string{value}).Finder()
		for chunk := range slices.Chunk([]byte(text), size) {
			_, _ = f.Write(chunk)
		}
		if !f.Found() {
			t.Errorf("in parts of %d bytes it is not found", size)
		}
	}
}

func FuzzKnown(f *testing.F) {
	for _, write := range ways {
		f.Add(write(samples["a token"]))
	}
	known := NewRedactor([]string{samples["a token"], samples["a private key"], "Tr0ub4dor&3/x="})
	f.Fuzz(func(t *testing.T, text string) {
		spans, end := known.All(text), 0
		for _, s := range spans {
			if s.From < end || s.To <= s.From || s.To > len(text) {
				t.Fatalf("%q: spans %v", text, spans)
			}
			end = s.To
		}
		if left := rest(known, text); strings.Contains(left, samples["a token"]) {
			t.Fatalf("%q: left is %q", text, left)
		}
	})
}
