package prompt

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

// parts are the fields of a template; docs/internals/prompts.md describes each. Sections that exist only sometimes bring
// their headings. Text of others is between the harness's own borders already, so no template can lose them.
type parts struct {
	common
	writing
	judging
	ofStory
}

// common are the fields of every template.
type common struct {
	Role               string // "coder", "tester", "reviewer", "qa"
	Iteration          int
	MaxIterations      int // 0: no limit
	Title, Task, Hints string
	Completion         string // the state of the run and what done means
}

// writing are those of roles that write.
type writing struct{ Criteria, Attempts, Shift, Context, Notes, Exit string }

// judging are those of roles that judge.
type judging struct{ Tree, Change, Noticed, Answer string }

// ofStory are those of an iteration for a story of a plan.
type ofStory struct {
	Mode, Dir, StoryID        string // "implement", "review", "review-fix"; "ralph"; "US-001"
	PlanFile                  string // "ralph/tasks.json"
	failAtCap                 bool
	ReviewNumber, ReviewCap   int // of the story's next or present review, 1-based
	SkipReview                bool
	Story, Stories, TakenBack string
	Range, Earlier            string // of a review
}

// piece is a section that a prompt must not lack, with the heading it gets where the template left it out.
type piece struct{ heading, text string }

func writerSections(p parts) []piece {
	return []piece{{"## Your Task", p.Task}, {"", p.Hints}, {"## Previous Attempts", p.Attempts}, {"", p.Shift},
		{"", p.Context}, {"", p.Completion}, {"## Exit Signals", p.Exit}}
}

func judgeSections(p parts) []piece {
	return []piece{{"## The Task", p.Task}, {"", p.Hints}, {"## The Change", p.Change}, {"", p.Noticed},
		{"", p.Completion}, {"## Your Answer", p.Answer}}
}

// complete adds at the end what the text lacks: a run whose prompt does not say how to end never ends.
func (p parts) complete(text string, sections []piece) string {
	for _, s := range sections {
		if s.text == "" || strings.Contains(text, s.text) {
			continue
		}
		text = strings.TrimRight(text, "\n") + "\n\n"
		if s.heading != "" {
			text += s.heading + "\n\n"
		}
		text += s.text + "\n"
	}
	return text
}

// header says how far the run is.
func (p parts) header() string {
	if p.MaxIterations == 0 {
		return fmt.Sprintf("Ralph Loop iteration %d", p.Iteration)
	}
	return fmt.Sprintf("Ralph Loop iteration %d of %d", p.Iteration, p.MaxIterations)
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

// modeOf is a step's mode; none is to implement.
func modeOf(step loop.Step) loop.Mode {
	if step.Mode == "" {
		return loop.Implement
	}
	return step.Mode
}
