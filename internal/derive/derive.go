// Package derive lets an agent write a plan of what someone wants, and accepts nothing but a plan.
package derive

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Deriver asks an agent for plans.
type Deriver struct {
	Ask   func(ctx context.Context, asked string) (loop.Turn, error)
	Known []string // the commands that the settings name, or that the repository shows
	// answer asks the person at the terminal; more is false when there is nothing more to be said. nil: no one is
	// there.
	answer func(ctx context.Context, questions []string) (said []exchange, more bool, err error)
	Redact func(string) string
	Log    func(format string, args ...any)
}

// Result is what resulted from a request.
type Result struct {
	Plan    plan.Plan
	PRD     string   // empty when it was there already
	Dropped []string // commands that an issue may not bring
	Tries   int
}

// FailedError is an agent that gave no plan.
type FailedError struct {
	Problems []string
	last     string // its last answer, verbatim
}

// Error has a line for each problem.
func (e *FailedError) Error() string {
	return fmt.Sprintf("after %d tries the agent's answer is no plan:\n%s", Tries, strings.Join(e.Problems, "\n"))
}

// Tries is how often an agent can try to give a valid plan.
const Tries = 3

// Ask lets the agent turn a request into a PRD and its stories. The agent gets the problems of its answer, up to two
// times. The error is a *FailedError when it gave no plan.
func Ask(ctx context.Context, d Deriver, w Request) (Result, error) {
	asked := planQuestion{known: d.Known, request: w, open: d.answer != nil}
	for tries := 1; ; {
		turn, err := d.Ask(ctx, asked.text())
		if err != nil {
			return Result{}, err
		}
		if err := failedTurn(turn); err != nil {
			return Result{}, err
		}
		answer, problems := readPlanAnswer(turn, d.Redact)
		if len(problems) == 0 && answer.asks() && asked.open {
			said, more, err := d.answer(ctx, answer.Questions)
			if err != nil {
				return Result{}, err
			}
			asked.said, asked.open = append(asked.said, said...), more
			continue
		}
		var out Result
		if len(problems) == 0 {
			out, problems = d.settle(ctx, answer, w)
		}
		if len(problems) == 0 {
			out.Tries = tries
			return out, nil
		}
		if tries++; tries > Tries {
			return Result{}, &FailedError{problems, answer.raw}
		}
		d.Log(
			"the agent's answer is no plan yet (%s); asking again",
			safetext.Counted(len(problems), "problem", "problems"),
		)
		asked.last, asked.problems = answer.raw, problems
	}
}

// failedTurn is what keeps a turn from being an answer.
func failedTurn(t loop.Turn) error {
	switch {
	case t.Class == loop.OK:
		return nil
	case t.Class.Fatal():
		return invalid.Errorf("the agent cannot write a plan: %s", t.Reason)
	case !t.ResetAt.IsZero():
		return fmt.Errorf(
			"the agent gave no plan (%s): %s; ask again after %s", t.Class, t.Reason,
			t.ResetAt.UTC().Format("2006-01-02 15:04 UTC"),
		)
	}
	return fmt.Errorf("the agent gave no plan (%s): %s", t.Class, t.Reason)
}

