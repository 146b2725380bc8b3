package secret

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/ascii85"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
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
	"a long token": drawn(3, 400), "a private key": "-----BEGIN RSA PRIVATE KEY-----\n" + wrapped(drawn(4, 1600), 64) +
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

func gzipped(s string, level int) string {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, level)
	if err != nil {
		panic(err)
	}
	_, _ = io.WriteString(w, s)
	_ = w.Close()
	return b.String()
}

func std(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// ways are how somebody writes a secret who does not want it to be found.
var ways = map[string]func(s string) string{
	"as it is":                     func(s string) string { return s },
	"base64":                       std,
	"base64, from the second byte": func(s string) string { return std("x" + s + "y") },
	"base64, from the third byte":  func(s string) string { return std("xy" + s) },
	"base64 without padding":       func(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) },
	"base64 of addresses":          func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
	"base64, wrapped":              func(s string) string { return wrapped(std(s), 76) },
	"base64, twice":                func(s string) string { return std(std(s)) },
	"base64, reversed":             func(s string) string { return reversed(std(s)) },
	"base64 of UTF-16":             func(s string) string { return std(utf16(s)) },
	"an address":                   url.QueryEscape,
	"an address, small":            func(s string) string { return smallEscapes(url.QueryEscape(s)) },
	"an address, every byte":       func(s string) string { return addresses(s)[0] },
	"hex":                          func(s string) string { return hex.EncodeToString([]byte(s)) },
	"hex, capitals":                func(s string) string { return fmt.Sprintf("%X", s) },
	"hex, wrapped":                 func(s string) string { return wrapped(hex.EncodeToString([]byte(s)), 60) },
	"hex, with spaces":             func(s string) string { return fmt.Sprintf("% x", s) },
	"hex, escaped":                 func(s string) string { return hexForms(s)[7] },
	"a dump":                       func(s string) string { return hex.Dump([]byte(s)) },
	"decimal":                      func(s string) string { return fmt.Sprintf("%d", []byte(s)) },
	"base32":                       func(s string) string { return base32.StdEncoding.EncodeToString([]byte(s)) },
	"base32, from the fourth byte": func(s string) string { return base32.StdEncoding.EncodeToString([]byte("abc" + s)) },
	"octal":                        func(s string) string { return each(s, `\%03o`, "") },
	"octal, of a shell":            func(s string) string { return each(s, `\0%03o`, "") },
	"HTML":                         func(s string) string { return each(s, "&#%d;", "") },
	"HTML, hex":                    func(s string) string { return each(s, "&#x%x;", "") },
	"letter by letter":             func(s string) string { return each(s, "%c", " ") },
	"a letter a line":              func(s string) string { return each(s, "%c", "\n") },
	"base85":                       func(s string) string { return ascii85d("ab" + s) },
	"reversed":                     reversed,
	"ROT13":                        rot13,
	"gzip":                         func(s string) string { return gzipped(s, gzip.DefaultCompression) },
	"gzip, stored":                 func(s string) string { return gzipped(s, gzip.NoCompression) },
	"gzip, in base64":              func(s string) string { return std(gzipped(s, gzip.BestSpeed)) },
	"gzip, best, in base64":        func(s string) string { return std(gzipped(s, gzip.BestCompression)) },
	"gzip, in base64, wrapped":     func(s string) string { return wrapped(std(gzipped(s, gzip.HuffmanOnly)), 76) },
	"gzip, in hex":                 func(s string) string { return hex.EncodeToString([]byte(gzipped(s, 6))) },
	"gzip of base64":               func(s string) string { return gzipped(std(s), 9) },
	"gzip of gzip":                 func(s string) string { return gzipped(gzipped("a\n"+s, 6), 6) },
	"gzip of base64, in base64":    func(s string) string { return std(gzipped("key="+std(s)+"\n", 9)) },
	"gzip, cut":                    func(s string) string { z := gzipped(s, 1); return z[:len(z)-8] },
	"zlib":                         zlibbed,
	"zlib, in base64":              func(s string) string { return std(zlibbed(s)) },
	"a zip archive":                zipped,
	"a zip archive, in base64":     func(s string) string { return std(zipped(s)) },
}

func ascii85d(s string) string {
	out := make([]byte, ascii85.MaxEncodedLen(len(s)))
	return string(out[:ascii85.Encode(out, []byte(s))])
}

func zlibbed(s string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = io.WriteString(w, s)
	_ = w.Close()
	return b.String()
}

func zipped(s string) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, text := range []string{strings.Repeat("nothing to see\n", 9), s} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: "notes/" + text[:1] + ".txt", Method: zip.Deflate})
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(w, text)
	}
	_ = z.Close()
	return b.String()
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

