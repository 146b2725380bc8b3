package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// forStory writes the prompt of an iteration of a plan: by the template of its mode, or by the project's own prompt
// with the harness's sections behind it.
func (w Writer) forStory(s loop.State, step loop.Step) (string, error) {
	p := w.storyParts(s, step)
	told, elsewhere := w.attempts(s, step, &p)
	p.Attempts = told
	text := w.Plan.own(p)
	if text == "" {
		var err error
		if text, err = w.Templates.render("plan-"+p.Mode+".md", p); err != nil {
			return "", err
		}
	}
	return w.counted(p.complete(combine(text, printed(storyFence(s), elsewhere)), storySections(p)), s, step), nil
}

// storyParts are the sections of an iteration of a plan, but for what was tried.
func (w Writer) storyParts(s loop.State, step loop.Step) parts {
	rules := s.Rules()
	story := s.Plan.Story(step.Story)
	if story == nil {
		story = &plan.Story{ID: step.Story}
	}
	border := storyFence(s)
	p := parts{common: common{
		Role: string(task.Coder), Iteration: step.Iteration, MaxIterations: s.MaxIterations, Title: border.Around(title(s)),
		Hints: asides(s, fence(s.Start.Run)),
	}, writing: writing{Criteria: storyCriteria(s), Notes: notes(s, loop.Step{Iteration: step.Iteration}, border)}, ofStory: ofStory{
		Mode: string(modeOf(step)), Dir: w.planDir(s), PlanFile: w.planFile(s), StoryID: idOf(story.ID),
		ReviewNumber: story.ReviewCount + 1, ReviewCap: rules.ReviewCap, SkipReview: rules.SkipReview,
		failAtCap: rules.FailAtCap,
		Stories:   otherStories(*s.Plan, *story, border), TakenBack: takenBack(s, border),
	}}
	p.Story = storyText(*story, p.PlanFile, border)
	if strings.TrimSpace(s.Start.Spec) != "" || len(w.Comments) > 0 {
		p.Task = w.taskText(s, border, forWriters)
	}
	if s.Start.Completion != nil {
		p.Completion = completion(s, task.Coder, step.Iteration, w.section(s, task.Coder), border)
	}
	p.Shift, p.Context = w.escalated(s, step.Tier, border, maxStoryContext)
	if modeOf(step) != loop.Review {
		p.Exit = p.handIn(w.storySignal(s))
		return p
	}
	p.Tree = s.HeadTree()
	p.Range = changeOf(s, step.Story, p.StoryID)
	p.Earlier = earlierReview(s, step.Story, border)
	done := s.WorkOn(step.Story).Verdicts
	p.Noticed = joinedParts(harnessNoticed(border, done), toAccept(border, loop.ForReaders(s.Open(done))))
	p.Exit = p.decide(w.storySignal(s), othersApproved(*s.Plan, step.Story))
	p.Answer = answer(p.Tree, wanted{}, loop.ForReaders(s.Open(done)))
	return p
}

// attempts is what was tried for a story since its first iteration. A reviewer gets earlier reviews without a verdict,
// and not the opinion of the agents that did the work.
func (w Writer) attempts(s loop.State, step loop.Step, p *parts) (text string, elsewhere []loop.Verdict) {
	mine := s
	mine.Iterations = nil
	for _, it := range s.Iterations {
		switch {
		case it.Story != step.Story:
		case modeOf(step) != loop.Review || it.Mode == loop.Review:
			mine.Iterations = append(mine.Iterations, it)
		default:
			mine.Iterations = nil // what was said before about work that has changed since
		}
	}
	if len(judged(mine, 1)) == 0 && modeOf(step) == loop.Review {
		return "", nil
	}
	room := maxAdded - maxStoryFrame
	for _, taken := range []string{p.Hints, p.Criteria, p.Notes, p.Shift, p.Context, p.Stories, p.TakenBack, p.Earlier,
		p.Noticed} {
		room -= len(taken)
	}
	return attempts(mine, room, storyFence(s))
}

