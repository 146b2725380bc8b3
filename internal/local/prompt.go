package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
)

// PromptRun is ralph with a prompt: an agent and the guardrails, in the directory as it is. There is no branch, no commit and no review
// unless they are asked for, and no git is needed (S1, C25).
type PromptRun struct {
	session.Session
	Prompt     string // what the agent is told; empty when PromptFile says it
	PromptFile string // from the current directory; read again before every iteration (S1-71)
	Commit     bool   // commit each iteration whose guardrails have passed, as the setting scm would (C17)
	DryRun     bool   // say what would be run, and run nothing
}

// Run takes the prompt to its outcome. When ctx is done it begins nothing new, when hard is done it stops what runs (C11).
func (p *PromptRun) Run(ctx, hard context.Context) (loop.Result, error) {
	p.Begin()
	if p.PromptFile != "" && !filepath.IsAbs(p.PromptFile) {
		p.PromptFile = filepath.Join(p.Dir, p.PromptFile)
	}
	p.Dir = session.Nearest(p.Dir)
	if p.DryRun {
		return p.preview(ctx)
	}
	_, work, err := engine.Open(ctx, &promptOpening{PromptRun: p})
	defer work.Close()
	if err != nil {
		return loop.Result{Outcome: outcomeOf(err)}, files.Advise(err)
	}
	shop := work.Spec
	if len(shop.Settings.Guardrails) > 0 {
		p.Log("the guardrails run in this directory as the agent leaves it; a run of an issue (--issue) has them judge its commits, in a checkout of their own")
	}
	words := prompt.Plain{Base: p.base, Writer: shop.PromptWriter(nil)}
	result := engine.Drive(ctx, hard, shop, work.Journal, words)
	if result.Outcome == loop.Invalid && len(result.State.Iterations) == 0 { // nothing has happened that is worth keeping
		return result, errors.Join(invalid.Mark(errors.New(result.Reason)), work.Journal.File.Discard())
	}
	late, cancel := engine.AfterStop(ctx, hard, time.Minute)
	defer cancel()
	result, err = engine.Conclude(late, shop, work.Journal, p.View, result)
	if err != nil { // where the journal cannot be written, the reports beside it had better not be
		return result, err
	}
	return result, p.finish(late, shop, result)
}

// outcomeOf is the outcome of a run that could not begin.
func outcomeOf(err error) loop.Outcome {
	var held *journal.HeldError
	var apart *git.MergeError
	if errors.As(err, &held) || errors.As(err, &apart) {
		return loop.Failed
	}
	return loop.Invalid
}

// base is the prompt as it stands now.
func (p *PromptRun) base() (string, error) {
	text := p.Prompt
	if p.PromptFile != "" {
		content, err := readPrompt(p.PromptFile)
		if err != nil {
			return "", err
		}
		text = content
	}
	if strings.TrimSpace(text) == "" {
		return "", invalid.Errorf("the prompt is empty; say what to do with --prompt TEXT or --prompt-file FILE")
	}
	return text, nil
}