// TestNothingPasses: every way of writing every secret is found, wherever it stands, and little of it is left.
func TestNothingPasses(t *testing.T) {
	for name, value := range samples {
		known := NewRedactor([]string{value, "another-secret-0a1b2c"})
		for way, write := range ways {
			for _, text := range []string{write(value), "before\n+\t\"" + write(value) + "\" after\n", "k=" + write(value)} {
				if _, ok := known.First(text); !ok {
					t.Errorf("%s, %s, is not found", name, way)
				}
				left, most := rest(known, text), 40
				switch {
				case name == "a private key" && way == "a dump": // it is mostly places and spaces
					most = len(text)
				case name == "a private key": // its first lines are those of others, too, and every line breaks a row
					most += len(text) / 2
				case strings.Contains(way, "wrapped"): // the last line may be a short one
					most += 3 * leastPart
				case strings.Contains(way, "dump"): // places, and what a dump's lines begin with
					most += len(value) * 5
				case strings.Contains(way, "zip") || strings.Contains(way, "zlib"): // names, and where they stand
					most += 420
				}
				if len(left) > most {
					t.Errorf("%s, %s: left is %q", name, way, left)
				}
			}
		}
	}
}

// TestHalves: so is each half of one that has 16 characters or more, in every way.
func TestHalves(t *testing.T) {
	for name, value := range samples {
		if strings.Contains(value, "\n") {
			value = strings.Split(value, "\n")[3]
		}
		known := NewRedactor([]string{samples[name]})
		for i, half := range []string{value[:len(value)/2], value[len(value)/2:]} {
			if len(half) < leastPart {
				continue
			}
			for way, write := range ways {
				if way == "a dump" && len(half) < 32 {
					continue // a line has 16 bytes, of which the half may begin anywhere
				}
				if _, ok := known.First(write(half)); !ok {
					t.Errorf("half %d of %s, %s, is not found", i+1, name, way)
				}
			}
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
		"words":                strings.Repeat("The quick brown fox jumps over the lazy dog. ", 100),
		"another key":          samples["a model's key"][:13] + drawn(99, 95),
		"something compressed": gzipped(strings.Repeat("nothing ", 100), 6),
		"base64 like zlib":     strings.Repeat("eJx", 1000) + "H4sIAAAA",
		"short values":         "abc",
		"a row of one letter":  strings.Repeat("a", 30),
		"other bytes":          "\x1f\x8b\x08\x00PK\x03\x04\x78\x9c",
		"its fifteen first":    samples["a long token"][:15],
		"nothing":              "",
	} {
		if s := known.All(text); len(s) > 0 {
			t.Errorf("%s: %q is found, %s", name, text[s[0].From:s[0].To], s[0].As)
		}
	}
}

// TestShared: what others have too is hidden where it is shown, but no reason to refuse a commit.
func TestShared(t *testing.T) {
	known := NewRedactor([]string{samples["a private key"], "pass12"})
	for _, text := range []string{"-----BEGIN RSA PRIVATE KEY-----", strings.Split(samples["a private key"], "\n")[1],
		"pass12"} {
		if _, ok := known.First(text); ok {
			t.Errorf("%q refuses a commit", text)
		}
		if len(known.All(text)) == 0 {
			t.Errorf("%q is shown", text)
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
	f := NewRedactor([]string{value}).Finder()
	_, _ = io.WriteString(f, "nothing, and H4")
	if f.Found() || f.Packed() {
		t.Error("something is found in nothing")
	}
	_, _ = io.WriteString(f, "sIAAAAAAAA")
	if f.Found() || !f.Packed() {
		t.Error("something compressed is not noticed")
	}
}

// TestBombs: something small that becomes large, or is many, is given up.
func TestBombs(t *testing.T) {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, 9)
	_, _ = w.Write(make([]byte, 64<<20))
	_ = w.Close()
	bomb := "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff" + b.String()
	value := samples["a token"]
	if _, ok := NewRedactor([]string{value}).First(strings.Repeat(bomb, 20) + strings.Repeat("eJx", 5000) + value); !ok {
		t.Error("what stands behind them is not found")
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

func BenchmarkKnown(b *testing.B) {
	var all []string
	for _, value := range samples {
		all = append(all, value)
	}
	known := NewRedactor(all)
	const line = "func (k *Known) ready() { // makes the forms when somebody first looks for them 0x1f\n"
	words := strings.Repeat(line, 12<<10)
	random := drawn(8, 1<<20)
	for name, text := range map[string]string{"code": words, "random": random} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				known.All(text)
			}
		})
	}
	b.Run("forms", func(b *testing.B) {
		for b.Loop() {
			NewRedactor(all).Empty()
		}
	})
}
