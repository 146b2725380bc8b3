package report

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// broken says what is wrong with a sticky comment as a whole.
func broken(md, run string) (problems []string) {
	first, _, _ := strings.Cut(md, "\n")
	if first != Marker(run) {
		problems = append(problems, fmt.Sprintf("the first line is %q", first))
	}
	if n := strings.Count(md, "<!--"+" ralph:"); n != 1 {
		problems = append(problems, fmt.Sprintf("%d markers", n))
	}
	if len(md) > CommentLimit {
		problems = append(problems, fmt.Sprintf("%d bytes", len(md)))
	}
	source := []byte(md)
	last := sample.AsGitHub().Parser().Parse(text.NewReader(source)).LastChild()
	if _, paragraph := last.(*ast.Paragraph); !paragraph || !strings.HasSuffix(strings.TrimSpace(md), "</sub>") {
		problems = append(problems, "the footer is inside something: a fence is open")
	}
	return problems
}

// views are all the Markdown that is posted somewhere.
func views(v View) map[string]string {
	s := v.State
	p := page{v, rooms[0]}
	return map[string]string{
		"comment": Comment(v), "body": PullBody(v), "failure": Failure(v),
		"tasks": ExecutionSummary([]TaskResult{{N: 1, View: v},
			{N: 2, Title: s.Start.Title, ID: s.Start.Task, Skipped: s.Start.Spec}},
			&AllResult{View: v, Branch: s.Start.Spec, Tasks: []string{s.Start.Spec}, Reason: s.Start.Spec}),
		"summary": Summary(v), "status": Status(v),
		"each": IterationComment(v, 1), "feedback": page{v, rooms[0]}.feedback(), "answer": Answer(v, remarkOf(v)),
		"template":  templated(v, v.Template+"\n"+s.Start.Spec),
		"check run": CheckRunOf(v).Summary, "details": CheckRunOf(v).Text, "verdict": p.criteria(),
		"line": IssueLine(v), "asked": p.task(),
		"refused": wording.Sentence(v.Text(s.Start.Title, 600)),
		"outcome": strings.TrimPrefix(OutcomeComment(askedBy(v, "alice")), "@alice "),
	}
}

// remarkOf is a thread made of what a view holds.
func remarkOf(v View) loop.Remark {
	s := v.State.Start
	return loop.Remark{ID: 1, By: s.Asked, Path: s.Branch, Text: s.Spec}
}

func TestEverythingHostileIsInert(t *testing.T) {
	asking := hostile()
	ended := *asking.State.End
	ended.Outcome = loop.Waiting
	asking.State.End = &ended
	for _, v := range []View{hostile(), asking, planHostile(), planLarge(200, sample.Nasty)} {
		v.Redact = Redactor(nil)
		isInert(t, v)
		for name, md := range views(v) {
			if strings.Contains(md, "sk-ant-") {
				t.Errorf("%s tells a secret", name)
			}
		}
	}
}

// However long a run is, and whatever its texts grow to when they are escaped, its views stay within what GitHub takes,
// read as one, and say what they do not show.
func TestLimits(t *testing.T) {
	wide := huge(1000)
	for name, v := range map[string]View{"long": long(200), "huge": wide, "stories": planLarge(2000, "x"),
		"wide stories": planLarge(200, strings.Repeat("`<@🙂", 500))} {
		for what, md := range views(v) {
			limit := CommentLimit
			if what == "body" || what == "template" {
				limit = pullLimit
			}
			if len(md) > limit || !utf8.ValidString(md) {
				t.Errorf("%s: the %s has %d bytes, valid: %v", name, what, len(md), utf8.ValidString(md))
			}
			for _, p := range sample.Inertness(md) {
				t.Errorf("%s: %s: %.300s", name, what, p)
			}
		}
		for _, p := range broken(Comment(v), v.State.Start.Run) {
			t.Errorf("%s: %s", name, p)
		}
	}
	if got := (View{}).fit(10, func(p page) string { return strings.Repeat("x", p.most(30)) }); len(got) > 10 {
		t.Errorf("fit gave %d bytes", len(got))
	}
	md := Comment(wide)
	for _, want := range []string{" earlier iterations not shown\n", "❌ Stopped after 1000 of 1000 iterations: "} {
		if !strings.Contains(md, want) {
			t.Errorf("the comment does not say %q: %.400s", want, md)
		}
	}
}

// seen is a failed run whose texts come from others: from an issue, an agent, files, checks and reviews.
func seen(text func(most int) string) View {
	s := sample.Begin(func(start *loop.Start) {
		start.Title, start.Spec, start.Detected, start.Asked = text(12), text(60), text(12), text(4)
		start.Branch, start.Checks, start.Hint = text(6), []string{text(6), text(6)}, text(12)
	})
	s.Add(loop.Record{Type: loop.Resumed,
		Resume: &loop.Resume{Feedback: &loop.Feedback{By: text(4), Text: text(12),
			Items: []loop.Remark{{ID: 1, Path: text(6), Text: text(12)}, {Text: text(12)}}}}})
	s.Turning(1, loop.Implement)
	s.Turned(1, loop.Turn{Class: loop.OK, Text: text(20)})
	s.Committed(1, loop.FileChange{Path: text(6)}, loop.FileChange{Path: ".github/" + text(6)})
	failing := sample.Fail(text(8), text(12), text(60))
	failing.Findings = []loop.Finding{{File: text(6), Line: 3, Message: text(12), Rule: text(3)}}
	s.Judged(1, failing, loop.Verdict{Check: loop.ReviewCheck, Severity: loop.Hard, Reason: text(12),
		Criteria: []loop.Criterion{{Text: text(8), Reason: text(12)}}},
		loop.Verdict{Check: text(6), Severity: loop.Hard, Skipped: text(8)})
	v := end(s, loop.Stuck, text(12), text(6))
	v.TokenNote, v.Template = text(12), "## "+text(8)+"\n"+text(60)+"\n## Testing\n- [x] "+text(30)+"\n| "+text(12)
	return v
}

// isInert fails if anything in a view of a run does something.
func isInert(t *testing.T, v View) {
	t.Helper()
	for name, md := range views(v) {
		for _, p := range sample.Inertness(md) {
			t.Errorf("%s: %s\n%s", name, p, md)
		}
	}
	for _, p := range broken(Comment(v), v.State.Start.Run) {
		t.Errorf("%s\n%s", p, Comment(v))
	}
}

func TestInertAtRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := 0; n < 300 && !t.Failed(); n++ {
		isInert(t, seen(func(most int) string { return sample.Some(random, most) }))
	}
}

func FuzzComment(f *testing.F) {
	f.Add(sample.Nasty, sample.Nasty, sample.Nasty, sample.Nasty, "a/b`c")
	f.Add("```", "~~~\n````", "`", "@x", "|")
	f.Add("1. x", "\t@x", "    @x", "- #1", "-")
	f.Add("[a]: b", "a\n[a]", "<!-- ralph:run", "x -->", "&#64;a")
	f.Fuzz(func(t *testing.T, a, b, c, d, e string) {
		n := -1
		isInert(t, seen(func(int) string { n++; return []string{a, b, c, d, e}[n%5] }))
	})
}
