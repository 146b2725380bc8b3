package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/app/plan"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

// planWish is what a plan is derived from.
type planWish struct {
	name    string // "issue #42", "ralph/prd.md"
	text    string // what is wanted, sanitised when others wrote it
	foreign bool   // others may have written it: it is data for the agent, and brings no commands
	prd     string // the PRD that is there already and stays: only its stories are derived (S4-104, mode 2); empty: it is written, too
	// kept is what is set already: project, branch and description, as far as they are not empty.
	kept task.Plan
}

// planDeriver asks an agent for plans.
type planDeriver struct {
	ask   func(ctx context.Context, asked string) (loop.Turn, error)
	known []string // the commands that the settings name, or that the repository shows
	// answer asks the person at the terminal; more is false when there is nothing more to be said. nil: nobody is there.
	answer func(ctx context.Context, questions []string) (said []exchange, more bool, err error)
	redact func(string) string
	log    func(format string, args ...any)
}

// exchange is a question of the agent's and what the person said.
type exchange struct{ question, answer string }

// derivedPlan is what came of a wish.
type derivedPlan struct {
	plan    task.Plan
	prd     string   // empty when it was there already
	dropped []string // commands that an issue may not bring
	tries   int
}

// underivedError is an agent that gave no plan.
type underivedError struct {
	problems []string
	last     string // its last answer, verbatim
}

// Error has a line for each problem.
func (e *underivedError) Error() string {
	return fmt.Sprintf("after %d tries the agent's answer is no plan:\n%s", planTries, strings.Join(e.problems, "\n"))
}

// planTries is how often an agent is asked for a plan that is one.
const planTries = 3

// mostQuestions bounds how often the agent asks back; whoever answers has an end of their own.
const mostQuestions = 100

// derivePlan lets the agent turn a wish into a PRD and its stories. What is wrong with an answer is told to the agent, twice at most. The
// error is an *underivedError when it gave no plan.
func derivePlan(ctx context.Context, d planDeriver, w planWish) (derivedPlan, error) {
	asked := planQuestion{deriver: d, wish: w, open: d.answer != nil}
	for tries, rounds := 1, 0; ; {
		turn, err := d.ask(ctx, asked.text())
		if err != nil {
			return derivedPlan{}, err
		}
		if err := failedTurn(turn); err != nil {
			return derivedPlan{}, err
		}
		answer, problems := readPlanAnswer(turn, d.redact)
		if len(problems) == 0 && answer.asks() && asked.open {
			said, more, err := d.answer(ctx, answer.Questions)
			if err != nil {
				return derivedPlan{}, err
			}
			asked.said = append(asked.said, said...)
			rounds++
			asked.open = more && rounds < mostQuestions
			continue
		}
		var out derivedPlan
		if len(problems) == 0 {
			out, problems = d.settle(ctx, answer, w)
		}
		if len(problems) == 0 {
			out.tries = tries
			return out, nil
		}
		if tries++; tries > planTries {
			return derivedPlan{}, &underivedError{problems, answer.raw}
		}
		d.log("the agent's answer is no plan yet (%s); asking again", counted(len(problems), "problem", "problems"))
		asked.last, asked.problems = answer.raw, problems
	}
}

// failedTurn is what keeps a turn from being an answer.
func failedTurn(t loop.Turn) error {
	switch {
	case t.Class == loop.OK:
		return nil
	case t.Class.Fatal():
		return invalid.Errorf("the agent cannot be asked for a plan: %s", t.Reason)
	case !t.ResetAt.IsZero():
		return fmt.Errorf("the agent gave no plan (%s): %s; ask again after %s", t.Class, t.Reason, t.ResetAt.UTC().Format("2006-01-02 15:04 UTC"))
	}
	return fmt.Errorf("the agent gave no plan (%s): %s", t.Class, t.Reason)
}

