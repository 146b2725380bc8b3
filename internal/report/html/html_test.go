package html

import (
	"bytes"
	"fmt"
	stdhtml "html"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
	"golang.org/x/net/html"
)

// pagesOf are the pages that are looked at, here as text and with the tag e2e in a browser.
func pagesOf() map[string]Detail {
	return map[string]Detail{
		"html-done.html": sampleDetail(), "html-capped.html": {View: capped()}, "html-plan.html": {View: planCapped()},
		"html-hostile.html": {View: hostile()},
	}
}

func TestGoldenHTML(t *testing.T) {
	texts := map[string]string{}
	for name, d := range pagesOf() {
		page, err := Report(d)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(page)
	}
	sample.Goldens(t, texts)
}

// hostileTexts are what somebody might write to become part of the page, or to hide in it.
var hostileTexts = map[string]string{
	"end of our script": `</script><script>alert(1)</script>`,
	"end of a block":    `</pre></code></details><iframe src=//evil.example>`,
	"attribute":         `" onmouseover="alert(1)" x="`,
	"no quotes":         `x onload=alert(1) style=x:expression(alert(1))`,
	"style":             `;}</style>*{background:url(//evil.example)} expression(alert(1))`,
	"address":           `javascript:alert(1)`,
	"markdown link":     `[click](javascript:alert(1)) ![x](https://evil.example/p.png) <javascript:alert(1)>`,
	"markdown HTML": "<details open ontoggle=alert(1)>\n\n<svg/onload=alert(1)>\n\n<a " +
		"href=\"jav&#x09;ascript:alert(1)\">x</a>",
	"template":   `{{.Policy}}{{template "page" .}} ${alert(1)}`,
	"bidi":       "a\u202e<script>\u202c\u2066alert(1)\u2069",
	"invisible":  "\u200b\u2060\ufeff<\u200bscript\U000e0041>alert(1)",
	"terminal":   "\x1b[31mred\x1b[0m\x1b]8;;https://evil.example\x07click\x1b]8;;\x07\x1b[2J",
	"fence":      "````\n</code></pre>\n```\n<b>bold</b>",
	"huge line":  strings.Repeat(`<b onclick="x">`, 8_000),
	"deep":       strings.Repeat("<div><ul><li>", 500),
	"many lines": strings.Repeat("<hr>\n", 5_000),
	"secret":     "sk-ant-api03-abc\u200bdefghijklmnopqrstuvwxyz0123456789",
}

// hostileDetail is a run in which everything that comes from outside is one text.
func hostileDetail(text string) Detail {
	s := sample.Begin(func(start *loop.Start) {
		start.Task, start.Title, start.Spec, start.Hint, start.Asked, start.Agent, start.Branch, start.Detected = text, text,
			text, text, text, text, text, text
		start.Run, start.RunURL, start.Checks = text, text, []string{text}
	})
	s.Add(loop.Record{Type: loop.TurnBegun, Iteration: 1, Mode: loop.Mode(text), Role: task.Role(text), Story: text})
	s.Turned(1, loop.Turn{Class: loop.Class(text), Reason: text, Text: text, Claim: loop.Claim{Done: true, Text: text}})
	s.Add(loop.Record{Type: loop.Committed, Iteration: 1,
		Commit: &loop.Commit{SHA: text, Tree: text, Note: text, Files: []loop.FileChange{{Path: text, Added: 1}},
			Plan: &loop.Advance{Violations: []plan.Violation{{Text: text}}, Opinion: &plan.Opinion{Feedback: text}}}})
	bad := sample.Fail(text, text, text)
	bad.Findings, bad.Hash, bad.Role = []loop.Finding{{File: text, Line: 3, Message: text, Rule: text},
		{Test: text, Message: text}}, text, task.Role(text)
	s.Judged(1, bad, loop.Verdict{Check: text, Severity: loop.Soft, Reason: text, Output: text},
		loop.Verdict{Check: text, Skipped: text})
	s.Add(loop.Record{Type: loop.Paused, Pause: &loop.Pause{Until: s.At, Reason: text}})
	s.Add(loop.Record{Type: loop.Resumed,
		Resume: &loop.Resume{Owner: text, Hint: text, Retry: true, Feedback: &loop.Feedback{By: text, Text: text}}})
	s.Add(loop.Record{Type: loop.Warned, Warning: text})
	s.Add(loop.Record{Type: loop.Posted, Post: &loop.Post{PostedPull: loop.PostedPull{Pull: 57, PullURL: text}}})
	d := Detail{View: end(s, loop.Stuck, text, text), Records: s.Records}
	d.ServerURL, d.Repo, d.TokenNote, d.Redact = text, text, text, report.Redactor(nil)
	head := "diff --git a/" + text + " b/" + text + "\nnew file mode 100644\nrename from " + text + "\n+++ b/" + text +
		"\n@@ -1,2 +1,3 @@ " + text + "\n"
	d.Diffs = map[int]Diff{1: {Text: head + "+" + text + "\n-" + text + "\n " + text + "\n\\ " + text + "\n" + text,
		Note: text}}
	return d
}

