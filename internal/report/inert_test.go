package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

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

// The judge of the other tests can itself say no.
func TestInertness(t *testing.T) {
	for _, bad := range []string{"hi @alice", "fixes #12", "a/b#3", "GH-4", "see https://x.y", "<!-- x -->", "<b>x</b>",
		"[x](https://evil.example)", "![](a)",
		"\\@alice", "&#64;alice", "**@alice**", "<details>", "`a` @b `c`", "mail@x.yz"} {
		if len(sample.Inertness(bad)) == 0 {
			t.Errorf("%q passes for inert", bad)
		}
	}
	for _, good := range []string{"`@alice` fixes `#12`", "```\n@alice\n```", "Closes #42", "a @ b", Marker("1"),
		"1 # 2"} {
		if p := sample.Inertness(good); len(p) > 0 {
			t.Errorf("%q: %v", good, p)
		}
	}
	for _, bad := range []string{"x\n" + Marker("1") + "\n<sub>x</sub>",
		Marker("1") + "\n" + Marker("2") + "\n\n<sub>x</sub>", Marker("1") + "\n```\n<sub>x</sub>",
		Marker("1") + strings.Repeat("\nx", CommentLimit) + "\n\n<sub>x</sub>"} {
		if len(broken(bad, "1")) == 0 {
			t.Errorf("%.60q passes for whole", bad)
		}
	}
}

// views are all the Markdown that is posted somewhere.
func views(v View) map[string]string {
	s := v.State
	p := page{v, room{rows: 3, checks: 2}}
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
	}
}

// remarkOf is a thread made of what a view holds.
func remarkOf(v View) loop.Remark {
	s := v.State.Start
	return loop.Remark{ID: 1, By: s.Asked, Path: s.Branch, Text: s.Spec}
}

func TestEverythingHostileIsInert(t *testing.T) {
	for _, v := range []View{hostile(), planHostile(), planLarge(200, sample.Nasty)} {
		v.Redact = Redactor(nil)
		for name, md := range views(v) {
			for _, p := range sample.Inertness(md) {
				t.Errorf("%s: %s", name, p)
			}
			if strings.Contains(md, "sk-ant-") {
				t.Errorf("%s tells a secret", name)
			}
		}
		for _, p := range broken(Comment(v), v.State.Start.Run) {
			t.Errorf("comment: %s", p)
		}
	}
}

// However long a run is, its views stay within what GitHub takes.
func TestLimits(t *testing.T) {
	for _, v := range []View{long(1), long(15), long(200), planLarge(200, strings.Repeat("`<@🙂", 500)),
		planLarge(2000, "x")} {
		n := len(v.State.Iterations)
		for _, p := range slices.Concat(broken(Comment(v), v.State.Start.Run), sample.Inertness(Comment(v)),
			sample.Inertness(Failure(v))) {
			t.Errorf("%d iterations: %s", n, p)
		}
		for name, md := range views(v) {
			limit := CommentLimit
			if name == "body" {
				limit = pullLimit
			}
			if len(md) > limit {
				t.Errorf("%d iterations: the %s has %d bytes", n, name, len(md))
			}
		}
	}
	if !strings.Contains(Comment(long(200)), "earlier iterations not shown") {
		t.Error("older iterations are not counted")
	}
}

// Texts that grow when they are escaped do not get past the limit either: the rooms get smaller until it fits.
func TestLimitOfEscapedText(t *testing.T) {
	wide := strings.Repeat("`<@🙂", 20000)
	s := sample.Begin(func(start *loop.Start) {
		start.Title, start.Spec, start.Branch, start.Detected = wide, wide, wide, wide
	})
	for i := 1; i <= 20; i++ {
		s.Iterate(i, "implement", wide, sample.Fail(wide, wide, strings.Repeat(wide[:1000]+"\n", 100)))
	}
	v := end(s, "capped", wide, wide)
	for _, p := range broken(Comment(v), v.State.Start.Run) {
		t.Error(p)
	}
	if n := len(PullBody(v)); n > pullLimit {
		t.Errorf("the body has %d bytes", n)
	}
	if got := (View{}).fit(10, func(p page) string { return strings.Repeat("x", 5+p.lines) }); len(got) > 10 {
		t.Errorf("fit gave %d bytes", len(got))
	}
}

func FuzzComment(f *testing.F) {
	f.Add(sample.Nasty, sample.Nasty, sample.Nasty, sample.Nasty, "a/b`c")
	f.Add("```", "~~~\n````", "`", "@x", "|")
	f.Add("1. x", "\t@x", "    @x", "- #1", "-")
	f.Add("[a]: b", "a\n[a]", "<!-- ralph:run", "x -->", "&#64;a")
	f.Fuzz(func(t *testing.T, title, output, reason, said, name string) {
		s := sample.Begin(func(start *loop.Start) {
			start.Title, start.Spec, start.Branch, start.Checks, start.Detected, start.Asked = title, output, name,
				[]string{name, reason}, said, name
		})
		s.Turning(1, "implement")
		s.Turned(1, loop.Turn{Class: loop.OK, Text: said})
		s.Committed(1, loop.FileChange{Path: name}, loop.FileChange{Path: said})
		s.Judged(1, sample.Fail(name, reason, output))
		v := end(s, "stuck", said, name)
		for view, md := range views(v) {
			for _, p := range sample.Inertness(md) {
				t.Errorf("%s: %s\n%s", view, p, md)
			}
		}
		for _, p := range broken(Comment(v), v.State.Start.Run) {
			t.Errorf("%s\n%s", p, Comment(v))
		}
	})
}
