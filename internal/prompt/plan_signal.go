package prompt

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/task"
)

// storySignal says in a plan that all of it is done: the coder's promise when the criteria set one.
func (w Writer) storySignal(s loop.State) string {
	if want := w.section(s, task.Coder); want.promise != "" {
		return want.signal
	}
	return "<promise>COMPLETE</promise>"
}

// handIn says how an iteration ends that worked on a story.
func (p parts) handIn(signal string) string {
	file := "`" + p.PlanFile + "`"
	fields := fmt.Sprintf("set this story's `reviewStatus` to `\"needs_review\"` in %s, and say in its `notes` in a "+
		"sentence or two what was done. `passes` stays false and `reviewCount` what it is: only a review changes them.", file)
	commit := fmt.Sprintf("`feat: [%s] - ` and the story's title", p.StoryID)
	end := fmt.Sprintf("`%s` is for a plan whose stories all have `passes` true and `reviewStatus` \"approved\". That "+
		"is never so after this iteration: do not print it.", signal)
	open := "leave `reviewStatus` null"
	switch {
	case p.SkipReview:
		fields = fmt.Sprintf("set this story's `passes` to true in %s, and say in its `notes` in a sentence or two what "+
			"was done; they must not be empty. `reviewStatus` stays null and `reviewCount` 0: this run has no reviews.", file)
		end = fmt.Sprintf("When every story in %s has `passes` true after that, end your last message with %s. Otherwise "+
			"do not print it.", file, signal)
		open = "leave `passes` false"
	case p.Mode == string(loop.ReviewFix):
		fields = fmt.Sprintf("set this story's `reviewStatus` to `\"needs_review\"` and its `reviewFeedback` to `\"\"` in "+
			"%s. `passes` stays false and `reviewCount` what it is: only a review changes them.", file)
		commit = fmt.Sprintf("`fix: [%s] - address review feedback`", p.StoryID)
		open = "leave `reviewStatus` and `reviewFeedback` as they are"
	}
	return fmt.Sprintf("- The story is done, its criteria are met and the verification commands pass → %s\n"+
		"- It is not → %s, and say in `%s/progress.txt` what you tried, what you found and what you would do next. Another fresh iteration continues from there."+waysOut+"\n"+
		"- Either way commit everything, with the message %s.\n\n"+
		"The harness holds the file against what it was before: a review field that changes in any other way is taken "+
		"back, so is a story that is deleted or rewritten, and the iteration fails. `%s/prd.md` is read-only.\n\n%s",
		fields, open, p.Dir, commit, p.Dir, end)
}

// decide says how a review ends. last: with an approval, the whole plan is approved.
func (p parts) decide(signal string, last bool) string {
	file := "`" + p.PlanFile + "`"
	capped := fmt.Sprintf("This is review %d, so the cap of %d is not reached.", p.ReviewNumber, p.ReviewCap)
	if p.ReviewNumber >= p.ReviewCap {
		capped = fmt.Sprintf("This is review %d: the cap of %d is reached. What is still open then needs a person rather "+
			"than another review.", p.ReviewNumber, p.ReviewCap)
	}
	atCapToo := ", also at the cap"
	if p.failAtCap {
		atCapToo = ""
	}
	end := "Other stories are not approved yet, so do not print `" + signal + "`."
	if last {
		end = "All other stories are approved. When this one is approved now, too, print " + signal +
			" on a line before the JSON object; else do not."
	}
	return fmt.Sprintf("Fix nothing, however small: whatever changes besides %s and `%s/progress.txt` is taken back, "+
		"and the review fails.\n\n"+
		"In %s, set this story's `reviewCount` to %d, and:\n\n"+
		"| what you found | `reviewStatus` | `passes` | `reviewFeedback` |\n|---|---|---|---|\n"+
		"| every criterion is genuinely met, no issues | `\"approved\"` | `true` | `\"\"` |\n"+
		"%s\n"+
		"%s `notes` must not be empty when `passes` is true: write a sentence if it is empty. Nothing else in the "+
		"file changes, and no other story.\n\n"+
		"Commit both files with the message `review: [%s] - approved` or `review: [%s] - changes requested`.\n\n"+
		"Then give your verdict, which has to agree with the file: \"approve\" when you found no issues, "+
		"\"request_changes\" when you did%s. Its \"issues\" are the points of the feedback. %s",
		file, p.Dir, file, p.ReviewNumber, p.atCap(), capped, p.StoryID, p.StoryID, atCapToo, end)
}

// atCap says what a review writes that found issues. Where the cap approves nothing, the last review is as every other.
func (p parts) atCap() string {
	const change = "`\"changes_requested\"` | `false` | what exactly has to change, and where, point by point |\n"
	if p.failAtCap {
		return "| issues | " + change
	}
	return fmt.Sprintf("| issues, and `reviewCount` is below %d | "+change+
		"| issues, and `reviewCount` is %d or more | `\"approved\"` | `true` | `%s` and then every open point |\n",
		p.ReviewCap, p.ReviewCap, plan.AtCap)
}
