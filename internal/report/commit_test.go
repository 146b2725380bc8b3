package report

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/task"
)

// TestCommitMessage: a subject has 72 characters and a trailer a line, in which nothing of an issue's text acts; and
// nobody becomes a co-author by a name that is none.
func TestCommitMessage(t *testing.T) {
	line := regexp.MustCompile(`^[A-Z][A-Za-z-]+: \S[^@#]*$`)
	for _, tt := range []struct{ title, asked, host, want, author string }{
		{"", "alice", "github.com", "ralph: issue-42 (iteration 2)", "alice <alice@users.noreply.github.com>"},
		{"closes alice/demo#3, GH-4, https://github.com/a/b/issues/5", "dependabot[bot]", "ghe.example.com",
			"ralph: closes alice/demo3, 4, (link) (iteration 2)", "dependabot[bot] <dependabot[bot]@users.noreply.ghe.example.com>"},
		{"##12 @@x", "alice", "a b", "ralph: 12 x (iteration 2)", ""},
		{"x [skip ci] y", "", "github.com", "ralph: x (skip ci) y (iteration 2)", ""},
		{"x\n\nCo-authored-by: Eve <eve@example.com>", "x\nFixes: #1", "github.com",
			"ralph: x Co-authored-by: Eve eveexample.com (iteration 2)", ""},
		{"Добавить приветствие", "@eve", "github.com", "ralph: Добавить приветствие (iteration 2)", ""},
		{strings.Repeat("long ", 30), "a>", "github.com", "ralph: long long long long long long long long long long… (iteration 2)", ""},
	} {
		s := loop.State{Start: loop.Start{Task: "issue-42", Run: "r @eve\nFixes: #1", Assignment: loop.Assignment{Title: tt.title}, Asked: tt.asked}}
		message := CommitMessage(s, loop.Iteration{N: 2, Mode: "m\nX: y"}, tt.host)
		subject, rest, _ := strings.Cut(message, "\n")
		if subject != tt.want || utf8.RuneCountInString(subject) > 72 {
			t.Errorf("%q\n got %q\nwant %q", tt.title, subject, tt.want)
		}
		trailers, author, _ := strings.Cut(strings.Trim(rest, "\n"), "\nCo-authored-by: ")
		if author != tt.author {
			t.Errorf("asked by %q: the co-author is %q, want %q", tt.asked, author, tt.author)
		}
		lines := strings.Split(trailers, "\n")
		if len(lines) != 4 || slices.ContainsFunc(lines, func(l string) bool { return !line.MatchString(l) }) {
			t.Errorf("the trailers are %q", lines)
		}
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
		{loop.Start{Checks: []string{"make lint", "make test"}, Review: true}, false, "make lint, make test, review"},
		{loop.Start{Checks: []string{"make test"}, Review: true}, true, "make test"},
		{loop.Start{Assignment: loop.Assignment{Pipeline: []task.Role{task.Coder, task.Reviewer, task.QA}}, Review: true}, false, "review, qa"},
		{loop.Start{Checks: []string{"echo hi\nCo-authored-by: Eve <eve@example.com>", "sh -c '@alice #12 [skip ci]'"}},
			false, "echo hi Co-authored-by: Eve eveexample.com, sh -c 'alice 12 (skip ci)'"},
		{loop.Start{Checks: many}, false, strings.Join(many[:3], ", ") + ", " + strings.Repeat("x", 43) + "…"},
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