// settle makes a plan of an answer, or says what is wrong with it.
func (d planDeriver) settle(ctx context.Context, a planAnswer, w planWish) (derivedPlan, []string) {
	if a.asks() {
		return derivedPlan{}, []string{"nobody can answer questions: decide what is open yourself, and give the plan"}
	}
	var problems []string
	out := derivedPlan{}
	if w.prd == "" {
		if out.prd = a.PRD; w.foreign {
			out.prd = event.Sanitise(out.prd)
		}
		if plan.Unwritten(out.prd) {
			problems = append(problems, "prd is empty: write the requirements, too")
		}
	}
	of, _, err := task.ReadPlan("tasks", a.Tasks)
	if err != nil {
		return out, append(problems, planProblems(err)...)
	}
	if out.plan, err = d.fitting(ctx, of, w); err != nil {
		return out, append(problems, err.Error())
	}
	for _, s := range of.Stories {
		if s.Passes || s.ReviewStatus != task.Unreviewed || s.ReviewCount != 0 || s.ReviewFeedback != "" {
			problems = append(problems, fmt.Sprintf("story %s has begun already: a new story has passes false, reviewStatus null, reviewCount 0 and reviewFeedback \"\"", s.ID))
		}
		if strings.TrimSpace(s.Title) == "" {
			problems = append(problems, fmt.Sprintf("story %s has no title", s.ID))
		}
	}
	if len(of.Stories) == 0 {
		problems = append(problems, "userStories is empty: derive the stories")
	}
	if len(problems) > 0 {
		return out, problems
	}
	out.plan.VerifyCommands, out.dropped = d.allowed(of.VerifyCommands, w.foreign)
	for _, command := range out.dropped {
		d.log("warning: the command %q is left out: %s may not say what is run; name it under guardrails in .ralph/settings.json if it should be", command, w.name)
	}
	return out, nil
}

// planProblems are what is wrong with a plan, one sentence each.
func planProblems(err error) []string {
	var wrong *task.PlanError
	if errors.As(err, &wrong) {
		return wrong.Problems
	}
	return []string{err.Error()}
}

// fitting is the plan with what was set before, on a branch of ralph's. Texts that grew out of an issue are rid of what nobody can see.
func (d planDeriver) fitting(ctx context.Context, of task.Plan, w planWish) (task.Plan, error) {
	if w.foreign {
		of = visiblePlan(of)
	}
	for _, f := range []struct {
		kept string
		into *string
	}{{w.kept.Project, &of.Project}, {w.kept.Description, &of.Description}} {
		if f.kept != "" {
			*f.into = f.kept
		}
	}
	if w.kept.BranchName != "" && w.kept.BranchName != plan.TemplateBranch {
		of.BranchName = w.kept.BranchName
		return of, nil
	}
	name := strings.TrimPrefix(of.BranchName, "ralph/")
	if of.BranchName == plan.TemplateBranch || name == "" {
		name = of.Description
	}
	if !strings.HasPrefix(of.BranchName, "ralph/") || of.BranchName == plan.TemplateBranch || git.CheckBranchName(ctx, of.BranchName) != nil {
		of.BranchName = "ralph/" + task.Slug(name) // never anybody's own branch
	}
	return of, git.CheckBranchName(ctx, of.BranchName)
}

func visiblePlan(of task.Plan) task.Plan {
	of.Project, of.Description = event.Visible(of.Project), event.Visible(of.Description)
	of.Stories = slices.Clone(of.Stories)
	for i := range of.Stories {
		s := &of.Stories[i]
		s.Title, s.Description, s.Notes = event.Visible(s.Title), event.Visible(s.Description), event.Visible(s.Notes)
		s.AcceptanceCriteria = slices.Clone(s.AcceptanceCriteria)
		for j, text := range s.AcceptanceCriteria {
			s.AcceptanceCriteria[j] = event.Visible(text)
		}
	}
	return of
}

// allowed parts the commands of a plan: those that may be run, and of somebody else's wish those that nothing but it names.
func (d planDeriver) allowed(commands []string, foreign bool) (kept, dropped []string) {
	kept = []string{}
	for _, command := range commands {
		command = strings.TrimSpace(command)
		switch {
		case slices.Contains(kept, command):
		case foreign && !slices.Contains(d.known, command):
			dropped = append(dropped, command)
		default:
			kept = append(kept, command)
		}
	}
	return kept, dropped
}
