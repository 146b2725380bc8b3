// Package planrun is the run of a plan: the guard of its file, who takes which turn, what is on record of its reviews;
// and what a person does with a plan besides running it.
package planrun

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Run is the plan that a run works on.
type Run struct {
	Source
	begun   plan.Plan // the plan as the run begins with it
	record  []plan.RecordedReview
	foreign bool // of the common layout: its stories get the fields of a review
	guard   *guard
	rules   plan.Rules
}

// Use makes a run's work and rules those of a plan: its verify commands are checks, its own rules those of the
// settings. It says what is wrong with the plan before anything is spent. The detected checks are among the rules by
// then.
func Use(
	src Source, p engine.Place, rules engine.Rules, host string, out engine.Output,
) (engine.Work, engine.Rules, error) {
	plan, foreign, err := readPlan(src.File, src.Content)
	if err != nil {
		return engine.Work{}, rules, invalid.Mark(err)
	}
	run := &Run{Source: src, begun: plan, foreign: foreign, rules: Rules(rules.Settings), guard: &guard{
		Committer: engine.Committer{Tree: p.Tree, Host: host}, dir: src.Dir, file: src.File, log: out.Log, redact: out.Redact,
		active: &active{dir: p.Workspace.Dir(), clock: out.Clock},
	}}
	if err := run.sound(); err != nil {
		return engine.Work{}, rules, err
	}
	run.bind()
	run.choosePrompt()
	if out.Redact(string(src.Content)) != string(src.Content) {
		return engine.Work{}, rules, invalid.Errorf(
			"%s holds a secret of ralph's environment; take it out, and out of the repository's history", src.File,
		)
	}
	if src.Commands {
		rules = rules.VerifiedWith(plan.VerifyCommands)
	}
	if len(rules.Settings.Completion) > 0 || rules.Settings.Pipeline != nil {
		out.Log(
			"the settings completion and pipeline are not used here: a plan's stories say when they are done, and the plan " +
				"who acts",
		)
	}
	work := engine.WorkOn(p.Tree, host)
	work.Plan, work.Commits = run, run.guard
	work.Goal = engine.Goal{Most: rules.Settings.Iterations(config.PlanIterations)}
	return work, rules, rules.MustJudge(work.Goal)
}

// sound says what is wrong with a plan that was begun by other rules, or by hand.
func (p *Run) sound() error {
	if broken := p.begun.Invariants(p.rules); len(broken) > 0 {
		return invalid.Errorf("%s: %s", p.File, violationLines(broken))
	}
	return nil
}

// budget says how many iterations the plan will take.
func (p *Run) budget(most int) string {
	likely, worst := p.begun.Estimate(p.rules)
	left := len(p.begun.Stories) - p.begun.Passed()
	line := fmt.Sprintf(
		"plan: %s left of %d, about %d iterations (at most %d)", safetext.Counted(left, "story", "stories"),
		len(p.begun.Stories), likely, worst,
	)
	if most > 0 {
		line += fmt.Sprintf("; the run may take %d", most)
		if most < likely {
			line += ", which will not be enough: raise it with --max-iterations, or run the plan again afterwards"
		}
	}
	return line
}

func violationLines(all []plan.Violation) string {
	return strings.Join(safetext.Map(all, func(v plan.Violation) string { return v.Text }), "\n")
}

// Recorded implements engine.Plan.
func (p *Run) Recorded(tree string) *loop.Planned {
	return &loop.Planned{
		Dir: p.Dir, File: p.File, Plan: p.begun, Tree: tree, SkipReview: p.rules.SkipReview,
		ReviewCap: p.rules.ReviewCap, FailAtCap: p.rules.FailAtCap, Record: p.record,
	}
}

// Path implements engine.Plan.
func (p *Run) Path() string { return p.File }

// Words implements engine.Plan.
func (p *Run) Words() prompt.PlanFiles { return prompt.PlanFiles{Dir: p.Dir, Prompt: p.Prompt} }

// Guard implements engine.Plan.
func (p *Run) Guard() loop.PlanFile { return p.guard }