// shop is what the run works with. It finds out what is missing before anything is written or spent.
func (p *PromptRun) shop(ctx context.Context, settings config.Settings) (*engine.Spec, error) {
	if p.Commit && settings.SCM == nil {
		settings.SCM = &config.SCM{Command: "git", Tasks: []string{"commit"}}
	}
	settings.Review = settings.Review && settings.ReviewFrom != "" // C14
	settings.Baseline = config.BaselineOff
	settings.Setup = "" // prepares a checkout; this directory is as its owner left it
	shop := &engine.Spec{
		Workspace: engine.Directory(p.Dir), Settings: settings, Parent: p.Parent, Console: engine.Redacting{To: p.Out, Redact: p.Redact}, Format: p.Redacted(p.Format), Live: p.Live,
		Clock: p.Clock, Log: p.Log, Verbose: p.Explain, Redact: p.Redact, Logs: filepath.Join(p.Dir, ".ralph"), LogsAs: ".ralph", Keys: p.AgentKeys(),
		Groups: p.Groups, OfPrompt: true, Commits: engine.NoCommits{},
	}
	if err := shop.Stray(); err != nil {
		return nil, invalid.Mark(err)
	}
	if p.Verbose {
		shop.Tell = p.Explain
	}
	if settings.TimeoutFrom != "" {
		shop.Wall = settings.Timeout()
	}
	if settings.Iterations(config.PromptIterations) == config.Unlimited && shop.Wall == 0 {
		return nil, invalid.Errorf("maximumIterations is 0, so nothing would ever stop the run; set timeoutMinutes (--timeout) with it, or a number from 1")
	}
	clone, ok := git.Beside(ctx, p.Dir, p.scmEnvironment(), p.Secrets())
	if ok && !p.DryRun {
		if err := clone.KeepOut(ctx); err != nil {
			p.Log("keeping ralph's own files out of commits: %v", err)
		}
		if p.Killed {
			if err := clone.ClearLocks(ctx, p.Log); err != nil {
				return nil, invalid.Mark(err)
			}
		}
	}
	if settings.Review && !p.DryRun {
		if err := shop.Snapshots(ctx, clone, ok); err != nil {
			return nil, err
		}
	}
	if settings.SCM != nil {
		check, err := p.scm(ctx, shop, clone, ok)
		if err != nil {
			return nil, err
		}
		shop.SCM = check
	}
	if err := shop.Shell(); err != nil {
		return nil, err
	}
	c, _, err := shop.Agents(nil)
	if err != nil {
		return nil, err
	}
	line, err := engine.CommandLine(c)
	p.Explain("Agent command: %s", line)
	return shop, err
}

// promptOpening opens a run of a prompt in a directory as it lies there.
type promptOpening struct{ *PromptRun }

// Hold implements opener.
func (o *promptOpening) Hold(ctx context.Context, work *engine.Run) (context.Context, error) {
	unlock, err := o.Lock()
	work.Later(unlock)
	return ctx, err
}

// Prepare implements opener: it reads the settings and the prompt, and finds the run to go on with or begins one.
func (o *promptOpening) Prepare(ctx context.Context, work *engine.Run) (b engine.Beginning, err error) {
	settings, err := o.Settings()
	if err != nil {
		return b, err
	}
	if work.Spec, err = o.shop(ctx, settings); err != nil {
		return b, err
	}
	base, err := o.base()
	if err != nil {
		return b, err
	}
	id, title := o.name()
	before, dir, err := o.NewestRun(id)
	if err != nil {
		return b, err
	}
	way, why, err := o.ResumeMode(before, dir != "", before.Start.Spec == spec(base))
	if err != nil {
		return b, err
	}
	run := engine.NewRun(o.Clock())
	switch {
	case way == loop.Nothing:
		return b, invalid.Errorf("%s", why)
	case way != loop.Begin:
		run = filepath.Base(dir)
		o.Log("%s: %s", way, why)
	case o.Resume:
		o.Log("%s: there is no run of this prompt to go on with", way)
	}
	leave, err := o.Register()
	if err != nil {
		return b, err
	}
	work.Later(leave)
	work.Journal = &engine.Journal{Clock: o.Clock, Redact: o.Redact}
	most, owner := work.Spec.Settings.Iterations(config.PromptIterations), fmt.Sprintf("process %d", os.Getpid())
	b = engine.Beginning{Mode: way, Dir: o.RunDir(run), OpenJournal: o.forgetful}
	b.Start = &loop.Start{
		Run: run, Task: id, Title: title, Spec: spec(base), Agent: filepath.Base(work.Spec.Settings.Agent.Command), Owner: owner,
		Checks: engine.CommandLines(work.Spec.Settings.Guardrails), MaxIterations: capped(most), Review: work.Spec.Settings.Review, Base: work.Spec.Base,
	}
	b.Resume = &loop.Resume{Owner: owner, Retry: way == loop.Again}
	if way == loop.Again {
		b.Resume.MaxIterations = most
	}
	return b, nil
}

