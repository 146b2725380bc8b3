package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
)

// PromptRun is ralph with a prompt: an agent and the guardrails, in the directory as it is. Without flags or settings
// for them there is no branch, no commit and no review, and no git is needed.
type PromptRun struct {
	session.Session
	Prompt     string // empty: it is in PromptFile
	Words      bool   // the prompt is words of a command line, which say nothing of how to end: that is added
	PromptFile string // from the current directory; read again before every iteration
	Commit     bool   // commit each iteration whose guardrails have passed, as the setting scm would
	// AcceptCredentials lets the agent read the git credentials of the clone in a job where no sandbox hides them.
	AcceptCredentials bool
	DryRun            bool // print what would run, and run nothing

	ending string // what is added to words
}

// Run takes the prompt to its outcome. When ctx is done it begins nothing new, when hard is done it stops what runs.
func (p *PromptRun) Run(ctx, hard context.Context) (loop.Result, error) {
	p.Begin()
	p.settle()
	if p.DryRun {
		return p.preview(ctx)
	}
	_, work, err := engine.Open(ctx, &promptOpening{PromptRun: p})
	defer work.Close()
	if err != nil {
		return loop.Result{Outcome: outcomeOf(err)}, files.Advise(err)
	}
	p.tellChecks(work.Rules, !work.Journal.State().Baselined)
	words := prompt.Verbatim{Base: p.base, Writer: work.PlainPrompt(nil)}
	return play(ctx, hard, &p.Session, work, words, func(_ context.Context, _ *engine.Run, _ loop.Result, report string) error {
		p.Explain("Report: %s", report)
		return nil
	})
}

// preview prints what would run, and runs nothing.
func (p *PromptRun) preview(ctx context.Context) (loop.Result, error) {
	run := &engine.Run{}
	base, err := p.ready(ctx, run)
	if err != nil {
		return loop.Result{Outcome: loop.Invalid}, err
	}
	p.tellChecks(run.Rules, true)
	for _, g := range run.Settings.Guardrails {
		p.Log("Guardrail: %s (%s, %s, at most %s)", g.Command, g.Severity, g.FailAction, safetext.Duration(run.Settings.CheckTimeout(g)))
	}
	if most := run.Settings.Iterations(config.PromptIterations); most != config.Unlimited {
		p.Log("Iterations: at most %d", most)
	}
	p.Log("Prompt, %s:", safetext.Counted(len(base), "byte", "bytes"))
	for line := range strings.Lines(base) {
		p.Log("  %s", strings.TrimRight(line, "\n"))
	}
	return loop.Result{Outcome: loop.Done}, nil
}

// ready prepares a run and returns its prompt.
func (p *PromptRun) ready(ctx context.Context, run *engine.Run) (base string, err error) {
	settings, err := p.Settings()
	if err != nil {
		return "", err
	}
	if err := p.prepare(ctx, run, settings); err != nil {
		return "", err
	}
	return p.base()
}

// settle finds the directory of the run, once.
func (p *PromptRun) settle() {
	if p.PromptFile != "" {
		p.PromptFile = session.From(p.Dir, p.PromptFile)
	}
	p.Dir = session.Nearest(p.Dir)
}

// base is the prompt as it is now.
func (p *PromptRun) base() (string, error) {
	text := p.Prompt
	if p.PromptFile != "" {
		content, err := session.ReadNamed(p.Dir, p.PromptFile)
		if err != nil {
			return "", invalid.Errorf("flag --prompt-file: %w; give a file that says what to do and can be read before every "+
				"iteration, or say it with --prompt TEXT", err)
		}
		text = string(content)
	}
	if strings.TrimSpace(text) == "" {
		return "", invalid.Errorf("the prompt is empty; pass --prompt TEXT or --prompt-file FILE")
	}
	if p.Words && !strings.Contains(text, "<response>") {
		text += p.ending
	}
	return text, nil
}

