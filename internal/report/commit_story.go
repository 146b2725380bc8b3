package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// storySubject is the subject of a plan's iteration. What a review came to is told when the iteration's commit
// says it.
func storySubject(s loop.State, it loop.Iteration) string {
	id := bracketed(it.Story)
	switch it.Mode {
	case loop.Review:
		return wording.JoinedBy(" - ", "review: "+id, reviewedAs(s, it))
	case loop.ReviewFix:
		return "fix: " + id + " - address review feedback"
	}
	title := ""
	if s.Plan != nil {
		if st := s.Plan.Story(it.Story); st != nil {
			title = plain(View{}.Clean(st.Title))
		}
	}
	return safetext.Shorten(wording.JoinedBy(" - ", "feat: "+id, title), maxSubject)
}

// reviewedAs is what a review came to: the harness's word when it has one, else what the verdict makes of the story.
// Nobody may take an approval at the cap for another.
func reviewedAs(s loop.State, it loop.Iteration) string {
	if it.Commit == nil || it.Commit.Plan == nil {
		return ""
	}
	a := it.Commit.Plan
	at := slices.IndexFunc(a.Stories, func(st plan.Story) bool { return st.ID == it.Story })
	switch {
	case at >= 0 && a.Stories[at].AtCap(), at < 0 && a.Opinion != nil && !a.Opinion.Approve && lastReview(s, it.Story):
		return "approved " + plan.AtCap
	case a.Opinion != nil && a.Opinion.Approve, at >= 0 && a.Stories[at].ReviewStatus == plan.Approved:
		return "approved"
	case a.Opinion != nil, at >= 0 && a.Stories[at].ReviewStatus == plan.ChangesRequested:
		return "changes requested"
	}
	return ""
}

// lastReview reports whether a story waits for the last review that it may have.
func lastReview(s loop.State, id string) bool {
	if s.Plan == nil {
		return false
	}
	st := s.Plan.Story(id)
	return st != nil && st.ReviewStatus == plan.NeedsReview && st.ReviewCount+1 >= s.Rules().ReviewCap
}

// CorrectionMessage is the message of the commit in which the harness makes a plan's files say again what counts:
// because the last iteration broke the plan's rules, or handed in what failed its checks, or because a review gave its
// verdict and did not write it down.
func CorrectionMessage(s loop.State) string {
	it := loop.Iteration{}
	if last := s.Last(); last != nil {
		it = *last
	}
	var a loop.Advance
	if it.Commit != nil && it.Commit.Plan != nil {
		a = *it.Commit.Plan
	}
	what, id := "what the plan's rules do not allow", bracketed(it.Story)
	f := it.Failure()
	subject := "ralph: take back " + id + " - "
	switch {
	case len(a.Violations) > 0:
	case it.Judged && f != nil:
		what = "it failed " + cmp.Or(plain(View{}.Clean(f.Check)), "a check")
	case !it.Judged && it.Turn.Class != loop.OK && it.Turn.Class != "":
		what = "its turn did not end by itself"
	case a.Opinion != nil:
		subject, what = "ralph: write down "+id+" - ", cmp.Or(reviewedAs(s, it), "its review")
	}
	body := ""
	for i, v := range a.Violations {
		if i == 10 {
			body += fmt.Sprintf("- %d more\n", len(a.Violations)-i)
			break
		}
		body += "- " + safetext.Shorten(plain(View{}.Clean(v.Text)), 200) + "\n"
	}
	if body != "" {
		body += "\n"
	}
	return messageOf(safetext.Shorten(subject+what, maxSubject), body, trailersOf(s, it))
}

// skips is what CI systems obey in brackets: "[skip ci]", "[ci-skip]", "[no ci]".
var skips = regex.Lazy(`(?i)skip|no.?ci`)

// bracketed is a story's id as a subject has it: "[US-001]".
func bracketed(id string) string {
	id = cmp.Or(safetext.Shorten(trailerValue(id), 32), "-")
	if skips.MatchString(id) {
		return "(" + id + ")"
	}
	return "[" + id + "]"
}
