package html

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/report"
)

// A diff is read as git writes it, whatever stands in the lines of it.
func TestDiffFiles(t *testing.T) {
	head := "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n"
	for _, tt := range []struct{ name, text, want string }{
		{"renamed alone", "diff --git a/o b/n\nsimilarity index 100%\nrename from o\nrename to n\n", "n (was o) +0 -0 []"},
		{"a directory named a or b", "diff --git a/a/b/c b/a/b/c\n--- a/a/b/c\n+++ b/a/b/c\n@@ -1 +1 @@\n-o\n+n\n",
			"a/b/c +1 -1 [hunk del add]"},
		{"binary, spaces", "diff --git a/my p.png b/my p.png\nBinary files a/my p.png and b/my p.png differ\n",
			"my p.png (binary) ? []"},
		{"mode alone", "diff --git a/s.sh b/s.sh\nold mode 100644\nnew mode 100755\n", "s.sh +0 -0 []"},
		{"a tab behind a name", "diff --git a/a b b/a b\n--- a/a b\t\n+++ b/a b\t\n@@ -1 +1 @@\n-o\n+n\n",
			"a b +1 -1 [hunk del add]"},
		{"lines that look like headers", head + "@@ -1,2 +1,2 @@\n--- a/etc\n-diff --git a/y b/y\n+++ b/etc\n+@@ -1 +1 @@\n",
			"x +2 -2 [hunk del add]"},
		{"no newline at the end", head + "@@ -1 +1 @@\n-o\n\\ No newline at end of file\n+n\n\\ No newline at end of file\n",
			"x +1 -1 [hunk del note add note]"},
		{"cut in a hunk", head + "@@ -1,9 +1,9 @@\n same\n+ne\n[... 99 bytes of the diff are left out ...]\n",
			"x +1 -0 [hunk same add note]"},
		{"a number beyond all", head + "@@ -1,99999999999999999999 +1,1 @@\n-o\n", "x +0 -1 [hunk del]"},
		{"no diff at all", "nothing\n@@ -1 +1 @@\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files, _ := view{}.diffFiles(tt.text)
			var got []string
			for _, f := range files {
				text := f.Name
				if f.Note != "" {
					text += " (" + f.Note + ")"
				}
				if f.Counted {
					text += fmt.Sprintf(" +%d -%d", f.Added, f.Deleted)
				} else {
					text += " ?"
				}
				kinds := []string{}
				for _, l := range f.Lines {
					kinds = append(kinds, l.Kind)
				}
				got = append(got, fmt.Sprint(text, " ", kinds))
			}
			if joined := strings.Join(got, "; "); joined != tt.want {
				t.Errorf("got  %s\nwant %s", joined, tt.want)
			}
		})
	}
}

// What cannot be seen in a diff may be what is wrong with it; a secret is not told, however it is hidden or cut.
func TestDiffTellsWhatIsHidden(t *testing.T) {
	secret := "hunter2-hunter2-hunter2-hunter2"
	key := "-----BEGIN RSA PRIVATE KEY-----\n+MIIEabcdef\n+-----END RSA PRIVATE KEY-----"
	v := report.View{Words: report.Words{Redact: report.Redactor([]string{secret})}}
	head := "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,99999 @@\n"
	for _, tt := range []struct{ name, line, want string }{
		{"as it is", "a <b> & \"c\"\t日本 👩‍💻 é", "+a <b> & \"c\"\t日本 👩‍💻 é"},
		{"bidi", "a\u202eb\u202c", "+a⟦U+202E⟧b⟦U+202C⟧"},
		{"terminal", "\x1b[31mred\x00", "+⟦U+001B⟧[31mred⟦U+0000⟧"},
		{"a lone return", "a\rb", "+a⟦U+000D⟧b"},
		{"secret", secret, "+[redacted]"},
		{"parted secret", "hunter2-\u200bhunter2-hunter2-\u2060hunter2", "+[redacted]"},
		{"key of many lines", key, "+[redacted]"},
		{"long line", strings.Repeat("x", 5000), "+" + strings.Repeat("x", 999) + " [... 4001 characters truncated ...]"},
		{"secret at the cut", strings.Repeat(strings.Repeat("y", 99)+"\n+", DiffBytes/101-1) + "zzz" + secret + "\n+" +
			strings.Repeat("y", 50), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files, note := view{v}.diffFiles(head + "+" + tt.line + "\n")
			got := ""
			for _, l := range files[0].Lines[1:] {
				got += l.Text
			}
			if tt.want != "" && got != tt.want {
				t.Errorf("got %.300q, want %.300q", got, tt.want)
			}
			if strings.Contains(got, "hunter2") {
				t.Errorf("the secret is told: %.300q", got)
			}
			if len(got) > DiffBytes || (note != "") != (len(head)+len(tt.line)+2 > DiffBytes) {
				t.Errorf("%d bytes, note %q", len(got), note)
			}
		})
	}
}