// prepare gives a run what it works with. It finds out what is missing before anything is written or spent.
func (p *PromptRun) prepare(ctx context.Context, run *engine.Run, settings config.Settings) error {
	if p.Commit && settings.SCM == nil {
		settings.SCM = &config.SCM{Command: "git", Tasks: []string{"commit"}}
	}
	settings.Review = settings.Review && settings.ReviewFrom != ""
	settings.Baseline = config.BaselineOff
	settings.Setup = "" // prepares a checkout; this directory is as its owner left it
	place := engine.Place{
		Workspace: engine.Directory(p.Dir), Logs: filepath.Join(p.Dir, ".ralph"), LogsAs: ".ralph",
		AgreeToNone: p.AgreeToNone, AcceptCredentials: p.AcceptCredentials,
	}
	if err := engine.CheckWorkingDir(place, settings); err != nil {
		return invalid.Mark(err)
	}
	p.ending = "\n\nWhen all of this is done, and not before, end your answer with <response>" +
		settings.CompletionResponse + "</response>."
	rules := engine.Rules{Settings: settings}
	if settings.TimeoutFrom != "" {
		rules.Wall = settings.Timeout()
	}
	if settings.Iterations(config.PromptIterations) == config.Unlimited && rules.Wall == 0 {
		return invalid.Errorf(
			"maximumIterations is 0, so nothing would ever stop the run; set timeoutMinutes (--timeout) with it, or a number " +
				"from 1",
		)
	}
	clone, inClone, err := p.clone(ctx, run)
	if err != nil {
		return err
	}
	work := engine.Work{OfPrompt: true, Commits: engine.NoCommits{}}
	if settings.Review && !p.DryRun {
		if work, err = p.reviewed(ctx, clone, inClone); err != nil {
			return err
		}
	}
	if inClone && settings.GuardrailsFrom == "" {
		rules = engine.DetectHere(place, rules, p.Log)
	}
	if settings.SCM != nil {
		if rules.SCM, err = p.scm(ctx, run, *settings.SCM, clone, inClone); err != nil {
			return err
		}
	}
	out := p.Output()
	if p.Verbose {
		out.LogCheck = p.Explain
	}
	run.Spec = &engine.Spec{
		Work: work, Rules: rules, Place: place, Output: out,
		Identity: engine.Identity{Parent: p.Parent, Keys: p.AgentKeys()},
	}
	if err := run.Shell(); err != nil {
		return err
	}
	c, _, err := run.Agents()
	if err != nil {
		return err
	}
	line, err := engine.CommandLine(c)
	say := p.Explain
	if p.DryRun {
		say = p.Log
	}
	say("Agent command: %s", line)
	return err
}

// clone is the git clone that the run's directory is in, if there is one, made ready for a run.
func (p *PromptRun) clone(ctx context.Context, run *engine.Run) (*git.Clone, bool, error) {
	clone, ok := git.Beside(ctx, p.Dir, p.scmEnvironment(), p.Secrets())
	if !ok || p.DryRun {
		return clone, ok, nil
	}
	if err := clone.KeepOut(); err != nil {
		p.Log("keeping ralph's own files out of commits: %v", err)
	}
	if p.Killed {
		if err := clone.ClearLocks(p.Log); err != nil {
			return clone, ok, invalid.Mark(err)
		}
	}
	putBack, err := clone.Guard()
	if err != nil {
		return clone, ok, err
	}
	run.OnClose(func() {
		changed, err := putBack(p.Places().State)
		if len(changed) > 0 {
			p.Log("warning: %s of the clone's repository was changed during the run and is put back; the change is in %s",
				strings.Join(changed, ", "), p.Places().State)
		}
		if err != nil {
			p.Log("warning: %v", err)
		}
	})
	return clone, ok, nil
}

// reviewed is the work of a run that commits nothing and that a reviewer looks at: each iteration is a snapshot.
func (p *PromptRun) reviewed(ctx context.Context, clone *git.Clone, inClone bool) (engine.Work, error) {
	if !inClone {
		return engine.Work{}, invalid.Errorf(
			"a review needs git, and %s is in no git repository: run git init, or pass --skip-review", p.Dir,
		)
	}
	shots, err := clone.Snapshots(ctx)
	if err != nil {
		return engine.Work{}, err
	}
	work := engine.WorkInSnapshots(shots)
	work.OfPrompt = true
	return work, nil
}

