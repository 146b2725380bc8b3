package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// waitsForOthers reports whether the run waits for what other workflows say of its commit.
func waitsForOthers(s loop.State) bool {
	f := unanswered(s)
	return f != nil && !wording.IsReview(*f) && len(f.Concerns) == 0
}

// waitsForReader reports whether it waits for a role that reads, whose model could not be asked.
func waitsForReader(s loop.State) bool {
	f := unanswered(s)
	return f != nil && wording.IsReview(*f)
}

// unanswered is the failure of the newest iteration when it is one that waits.
func unanswered(s loop.State) *loop.Verdict {
	it := s.LastJudged()
	if it == nil || it != s.Last() || it.Failure() == nil || !it.Failure().Waits {
		return nil
	}
	return it.Failure()
}

// waitsForModel reports whether it waits because its model answered nothing.
func waitsForModel(s loop.State) bool {
	last := s.Last()
	return last != nil && last.Turn.Silent
}

func waitsForLimit(s loop.State) bool {
	last := s.Last()
	return last != nil && last.Turn.Class == loop.UsageLimit
}

// waitsToAccept reports whether a person must accept a concern of a kind.
func waitsToAccept(s loop.State, kind loop.ConcernKind) bool {
	return slices.ContainsFunc(s.ToAccept(), func(c loop.Concern) bool { return c.Kind == kind })
}

// stoppedShort reports whether a limit ended the run, so that there is a failure report.
func stoppedShort(s loop.State) bool { return s.End != nil && s.End.Outcome.Limited() }

// newestReview is the newest verdict that an agent gave who only read, with its iteration.
func newestReview(s loop.State) (*loop.Iteration, *loop.Verdict) {
	for _, it := range slices.Backward(s.Iterations) {
		for i := range it.Verdicts {
			c := &it.Verdicts[i]
			if c.Skipped == "" && (c.Check == loop.ReviewCheck || c.Check == string(task.QA) && c.Role == task.QA) {
				return it, c
			}
		}
	}
	return nil, nil
}

// Roles reports whether anyone but the coder takes turns in the run.
func Roles(s loop.State) bool {
	other := func(it *loop.Iteration) bool { return it.Role != "" && it.Role != task.Coder }
	return len(s.Writers()) > 1 || slices.ContainsFunc(s.Iterations, other)
}

// warnings are the soft checks that failed in the newest judged iteration.
func warnings(s loop.State) (soft []loop.Verdict) {
	if it := s.LastJudged(); it != nil {
		for _, c := range it.Verdicts {
			if c.Severity == loop.Soft && c.Skipped == "" && !c.Pass {
				soft = append(soft, c)
			}
		}
	}
	return soft
}

// ranked is a changed file with its risk.
type ranked struct {
	loop.FileChange
	risk int
}

// rankedFiles are the changed files of the whole run, the riskiest first and the largest first among equals; hidden are
// those that no record names.
func rankedFiles(s loop.State) (list []ranked, hidden int) {
	files, hidden := changedFiles(s)
	list = safetext.Map(files, func(f loop.FileChange) ranked { return ranked{f, wording.RiskOf(f.Path)} })
	slices.SortStableFunc(list, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.risk, b.risk), cmp.Compare(b.Added+b.Deleted, a.Added+a.Deleted),
			strings.Compare(a.Path, b.Path))
	})
	return list, hidden
}

// changedFiles adds up what all iterations changed; hidden counts files that no record names.
func changedFiles(s loop.State) (files []loop.FileChange, hidden int) {
	at := map[string]int{}
	for _, it := range s.Iterations {
		if it.Commit == nil {
			continue
		}
		hidden += it.Commit.MoreFiles
		for _, f := range it.Commit.Files {
			i, seen := at[f.Path]
			if !seen {
				at[f.Path] = len(files)
				files = append(files, f)
				continue
			}
			if f.Added < 0 || files[i].Added < 0 {
				files[i].Added, files[i].Deleted = -1, -1
				continue
			}
			files[i].Added += f.Added
			files[i].Deleted += f.Deleted
		}
	}
	return files, hidden
}

// closed reports whether someone has closed the pull request.
func isClosed(s loop.State) bool {
	closed := s.Post.Closed
	return closed != nil && *closed
}

// passes reports whether a check passed in the newest judged iteration.
func passes(s loop.State, check string) bool {
	it := s.LastJudged()
	return it != nil && slices.ContainsFunc(it.Verdicts,
		func(c loop.Verdict) bool { return c.Check == check && c.Pass && c.Skipped == "" })
}

