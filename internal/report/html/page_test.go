package html

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/report"
)

// What is rendered reaches out to nowhere and runs nothing, whatever it holds.
func TestRenderedReachesNowhere(t *testing.T) {
	foreign := sample.Nasty + "\n<script>alert(1)</script><style>body{}</style><iframe src=//x></iframe><img " +
		"src=https://x/y><a href=\"javascript:x\" onclick=x>y</a>" +
		"<svg onload=x><form action=x><input autofocus onfocus=x><table background=https://x><td " +
		"style=\"background:url(//x)\">"
	var err error
	body := string(rendered(foreign, &err)) + string(rendered(report.Failure(hostile()), &err))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{`(?i)<(script|iframe|img|svg|form|input|link|object|style)\b`, `(?i)<[^>]* on\w+=`,
		`(?i)<[^>]* (src|style|background)=`, `(?i)<[^>]* href="javascript`} {
		if m := regexp.MustCompile(bad).FindString(body); m != "" {
			t.Errorf("it holds %q", m)
		}
	}
	for _, good := range []string{"<table", "<details>"} {
		if !strings.Contains(body, good) {
			t.Errorf("it lacks %q", good)
		}
	}
}
