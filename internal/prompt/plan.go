package prompt

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// PlanFiles are what a run of a plan is told from.
type PlanFiles struct {
	Dir    string // where the plan's files are, from the top of the worktree; empty: as the run's first record says
	Prompt string // the project's own prompt, as it was when the run began; empty: it has none
}

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
	p := parts{
		Role: string(task.Coder), Iteration: step.Iteration, MaxIterations: s.MaxIterations, Title: border.Around(title(s)),
		Hints: asides(s, fence(s.Start.Run)), Criteria: storyCriteria(s),
		Notes: notes(s, loop.Step{Iteration: step.Iteration}, border), Mode: string(modeOf(step)), Dir: w.planDir(s),
		PlanFile: w.planFile(s), StoryID: idOf(story.ID),
		ReviewNumber: story.ReviewCount + 1, ReviewCap: rules.ReviewCap, SkipReview: rules.SkipReview,
		failAtCap: rules.FailAtCap,
		Stories:   otherStories(*s.Plan, *story, border), TakenBack: takenBack(s, border),
	}
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

// attempts is what was tried for a story since it was taken up. A reviewer is told of reviews that came to nothing, and not
// what those think who did the work.
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

// storySections are what a prompt for a story must not lack.
func storySections(p parts) []piece {
	list := []piece{{"", p.header()}, {"## The Harness Has Chosen: " + p.StoryID + ", " + p.Mode, p.Story},
		{"", p.Stories}, {"## What Was Asked", p.Task}, {"", p.Hints}}
	if p.Mode == string(loop.Review) {
		list = append(list, piece{"## The Change", p.Range}, piece{"", p.Earlier}, piece{"", p.Noticed})
	} else {
		list = append(list, piece{"## What Must Hold", p.Criteria})
	}
	return append(list, piece{"## Previous Attempts", p.Attempts}, piece{"", p.TakenBack}, piece{"", p.Shift},
		piece{"", p.Context}, piece{"", p.Notes},
		piece{"", p.Completion}, piece{"## How to End", p.Exit}, piece{"## Your Answer", p.Answer})
}

// header says how far the run is.
func (p parts) header() string {
	if p.MaxIterations == 0 {
		return fmt.Sprintf("Ralph Loop iteration %d", p.Iteration)
	}
	return fmt.Sprintf("Ralph Loop iteration %d of %d", p.Iteration, p.MaxIterations)
}

// modeOf is a step's mode; none is to implement.
func modeOf(step loop.Step) loop.Mode {
	if step.Mode == "" {
		return loop.Implement
	}
	return step.Mode
}

func (w Writer) planDir(s loop.State) string {
	switch {
	case w.Plan.Dir != "":
		return w.Plan.Dir
	case s.Start.Plan != nil && s.Start.Plan.Dir != "":
		return s.Start.Plan.Dir
	}
	return "ralph"
}

// planFile is the file that the stories are in: a tasks.json, or a prd.json of the common layout.
func (w Writer) planFile(s loop.State) string {
	if s.Start.Plan != nil && s.Start.Plan.File != "" {
		return s.Start.Plan.File
	}
	return w.planDir(s) + "/tasks.json"
}

// storyFence names the borders in a prompt for a story. Agents wrote parts of the plan and know the run's name, but not
// the commit that their files are in, since a file cannot hold the hash of itself.
func storyFence(s loop.State) safetext.Border { return judgeFence(s.Start.Run, s.Head()) }

var notID = lazy(`[^\p{L}\p{N}._-]+`)

// idOf is a story's id where no border is around it: it can say nothing there, nor end anything.
func idOf(id string) string { return clip(notID.ReplaceAllString(lineOf(id, 80), "-"), 80) }

// storyCriteria is the check list of a story.
func storyCriteria(s loop.State) string {
	items := []string{"Every acceptance criterion of the story is met."}
	for _, c := range s.Start.Checks {
		items = append(items, "`"+line(c)+"` passes.")
	}
	return list(items, maxCriteria, "- [ ] ", "checks that are run on your work pass.")
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

// For writes the prompt of the next iteration.
func (w Writer) For(s loop.State, step loop.Step) (string, error) {
	if s.Plan != nil {
		return w.forStory(s, step)
	}
	role := step.Role
	if role == "" {
		role = task.Coder
	}
	border := fence(s.Start.Run)
	p := parts{
		Role: string(role), Iteration: step.Iteration, MaxIterations: s.MaxIterations,
		Title: border.Around(title(s)), Task: w.taskText(s, border, forWriters), Hints: asides(s, border),
		Criteria: criteria(s), Notes: notes(s, step, border),
		Completion: completion(s, role, step.Iteration, w.section(s, role), border), Exit: w.exit(s, role),
	}
	p.Shift, p.Context = w.escalated(s, step.Tier, border, maxContext)
	room := maxAdded - maxFrame - len(p.Hints) - len(p.Criteria) - len(p.Notes) - len(p.Shift) - len(p.Context)
	attempts, elsewhere := attempts(s, room, border)
	p.Attempts = attempts
	text, err := w.Templates.render(writerTemplate(role), p)
	if err != nil {
		return "", err
	}
	text = combine(text, printed(border, elsewhere))
	return w.counted(p.complete(text, writerSections(p)), s, step), nil
}
