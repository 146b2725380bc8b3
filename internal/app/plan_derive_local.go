package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/app/plan"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
)

// planKept is where what would be lost goes, and what the agent was told and printed: out of the plan's directory, and ignored by git, so
// that no run commits it.
const planKept = ".ralph/plan"

// Its files.
const (
	rejectedPlan = planKept + "/rejected.txt" // the last answer that was no plan
	planBefore   = planKept + "/tasks-%s.json"
	planLog      = "agent.log"
	planPrompt   = "prompt.txt" // C18
)

// Derivation is a plan to derive (S4-104).
type Derivation struct {
	From string    // an issue: a file, or a number; empty: the PRD that is there, or what the person at the terminal says
	In   io.Reader // that terminal; nil: nobody is there
}

// Derived is what came of it, for programs.
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
func (p *Plans) Derive(ctx context.Context, d Derivation) (Derived, error) {
	from := p.Dir
	root, err := p.open(ctx)
	if err != nil {
		return Derived{}, err
	}
	defer root.Close()
	unlock, err := p.lock() // a run must not lose its plan
	defer unlock()
	if err != nil {
		return Derived{}, err
	}
	wish, err := p.wish(ctx, root, from, d)
	if err != nil {
		return Derived{}, err
	}
	deriver, done, err := p.deriver(ctx, root)
	defer done()
	if err != nil {
		return Derived{}, err
	}
	if d.In != nil {
		talk := newDialogue(d.In, p.Out)
		deriver.answer = p.conversation(talk)
		if wish.text == "" && wish.prd == "" {
			if wish.text = talk.ask(ctx, "What should be built? In a line; the agent asks for more: "); wish.text == "" {
				return Derived{}, errors.Join(talk.err, invalid.Errorf("nothing was said; say what should be built"))
			}
		}
	}
	out, err := derivePlan(ctx, deriver, wish)
	if failed := new(underivedError); errors.As(err, &failed) {
		return Derived{}, p.reject(root, failed)
	}
	if err != nil {
		return Derived{}, err
	}
	return p.store(root, out)
}

// deriver readies the agent: it reads a copy of the project, which is thrown away, and writes nothing. done clears up; it is never nil.
func (p *Plans) deriver(ctx context.Context, root *os.Root) (d planDeriver, done func(), err error) {
	done = func() {}
	settings, err := p.settings()
	if err != nil {
		return d, done, err
	}
	shop := &workshop{
		place: directory(p.Dir), settings: settings, parent: p.Parent, console: p.Out, format: p.safe(p.Format), clock: p.Clock, log: p.log, verbose: p.verbose,
		redact: p.redact, dir: filepath.Join(p.Dir, planKept), logs: filepath.Join(p.Dir, planKept), logsAs: planKept, keys: p.keys(), commits: unseen{},
	}
	done = shop.unbox
	shop.settings.Review = false // nobody looks at a plan but its user
	if _, err := files.Create(root, planKept+"/.gitignore", "*\n"); err != nil {
		return d, done, err
	}
	dir, env := p.Dir, []string(nil)
	if clone, ok := git.Beside(ctx, p.Dir, p.Parent, p.secrets()); ok {
		if err := clone.KeepOut(ctx); err != nil {
			p.log("keeping ralph's own files out of commits: %v", err)
		}
		shots, err := clone.Snapshots(ctx)
		if err != nil {
			return d, done, err
		}
		copied, err := shots.Review(ctx, shots.Base())
		if err != nil {
			return d, done, err
		}
		done = func() { shop.unbox(); _ = copied.Close() }
		dir, env = copied.Dir(), copied.Env()
	}
	d, err = shop.planDeriver(ctx, dir, env)
	d.known = append(d.known, detectedCommands(root)...)
	return d, done, err
}

