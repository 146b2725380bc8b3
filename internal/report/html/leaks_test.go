package html

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/report/status"
)

// held are five secrets of the kinds that a run holds.
var held = []string{
	"sk-ant" + "-api03-vR7_qLm2Xw9Rt4VbN8p-Kc6Hd3Yf5Gs0JaZq8Tg", "gh" + "s_9Xk2Lm7Qw4Rt8Vb3Np6Kc1Hd5Yf0Gs2JaZq",
	"Tr0ub4dor&3/x=+yz-correct", "eyK8v3Zq1Lm7Xw2Rt9Vb4Np6Kc5Hd0Yf8Gs3Ja1Qe7Ui2Oa4Sd6Fg9Hj5Kl0Zx",
	"7f3a9c1e5b2d8046af17c93e6b50d284",
}

// encodings are ways in which an agent writes a secret; the tests of secret have the others.
var encodings = map[string]func(s string) string{
	"as it is":      func(s string) string { return s },
	"base64, later": func(s string) string { return base64.StdEncoding.EncodeToString([]byte("k:" + s + "\n")) },
	"all escaped": func(s string) (out string) {
		for i := range len(s) {
			out += fmt.Sprintf("%%%02x", s[i])
		}
		return out
	},
}

// leaky is a run in which a text stands wherever somebody else's text can.
func leaky(text string) *sample.Script {
	said := "before " + text + " after"
	s := sample.Begin(func(start *loop.Start) { start.Title, start.Spec, start.Checks = said, said, []string{said} })
	s.Turning(1, loop.Implement)
	s.Turned(1, loop.Turn{Class: loop.OK, Text: said, Reason: said, Claim: loop.Claim{Done: true, Text: said}})
	s.Committed(1, loop.FileChange{Path: "x/" + text, Added: 1})
	bad := sample.Fail(said, said, said+"\n"+said)
	bad.Findings = []loop.Finding{{File: "y/" + text, Line: 3, Message: said, Rule: text, Test: said}}
	bad.Concerns = []loop.Concern{{Name: text, Message: said, Detail: said, File: text}}
	s.Judged(1, bad)
	s.Add(loop.Record{Type: loop.Ended, End: &loop.End{Outcome: loop.Capped, Reason: said, FailureBranch: "wip/" + text,
		Conflicts: []string{text}}})
	return s
}

// TestNothingIsTold: none of the secrets is in anything that is shown, in any encoding.
func TestNothingIsTold(t *testing.T) {
	redact := report.Redactor(held)
	for way, encode := range encodings {
		for _, secret := range held {
			text := encode(secret)
			s := leaky(text)
			v := report.View{State: s.State, Now: s.At, Site: report.Site{Repo: "o/r", ServerURL: "https://github.com"},
				Words: report.Words{Phrase: "/ralph", Redact: redact}}
			check, err := json.Marshal(report.CheckRunOf(v))
			if err != nil {
				t.Fatal(err)
			}
			standing, err := json.Marshal(status.NewRunStatus(v, status.Lock{}))
			if err != nil {
				t.Fatal(err)
			}
			diff := "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n one\n+key: " + text + "\n"
			page, err := Report(Detail{View: v, Records: s.Records, Diffs: map[int]Diff{1: {Text: diff}}})
			if err != nil {
				t.Fatal(err)
			}
			for place, shown := range map[string]string{
				"the comment": report.Comment(v), "an iteration's comment": report.IterationComment(v, 1),
				"the outcome's comment": report.OutcomeComment(v), "the pull request": report.PullBody(v),
				"its title": report.PullTitle(v), "the check run": string(check), "the job summary": report.Summary(v),
				"the failure report": report.Failure(v), "the state file": report.StateFile(v), "the status": string(standing),
				"the answer": report.Status(v), "the notice": report.Notice(v), "the page": string(page),
			} {
				if strings.Contains(shown, text) || strings.Contains(plainly(shown), text) {
					t.Errorf("%s, %s: %s tells it", secret[:6], way, place)
				}
			}
		}
	}
}

// plainly is a text without what Markdown, HTML and JSON put between its characters.
func plainly(text string) string {
	return strings.NewReplacer(`\`, "", "&amp;", "&", "&#43;", "+", "&#34;", `"`, "&lt;", "<").Replace(text)
}
