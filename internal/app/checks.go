package app

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// checks lists everything that can say no, in the order in which it is asked. A run of a prompt asks its guardrails first, and knows no
// diff (S1-80, C25).
func (w *workshop) checks(reviewer *agent.Options, words wording) check.List {
	claim := check.Claim{Completion: w.settings.CompletionResponse, Last: w.plain}
	list := []check.Check{check.Turn{}}
	if !w.plain {
		list = append(list, claim, check.Diff{})
	}
	logs := map[string]bool{}
	for _, g := range w.settings.Guardrails {
		list = append(list, &check.Command{
			Title: g.Name, Line: g.Command, Hard: g.Severity != config.Soft, FailAction: loop.FailAction(g.FailAction), Hint: g.Hint,
			Timeout: w.settings.CheckTimeout(g), TruncateChars: w.settings.OutputTruncateChars, TruncateFrom: w.settings.OutputTruncateFrom,
			Dir: w.place.Dir(), Env: w.environment(), As: w.as, LogDir: w.logs, LogAs: w.logsAs, LogNth: nth(check.Slug(g.Command), logs), Console: w.console, Redact: w.redact,
		})
	}
	if w.scm != nil {
		list = append(list, w.scm)
	}
	if w.plain {
		list = append(list, claim)
	}
	if reviewer != nil {
		list = append(list, w.review(*reviewer, words))
	}
	log := w.log
	if w.tell != nil {
		log = w.tell
	}
	return check.List{Checks: list, Tree: w.place, Clock: w.clock, Log: log}
}

// nth is the number by which a check's log gets a name that no check before it has: two commands may have one slug, and "make test" twice
// is not to write where "make test 2" does.
func nth(slug string, taken map[string]bool) int {
	for n, name := 1, slug; ; name = fmt.Sprintf("%s_%d", slug, n) {
		if !taken[name] {
			taken[name] = true
			return n
		}
		n++
	}
}

// shell finds out that no guardrail could run, before anything is spent.
func (w *workshop) shell() error {
	shell := check.Shell(runtime.GOOS)[0]
	if _, err := proc.LookPath(shell, w.environment()); err != nil && len(w.settings.Guardrails) > 0 {
		return invalid("guardrails are run by the shell %s, which is not on PATH: put it there", shell)
	}
	return nil
}

// environment is what checks and the setup get: no token, no key.
func (w *workshop) environment() []string {
	extra := w.place.Env()
	if w.home != "" {
		extra = append(extra, "HOME="+w.home)
	}
	return proc.Environment(w.parent, slices.Concat(proc.Allowed, w.settings.Environment), extra...)
}

// maxDiff bounds the diff in a reviewer's prompt; the reviewer can read the rest in its checkout.
const maxDiff = 200 << 10

func (w *workshop) review(reviewer agent.Options, words wording) *check.Review {
	return &check.Review{
		Checkout: w.copies.checkout,
		Prompt: func(ctx context.Context, s loop.State) (string, error) {
			c := s.Last().Commit
			diff, err := w.copies.diff(ctx, s.Start.Base, c.SHA, maxDiff)
			if err != nil {
				return "", fmt.Errorf("making the reviewer's diff: %w", err)
			}
			return words.Review(s, c.Tree, diff)
		},
		Ask: func(ctx context.Context, c check.Checkout, asked string) (loop.Turn, error) {
			o := reviewer
			o.Dir, o.Extra = c.Dir(), c.Env()
			o.LogFile = filepath.Join(w.dir, "reviewer.log")
			return takeTurn(ctx, o, asked)
		},
	}
}