// usedUp are the names of those limits that are used up, as the settings of the action name them.
func usedUp(s loop.State, l loop.Limits) (names []string, issue bool) {
	if l.CostUSD > 0 && s.Spent().CostUSD >= l.CostUSD {
		names = append(names, "max_cost_usd")
	}
	if l.Tokens > 0 && s.Spent().Tokens() >= l.Tokens {
		names = append(names, "max_tokens")
	}
	if l.IssueCostUSD > 0 && s.OnIssue().CostUSD >= l.IssueCostUSD {
		return append(names, "max_cost_usd_per_issue"), true
	}
	return names, false
}

// waitingFor says what a run waits for.
func waitingFor(s loop.State) string {
	switch end := s.End; {
	case end.ForPull:
		return "Waiting for its pull request"
	case waitsToAccept(s, loop.NothingToDo):
		return "Waiting for your answer"
	case waitsToAccept(s, loop.Unreviewed):
		return "Waiting for a review"
	case len(s.ToAccept()) > 0:
		return "Waiting for you to accept what was found"
	case waitsForOthers(s):
		return "Waiting for other workflows"
	case !end.Until.IsZero():
		return "Waiting until " + end.Until.UTC().Format("2006-01-02 15:04 UTC")
	case s.Waits:
		return "Waiting for your answer"
	case s.Unable > 0:
		return "Waiting for an agent that can work"
	case waitsForReader(s):
		return "Waiting for the reviewer"
	case waitsForModel(s):
		return "Waiting for the model"
	case waitsForLimit(s):
		return "Waiting for a usage limit's reset, at an unknown time"
	}
	return "Waiting"
}

// mostNames is how many of many names a text has.
const mostNames = 5

// current is the story that the run is at; "" between two and after the end.
func current(s loop.State) string {
	switch last := s.Last(); {
	case s.Plan == nil || s.End != nil:
		return ""
	case s.Turning != nil:
		return s.Turning.Story
	case last != nil && !last.Judged:
		return last.Story
	}
	return ""
}

// reviewOf is the number of the review that a story is in: while the turn runs it has not been counted.
func reviewOf(s loop.State, st plan.Story) int {
	last := s.Last()
	if s.Turning == nil && last != nil && last.Commit != nil && last.Commit.Plan != nil &&
		last.Commit.Plan.Opinion != nil {
		return st.ReviewCount
	}
	return st.ReviewCount + 1
}

// reviews says how many of a story's reviews are used up: ", review 2/5"; "" before the first.
func reviews(s loop.State, st plan.Story) string {
	rules := s.Rules()
	if rules.SkipReview || st.ReviewCount == 0 {
		return ""
	}
	return fmt.Sprintf(", review %d/%d", st.ReviewCount, rules.ReviewCap)
}

// urgent are the stories to look at first, in the plan's order: the present one, those in review, those at the cap, the
// open ones.
func urgent(s loop.State, most int) []plan.Story {
	order := make([]int, len(s.Plan.Stories))
	for i := range order {
		order[i] = i
	}
	rank := func(st plan.Story) int {
		switch {
		case st.ID == current(s):
			return 0
		case st.AtCap():
			return 3
		case st.Done(s.Rules()):
			return 5
		case st.ReviewStatus == plan.ChangesRequested:
			return 1
		case st.ReviewStatus == plan.NeedsReview:
			return 2
		}
		return 4
	}
	all := s.Plan.Stories
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank(all[a]), rank(all[b])) })
	order = order[:min(most, len(order))]
	slices.Sort(order)
	return safetext.Map(order, func(i int) plan.Story { return all[i] })
}

// Tally counts the stories that are done, and those of them that no one approved but the cap; "" for a run
// without a plan.
func Tally(s loop.State) string {
	p := s.Plan
	if p == nil {
		return ""
	}
	done := safetext.CountFunc(p.Stories, func(st plan.Story) bool { return st.Done(s.Rules()) })
	word := "approved"
	if s.Rules().SkipReview {
		word = "done without a review"
	}
	text := fmt.Sprintf("%d of %d %s %s", done, len(p.Stories), safetext.Plural(len(p.Stories), "story", "stories"), word)
	if atCap := len(p.AtCap()); atCap > 0 {
		text += fmt.Sprintf(", %d of them only at the cap", atCap)
	}
	return text
}

func closes(s loop.State) string {
	if s.Start.Issue == 0 {
		return ""
	}
	return fmt.Sprintf("Closes #%d", s.Start.Issue)
}
