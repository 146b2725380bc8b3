package loop

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzReadClaim holds a claim against its rules: no tag in a code fence counts, and no text but the whole response
// claims.
func FuzzReadClaim(f *testing.F) {
	for _, seed := range []string{
		"<response>DONE</response>", "<response></response>", "<promise></promise>", "</response><response>",
		"<RESPONSE>\n done\t</Promise>",
		"<response>no</response><response>DONE</response>", "<response><response>DONE</response>",
		"<response>DO\x00NE</response>", "<response>\xff</response>",
		strings.Repeat("<response>", 100), strings.Repeat("é", 300),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, message string) {
		c, ok := ReadClaim(message, "DONE")
		if !ok {
			if c.Left = ""; c != (Claim{}) {
				t.Errorf("no tag, but %+v", c)
			}
			return
		}
		if code, _ := ReadClaim("```\n"+message, "DONE"); code.Tag != "" && !strings.Contains(message, "```") {
			t.Errorf("%+v, and in a code fence %+v", c, code)
		}
		words := map[string][]string{"response": {"DONE"}, "promise": promises, questionTag: {}}[c.Tag]
		equal := slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(c.Text, w) })
		if words == nil || utf8.RuneCountInString(c.Text) > 2001 || c.Done != equal {
			t.Errorf("claim = %+v", c)
		}
	})
}

// BenchmarkReadClaim reads a megabyte in which every place looks like the beginning of a tag.
func BenchmarkReadClaim(b *testing.B) {
	for name, message := range map[string]string{
		"opening": strings.Repeat("<response>", 100_000),
		"closing": strings.Repeat("</response>", 90_000),
		"open":    strings.Repeat("<", 1_000_000),
		"plain":   strings.Repeat("just words", 100_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(message)))
			for b.Loop() {
				ReadClaim(message, "DONE")
			}
		})
	}
}

// FuzzExcerpt: an output that fits is kept as it is; of any other, whole characters are, no more than asked for and the
// lines that say what is missing.
func FuzzExcerpt(f *testing.F) {
	f.Add("a\nb", 1)
	f.Add("€\n", 200)
	f.Add("x€𝄞", 10_000)
	f.Add("\n", 100_000)
	f.Add(strings.Repeat("€", 30)+"\n", 300)
	f.Add(strings.Repeat("\xff", 99)+"\n", 170)
	f.Fuzz(func(t *testing.T, part string, times int) {
		if times < 0 || len(part) > 100 || times > 100_000 {
			return
		}
		output := strings.Repeat(part, times)
		got := Excerpt(output)
		lines := strings.Count(output, "\n")
		if len(output) > 0 && !strings.HasSuffix(output, "\n") {
			lines++
		}
		if lines <= OutputLines && len(output) <= OutputBytes && got != output {
			t.Error("a short output was changed")
		}
		if utf8.ValidString(output) && !utf8.ValidString(got) {
			t.Error("a character is cut in two")
		}
		if !strings.Contains(part, "[... ") { // each thing that is missing is said once
			said := func(kind string) int {
				return len(regexp.MustCompile(`(?m)^\[\.\.\. [0-9]+ `+kind+` truncated \.\.\.\]$`).FindAllString(got, -1))
			}
			if n := said("lines"); n != 0 && lines <= OutputLines || n != 1 && lines > OutputLines {
				t.Errorf("the missing lines are said %d times", n)
			}
			if n := said("bytes"); n > 1 || n == 0 && said("lines") == 0 && got != output {
				t.Errorf("the missing bytes are said %d times", n)
			}
		}
		if marks := 100; len(got) > OutputBytes+marks || strings.Count(got, "\n") > OutputLines+4 {
			t.Errorf("%d bytes and %d lines are kept", len(got), strings.Count(got, "\n"))
		}
	})
}
