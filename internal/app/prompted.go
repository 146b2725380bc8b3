package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/prompt"
)

// Prompted is ralph with a prompt: an agent and the guardrails, in the directory as it is. There is no branch, no commit and no review
// unless they are asked for, and no git is needed (S1, C25).
type Prompted struct {
	Seat
	Prompt     string // what the agent is told; empty when PromptFile says it
	PromptFile string // from the current directory; read again before every iteration (S1-71)
	Commit     bool   // commit each iteration whose guardrails have passed, as the setting scm would (C17)
	DryRun     bool   // say what would be run, and run nothing
}

// Run takes the prompt to its outcome. When ctx is done it begins nothing new, when hard is done it stops what runs (C11).
func (p *Prompted) Run(ctx, hard context.Context) (loop.Result, error) {
	p.sit()
	if p.PromptFile != "" && !filepath.IsAbs(p.PromptFile) {
		p.PromptFile = filepath.Join(p.Dir, p.PromptFile)
	}
	p.Dir = nearest(p.Dir)
	if p.DryRun {
		return p.preview(ctx)
	}
	_, work, err := openRun(ctx, &promptOpening{Prompted: p})
	defer work.close()
	if err != nil {
		return loop.Result{Outcome: outcomeOf(err)}, files.Advise(err)
	}
	shop := work.shop
	if len(shop.settings.Guardrails) > 0 {
		p.log("the guardrails run in this directory as the agent leaves it; a run of an issue (--issue) has them judge its commits, in a checkout of their own")
	}
	words := prompt.Plain{Base: p.base, Writer: shop.words(nil)}
	result := drive(ctx, hard, shop, work.ledger, words)
	if result.Outcome == loop.Invalid && len(result.State.Iterations) == 0 { // nothing has happened that is worth keeping
		return result, errors.Join(invalid.Mark(errors.New(result.Reason)), work.ledger.journal.Discard())
	}
	late, cancel := afterStop(ctx, hard, time.Minute)
	defer cancel()
	result, err = conclude(late, shop, work.ledger, p.view, result)
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

// nearest is where a directory's settings are: the directory itself, or the nearest one above it in the same clone that has any. Outside
// of a clone nothing above is looked at: it may be anybody's.
func nearest(dir string) string {
	has := func(at, name string) bool {
		_, err := os.Lstat(filepath.Join(at, name))
		return err == nil
	}
	found := ""
	for at := dir; ; at = filepath.Dir(at) {
		if found == "" && (has(at, config.SettingsFile) || has(at, config.LocalSettingsFile)) {
			found = at
		}
		switch {
		case found == dir, found != "" && has(at, ".git"):
			return found
		case has(at, ".git"), at == filepath.Dir(at):
			return dir
		}
	}
}

// base is the prompt as it stands now.
func (p *Prompted) base() (string, error) {
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
func (p *Prompted) shop(ctx context.Context, settings config.Settings) (*workshop, error) {
	if p.Commit && settings.SCM == nil {
		settings.SCM = &config.SCM{Command: "git", Tasks: []string{"commit"}}
	}
	settings.Review = settings.Review && settings.ReviewFrom != "" // C14
	settings.Baseline = config.BaselineOff
	settings.Setup = "" // prepares a checkout; this directory is as its owner left it
	shop := &workshop{
		place: directory(p.Dir), settings: settings, parent: p.Parent, console: redacting{p.Out, p.redact}, format: p.safe(p.Format), live: p.Live,
		clock: p.Clock, log: p.log, verbose: p.verbose, redact: p.redact, logs: filepath.Join(p.Dir, ".ralph"), logsAs: ".ralph", keys: p.keys(),
		groups: p.Groups, plain: true, commits: unseen{},
	}
	if err := shop.stray(); err != nil {
		return nil, invalid.Mark(err)
	}
	if p.Verbose {
		shop.tell = p.verbose
	}
	if settings.TimeoutFrom != "" {
		shop.wall = settings.Timeout()
	}
	if settings.Iterations(config.PromptIterations) == config.Unlimited && shop.wall == 0 {
		return nil, invalid.Errorf("maximumIterations is 0, so nothing would ever stop the run; set timeoutMinutes (--timeout) with it, or a number from 1")
	}
	clone, ok := git.Beside(ctx, p.Dir, p.scmEnvironment(), p.secrets())
	if ok && !p.DryRun {
		if err := clone.KeepOut(ctx); err != nil {
			p.log("keeping ralph's own files out of commits: %v", err)
		}
		if p.killed {
			if err := clone.ClearLocks(ctx, p.log); err != nil {
				return nil, invalid.Mark(err)
			}
		}
	}
	if settings.Review && !p.DryRun {
		if err := shop.snapshots(ctx, clone, ok); err != nil {
			return nil, err
		}
	}
	if settings.SCM != nil {
		check, err := p.scm(ctx, shop, clone, ok)
		if err != nil {
			return nil, err
		}
		shop.scm = check
	}
	if err := shop.shell(); err != nil {
		return nil, err
	}
	c, _, err := shop.agents(nil)
	if err != nil {
		return nil, err
	}
	line, err := commandLine(c)
	p.verbose("Agent command: %s", line)
	return shop, err
}

// promptOpening opens a run of a prompt in a directory as it lies there.
type promptOpening struct{ *Prompted }

// keepOut implements opener.
func (o *promptOpening) keepOut(ctx context.Context, work *opened) (context.Context, error) {
	unlock, err := o.lock()
	work.later(unlock)
	return ctx, err
}

// settle implements opener: it reads the settings and the prompt, and finds the run to go on with or begins one.
func (o *promptOpening) settle(ctx context.Context, work *opened) (b beginning, err error) {
	settings, err := o.settings()
	if err != nil {
		return b, err
	}
	if work.shop, err = o.shop(ctx, settings); err != nil {
		return b, err
	}
	base, err := o.base()
	if err != nil {
		return b, err
	}
	id, title := o.name()
	before, dir, err := o.newest(id)
	if err != nil {
		return b, err
	}
	way, why, err := o.takeUp(before, dir != "", before.Start.Spec == spec(base))
	if err != nil {
		return b, err
	}
	run := newRun(o.Clock())
	switch {
	case way == loop.Nothing:
		return b, invalid.Errorf("%s", why)
	case way != loop.Begin:
		run = filepath.Base(dir)
		o.log("%s: %s", way, why)
	case o.Resume:
		o.log("%s: there is no run of this prompt to go on with", way)
	}
	leave, err := o.enlist()
	if err != nil {
		return b, err
	}
	work.later(leave)
	work.ledger = &ledger{clock: o.Clock, redact: o.redact}
	most, owner := work.shop.settings.Iterations(config.PromptIterations), fmt.Sprintf("process %d", os.Getpid())
	b = beginning{way: way, dir: o.runDir(run), book: o.forgetful}
	b.start = &loop.Start{
		Run: run, Task: id, Title: title, Spec: spec(base), Agent: filepath.Base(work.shop.settings.Agent.Command), Owner: owner,
		Checks: commandLines(work.shop.settings.Guardrails), MaxIterations: capped(most), Review: work.shop.settings.Review, Base: work.shop.base,
	}
	b.resume = &loop.Resume{Owner: owner, Retry: way == loop.Again}
	if way == loop.Again {
		b.resume.MaxIterations = most
	}
	return b, nil
}

// forgetful opens a journal whose text nobody will ask for.
func (p *Prompted) forgetful(dir string) (*journal.Journal, error) {
	book, err := p.book(dir)
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
	return strings.ToValidUTF8(base[:maxSpec], "") + "\n[... the prompt has " + fmt.Sprint(len(base)) + " bytes; it is " + short(base) + " ...]"
}

// capped is a cap as records have it: 0 is none.
func capped(most int) int {
	if most == config.Unlimited {
		return 0
	}
	return most
}

// name makes a task of a prompt: a file is the same task whatever stands in it, a text is another task when it is another text.
func (p *Prompted) name() (id, title string) {
	if p.PromptFile != "" {
		return "file-" + short(p.PromptFile), filepath.Base(p.PromptFile)
	}
	title, _, _ = strings.Cut(strings.TrimSpace(p.Prompt), "\n")
	if r := []rune(title); len(r) > 80 {
		title = string(r[:79]) + "…"
	}
	return "prompt-" + short(p.Prompt), title
}

func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}

// finish says how it ended, and writes the reports.
func (p *Prompted) finish(ctx context.Context, shop *workshop, result loop.Result) error {
	v := p.view(result.State)
	file, err := writeReports(shop.dir, shop.detail(ctx, v, nil))
	p.ending(v, result)
	p.verbose("Report: %s", file)
	return err
}

// preview says what a run would do, and does nothing (S1-149).
func (p *Prompted) preview(ctx context.Context) (loop.Result, error) {
	settings, err := p.settings()
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
func (p *Prompted) plan(shop *workshop, base string) error {
	c, _, err := shop.agents(nil)
	if err != nil {
		return err
	}
	line, err := commandLine(c)
	if err != nil {
		return err
	}
	p.log("Directory: %s", p.Dir)
	p.log("Agent: %s", line)
	if most := shop.settings.Iterations(config.PromptIterations); most == config.Unlimited {
		p.log("Iterations: as many as fit into the time")
	} else {
		p.log("Iterations: at most %d", most)
	}
	if shop.wall > 0 {
		p.log("Time: at most %s", shop.wall)
	}
	p.log("Completion: <response>%s</response>", shop.settings.CompletionResponse)
	for _, g := range shop.settings.Guardrails {
		p.log("Guardrail: %s (%s, %s, at most %s)", g.Command, g.Severity, g.FailAction, shop.settings.CheckTimeout(g))
	}
	if scm := shop.settings.SCM; scm != nil {
		p.log("Source control: %s %s", scm.Command, strings.Join(scm.Tasks, ", "))
	}
	p.log("Prompt, %s:", counted(len(base), "byte", "bytes"))
	for line := range strings.Lines(base) {
		p.log("  %s", strings.TrimRight(line, "\n"))
	}
	return nil
}