// settle makes a plan of an answer, or says what is wrong with it.
func (d Deriver) settle(ctx context.Context, a planAnswer, w Request) (Result, []string) {
	if a.asks() {
		return Result{}, []string{"no one can answer questions: decide open points yourself, and give the plan"}
	}
	var problems []string
	out := Result{}
	if w.PRD == "" {
		if out.PRD = a.PRD; w.foreign {
			out.PRD = safetext.Sanitise(out.PRD)
		}
		if plan.Unwritten(out.PRD) {
			problems = append(problems, "prd is empty: write the requirements, too")
		}
	}
	of, _, err := plan.Read("tasks", a.Tasks)
	if err != nil {
		return out, append(problems, planProblems(err)...)
	}
	if out.Plan, err = d.fitting(ctx, of, w); err != nil {
		return out, append(problems, err.Error())
	}
	for _, s := range of.Stories {
		if s.Passes || s.ReviewStatus != plan.Unreviewed || s.ReviewCount != 0 || s.ReviewFeedback != "" {
			problems = append(
				problems,
				fmt.Sprintf(
					"story %s has begun already: a new story has passes false, reviewStatus null, reviewCount 0 and reviewFeedback "+
						"\"\"",
					s.ID,
				),
			)
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
	out.Plan.VerifyCommands, out.Dropped = d.allowed(of.VerifyCommands, w.foreign)
	for _, command := range out.Dropped {
		d.Log(
			"warning: the command %q is left out: %s may not say what is run; name it under guardrails in "+
				".ralph/settings.json if it should be",
			command, w.name,
		)
	}
	return out, nil
}

// planProblems are what is wrong with a plan, one sentence each.
func planProblems(err error) []string {
	var wrong *plan.Error
	if errors.As(err, &wrong) {
		return wrong.Problems
	}
	return []string{err.Error()}
}

// fitting is the plan with what was set before, on a branch of ralph's. Texts that grew out of an issue are rid of what
// no one can see.
func (d Deriver) fitting(ctx context.Context, of plan.Plan, w Request) (plan.Plan, error) {
	if w.foreign {
		of = Visible(of)
	}
	of.Project, of.Description = cmp.Or(w.Kept.Project, of.Project), cmp.Or(w.Kept.Description, of.Description)
	if w.Kept.BranchName != "" && w.Kept.BranchName != plan.TemplateBranch {
		of.BranchName = w.Kept.BranchName
		return of, nil
	}
	name := strings.TrimPrefix(of.BranchName, "ralph/")
	if of.BranchName == plan.TemplateBranch || name == "" {
		name = of.Description
	}
	if !strings.HasPrefix(of.BranchName, "ralph/") || of.BranchName == plan.TemplateBranch ||
		git.CheckBranchName(ctx, of.BranchName) != nil {
		of.BranchName = "ralph/" + safetext.Slug(name, 40) // never anyone's own branch
	}
	return of, git.CheckBranchName(ctx, of.BranchName)
}

func Visible(of plan.Plan) plan.Plan {
	of.Project, of.Description = safetext.Visible(of.Project), safetext.Visible(of.Description)
	of.Stories = slices.Clone(of.Stories)
	for i := range of.Stories {
		s := &of.Stories[i]
		s.Title, s.Description, s.Notes = safetext.Visible(s.Title), safetext.Visible(s.Description),
			safetext.Visible(s.Notes)
		s.AcceptanceCriteria = slices.Clone(s.AcceptanceCriteria)
		for j, text := range s.AcceptanceCriteria {
			s.AcceptanceCriteria[j] = safetext.Visible(text)
		}
	}
	return of
}

// allowed parts the commands of a plan: those that may be run, and of someone else's request those that nothing but it
// names.
func (d Deriver) allowed(commands []string, foreign bool) (kept, dropped []string) {
	kept = []string{}
	for _, command := range commands {
		command = strings.TrimSpace(command)
		switch {
		case slices.Contains(kept, command):
		case foreign && !slices.Contains(d.Known, command):
			dropped = append(dropped, command)
		default:
			kept = append(kept, command)
		}
	}
	return kept, dropped
}

// planAnswer is an agent's answer to the request for a plan.
type planAnswer struct {
	Questions []string        `json:"questions"`
	PRD       string          `json:"prd"`
	Tasks     json.RawMessage `json:"tasks"`

	raw string // as it said it
}

// asks reports whether it wants to know something, instead of giving a plan.
func (a planAnswer) asks() bool { return len(a.Questions) > 0 }

// readPlanAnswer reads the answer of a turn: its form, or the JSON object with which its words end. redact comes first:
// what is derived is committed.
func readPlanAnswer(t loop.Turn, redact func(string) string) (planAnswer, []string) {
	said := redact(cmp.Or(t.Structured, t.Text))
	a := planAnswer{raw: said}
	object := cmp.Or(safetext.LastObject(said, "tasks"), safetext.LastObject(said, "questions"))
	if object == "" {
		problem := "the answer holds no JSON object with the key tasks"
		if len(t.Text) >= loop.TextBytes-4 {
			problem += fmt.Sprintf(
				"; of an answer with other words only the last %d bytes are read: answer with nothing but the object",
				loop.TextBytes,
			)
		}
		return a, []string{problem}
	}
	if err := json.Unmarshal([]byte(object), &a); err != nil {
		return a, []string{fmt.Sprintf("the answer's JSON object cannot be read: %v", err)}
	}
	a.Questions = slices.DeleteFunc(safetext.Map(a.Questions, strings.TrimSpace), func(q string) bool { return q == "" })
	a.PRD = strings.TrimSpace(a.PRD) + "\n"
	return a, nil
}

// Schema is the JSON schema of an answer. OpenAI takes none in which a property has no type or may be left out.
const Schema = `{"type":"object","additionalProperties":false,"required":["questions","prd","tasks"],"properties":{` +
	`"questions":{"type":"array","items":{"type":"string"}},"prd":{"type":"string"},"tasks":{"anyOf":[{"type":"null"},` +
	`{"type":"object","additionalProperties":false,"required":["project","branchName","description","verifyCommands","userStories"],"properties":{` +
	`"project":{"type":"string"},"branchName":{"type":"string"},"description":{"type":"string"},` +
	`"verifyCommands":{"type":"array","items":{"type":"string"}},"userStories":{"type":"array","items":` +
	`{"type":"object","additionalProperties":false,"required":["id","title","description","acceptanceCriteria","priority","passes","reviewStatus",` +
	`"reviewCount","reviewFeedback","notes","dependsOn"],"properties":{"id":{"type":"string"},"title":{"type":"string"},"description":{"type":"string"},` +
	`"acceptanceCriteria":{"type":"array","items":{"type":"string"}},"priority":{"type":"integer"},"passes":{"type":"boolean"},` +
	`"reviewStatus":{"type":"null"},"reviewCount":{"type":"integer"},"reviewFeedback":{"type":"string"},"notes":{"type":"string"},` +
	`"dependsOn":{"type":"array","items":{"type":"string"}}}}}}}]}}}`
