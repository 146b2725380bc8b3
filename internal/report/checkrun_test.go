package report

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
)

func TestConclusions(t *testing.T) {
	for outcome, want := range map[loop.Outcome]string{
		loop.Done: "success", loop.Waiting: "neutral", loop.Refused: "neutral", loop.Interrupted: "cancelled",
		loop.Capped: "failure", loop.Stuck: "failure",
		loop.Timeout: "failure", loop.Budget: "failure", loop.Invalid: "failure", loop.Failed: "failure",
	} {
		if got := CheckRunOf(end(sample.Begin(nil), outcome, "why", "")).Conclusion; got != want {
			t.Errorf("%s is shown as %s, want %s", outcome, got, want)
		}
	}
	if got := CheckRunOf(runningThird()); got.Conclusion != "" || got.Title != "🔄 Working: iteration 3 of 5" {
		t.Errorf("a running run: %+v", got)
	}
}

// TestAnnotatedFiles: which names of files are paths in the repository.
func TestAnnotatedFiles(t *testing.T) {
	v := View{Repository: Repository{Worktree: "/home/r/demo/"}, Words: Words{Redact: Redactor(nil)}}
	in := View{Repository: Repository{Worktree: "/home/r/demo", Dir: "sub/dir"}}
	for _, tt := range []struct {
		v          View
		file, want string
	}{
		{v, "./x/../a.go", "a.go"}, {v, "/home/r/demo/x/a.go", "x/a.go"}, {v, "/home/r/demo2/a.go", ""},
		{v, "x/../../a.go", ""}, {v, "/home/r/demo/../x.go", ""}, {v, "", ""}, {v, ".", ""}, {v, "..", ""}, {v, "a\nb", ""},
		{v, `C:\a.go`, ""}, {v, "https://x.y/z", ""}, {v, "a\u202eb.go", ""}, {v, "a\x00", ""}, {v, "\xff", ""},
		{v, ".git/config", ""}, {v, strings.Repeat("a/", 400), ""}, {v, "dir with space/é.go", "dir with space/é.go"},
		{in, "../a.go", "sub/a.go"}, {in, "../../../a.go", ""}, {in, "/home/r/demo/a.go", "a.go"}, {View{}, "/a.go", ""},
		{v, "..a/b", "..a/b"}, {v, ".github/x.yml", ".github/x.yml"},
	} {
		if got := tt.v.path(tt.file); got != tt.want {
			t.Errorf("%q in %q is %q, want %q", tt.file, tt.v.Dir, got, tt.want)
		}
	}
}

// However much the checks name, annotations stay within what GitHub takes, tell no secret, and those that block come
// first. A place without a message, in a secret's name, or of a check that passed or was skipped is none.
func TestAnnotationsAreBounded(t *testing.T) {
	secret := "sk-ant-api03-abcdefghijkl"
	s := sample.Begin(nil)
	many := []loop.Verdict{{Check: "skipped", Skipped: "x", Findings: []loop.Finding{{File: "s.go", Message: "x"}}},
		{Check: "passed", Pass: true, Findings: []loop.Finding{{File: "p.go", Message: "x"}}},
		{Check: "says", Severity: loop.Hard, Findings: []loop.Finding{{File: secret, Message: "x"}, {File: "empty.go"}}}}
	for i := range 150 {
		c := sample.Fail(fmt.Sprintf("check %d %s", i, sample.Nasty), "x", "")
		c.Severity = []loop.Severity{loop.Hard, loop.Soft}[i/75]
		c.Findings = []loop.Finding{{File: "f.go", Line: i - 1, Column: -1, Rule: sample.Nasty, Message: strings.Repeat("@x🙂 "+secret, 300)}}
		many = append(many, c)
	}
	s.Iterate(1, loop.Implement, "", many...)
	v := view(s)
	v.Redact = Redactor(nil)
	got := CheckRunOf(v)
	if len(got.Annotations) != mostAnnotations || len(got.Title) > 800 {
		t.Errorf("%d annotations below %q", len(got.Annotations), got.Title)
	}
	for i, a := range got.Annotations {
		if a.Path != "f.go" || a.Line < 1 || a.Column < 0 || a.Message == "" || len(a.Message) > 64<<10 || len(a.Title) > 800 ||
			!utf8.ValidString(a.Message+a.Title) || strings.Contains(a.Message+a.Title, "sk-ant-") || (a.Level == "failure") != (i < 73) { // three of 75 are one, on line 1
			t.Fatalf("annotation %d: %+v", i, a)
		}
	}
	s.Turning(2, loop.Implement)
	s.Turned(2, loop.Turn{Class: loop.OK})
	if list := CheckRunOf(view(s)).Annotations; len(list) > 0 {
		t.Errorf("%d annotations on lines of another commit", len(list))
	}
}