// No text from outside becomes markup of the page, an address, or something that nobody sees; and no secret is told.
func TestHostileTextIsNoMarkup(t *testing.T) {
	for name, text := range hostileTexts {
		t.Run(name, func(t *testing.T) {
			page, err := Report(hostileDetail(text))
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range foreignMarkup(page) {
				t.Error(p)
			}
			if len(page) > Limit {
				t.Errorf("the page has %d bytes", len(page))
			}
		})
	}
}

var (
	ourTags = strings.Fields("html head meta title style body a header p h1 h2 h3 h4 h5 h6 span div dl dt dd label " +
		"input button output main section ul ol li " +
		"svg rect details summary small table thead tbody tr th td code pre ins del footer script strong em br hr " +
		"blockquote sub")
	ourAttributes = strings.Fields("lang charset name content http-equiv class id href hidden role for type " +
		"autocomplete spellcheck placeholder aria-describedby aria-label " +
		"aria-live aria-hidden aria-labelledby title tabindex open scope rel viewBox preserveAspectRatio x y width height " +
		"align start viewbox preserveaspectratio")
)

// foreignMarkup says what in a page is not ours: it is read as a browser reads it, and its words as people see them.
func foreignMarkup(page []byte) (problems []string) {
	complain := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	of := map[string]int{}
	for z := html.NewTokenizer(bytes.NewReader(page)); z.Next() != html.ErrorToken; {
		token := z.Token()
		switch token.Type {
		case html.CommentToken:
			complain("a comment: %.80q", token.Data)
		case html.TextToken:
			if got := safetext.Visible(token.Data); got != token.Data {
				complain("invisible: %.80q", token.Data)
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			if !slices.Contains(ourTags, token.Data) {
				complain("a tag: %.80s", token)
			}
			of[token.Data]++
			for _, a := range token.Attr {
				if !slices.Contains(ourAttributes, a.Key) || a.Key == "href" && !ourAddress.MatchString(a.Val) {
					complain("an attribute: %.80s=%.80q", a.Key, a.Val)
				}
			}
		}
	}
	if of["script"] != 1 || of["style"] != 1 {
		complain("%d scripts and %d styles", of["script"], of["style"])
	}
	if bytes.Contains(page, []byte("sk-ant-")) {
		at := bytes.Index(page, []byte("sk-ant-"))
		complain("a secret: %.200s", page[max(0, at-100):])
	}
	return problems
}

var ourAddress = regexp.MustCompile(`^(#[a-z0-9-]+|https://github\.com/alice/demo/[A-Za-z0-9._~%/?=&#+-]*)$`)

// The policy names our own script and looks by what they hold, so that nothing else can ever run.
func TestPolicyNamesOurScript(t *testing.T) {
	page, err := Report(sampleDetail())
	if err != nil {
		t.Fatal(err)
	}
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindSubmatch(page)
	if policy == nil {
		t.Fatal("the page has no policy")
	}
	told := stdhtml.UnescapeString(string(policy[1]))
	for tag, directive := range map[string]string{"script": "script-src", "style": "style-src"} {
		text := regexp.MustCompile(`(?s)<` + tag + `>(.*?)</` + tag + `>`).FindSubmatch(page)
		if text == nil || !strings.Contains(told, directive+" '"+hashOf(string(text[1]))+"'") {
			t.Errorf("the policy %q does not name the %s as it stands in the page", told, tag)
		}
	}
	if !strings.HasPrefix(told, "default-src 'none'; ") || strings.Contains(told, "unsafe") {
		t.Errorf("the policy is %q", told)
	}
}

// However long a run is, its page stays within its bound. The newest iteration has everything, the older ones have less and less, and the
// page says so.
func TestHTMLIsBounded(t *testing.T) {
	s := sample.Begin(func(start *loop.Start) { start.MaxIterations = 200 })
	diffs := map[int]Diff{}
	output := strings.Repeat("<&\"'> an output of 16 KiB\n", loop.OutputBytes/26)
	for n := 1; n <= 200; n++ {
		s.Iterate(n, loop.Implement, output[:loop.TextBytes], sample.Pass("claim"),
			sample.Fail("make test", "exit code 1", output),
			sample.Fail("make lint", "exit code 1", output))
		diffs[n] = Diff{Text: "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2000 +1,2000 @@\n" +
			strings.Repeat("+<a \"quoted\" line>\n", 500)}
	}
	d := Detail{View: end(s, loop.Capped, "200 of 200 iterations are used up", "wip/x"), Records: s.Records, Diffs: diffs}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	page, err := Report(d)
	runtime.ReadMemStats(&after)
	if err != nil || len(page) > Limit || len(page) < Limit/2 {
		t.Fatalf("the page has %d bytes, %v", len(page), err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 40*Limit {
		t.Errorf("making it took %d MiB in all", took>>20)
	}
	text := stdhtml.UnescapeString(string(page))
	of := func(n int) string {
		_, rest, _ := strings.Cut(text, fmt.Sprintf(`id="iteration-%d"`, n))
		part, _, _ := strings.Cut(rest, `<details class="iteration`)
		part, _, _ = strings.Cut(part, "</section>")
		return part
	}
	for n, whole := range map[int]bool{200: true, 1: false} {
		part := of(n)
		if strings.Contains(part, `class="diff"`) != whole || strings.Contains(part, "an output of 16 KiB\n") != whole ||
			strings.Contains(part, cut) == whole {
			t.Errorf("iteration %d is not shown as it should be: %.3000s", n, part)
		}
	}
	if open := len(regexp.MustCompile(`<details class="iteration bad" id="iteration-\d+" open>`).FindAllString(text,
		-1)); open != recent {
		t.Errorf("%d failed iterations are open", open)
	}
}

// A run so long that not even its iterations' lines fit is shown as far as it does, and the rest is counted.
func TestHTMLOfAnEndlessRun(t *testing.T) {
	s := sample.Begin(func(start *loop.Start) { start.MaxIterations = 0 })
	var checks []loop.Verdict
	for range 60 {
		checks = append(checks, sample.Fail(strings.Repeat("<", 200), strings.Repeat("&", 400), ""))
	}
	for n := 1; n <= 200; n++ {
		s.Iterate(n, loop.Implement, "", checks...)
	}
	page, err := Report(Detail{View: end(s, loop.Interrupted, "cancelled", "")})
	if err != nil || len(page) > Limit || !strings.Contains(string(page), "earlier iterations not shown.") {
		t.Fatalf("the page has %d bytes, %v", len(page), err)
	}
}