// forgetful opens a journal whose text nobody will ask for.
func (p *PromptRun) forgetful(dir string) (*journal.Journal, error) {
	book, err := p.OpenJournal(dir)
	if err == nil {
		book.Forget()
	}
	return book, err
}

// maxSpec bounds what a record keeps of a prompt: a line of the journal has its bounds, too.
const maxSpec = 256 << 10

// spec is a prompt as the record keeps it: all of it, or its beginning with what tells it from another.
func spec(base string) string {
	if len(base) <= maxSpec {
		return base
	}
	return strings.ToValidUTF8(base[:maxSpec], "") + "\n[... the prompt has " + fmt.Sprint(len(base)) + " bytes; it is " + engine.Short(base) + " ...]"
}

// capped is a cap as records have it: 0 is none.
func capped(most int) int {
	if most == config.Unlimited {
		return 0
	}
	return most
}

// name makes a task of a prompt: a file is the same task whatever stands in it, a text is another task when it is another text.
func (p *PromptRun) name() (id, title string) {
	if p.PromptFile != "" {
		return "file-" + engine.Short(p.PromptFile), filepath.Base(p.PromptFile)
	}
	title = safetext.FirstLine(p.Prompt)
	return "prompt-" + engine.Short(p.Prompt), safetext.Shorten(title, 80)
}

// finish says how it ended, and writes the reports.
func (p *PromptRun) finish(ctx context.Context, shop *engine.Spec, result loop.Result) error {
	v := p.View(result.State)
	file, err := engine.WriteReports(shop.Dir, shop.Detail(ctx, v, nil))
	p.PrintEnding(v, result)
	p.Explain("Report: %s", file)
	return err
}

// preview says what a run would do, and does nothing (S1-149).
func (p *PromptRun) preview(ctx context.Context) (loop.Result, error) {
	settings, err := p.Settings()
	if err != nil {
		return loop.Result{Outcome: loop.Invalid}, err
	}
	shop, err := p.shop(ctx, settings)
	if err != nil {
		return loop.Result{Outcome: loop.Invalid}, err
	}
	base, err := p.base()
	if err != nil {
		return loop.Result{Outcome: loop.Invalid}, err
	}
	return loop.Result{Outcome: loop.Done}, p.plan(shop, base)
}

// plan says what a run would do (S1-149).
func (p *PromptRun) plan(shop *engine.Spec, base string) error {
	c, _, err := shop.Agents(nil)
	if err != nil {
		return err
	}
	line, err := engine.CommandLine(c)
	if err != nil {
		return err
	}
	p.Log("Directory: %s", p.Dir)
	p.Log("Agent: %s", line)
	if most := shop.Settings.Iterations(config.PromptIterations); most == config.Unlimited {
		p.Log("Iterations: as many as fit into the time")
	} else {
		p.Log("Iterations: at most %d", most)
	}
	if shop.Wall > 0 {
		p.Log("Time: at most %s", shop.Wall)
	}
	p.Log("Completion: <response>%s</response>", shop.Settings.CompletionResponse)
	for _, g := range shop.Settings.Guardrails {
		p.Log("Guardrail: %s (%s, %s, at most %s)", g.Command, g.Severity, g.FailAction, shop.Settings.CheckTimeout(g))
	}
	if scm := shop.Settings.SCM; scm != nil {
		p.Log("Source control: %s %s", scm.Command, strings.Join(scm.Tasks, ", "))
	}
	p.Log("Prompt, %s:", safetext.Counted(len(base), "byte", "bytes"))
	for line := range strings.Lines(base) {
		p.Log("  %s", strings.TrimRight(line, "\n"))
	}
	return nil
}