// variables of the project's own prompt.
var variable = lazy(`\$(?:\{(RALPH_[A-Z_]+)\}|(RALPH_[A-Z_]+))`)

// NamesVariable reports whether a prompt names one of the variables that are put in.
func NamesVariable(text string) bool { return variable.MatchString(text) }

// own is the project's own prompt with its variables put in and a line between it and the harness's sections, empty
// when it has none. It is plain substitution: nothing is run, an unknown variable stays as it is, and what is put in is
// not looked at again.
func (f PlanFiles) own(p parts) string {
	values := map[string]string{
		"RALPH_ITERATION": fmt.Sprint(p.Iteration), "RALPH_MAX_ITERATIONS": fmt.Sprint(p.MaxIterations), "RALPH_MODE": p.Mode,
		"RALPH_STORY": p.StoryID, "RALPH_REVIEW_CAP": fmt.Sprint(p.ReviewCap),
	}
	if p.MaxIterations == 0 {
		values["RALPH_MAX_ITERATIONS"] = "unlimited"
	}
	if strings.TrimSpace(f.Prompt) == "" {
		return ""
	}
	text := strings.ReplaceAll(strings.TrimPrefix(f.Prompt, "\uFEFF"), "\r\n", "\n")
	text = variable.ReplaceAllStringFunc(text, func(found string) string {
		if value, ok := values[strings.Trim(found, "${}")]; ok {
			return value
		}
		return found
	})
	return strings.TrimRight(text, "\n") + "\n\n" + p.header() +
		". Where what follows differs from the text above, what follows counts.\n"
}

// storyText is a story as it counts, within borders: it is the plan's text, not the harness's.
func storyText(st plan.Story, file string, border safetext.Border) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", st.ID, st.Title)
	part := func(name, text string) {
		if text = strings.TrimSpace(text); text != "" {
			b.WriteString("\n" + name + text + "\n")
		}
	}
	part("", st.Description)
	if len(st.AcceptanceCriteria) > 0 {
		b.WriteString("\nAcceptance criteria:\n")
	}
	for i, c := range st.AcceptanceCriteria {
		fmt.Fprintf(&b, "%d. %s\n", i+1, strings.TrimSpace(c))
	}
	part("Notes: ", st.Notes)
	part("Review feedback: ", st.ReviewFeedback)
	text := strings.TrimRight(b.String(), "\n")
	return section("story.md", map[string]any{"Border": border, "File": file, "Cut": len(text) > maxStory,
		"Story": border.Around(middle(text, maxStory))})
}

// otherStories names the stories that this one needs, and its neighbours in the plan's order as far as there is room;
// empty when it is the only one.
func otherStories(p plan.Plan, st plan.Story, border safetext.Border) string {
	if len(p.Stories) < 2 {
		return ""
	}
	var needed []string
	for _, id := range st.DependsOn {
		needed = append(needed, storyLine(p, id))
	}
	var b strings.Builder
	if len(needed) > 0 {
		b.WriteString("This story depends on:\n" + list(needed, maxDepends, "- ", "stories") + "\n\n")
	}
	b.WriteString("The others, in the plan's order:\n" + neighbours(p, st.ID))
	return fmt.Sprintf(
		"### The Other Stories\n\n%d of %d stories are done. Between the borders is text of the plan.\n\n%s", p.Passed(),
		len(p.Stories), border.Around(b.String()))
}

// storyLine is a story in one line: id, state, title.
func storyLine(p plan.Plan, id string) string {
	text := lineOf(id, 40) + " (" + p.Standing(id) + ")"
	if st := p.Story(id); st != nil && st.Title != "" {
		text += ": " + lineOf(st.Title, 100)
	}
	return text
}

// around is how many stories on each side of one are named.
const around = 5