// promptOpening opens a run of a prompt in a directory as it is there.
type promptOpening struct{ *PromptRun }

// Hold implements engine.Opener.
func (o *promptOpening) Hold(ctx context.Context, work *engine.Run) (context.Context, error) {
	if err := o.RefuseCheckout(); err != nil {
		return ctx, err
	}
	unlock, err := o.Lock()
	work.OnClose(unlock)
	return ctx, err
}

// Prepare implements engine.Opener: it reads the settings and the prompt, and finds the run to continue with or begins
// one.
func (o *promptOpening) Prepare(ctx context.Context, work *engine.Run) (b engine.Beginning, err error) {
	base, err := o.ready(ctx, work)
	if err != nil {
		return b, err
	}
	before, dir, err := o.NewestRun(o.id())
	if err != nil {
		return b, err
	}
	way, why, err := o.ResumeMode(before, dir != "", before.Start.Spec == recordedPrompt(base))
	if err != nil {
		return b, err
	}
	run := engine.NewRunID(o.Clock())
	switch {
	case way != loop.Begin:
		run = filepath.Base(dir)
		o.Log("%s: %s", way, why)
	case o.Resume:
		o.Log("%s: no run of this prompt can be continued", way)
	}
	if way != loop.Begin {
		work.Rules = asBegun(work.Rules, before)
	}
	if work.Journal, err = o.Record(ctx, work, run); err != nil {
		return b, err
	}
	most, owner := work.Settings.Iterations(config.PromptIterations), fmt.Sprintf("process %d", os.Getpid())
	b = engine.Beginning{Mode: way, Dir: o.RunDir(run), OpenJournal: o.forgetful}
	b.Start = o.firstRecord(run, base, most)
	b.Start.Agent, b.Start.Owner, b.Start.Again = filepath.Base(work.Settings.Agent.Command), owner, report.Resuming(o.Typed)
	b.Start.Checks, b.Start.Detected = engine.CommandLines(work.Settings.Guardrails), work.Detected
	b.Start.Review, b.Start.Base = work.Settings.Review, work.Base
	b.Resume = &loop.Resume{Owner: owner, Retry: way == loop.Again}
	if way == loop.Again {
		b.Resume.MaxIterations = most
	}
	return b, nil
}

// forgetful opens a journal whose text no one will ask for.
func (p *PromptRun) forgetful(dir string) (*journal.Journal, error) {
	file, err := p.OpenJournal(dir)
	if err == nil {
		file.Forget()
	}
	return file, err
}

// maxSpec bounds what a record keeps of a prompt: a line of the journal has its bounds, too.
const maxSpec = 256 << 10

// recordedPrompt is a prompt as the record keeps it: all of it, or its beginning with a hash of all of it.
func recordedPrompt(base string) string {
	if len(base) <= maxSpec {
		return base
	}
	return strings.ToValidUTF8(
		base[:maxSpec], "",
	) + "\n[... the prompt has " + fmt.Sprint(len(base)) + " bytes; it is " + engine.ShortHash(base) + " ...]"
}

// id makes a task of a prompt: a file is the same task whatever is in it, a text is another task when it is another
// text.
func (p *PromptRun) id() string {
	if p.PromptFile != "" {
		return "file-" + engine.ShortHash(p.PromptFile)
	}
	return "prompt-" + engine.ShortHash(p.Prompt)
}

// firstRecord is the first record of a run of the prompt, as it is now, with what every run of it has.
func (p *PromptRun) firstRecord(run, base string, most int) *loop.Start {
	s := &loop.Start{Run: run, Task: p.id(), MaxIterations: most}
	if most == config.Unlimited {
		s.MaxIterations = 0
	}
	s.Title, s.Spec = safetext.Shorten(safetext.FirstLine(p.Prompt), 80), recordedPrompt(base)
	if p.PromptFile != "" {
		s.Title = filepath.Base(p.PromptFile)
	}
	return s
}