// Close implements engine.Plan: it removes the file by which hooks know that a plan is run.
func (p *Run) Close() { p.guard.active.remove() }

// Begin lays the plan and records how the run begins with it, or continues. A turn that was cut off left its edits in
// the tree: they are checked as an iteration is, so they are ignored here.
func (p *Run) Begin(ctx context.Context, l *engine.Journal, r loop.Record) error {
	s := l.State()
	if r.Resume != nil && !s.Settled() {
		_, err := l.Append(ctx, r)
		return err
	}
	laid, err := p.WriteFiles(ctx, l.Tree)
	if err != nil {
		return err
	}
	switch now := p.Recorded(laid.Tree); {
	case r.Start != nil:
		r.Start.Plan = now
	case s.PlanDue: // what the file says was taken back, and the process died before it could write so
		if laid, err = p.guard.Correct(ctx, s); err != nil {
			return err
		}
	case s.Plan == nil || s.Rules() != p.rules || !bytes.Equal(s.Plan.Marshal(), p.begun.Marshal()):
		// edited since, by the user
		r.Resume.Plan = now
	}
	if _, err := l.Append(ctx, r); err != nil {
		return err
	}
	s, err = l.Append(ctx, loop.Record{Type: loop.Corrected, At: l.Clock(), Commit: &laid})
	if err == nil {
		p.guard.log("%s", p.budget(s.MaxIterations))
	}
	return err
}

// WriteFiles puts the plan's files into the run's tree, in commits of the harness's own before the first turn: what the user
// has not committed, what the bot brings, and the review fields that a foreign plan has not. The plan counts as that
// commit has it.
func (p *Run) WriteFiles(ctx context.Context, tree *git.Tree) (loop.Commit, error) {
	c := tree.Newest()
	var err error
	if len(p.Write) > 0 {
		as := git.Correction{Since: c.SHA, Write: p.Write, Message: "ralph: the plan as it is run\n"}
		if c, err = tree.Correct(ctx, as); err != nil {
			return c, fmt.Errorf("committing the plan: %w", err)
		}
	}
	src, err := ReadPlanAt(ctx, tree, c.SHA, p.File)
	if _, missing := errors.AsType[*noPlanError](err); missing {
		return c, invalid.Errorf("%s cannot be committed, since git ignores it: take it out of .gitignore", p.File)
	}
	if err != nil {
		return c, err
	}
	if p.begun, p.foreign, err = readPlan(src.File, src.Content); err != nil {
		return c, invalid.Mark(err)
	}
	if err := p.sound(); err != nil {
		return c, err
	}
	p.PRD = src.PRD
	said := p.begun.Marshal()
	p.tell(p.bind())
	for i := range p.record { // work on a branch that was set back, or never merged, is not in this one
		if from := p.record[i].From; from != "" && !tree.Has(ctx, from, c.SHA) {
			p.record[i].From = ""
		}
	}
	message := "ralph: give the stories of " + path.Base(p.File) + " the fields of a review\n"
	switch now := p.begun.Marshal(); {
	case !bytes.Equal(said, now):
		message = "ralph: the reviews in " + path.Base(p.File) + " as they are on record\n"
	case !p.foreign || bytes.Equal(src.Content, now):
		return c, nil
	}
	c, err = tree.Correct(
		ctx, git.Correction{Since: c.SHA, Write: map[string][]byte{p.File: p.begun.Marshal()}, Message: message},
	)
	if err != nil {
		return c, fmt.Errorf("committing the plan: %w", err)
	}
	return c, nil
}

// bind makes the plan that the run begins with say no more of reviews than what is on record. It returns the approvals
// that are not.
func (p *Run) bind() []string {
	if p.Reviews == nil {
		return nil
	}
	var claims []string
	p.begun, p.record, claims = p.begun.Bound(p.rules, p.Reviews...)
	return claims
}