// neighbours lists the other stories around one, and counts the rest.
func neighbours(p plan.Plan, id string) string {
	at := max(0, slices.IndexFunc(p.Stories, func(st plan.Story) bool { return st.ID == id }))
	from, to := max(0, at-around), min(len(p.Stories), at+around+1)
	var out []string
	if from > 0 {
		out = append(out, fmt.Sprintf("- %d more before these", from))
	}
	for i := from; i < to; i++ {
		if i != at {
			out = append(out, "- "+storyLine(p, p.Stories[i].ID))
		}
	}
	if rest := len(p.Stories) - to; rest > 0 {
		out = append(out, fmt.Sprintf("- %d more after these", rest))
	}
	return strings.Join(out, "\n")
}

// othersApproved reports whether an approval of this story would finish the plan.
func othersApproved(p plan.Plan, id string) bool {
	return !slices.ContainsFunc(p.Stories, func(st plan.Story) bool {
		return st.ID != id && (!st.Passes || st.ReviewStatus != plan.Approved)
	})
}

// changeOf says where the work on a story is: what changed since the commit before its first iteration.
func changeOf(s loop.State, id, shown string) string {
	from, known := s.Start.Base, false
	for _, it := range s.Iterations {
		if known = it.Story == id; known {
			break
		}
		if it.Commit != nil && it.Commit.SHA != "" {
			from = it.Commit.SHA
		}
	}
	if !known {
		from = ""
	}
	return section("change.md", map[string]any{"From": from, "Story": shown, "Head": s.Head()})
}

// earlierReview is what the newest review of a story asked for; empty when none did.
func earlierReview(s loop.State, id string, border safetext.Border) string {
	for i := len(s.Iterations) - 1; i >= 0; i-- {
		it := s.Iterations[i]
		if it.Story != id || it.Commit == nil || it.Commit.Plan == nil || it.Commit.Plan.Opinion == nil {
			continue
		}
		if o := it.Commit.Plan.Opinion; !o.Approve && strings.TrimSpace(o.Feedback) != "" {
			return section("earlier.md", map[string]any{"N": it.N, "Feedback": border.Around(middle(strings.TrimSpace(o.Feedback), maxEarlier))})
		}
		break
	}
	return ""
}

// takenBack reports what the last iteration did to the plan that did not count.
func takenBack(s loop.State, border safetext.Border) string {
	last := s.Last()
	if last == nil || last.Commit == nil || last.Commit.Plan == nil {
		return ""
	}
	a := last.Commit.Plan
	var items []string
	for _, v := range a.Violations {
		items = append(items, line(v.Text))
	}
	if len(a.Reverted) > 0 {
		var files []string
		for _, name := range a.Reverted {
			files = append(files, lineOf(name, 60))
		}
		items = append(items, "put back as before: "+safetext.AndMore(files, 5))
	}
	if len(items) == 0 {
		return ""
	}
	return section("taken-back.md", map[string]any{"N": last.N,
		"What": asData(border, "what that was", list(items, maxTaken, "- ", "of the same"))})
}

// handIn says how an iteration ends that worked on a story.
func (p parts) handIn(signal string) string {
	return section("hand-in.md", map[string]any{"PlanFile": p.PlanFile, "Dir": p.Dir, "StoryID": p.StoryID,
		"SkipReview": p.SkipReview, "Fix": p.Mode == string(loop.ReviewFix), "Signal": signal})
}

// decide says how a review ends. last: with an approval, the whole plan is approved.
func (p parts) decide(signal string, last bool) string {
	return section("decide.md", map[string]any{"PlanFile": p.PlanFile, "Dir": p.Dir, "StoryID": p.StoryID,
		"ReviewNumber": p.ReviewNumber, "ReviewCap": p.ReviewCap, "FailAtCap": p.failAtCap, "AtCap": plan.AtCap,
		"Signal": signal, "Last": last})
}
