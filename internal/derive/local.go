package derive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/planrun"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
)

// planKept is the directory for what would be lost, the prompt and the agent's output: outside of the plan's directory,
// and ignored by git, so no run commits it.
const planKept = ".ralph/plan"

// Its files.
const (
	rejectedPlan = planKept + "/rejected.txt" // the last answer that was no plan
	planBefore   = planKept + "/tasks-%s.json"
	planLog      = "agent.log"
	planPrompt   = "prompt.txt"
)

// Derived is what resulted from it, for programs.
type Derived struct {
	PRD     string   `json:"prd"`   // the file that was written; empty: it was there already
	Tasks   string   `json:"tasks"` // the file that was written
	Before  string   `json:"before"`
	Stories int      `json:"stories"`
	Likely  int      `json:"likely_iterations"`
	Most    int      `json:"most_iterations"`
	Tries   int      `json:"tries"`
	Dropped []string `json:"dropped_commands"` // that an issue may not bring
}

// Derive lets the agent write the plan, and stores it when it is one.
func Derive(ctx context.Context, p *planrun.Plans, d Derivation) (Derived, error) {
	from := p.Dir
	root, err := p.Open(ctx)
	if err != nil {
		return Derived{}, err
	}
	defer root.Close()
	unlock, err := p.Alone(p.Lock()) // a run must not lose its plan
	defer unlock()
	if err != nil {
		return Derived{}, err
	}
	request, err := requestFrom(ctx, p, root, from, d)
	if err != nil {
		return Derived{}, err
	}
	deriver, done, err := deriver(ctx, p, root)
	defer done()
	if err != nil {
		return Derived{}, err
	}
	if d.In != nil {
		talk := session.NewDialogue(d.In, p.Out)
		deriver.answer = conversation(p, talk)
		if request.Text == "" && request.PRD == "" {
			if request.Text = talk.Ask(
				ctx, "What should be built? In a line; the agent asks for more: ",
			); request.Text == "" {
				return Derived{}, errors.Join(talk.Err, invalid.Errorf("the answer was empty; describe what to build"))
			}
		}
	}
	out, err := Ask(ctx, deriver, request)
	if failed := new(FailedError); errors.As(err, &failed) {
		return Derived{}, reject(p, root, failed)
	}
	if err != nil {
		return Derived{}, err
	}
	return store(p, root, out)
}

// deriver readies the agent: it reads a copy of the project, which is thrown away, and writes nothing. done clears up;
// it is never nil.
func deriver(ctx context.Context, p *planrun.Plans, root *os.Root) (d Deriver, done func(), err error) {
	done = func() {}
	settings, err := p.Settings()
	if err != nil {
		return d, done, err
	}
	settings.Review = false // no one looks at a plan but its user
	kept := filepath.Join(p.Dir, planKept)
	run := &engine.Run{Dir: kept, Spec: &engine.Spec{
		Work: engine.Work{Commits: engine.NoCommits{}}, Rules: engine.Rules{Settings: settings},
		Place: engine.Place{
			Workspace: engine.Directory(p.Dir), Logs: kept, LogsAs: planKept, AgreeToNone: p.AgreeToNone,
		},
		Identity: engine.Identity{Parent: p.Parent, Keys: p.AgentKeys()},
		Output:   p.Output(),
	}}
	done = run.Close
	if _, err := files.Create(root, planKept+"/.gitignore", "*\n"); err != nil {
		return d, done, err
	}
	dir, env := p.Dir, []string(nil)
	if clone, ok := git.Beside(ctx, p.Dir, p.Parent, p.Secrets()); ok {
		if err := clone.KeepOut(); err != nil {
			p.Log("keeping ralph's own files out of commits: %v", err)
		}
		shots, err := clone.Snapshots(ctx)
		if err != nil {
			return d, done, err
		}
		copied, err := shots.Review(ctx, shots.Base())
		if err != nil {
			return d, done, err
		}
		run.OnClose(func() { _ = copied.Close() })
		dir, env = copied.Dir(), copied.Env()
	}
	d, err = newDeriver(ctx, run, dir, env)
	for _, shown := range engine.Detected(p.Dir).Checks {
		d.Known = append(d.Known, shown.Command)
	}
	return d, done, err
}

