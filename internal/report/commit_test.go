package report

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/task"
)

func TestCommitMessage(t *testing.T) {
	tests := []struct{ title, want string }{
		{"Add `Greet`", "ralph: Add `Greet` (iteration 2)"},
		{"", "ralph: issue-42 (iteration 2)"},
		{"fixes #12 for @alice", "ralph: fixes 12 for alice (iteration 2)"},
		{"closes alice/demo#3, GH-4, https://github.com/a/b/issues/5", "ralph: closes alice/demo3, 4, (link) (iteration 2)"},
		{"##12 @@x", "ralph: 12 x (iteration 2)"},
		{"x [skip ci] y", "ralph: x (skip ci) y (iteration 2)"},
		{"x\n\nCo-authored-by: Eve <eve@example.com>", "ralph: x Co-authored-by: Eve eveexample.com (iteration 2)"},
		{"Добавить приветствие", "ralph: Добавить приветствие (iteration 2)"},
		{strings.Repeat("long ", 30), "ralph: long long long long long long long long long long… (iteration 2)"},
	}
	for _, tt := range tests {
		s := loop.State{Start: loop.Start{Task: "issue-42", Run: "r1", Assignment: loop.Assignment{Title: tt.title}, Asked: "alice"}}
		message := CommitMessage(s, loop.Iteration{N: 2, Mode: loop.Implement}, "github.com")
		subject, rest, _ := strings.Cut(message, "\n")
		if subject != tt.want {
			t.Errorf("%q\n got %q\nwant %q", tt.title, subject, tt.want)
		}
		if n := utf8.RuneCountInString(subject); n > 72 {
			t.Errorf("a subject of %d characters: %q", n, subject)
		}
		want := "\nRalph-Task: issue-42\nRalph-Run: r1\nRalph-Iteration: 2\nRalph-Mode: implement\nCo-authored-by: alice " +
			"<alice@users.noreply.github.com>\n"
		if rest != want {
			t.Errorf("%q: the rest is %q", tt.title, rest)
		}
	}
}

// Nobody becomes a co-author by a name that is none, and no value brings a line of its own.
func TestCommitMessageTrailers(t *testing.T) {
	line := regexp.MustCompile(`^[A-Z][A-Za-z-]+: \S[^@]*$`)
	for _, asked := range []string{"", "a b", "x\nFixes: #1", "@eve", "a>", "-a"} {
		s := loop.State{Start: loop.Start{Task: "t\nFixes: #1", Run: "r @eve", Assignment: loop.Assignment{Title: "x"}, Asked: asked}}
		message := CommitMessage(s, loop.Iteration{N: 1, Mode: "m\nX: y"}, "github.com")
		lines := strings.Split(strings.TrimSuffix(message, "\n"), "\n")
		if len(lines) != 6 {
			t.Errorf("asked by %q: %d lines in %q", asked, len(lines), message)
		}
		for _, l := range lines[2:] {
			if !line.MatchString(l) || strings.Contains(l, "#") {
				t.Errorf("the trailer %q", l)
			}
		}
	}
	s := loop.State{Start: loop.Start{Task: "t", Asked: "dependabot[bot]"}}
	if got := CommitMessage(s, loop.Iteration{N: 1}, "ghe.example.com"); !strings.Contains(got,
		"dependabot[bot] <dependabot[bot]@users.noreply.ghe.example.com>") {
		t.Errorf("a bot on an Enterprise server: %q", got)
	}
	if got := CommitMessage(s, loop.Iteration{N: 1}, "a b"); strings.Contains(got, "Co-authored") {
		t.Errorf("a host that is none: %q", got)
	}
}

// TestChecksOfACommit: a commit names what judges it, in one line in which nothing refers to anything.
func TestChecksOfACommit(t *testing.T) {
	many := make([]string, 50)
	for i := range many {
		many[i] = strings.Repeat("x", 50)
	}
	for _, tt := range []struct {
		start loop.Start
		plan  bool
		want  string
	}{
		{loop.Start{}, false, ""},
		{loop.Start{Checks: []string{"make lint", "make test"}, Review: true}, false, "make lint, make test, review"},
		{loop.Start{Checks: []string{"make test"}, Review: true}, true, "make test"},
		{loop.Start{Assignment: loop.Assignment{Pipeline: []task.Role{task.Coder, task.Reviewer, task.QA}}, Review: true}, false, "review, qa"},
		{loop.Start{Checks: []string{"echo hi\nCo-authored-by: Eve <eve@example.com>", "sh -c '@alice #12 [skip ci]'"}},
			false, "echo hi Co-authored-by: Eve eveexample.com, sh -c 'alice 12 (skip ci)'"},
		{loop.Start{Checks: many}, false, strings.Join(many[:3], ", ") + " and 47 more"},
	} {
		s := loop.State{Start: tt.start}
		if tt.plan {
			s.Plan = &plan.Plan{}
		}
		got := checksOf(s)
		if got != tt.want || utf8.RuneCountInString(got) > mostJudges {
			t.Errorf("%+v is %q, want %q", tt.start, got, tt.want)
		}
		if message := CommitMessage(s, loop.Iteration{N: 1}, "github.com"); strings.Contains(message,
			"\nRalph-Checks: "+got+"\n") != (got != "") {
			t.Errorf("%q in %q", got, message)
		}
	}
}

func TestPullTitle(t *testing.T) {
	for title, want := range map[string]string{"Add `x`": "Add `x`", "": "issue-42", "fixes #1 @a <b>": "fixes 1 a b"} {
		v := View{State: loop.State{Start: loop.Start{Task: "issue-42", Assignment: loop.Assignment{Title: title}}}}
		if got := PullTitle(v); got != want {
			t.Errorf("PullTitle(%q) = %q, want %q", title, got, want)
		}
	}
}