// tell logs before the first turn which approvals have no record, what the run does about them, and about what that costs.
func (p *Run) tell(claims []string) {
	n := len(claims)
	if n == 0 {
		return
	}
	p.guard.log("plan: %s %s approved in the file, but no record has an approval of %s with these acceptance criteria",
		safetext.FirstN(claims, 10), safetext.IsAre(n), safetext.ItThem(n))
	doing, cost := "reviewed now", ""
	if p.rules.SkipReview {
		doing = "done again"
	} else if p.ReviewCost > 0 {
		cost = fmt.Sprintf(" and $%.2f, by what a review of this plan has cost so far", p.ReviewCost*float64(n))
	}
	p.guard.log("plan: %s %s: about %s%s; to approve %s yourself: ralph plan approve %s", safetext.Counted(n, "story is", "stories are"),
		doing, safetext.Counted(n, "turn", "turns"), cost, safetext.ItThem(n), strings.Join(claims, " "))
}

// choosePrompt settles whether the prompt.md beside the plan goes into prompts, and logs it. Beside a prd.json it may
// be of another tool, whose rules are not those of a run: it is taken when it names a variable of ralph's.
func (p *Run) choosePrompt() {
	name := path.Join(p.Dir, promptMD)
	switch {
	case strings.TrimSpace(p.Prompt) == "":
	case path.Base(p.File) == ForeignPlan && !prompt.NamesVariable(p.Prompt):
		p.Prompt = ""
		p.guard.log(
			"plan: %s is not used: it names none of ralph's variables, so it seems to be for another tool; to have it used, "+
				"write $RALPH_STORY where it names the story",
			name,
		)
	default:
		p.guard.log("plan: prompts contain %s, and then ralph's sections", name)
	}
}

// turns is the agent of a plan: the coder implements and fixes; in a review it is the reviewer, who can write the
// plan's file and gives a verdict in the form of every reviewer.
type turns struct {
	engine.Coder
	reviewer engine.Coder
	guard    *guard
}

// Turn implements loop.Agent.
func (p turns) Turn(ctx context.Context, asked string) (loop.Turn, error) {
	s := p.State()
	if err := p.guard.active.write(s); err != nil {
		return loop.Turn{}, err
	}
	if s.Turning.Mode == loop.Review {
		return p.review(ctx, asked, s.HeadTree(), loop.ForReaders(s.Open(s.WorkOn(s.Turning.Story).Verdicts)))
	}
	return p.Coder.Turn(ctx, asked)
}

// review takes the reviewer's turn. If the verdict cannot be read, the reviewer gets another turn within the iteration:
// what it wrote into the plan's files stays, and what it spent adds up.
func (p turns) review(ctx context.Context, asked, tree string, open []loop.Concern) (loop.Turn, error) {
	if len(open) > 0 {
		p.reviewer.Options.Schema = check.AcceptingSchema(p.reviewer.Options.Schema)
	}
	q := check.Questions{Tree: tree, Open: open,
		Read: func(t loop.Turn) (check.Answer, error) { return check.ReadAnswer(t, tree) }}
	t, err := p.reviewer.Turn(ctx, asked)
	for err == nil && ctx.Err() == nil && (t.Class == loop.OK || t.Class == loop.Empty) {
		counts, more, why := q.Next(t)
		counts.Usage, counts.Duration = t.Usage, t.Duration
		if t = counts; more == "" {
			break
		}
		p.guard.log("review: the reviewer's verdict does not count: %v; asking again", why)
		var next loop.Turn
		next, err = p.reviewer.Turn(ctx, asked+more)
		if next.Class == loop.Spent && next.Ours {
			t.Usage = t.Usage.Plus(next.Usage)
			break
		}
		next.Usage, next.Duration = next.Usage.Plus(t.Usage), next.Duration+t.Duration
		t = next
	}
	return t, err
}

// Agent implements engine.Plan.
func (p *Run) Agent(run *engine.Run, c engine.Coder, reviewer *agent.Options) (loop.Agent, error) {
	p.guard.active.boxed = run.Boxed()
	turns := turns{Coder: c, reviewer: c, guard: p.guard}
	if reviewer != nil {
		options := *reviewer
		options.ReadOnly, options.Schema, options.Console = false, check.ReviewSchema, c.Options.Console
		var err error
		if options.Hooks, err = run.Hooks(options.Command); err != nil {
			return turns, err
		}
		turns.reviewer.Options = options
	}
	return turns, nil
}