// newDeriver asks the run's agent for plans: read-only, in a directory that no one needs afterwards.
func newDeriver(ctx context.Context, run *engine.Run, dir string, env []string) (Deriver, error) {
	d := Deriver{Known: engine.CommandLines(run.Settings.Guardrails), Redact: run.Redact, Log: run.Log}
	c, _, err := run.Agents()
	if err != nil {
		return d, err
	}
	o := c.Options
	o.Dir, o.Extra, o.ReadOnly, o.Schema, o.AgentSettings, o.Console, o.Text = dir, env, true, Schema, false, nil, false
	// it is named from where the run is, not from the copy
	if filepath.Base(o.Command) != o.Command && !filepath.IsAbs(o.Command) {
		o.Command = filepath.Join(run.Workspace.Dir(), o.Command)
	}
	o.LogFile, o.PromptFile = filepath.Join(run.Dir, planLog), filepath.Join(run.Logs, planPrompt)
	budget := run.OwnBudget()
	d.Ask = func(ctx context.Context, asked string) (loop.Turn, error) {
		if err := c.Write(planPrompt, asked); err != nil {
			return loop.Turn{}, err
		}
		run.Log("asking %s; the limit is %s", filepath.Base(o.Command), safetext.Duration(o.Timeout))
		defer loop.BeginStep(ctx, "the agent's answer", o.Timeout)()
		return budget.Turn(ctx, o, asked)
	}
	return d, run.AgentStarts(ctx, o, nil)
}

// conversation asks the person what the agent wants to know. An empty line ends it.
func conversation(
	p *planrun.Plans, talk *session.Dialogue,
) func(context.Context, []string) ([]exchange, bool, error) {
	return func(ctx context.Context, questions []string) (said []exchange, more bool, err error) {
		p.Say("The agent asks; an empty line ends its questions.")
		for i, q := range questions {
			p.Say("%d. %s", i+1, q)
			answer := talk.Ask(ctx, "> ")
			if talk.Err != nil {
				return said, false, talk.Err
			}
			if answer == "" {
				for _, open := range questions[i:] {
					said = append(said, exchange{Question: open})
				}
				return said, false, nil
			}
			said = append(said, exchange{q, answer})
		}
		return said, true, nil
	}
}

// reject keeps what the agent said last, and tells why it is no plan.
func reject(p *planrun.Plans, root *os.Root, failed *FailedError) error {
	if err := files.ReplaceIn(root, rejectedPlan, failed.last); err != nil {
		return errors.Join(failed, err)
	}
	return fmt.Errorf(
		"%w\nNothing in %s has changed. The agent's last answer is in %s", failed, p.PlanDir, rejectedPlan,
	)
}

// store writes the plan. What was there and is not the template is kept.
func store(p *planrun.Plans, root *os.Root, out Result) (Derived, error) {
	report := Derived{
		Tasks: p.File(planrun.PlanFile), Stories: len(out.Plan.Stories), Tries: out.Tries,
		Dropped: append([]string{}, out.Dropped...),
	}
	report.Likely, report.Most = out.Plan.Estimate(p.Rules())
	tasks := string(out.Plan.Marshal())
	for _, text := range []string{tasks, out.PRD} {
		if err := p.SecretFree("the plan", text); err != nil {
			return report, err
		}
	}
	content, ok, err := files.ReadIfThere(root, p.File(planrun.PlanFile), planrun.MaxPlanFile)
	if err != nil {
		return report, err
	}
	if ok && !plan.Untouched(content) {
		report.Before = fmt.Sprintf(planBefore, p.Clock().UTC().Format("20060102-150405"))
		if err := files.ReplaceIn(root, report.Before, string(content)); err != nil {
			return report, err
		}
		p.Say("the plan before is in %s", report.Before)
	}
	if out.PRD != "" {
		report.PRD = p.File(planrun.PrdFile)
		if err := files.ReplaceIn(root, report.PRD, out.PRD); err != nil {
			return report, err
		}
		p.Say("wrote %s", report.PRD)
	}
	if err := files.ReplaceIn(root, report.Tasks, tasks); err != nil {
		return report, err
	}
	p.Say(
		"wrote %s: %s on %s, about %d iterations (at most %d)", report.Tasks,
		safetext.Counted(report.Stories, "story", "stories"), out.Plan.BranchName, report.Likely, report.Most,
	)
	p.Say("Look at what it says before you run it: ralph plan status, ralph plan run")
	return report, nil
}