// tellChecks names the checks that are not obvious. now means that detected checks run before the first turn.
func (p *PromptRun) tellChecks(rules engine.Rules, now bool) {
	lines := engine.CommandLines(rules.Settings.Guardrails)
	if len(lines) == 0 {
		return
	}
	if rules.Detected == "" {
		p.Log(
			"the guardrails run in this directory as the agent leaves it; a run of an issue (--issue) has them judge its " +
				"commits, in a checkout of their own",
		)
		return
	}
	when := "they run in this directory"
	if now {
		when += " now, and then"
	}
	p.Log(
		"checks found: %s (%s); %s whenever the agent says that it is done; --no-checks uses none",
		strings.Join(lines, ", "), rules.Detected, when,
	)
}

// asBegun are the rules of a run that continues. Where no setting names checks, they are those that it began with.
func asBegun(rules engine.Rules, before loop.State) engine.Rules {
	if rules.Settings.GuardrailsFrom != "" || !before.Baselined && len(before.Iterations) == 0 {
		return rules
	}
	return engine.DetectedBefore(before, rules)
}

// scmTime bounds one source control task: a push may be large.
const scmTime = 30 * time.Minute

func (p *PromptRun) scmEnvironment() []string {
	return proc.Environment(p.Parent, slices.Concat(proc.Allowed, session.ScmKnows))
}

// scm makes the check of the setting scm.
func (p *PromptRun) scm(
	ctx context.Context, run *engine.Run, scm config.SCM, clone *git.Clone, inClone bool,
) (check.Check, error) {
	isGit := filepath.Base(scm.Command) == "git"
	if isGit && !inClone {
		return nil, invalid.Errorf(
			"the setting scm wants git %s, but %s is in no git repository: run git init, or take scm out",
			strings.Join(scm.Tasks, ", "), p.Dir,
		)
	}
	if isGit && slices.Contains(scm.Tasks, "commit") {
		if known, err := clone.Identify(ctx, p.Parent); err != nil || !known {
			return nil, errors.Join(
				err,
				invalid.Errorf(
					"git does not know who commits, which --commit and the setting scm need: run git config user.name NAME and git "+
						"config user.email ADDRESS",
				),
			)
		}
	}
	c := &check.SCM{Tasks: scm.Tasks, Ask: func(ctx context.Context) (loop.Turn, error) {
		coder, _, err := run.Agents()
		if err == nil {
			err = run.CheckWorkingDir()
		}
		if err != nil {
			return loop.Turn{}, err
		}
		coder.Options.Console = nil
		return run.Turn(ctx, coder.Options, check.MessagePrompt)
	}}
	if !isGit {
		if _, err := proc.LookPath(scm.Command, p.scmEnvironment()); err != nil && !strings.Contains(scm.Command, "/") {
			return nil, invalid.Errorf("the setting scm: %w: install it, or take scm out", err)
		}
		c.Changed = func(context.Context) (bool, error) { return true, nil }
		c.Do = func(ctx context.Context, task, message string) (string, bool, error) {
			args := append([]string{scm.Command}, strings.Fields(task)...)
			if task == "commit" {
				args = append(args, "-am", message)
			}
			return p.other(ctx, args)
		}
		return c, nil
	}
	c.Changed = clone.Changed
	c.Do = func(ctx context.Context, task, message string) (string, bool, error) {
		if task == "commit" {
			return clone.Commit(ctx, message)
		}
		return clone.Run(ctx, strings.Fields(task))
	}
	return c, nil
}

// other runs a source control program that is not git.
func (p *PromptRun) other(ctx context.Context, argv []string) (output string, done bool, err error) {
	kept := proc.NewTail(32<<10, 32<<10)
	r, err := proc.Run(
		ctx, proc.Spec{Argv: argv, Dir: p.Dir, Env: p.scmEnvironment(), Timeout: scmTime, Stdout: kept, Stderr: kept},
	)
	return p.Redact(kept.String()), r.Class == proc.Exited && r.Exit == 0, err
}