// planDeriver asks the run's agent for plans: read-only, in a directory that nobody needs afterwards.
func (w *workshop) planDeriver(ctx context.Context, dir string, env []string) (planDeriver, error) {
	d := planDeriver{known: commandLines(w.settings.Guardrails), redact: w.redact, log: w.log}
	c, _, err := w.agents(nil)
	if err != nil {
		return d, err
	}
	o := c.options
	o.Dir, o.Extra, o.ReadOnly, o.Schema, o.AgentSettings, o.Console, o.Text = dir, env, true, planSchema, false, nil, false
	if filepath.Base(o.Command) != o.Command && !filepath.IsAbs(o.Command) { // it is named from where the run is, not from the copy
		o.Command = filepath.Join(w.place.Dir(), o.Command)
	}
	o.LogFile, o.PromptFile = filepath.Join(w.dir, planLog), filepath.Join(w.logs, planPrompt)
	purse := w.ownPurse()
	d.ask = func(ctx context.Context, asked string) (loop.Turn, error) {
		if err := c.write(o.PromptFile, asked); err != nil {
			return loop.Turn{}, err
		}
		w.log("asking %s, which may take up to %s", filepath.Base(o.Command), o.Timeout)
		defer loop.BeginStep(ctx, "the agent's answer", o.Timeout)()
		return purse.turn(ctx, o, asked)
	}
	return d, w.starts(ctx, o, nil)
}

// detectedCommands are those by which the project is checked, as far as its files show.
func detectedCommands(root *os.Root) []string {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil
	}
	content := map[string][]byte{}
	for _, e := range entries {
		content[e.Name()] = nil
	}
	for _, name := range config.DetectFiles {
		if _, ok := content[name]; ok {
			content[name], _ = files.ReadIn(root, name, maxPlanFile) // of one that cannot be read, the name is left
		}
	}
	var out []string
	for _, d := range config.DetectChecks(content) {
		out = append(out, d.Command)
	}
	return out
}

// conversation asks the person what the agent wants to know. An empty line ends it.
func (p *Plans) conversation(talk *dialogue) func(context.Context, []string) ([]exchange, bool, error) {
	return func(ctx context.Context, questions []string) (said []exchange, more bool, err error) {
		p.say("The agent asks; an empty line ends its questions.")
		for i, q := range questions {
			p.say("%d. %s", i+1, q)
			answer := talk.ask(ctx, "> ")
			if talk.err != nil {
				return said, false, talk.err
			}
			if answer == "" {
				for _, open := range questions[i:] {
					said = append(said, exchange{question: open})
				}
				return said, false, nil
			}
			said = append(said, exchange{q, answer})
		}
		return said, true, nil
	}
}

// reject keeps what the agent said last, and tells why it is no plan.
func (p *Plans) reject(root *os.Root, failed *underivedError) error {
	if err := files.ReplaceIn(root, rejectedPlan, failed.last); err != nil {
		return errors.Join(failed, err)
	}
	return fmt.Errorf("%w\nNothing in %s has changed. The agent's last answer is in %s", failed, p.dir, rejectedPlan)
}

// store writes the plan. What was there and is not the template is kept.
func (p *Plans) store(root *os.Root, out derivedPlan) (Derived, error) {
	report := Derived{Tasks: p.file(planFile), Stories: len(out.plan.Stories), Tries: out.tries, Dropped: append([]string{}, out.dropped...)}
	report.Likely, report.Most = out.plan.Estimate(p.rules())
	tasks := string(out.plan.Marshal())
	for _, text := range []string{tasks, out.prd} {
		if err := p.secretFree("the plan", text); err != nil {
			return report, err
		}
	}
	content, ok, err := files.ReadIfThere(root, p.file(planFile), maxPlanFile)
	if err != nil {
		return report, err
	}
	if ok && !plan.Untouched(content) {
		report.Before = fmt.Sprintf(planBefore, p.Clock().UTC().Format("20060102-150405"))
		if err := files.ReplaceIn(root, report.Before, string(content)); err != nil {
			return report, err
		}
		p.say("the plan before is in %s", report.Before)
	}
	if out.prd != "" {
		report.PRD = p.file(prdFile)
		if err := files.ReplaceIn(root, report.PRD, out.prd); err != nil {
			return report, err
		}
		p.say("wrote %s", report.PRD)
	}
	if err := files.ReplaceIn(root, report.Tasks, tasks); err != nil {
		return report, err
	}
	p.say("wrote %s: %s on %s, about %d iterations (at most %d)", report.Tasks, counted(report.Stories, "story", "stories"), out.plan.BranchName, report.Likely, report.Most)
	p.say("Look at what it says before you run it: ralph plan status, ralph plan run")
	return report, nil
}
