package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
)

func TestGolden(t *testing.T) {
	refusal := &event.Refusal{Who: "mallory",
		Reason: "mallory has read permission here; a request needs write, maintain or admin"}
	asked := event.Event{Name: "issue_comment.created", Repo: event.Repo{Owner: "alice", Name: "demo"},
		Issue: &event.Issue{Number: 42}}
	local := capped()
	local.Repo, local.ServerURL = "", ""
	tests := map[string]string{
		"running-first.md":    Comment(runningFirst()),
		"judging.md":          Comment(judging()),
		"asks.md":             Comment(asks()),
		"heeds.md":            Comment(heeds()),
		"budget.md":           Comment(spentAll()),
		"failure-budget.md":   Failure(spentAll()),
		"fixing.md":           Comment(fixed("")),
		"fixed.md":            Comment(fixed(loop.Done)),
		"answers.md":          answers(),
		"what-now.txt":        whatNows(),
		"costs.txt":           costs(),
		"reviewed.md":         Comment(reviewed()),
		"pull-reviewed.md":    PullTitle(reviewed()) + "\n\n" + PullBody(reviewed()),
		"pull-template.md":    templated(reviewed(), ownTemplate),
		"summary-roles.md":    Summary(withRoles()),
		"iteration.md":        IterationComment(stuckRun(), 5),
		"check-run.md":        checkRun(annotated()),
		"check-run-done.md":   checkRun(done()),
		"hostile-check.md":    checkRun(hostile()),
		"hostile-each.md":     IterationComment(hostile(), 1),
		"hostile-answers.md":  Answer(hostile(), hostile().State.Feedback.Items[0]) + page{hostile(), rooms[0]}.feedback(),
		"running-third.md":    Comment(runningThird()),
		"done.md":             Comment(done()),
		"capped.md":           Comment(capped()),
		"timeout.md":          Comment(timedOut()),
		"invalid.md":          Comment(mistaken()),
		"interrupted.md":      Comment(interrupted()),
		"waiting.md":          Comment(waiting()),
		"failed.md":           Comment(failed()),
		"outcome-comments.md": outcomeComments(),
		"hostile-comment.md":  Comment(hostile()),
		"hostile-pull.md":     PullTitle(hostile()) + "\n\n" + PullBody(hostile()),
		"hostile-failure.md":  Failure(hostile()),
		"hostile-state.md":    StateFile(hostile()),
		"hostile-summary.md":  Summary(hostile()),
		"issue-line.md":       IssueLine(runningThird()) + IssueLine(capped()) + IssueLine(asks()),
		"pull-draft.md":       PullTitle(runningThird()) + "\n\n" + PullBody(runningThird()),
		"pull-done.md":        PullTitle(done()) + "\n\n" + PullBody(done()),
		"failure.md":          Failure(capped()),
		"failure-local.md":    Failure(local),
		"summary.md":          Summary(done()),
		"summary-capped.md":   Summary(capped()),
		"summary-local.md":    Summary(local),
		"status-running.md":   Status(runningThird()),
		"status-capped.md":    Status(capped()),
		"no-status.md":        NoStatus("/ralph", 42),
		"refused.md":          Refused(refusal, asked),
		"rejected.md": Rejected(View{Words: Words{Phrase: "/ralph"}}, &event.UsageError{Found: "“fly”",
			Allowed: "run, retry, continue, fix, stop, plan, approve, status, help"}),
		"state.md":         StateFile(runningThird()),
		"state-capped.md":  StateFile(capped()),
		"state-first.md":   StateFile(runningFirst()),
		"state-stuck.md":   StateFile(stuckRun()),
		"state-roles.md":   StateFile(withRoles()),
		"failure-stuck.md": Failure(stuckRun()),
		"roles.md":         Comment(withRoles()),
		"tasks.md":         ExecutionSummary(listOfTasks(), allOfTasks()),
		"commit.txt":       CommitMessage(done().State, *done().State.Last(), "github.com"),
		"commit-hostile.txt": CommitMessage(hostile().State, loop.Iteration{N: 1, Mode: "x\nCo-authored-by: y"},
			"github.com"),
		"failure-commit.txt":  FailureCommitMessage(capped().State),
		"commits-foreign.txt": foreignCommits(t),
		"texts-foreign.txt":   foreignTexts(t),

		"plan-running.md":         Comment(planRunning()),
		"plan-reviewing.md":       Comment(planReviewing()),
		"plan-skipped.md":         Comment(planSkipped()),
		"plan-pull.md":            PullTitle(planDone()) + "\n\n" + PullBody(planDone()),
		"plan-failure.md":         Failure(planCapped()),
		"plan-summary.md":         Summary(planDone()),
		"plan-status.md":          Status(planCapped()),
		"plan-state.md":           StateFile(planCapped()),
		"plan-issue-line.md":      IssueLine(planCapped()),
		"plan-large.md":           Comment(planLarge(200, "words")),
		"plan-hostile-comment.md": Comment(planHostile()),
		"plan-hostile-failure.md": Failure(planHostile()),
		"plan-hostile-state.md":   StateFile(planHostile()),
		"plan-commits.txt":        planCommits(),
		"long.md":                 Comment(long(200)),
		"hostile-refused.md": Refused(&event.Refusal{Who: "@eve", Reason: sample.Nasty},
			event.Event{Name: sample.Nasty}),
		"failure-timed-out.md": Failure(timedOut()),

		"pull-capped.md":      PullBody(stuckRun()),
		"pull-waiting.md":     PullBody(asks()),
		"pull-interrupted.md": PullBody(interrupted()),
		"pull-failed.md":      PullBody(failed()),
		"summary-waiting.md":  Summary(asks()),
		"summary-failed.md":   Summary(failed()),
		"summary-invalid.md":  Summary(mistaken()),
	}
	sample.Goldens(t, tests, "endings.txt") // which is of TestFirst400Characters
}

