package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

const maxSubject = 72

// CommitMessage is the message of an iteration's commit: a readable subject of at most 72 characters made of the
// task's title, and trailers. Nothing in a title can add a trailer, mention anyone or close anything. repoHost is
// "github.com". In a plan the subject is that of the story's mode.
func CommitMessage(s loop.State, it loop.Iteration, repoHost string) string {
	end := fmt.Sprintf(" (iteration %d)", it.N)
	title := cmp.Or(plain(View{}.Clean(s.Start.Title)), trailerValue(s.Start.Task))
	subject := safetext.Shorten("ralph: "+title, maxSubject-len(end)) + end
	if it.Story != "" {
		subject = storySubject(s, it)
	}
	trailers := trailersOf(s, it)
	if by := checksOf(s); by != "" {
		trailers = append(trailers, [2]string{"Ralph-Checks", by})
	}
	if login.MatchString(s.Start.Asked) && host.MatchString(repoHost) {
		trailers = append(trailers, [2]string{"Co-authored-by",
			fmt.Sprintf("%s <%s@users.noreply.%s>", s.Start.Asked, s.Start.Asked, repoHost)})
	}
	return messageOf(subject, "", trailers)
}

// mostJudges bounds the trailer that names what judges a commit.
const mostJudges = 200

// checksOf names what judges a commit. What it says comes after the commit, and is in the run's reports.
func checksOf(s loop.State) string {
	var names []string
	for _, line := range s.Start.Checks {
		if name := safetext.Shorten(plain(View{}.Clean(line)), 60); name != "" {
			names = append(names, name)
		}
	}
	if s.Start.Review && s.Plan == nil { // a plan's reviews are iterations of their own
		names = append(names, "review")
	}
	if slices.Contains(s.Start.Pipeline, task.QA) {
		names = append(names, "qa")
	}
	return safetext.Shorten(strings.Join(names, ", "), mostJudges)
}

// FailureCommitMessage is the message of the commit that ends a failure branch.
func FailureCommitMessage(s loop.State) string {
	hash := "none"
	if f := s.Failure(); f != nil && f.Hash != "" {
		hash = trailerValue(f.Hash)
	}
	return fmt.Sprintf("Ralph Loop failed: %s\n\nIterations: %s\nLast gate: %s\nError hash: %s\n\nSee .ralph_state.md "+
		"for full history\n",
		trailerValue(s.Start.Task), attempts(s), cmp.Or(safetext.Shorten(plain(View{}.Clean(lastGate(s))), 100), "none"),
		hash)
}

// storySubject is the subject of a plan's iteration. It has the result of a review if the iteration's commit has it.
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

// reviewedAs is the result of a review: what the harness recorded, otherwise what the verdict means for the story. An
// approval at the cap is always marked as that.
func reviewedAs(s loop.State, it loop.Iteration) string {
	if s.Plan == nil || it.Commit == nil || it.Commit.Plan == nil {
		return ""
	}
	after := *s.Plan
	if said := it.Commit.Plan.Opinion; said != nil {
		after = after.Reviewed(it.Story, *said, s.Rules())
	}
	switch st := after.With(it.Commit.Plan.Stories...).Story(it.Story); {
	case st == nil:
	case st.AtCap():
		return "approved " + plan.AtCap
	case st.ReviewStatus == plan.Approved:
		return "approved"
	case st.ReviewStatus == plan.ChangesRequested:
		return "changes requested"
	}
	return ""
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
	body := items(safetext.Map(a.Violations, func(v plan.Violation) string {
		return safetext.Shorten(plain(View{}.Clean(v.Text)), 200)
	}), 10)
	return messageOf(safetext.Shorten(subject+what, maxSubject), strings.TrimLeft(body+"\n", "\n"), trailersOf(s, it))
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

// trailersOf say what a commit belongs to.
func trailersOf(s loop.State, it loop.Iteration) [][2]string {
	trailers := [][2]string{
		{"Ralph-Task", trailerValue(s.Start.Task)},
		{"Ralph-Run", trailerValue(s.Start.Run)},
		{"Ralph-Iteration", fmt.Sprint(it.N)},
	}
	// what they had made was not pushed, and is in this commit
	for _, before := range slices.Backward(s.Iterations) {
		if c := before.Commit; before.N < it.N {
			if c == nil || c.Declined == "" {
				break
			}
			trailers = append(trailers, [2]string{"Ralph-Iteration", fmt.Sprint(before.N)})
		}
	}
	if it.Mode != "" {
		trailers = append(trailers, [2]string{"Ralph-Mode", trailerValue(string(it.Mode))})
	}
	if it.Story != "" {
		trailers = append(trailers, [2]string{"Ralph-Story", trailerValue(it.Story)})
	}
	return trailers
}

func messageOf(subject, body string, trailers [][2]string) string {
	var b strings.Builder
	b.WriteString(subject + "\n\n" + body)
	for _, t := range trailers {
		b.WriteString(t[0] + ": " + t[1] + "\n")
	}
	return b.String()
}

var (
	login    = regex.Lazy(`^[A-Za-z0-9][A-Za-z0-9-]{0,99}(\[bot\])?$`)
	host     = regex.Lazy(`^[A-Za-z0-9][A-Za-z0-9.-]*$`)
	notValue = regex.Lazy(`[^A-Za-z0-9._/-]+`)

	address   = regex.Lazy(`(?i)[a-z][a-z0-9+.-]*://\S*|\bwww\.\S*`)
	reference = regex.Lazy(`(?i)#+(\d)|\bGH-(\d)`)
)

func trailerValue(s string) string { return safetext.Shorten(notValue.ReplaceAllString(s, "-"), 100) }

// plain is foreign text for a place without Markdown: one line in which nothing refers to anything. Brackets go because
// CI systems obey "[skip ci]".
func plain(s string) string {
	s = address.ReplaceAllString(safetext.OneLine(s), "(link)")
	s = reference.ReplaceAllString(s, "$1$2")
	return safetext.OneLine(strings.NewReplacer("@", "", "[", "(", "]", ")", "<", "", ">", "").Replace(s))
}
