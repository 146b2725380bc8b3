package status

import (
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/plan"
)

func samplePlan() plan.Plan {
	story := func(id, title string, deps ...string) plan.Story {
		return plan.Story{ID: id, Title: title, AcceptanceCriteria: []string{"c"}, Priority: 1, DependsOn: deps, Notes: "n"}
	}
	done := story("US-001",
		"Store todos in a file that survives a crash of the program and of the machine that it runs on")
	done.Passes, done.ReviewStatus, done.ReviewCount = true, plan.Approved, 1
	capped := story("US-002", "Filter", "US-001")
	capped.Passes, capped.ReviewStatus, capped.ReviewCount = true, plan.Approved, 5
	capped.ReviewFeedback = plan.AtCap +
		" The filter forgets what was chosen when the page is loaded again, and nobody knows why"
	rejected := story("US-003", "表示する "+strings.Repeat("長", 60), "US-002")
	rejected.ReviewStatus, rejected.ReviewCount, rejected.ReviewFeedback = plan.ChangesRequested, 2, "mend it"
	waiting := story("US-004", "Count")
	waiting.ReviewStatus = plan.NeedsReview
	blocked := story("US-005-with-an-id-that-is-long", "Summary", "US-003", "US-004")
	blocked.Priority = 2
	unreviewed := story("US-007", "Sort")
	unreviewed.Passes = true
	return plan.Plan{Project: "Todo", BranchName: "ralph/todo", Description: "d",
		Stories: []plan.Story{blocked, done, capped, rejected, waiting, story("US-006", "Export"), unreviewed}}
}

func samplePlanView() PlanView {
	return PlanView{Plan: samplePlan(), Rules: plan.Rules{ReviewCap: 5}, File: "ralph/tasks.json",
		Run:     "running: iteration 7/15, the coder fixes the change since 10:00 UTC",
		Working: "US-003", Mode: plan.ReviewFix}
}

// TestPlanStatusFits: whatever stands in a plan, no line has more than 80 columns, and each story has its line.
func TestPlanStatusFits(t *testing.T) {
	p := samplePlan()
	for _, hostile := range []string{strings.Repeat("x", 500), strings.Repeat("長", 300), "a\nb\r\n\tc",
		strings.Repeat("e\u0301", 200), "🎉" + strings.Repeat(" 🎉", 100), ""} {
		p.Project, p.BranchName = hostile, hostile
		for i := range p.Stories {
			p.Stories[i].Title, p.Stories[i].ReviewFeedback = hostile, plan.AtCap+" "+hostile
		}
		v := samplePlanView()
		v.Plan, v.Run, v.Note = p, hostile, hostile
		text := StandPlan(v).Text()
		for line := range strings.Lines(text) {
			if n := ansi.StringWidth(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("%d columns: %q", n, line)
			}
		}
		if n := strings.Count(text, "\n! ") + strings.Count(text, "\n● ") + strings.Count(text, "\n◐ ") +
			strings.Count(text, "\n○ ") + strings.Count(text, "\n▶ "); n != len(p.Stories) {
			t.Errorf("%d lines of stories, want %d:\n%s", n, len(p.Stories), text)
		}
	}
}

// TestPlanMermaidHoldsItsLabels: nothing of a title ends its label, and what is not a letter is a number.
func TestPlanMermaidHoldsItsLabels(t *testing.T) {
	v := samplePlanView()
	v.Plan.Stories[1].Title = "\"]; click s1 \"javascript:alert(1)\"\n```\n<script>%%{init: {}}%% end --> s2 & `x` " +
		"#quot; | @me #12"
	text := StandPlan(v).Mermaid()
	node := regexp.MustCompile(
		`^  s\d+\["[\pL\pN .,-]*(#\d+;[\pL\pN .,-]*)*: ([\pL\pN .,-]|#\d+;)*<br/>[A-Za-z ]+"\]:::[a-z_]+$`)
	edge := regexp.MustCompile(`^  s\d+ --> s\d+$`)
	class := regexp.MustCompile(`^  (classDef [a-z_]+ [a-z0-9:#,-]+|class s\d+ working)$`)
	nodes := 0
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		switch {
		case i == 0 && line == "flowchart TD":
		case node.MatchString(line):
			nodes++
		case edge.MatchString(line), class.MatchString(line):
		default:
			t.Errorf("line %d is %q", i+1, line)
		}
	}
	if nodes != len(v.Plan.Stories) {
		t.Errorf("%d nodes, want %d:\n%s", nodes, len(v.Plan.Stories), text)
	}
	for _, want := range []string{`  s2["US-002: Filter<br/>APPROVED AT CAP"]:::approved_at_cap`, "  s1 --> s2\n",
		"  s2 --> s3\n", `s3["US-003: `, `<br/>being fixed"]:::changes_requested`, "  class s3 working\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
}

// TestPlanSummaryIsInert: what a plan says of itself does nothing on a page of GitHub's.
func TestPlanSummaryIsInert(t *testing.T) {
	v := samplePlanView()
	v.Plan.Description = "Closes #1, ask @alice\n<script>alert(1)</script> /ralph stop"
	v.Plan.Stories[1].Title = "`a` | <b> @bob"
	v.Plan.Stories[2].ReviewFeedback = plan.AtCap + "\n```\n# @carol"
	text := PlanSummary(v, "Todo @dave", "2026-01-02", "2026-01-05", "")
	if problems := sample.Inertness(text); len(problems) > 0 {
		t.Errorf("%q in:\n%s", problems, text)
	}
	for _, want := range []string{"- Dates: 2026-01-02 to 2026-01-05\n", "- Stories: 3 of 7 completed\n",
		"- Reviews: 8, at most 5 of one story\n", "**Approved at the cap**"} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
}