// answers are what the threads of a review are told, by the outcome of the run, and the feedback that comments show.
func answers() string {
	without := func(end loop.End) View { // a commit
		v := fixed("")
		v.State.End = &end
		return v
	}
	answered := fixed(loop.Done)
	answered.State.Post.Answered = []int64{71}
	others := fixed("")
	others.State.Feedback = &loop.Feedback{Text: "CI: test failed",
		Items: slices.Repeat([]loop.Remark{{ID: 5, Text: "x"}}, 25)}
	var b strings.Builder
	for _, v := range []View{fixed(""), fixed(loop.Done), fixed(loop.Stuck), without(loop.End{Outcome: loop.Done}), others, answered,
		without(loop.End{Outcome: loop.Stuck, Reason: "closes #3, says @bob."}), without(loop.End{Outcome: loop.Interrupted})} {
		for _, remark := range v.State.Feedback.Items[:min(2, len(v.State.Feedback.Items))] {
			b.WriteString(Answer(v, remark))
		}
		b.WriteString(page{v, rooms[0]}.feedback() + "\n")
	}
	return b.String()
}

func templated(v View, template string) string {
	v.Template = template
	return PullBody(v)
}

// checkRun is a check run with its annotations as text.
func checkRun(v View) string {
	c := CheckRunOf(v)
	text := fmt.Sprintf("%s: %s\n\n%s\n%s", c.Conclusion, c.Title, c.Summary, c.Text)
	for _, a := range c.Annotations {
		text += fmt.Sprintf("\n%s %s:%d:%d %s\n%s\n", a.Level, a.Path, a.Line, a.Column, a.Title, a.Message)
	}
	return text
}

// listOfTasks is what became of six tasks: the two of the specification's example have failed, and one waits for the
// first of them.
func allOfTasks() *AllResult {
	return &AllResult{Branch: "ralph/all-todo", Commit: strings.Repeat("4f", 20),
		Tasks: []string{"schema", "login", "logout"},
		Reason: "make test fails on all that is done: it exited with code 2: FAIL: TestSession; " +
			ConflictLine([]string{"login", "logout"})}
}

func listOfTasks() []TaskResult {
	auth := sample.Begin(nil)
	auth.Pull()
	for n := 1; n <= 5; n++ {
		auth.Iterate(n, loop.Implement, "", sample.Pass("tests"),
			loop.Verdict{Check: "spec-compliance", Severity: loop.Hard, Reason: "Missing password reset flow",
				Hash: fmt.Sprintf("c4d5e6f%d", n)},
			sample.LintWarning, sample.Weakened)
	}
	limit := sample.Begin(nil)
	for n, tier := range []loop.Tier{loop.Moving, loop.Moving, loop.Moving, loop.Shift} {
		limit.As(n+1, "", tier)
		race := sample.Fail("tests", "exit code 1", sample.TestOutput)
		race.Findings = []loop.Finding{{File: "bucket.go", Line: 41, Message: "Race condition in token bucket"}}
		limit.Iterated(n+1, "", race)
	}
	failedAuth := end(auth, loop.Capped, "5 of 5 iterations are used up", "wip/ralph-fail-auth-20260121-103045")
	failedLimit := end(limit, loop.Stuck, "the same failure of tests 4 times in a row, also after a strategy shift",
		"wip/ralph-fail-ratelimit-20260121-104532")
	for _, v := range []*View{&failedAuth, &failedLimit} {
		v.ServerURL, v.Repo = "", ""
	}
	return []TaskResult{
		{N: 1, ID: "one", Title: "One", View: done()}, {N: 2, ID: "two", Title: "Two", View: done()},
		{N: 3, ID: "auth", Title: "Add authentication", View: failedAuth},
		{N: 4, ID: "reset", Title: "Reset by mail", Skipped: "it needs auth, which failed"},
		{N: 5, ID: "ratelimit", Title: "Rate limiting", View: failedLimit},
		{N: 6, ID: "six", View: done()},
	}
}
