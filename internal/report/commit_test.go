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

var trailerLine = regexp.MustCompile(`^Ralph-[A-Z][a-z]+: [^@#\[]*$|^Co-authored-by: \S+ <\S+@users\.noreply\.[a-z.]+>$`)

// foreignCommits are messages of commits with texts of others in them: a subject has 72 characters and a trailer a line,
// in which nothing of theirs acts; and no one becomes a co-author by a name that is none. Subjects of a plan name the
// story in brackets (S4-94), and a rejection in the last review is an approval at the cap, before the harness has
// written it down, too.
func foreignCommits(t *testing.T) string {
	t.Helper()
	const eve = "x\n\nCo-authored-by: Eve <eve@example.com>"
	titled := func(title, asked string) loop.Start {
		return loop.Start{Task: "issue-42", Run: "r @eve\nFixes: #1", Assignment: loop.Assignment{Title: title}, Asked: asked}
	}
	var all strings.Builder
	add := func(s loop.State, it loop.Iteration, host string) {
		message := CommitMessage(s, it, host)
		subject, rest, _ := strings.Cut(message, "\n")
		if utf8.RuneCountInString(subject) > maxSubject || strings.ContainsAny(subject, "@#<") || strings.Contains(subject, "[skip") {
			t.Errorf("the subject %q", subject)
		}
		for _, line := range strings.Split(strings.TrimSpace(rest), "\n") {
			if !trailerLine.MatchString(line) {
				t.Errorf("%q has the trailer %q", message, line)
			}
		}
		all.WriteString(message + "\n")
	}
	for _, c := range [][3]string{{"", "alice", "github.com"},
		{"closes alice/demo#3, GH-4, https://github.com/a/b/issues/5", "dependabot[bot]", "ghe.example.com"},
		{"##12 @@x", "alice", "a b"}, {"x [skip ci] y", "", "github.com"}, {eve, "x\nFixes: #1", "github.com"},
		{"Добавить приветствие", "@eve", "github.com"}, {strings.Repeat("long ", 30), "a>", "github.com"}} {
		add(loop.State{Start: titled(c[0], c[1])}, loop.Iteration{N: 2, Mode: "m\nX: y"}, c[2])
	}
	for _, start := range []loop.Start{{Checks: []string{"make lint", "make test"}, Review: true},
		{Assignment: loop.Assignment{Pipeline: []task.Role{task.Coder, task.Reviewer, task.QA}}, Review: true},
		{Checks: []string{eve, "sh -c '@alice #12 [skip ci]'"}}, {Checks: slices.Repeat([]string{strings.Repeat("x", 50)}, 50)}} {
		add(loop.State{Start: start}, loop.Iteration{N: 1}, "github.com")
	}
	for _, c := range []struct {
		id, title string
		mode      loop.Mode
		reviews   int
		advance   *loop.Advance
	}{
		{"US-001", "", loop.Implement, 0, nil}, {"US-001", "fixes #12 for @alice\n\nFixes: #1", loop.Implement, 0, nil},
		{"US-001", strings.Repeat("long ", 30), loop.Implement, 0, nil}, {"skip ci", "x", loop.Implement, 0, nil},
		{"#12 @bob\nX: y", "x", loop.Implement, 0, nil}, {"US-001", "x", loop.Review, 3, &loop.Advance{Opinion: &plan.Opinion{}}},
		{"US-001", "x", loop.Review, 4, &loop.Advance{Opinion: &plan.Opinion{Feedback: "no"}}},
		{"US-001", "x", loop.Review, 0, &loop.Advance{Stories: []plan.Story{{ID: "US-001", ReviewStatus: plan.ChangesRequested}}}},
		{"US-001", "x", loop.Review, 0, nil},
	} {
		add(loop.State{Start: loop.Start{Task: "t", Run: "r", Checks: []string{"make test"}, Review: true}, Plan: &plan.Plan{Stories: []plan.Story{
			{ID: c.id, Title: c.title, ReviewStatus: plan.NeedsReview, ReviewCount: c.reviews}}}},
			loop.Iteration{N: 1, Mode: c.mode, Story: c.id, Commit: &loop.Commit{Plan: c.advance}}, "github.com")
	}
	return all.String()
}
