package html

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/report"
)

// A page reaches out to nowhere and runs nothing, whatever its sections hold.
func TestPageIsSelfContained(t *testing.T) {
	foreign := sample.Nasty + "\n<script>alert(1)</script><style>body{}</style><iframe src=//x></iframe><img " +
		"src=https://x/y><a href=\"javascript:x\" onclick=x>y</a>" +
		"<svg onload=x><form action=x><input autofocus onfocus=x><table background=https://x><td " +
		"style=\"background:url(//x)\">"
	out, err := Page("<script>title</script>", Section{"<script>heading</script>", foreign, "<script>meta</script>"},
		Section{Heading: "S", Markdown: report.Failure(hostile())})
	if err != nil {
		t.Fatal(err)
	}
	page := string(out)
	_, body, _ := strings.Cut(page, "<body>")
	for _, bad := range []string{`(?i)<(script|iframe|img|svg|form|input|link|object|style)\b`, `(?i)<[^>]* on\w+=`,
		`(?i)<[^>]* (src|style|background)=`, `(?i)href="javascript`} {
		if m := regexp.MustCompile(bad).FindString(body); m != "" {
			t.Errorf("the page holds %q", m)
		}
	}
	for _, good := range []string{"default-src 'none'", "width=device-width", "prefers-color-scheme: dark", "<table",
		"<details>", "&lt;script&gt;title"} {
		if !strings.Contains(page, good) {
			t.Errorf("the page lacks %q", good)
		}
	}
}
