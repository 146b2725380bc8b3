package report

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/report/wording"
)

// Redactor returns a function that takes secrets out of a text: the known values and the forms they travel in, and
// whatever looks like a credential of GitHub, a model vendor or AWS, or a private key. Values of fewer than six
// characters are ignored, because they would take ordinary words with them.
func Redactor(secrets []string) func(string) string {
	var forms []string
	for _, s := range secrets {
		forms = append(forms, formsOf(s)...)
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	forms = slices.Compact(forms)
	return func(text string) string {
		safe := redactAll(text, forms)
		if hides(text) { // what nobody sees may part a secret, and only its beginning looks like one
			if seen := redactAll(wording.Bare(text), forms); seen != wording.Bare(safe) {
				return seen
			}
		}
		return safe
	}
}

// hides reports whether anything in a text may be there without being seen: nearly nothing that is printed has any of
// it.
func hides(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= 0x80 || c < ' ' && c != '\n' && c != '\t' && c != '\r' {
			return true
		}
	}
	return false
}

const (
	leastSecret = 6
	redacted    = "[redacted]"
)

// formsOf lists the ways one value is written: as it is, per line, escaped, and in base64 at any offset.
func formsOf(secret string) []string {
	secret = strings.TrimSpace(secret)
	if len(secret) < leastSecret {
		return nil
	}
	forms := []string{secret, url.QueryEscape(secret), url.PathEscape(secret)}
	if strings.Contains(secret, "\n") {
		forms = append(forms, strings.ReplaceAll(secret, "\n", `\n`))
		least := 20
		if strings.Contains(secret, "PRIVATE KEY-----") { // its last line may be a short one
			least = 8
		}
		for _, line := range strings.Split(secret, "\n") {
			if line = strings.TrimSpace(line); len(line) >= least {
				forms = append(forms, line)
			}
		}
	}
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding,
		base64.RawURLEncoding} {
		forms = append(forms, enc.EncodeToString([]byte(secret)), enc.EncodeToString([]byte("x-access-token:"+secret)))
	}
	return append(forms, cores(secret)...)
}

// cores are the parts of a value's base64 that stay the same whatever stands around it, one for each of the three
// offsets.
func cores(secret string) (out []string) {
	for offset := range 3 {
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			text := enc.EncodeToString([]byte(strings.Repeat("\x00", offset) + secret))
			from := (offset*8 + 5) / 6                 // the first character that no byte before has a part in
			to := (offset + len(secret)) * 8 / 6       // the last one that no byte behind has a part in
			if core := text[from:to]; len(core) >= 8 { // shorter ones would match by chance
				out = append(out, core)
			}
		}
	}
	return out
}

// looks is how a kind of credential looks. Every match has one of the marks in it: they are looked for first, since
// nearly all that is printed has none, and a pattern takes much longer.
type looks struct {
	marks   []string
	pattern *regex.Pattern
}

// credentials are those that are known by their looks. GitHub's ghs_ tokens are of variable length and may hold dots.
var credentials = []looks{
	{[]string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, regex.Lazy(`gh[pousr]_[A-Za-z0-9_.-]{16,}`)},
	{[]string{"github_pat_"}, regex.Lazy(`github_pat_[A-Za-z0-9_]{16,}`)},
	{[]string{"ralph-turn-"}, regex.Lazy(`ralph-turn-[0-9a-f]{16,}`)}, // a bearer of our own gateway
	{[]string{"sk-ant-"}, regex.Lazy(`sk-ant-[A-Za-z0-9_-]{8,}`)},
	{[]string{"sk-"}, regex.Lazy(`\bsk-[A-Za-z0-9_-]*[0-9][A-Za-z0-9_-]{15,}|\bsk-[A-Za-z0-9_-]{15,}[0-9][A-Za-z0-9_-]*`)},
	{[]string{"AIza"}, regex.Lazy(`AIza[0-9A-Za-z_-]{30,}`)},
	{[]string{"AKIA", "ASIA"}, regex.Lazy(`\b(AKIA|ASIA)[0-9A-Z]{16}\b`)},
	{[]string{"eyJ"}, regex.Lazy(`\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`)},
	{[]string{"-----BEGIN "}, regex.Lazy(
		`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|\z)`)},
}

// find is where such credentials stand in a text.
func (l looks) find(text string) [][]int {
	if slices.ContainsFunc(l.marks, func(mark string) bool { return strings.Contains(text, mark) }) {
		return l.pattern.FindAllStringIndex(text, -1)
	}
	return nil
}

// redactAll replaces every match; overlapping matches become one, so that no end of either is left.
func redactAll(text string, forms []string) string {
	var spans [][2]int
	for _, f := range forms {
		for from := 0; ; {
			i := strings.Index(text[from:], f)
			if i < 0 {
				break
			}
			spans = append(spans, [2]int{from + i, from + i + len(f)})
			from += i + 1
		}
	}
	for _, c := range credentials {
		for _, m := range c.find(text) {
			spans = append(spans, [2]int{m[0], m[1]})
		}
	}
	if len(spans) == 0 {
		return text
	}
	slices.SortFunc(spans, func(a, b [2]int) int { return a[0] - b[0] })
	var b strings.Builder
	end := 0
	for i, s := range spans {
		switch {
		case i == 0 || s[0] > end:
			b.WriteString(text[end:s[0]] + redacted)
			end = s[1]
		case s[1] > end:
			end = s[1]
		}
	}
	return b.String() + text[end:]
}
