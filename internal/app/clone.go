package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

// open opens the clone, finds the run or begins one, and holds it.
func (l *Local) open(ctx context.Context, from given, t task.Task) (work *opened, err error) {
	work = &opened{}
	defer func() {
		if err != nil {
			work.close()
		}
	}()
	before, dir, err := l.newest(t.ID)
	if err != nil {
		return work, err
	}
	if err := l.complete(before, dir != "", from.settings.Review); err != nil {
		return work, err
	}
	way, why, err := l.takeUp(before, dir != "", l.Plan != "" || sameWish(before, from.settings, t, l.Criteria))
	if err != nil {
		return work, err
	}
	if way == loop.Nothing {
		return work, invalid("%s", why)
	}
	branch, fresh := "ralph/"+t.ID, way == loop.Begin && (dir != "" || l.Fresh)
	if l.Plan != "" { // what was approved stays approved: another run goes on where the plan stands
		branch, fresh = l.source.plan.BranchName, way == loop.Begin && l.Fresh
	}
	tree, err := git.Open(ctx, l.Dir, git.Options{
		Env: l.Parent, Identity: git.Identity{Name: "ralph", Email: "ralph@localhost"}, Task: t.ID, Join: l.Plan != "", Own: l.source.own(way != loop.Begin && !before.Settled()),
		Fresh: fresh, Resume: way != loop.Begin, Settled: before.Settled(), Log: l.log, Secrets: l.secrets(),
	}, branch, l.after)
	if err != nil {
		return work, &invalidError{err}
	}
	work.cleanup = append(work.cleanup, func() { _ = tree.Close() })
	if way == loop.Begin && dir != "" && (fresh || l.Plan == "") {
		if err := tree.Archive(ctx); err != nil {
			l.log("archiving old failure branches: %v", err)
		}
	}
	settings := from.settings
	settings.Guardrails = slices.Clone(settings.Guardrails) // guard adds to them
	shop := &workshop{
		wall: settings.Timeout(), settings: settings, parent: l.Parent, host: "localhost", console: redacting{l.Out, l.redact}, clock: l.Clock, log: l.log, redact: l.redact,
		format: l.safe(l.Format), live: l.Live, groups: l.Groups, verbose: l.verbose,
		logs: filepath.Join(l.Dir, ".ralph"), keys: l.keys(),
	}
	shop.ground(tree)
	if err := l.aim(ctx, shop, t); err != nil {
		return work, err
	}
	if _, _, err := shop.agents(nil); err != nil {
		return work, err
	}
	if !l.locked {
		unlock, err := journal.Lock(l.Dir)
		if err != nil {
			return work, err
		}
		work.cleanup = append(work.cleanup, unlock)
	}
	l.log("%s: %s", way, why)
	work.shop, work.words = shop, shop.wordsFrom(ctx, from.prompts, t.Comments)
	if shop.plan != nil {
		work.cleanup = append(work.cleanup, shop.plan.active.remove)
	}
	return work, l.hold(ctx, work, way, dir, t)
}

// aim settles what judges the run, and what "done" means for it.
func (l *Local) aim(ctx context.Context, shop *workshop, t task.Task) error {
	shop.brings = l.source.plan.VerifyCommands
	if err := shop.guard(ctx, shop.tree.Base()); err != nil {
		return err
	}
	if l.Plan != "" {
		return shop.usePlan(l.source)
	}
	return shop.settle(t, l.Criteria, l.trusted(t))
}

// hold records the beginning and puts the worktree where the run stands.
func (l *Local) hold(ctx context.Context, work *opened, way loop.Way, dir string, t task.Task) error {
	shop := work.shop
	run := newRun(l.Clock())
	if way != loop.Begin {
		run = filepath.Base(dir)
	}
	shop.dir = filepath.Join(l.Dir, ".ralph", "runs", run)
	book, err := l.book(shop.dir)
	if err != nil {
		return err
	}
	work.cleanup = append(work.cleanup, func() { _ = book.Close() })
	leave, err := l.enlist()
	if err != nil {
		return err
	}
	work.cleanup = append(work.cleanup, leave)
	work.ledger = &ledger{journal: book, tree: shop.tree, clock: l.Clock, watch: l.watch, redact: l.redact, stored: l.stored}
	record := loop.Record{Type: loop.Started, At: l.Clock(), Start: shop.start(run, t)}
	if way == loop.Begin {
		record.Start.Owner = fmt.Sprintf("process %d", os.Getpid())
	} else {
		if err := shop.tree.UseBase(ctx, book.State().Start.Base); err != nil {
			return &invalidError{err}
		}
		record = loop.Record{Type: loop.Resumed, At: l.Clock(), Resume: &loop.Resume{
			Owner: fmt.Sprintf("process %d", os.Getpid()), Retry: way == loop.Again,
		}}
		if way == loop.Again {
			record.Resume.MaxIterations = shop.goal.most
		}
	}
	if err := shop.tree.Start(ctx); err != nil {
		return &invalidError{err}
	}
	if shop.plan != nil {
		return shop.plan.begin(ctx, work.ledger, record)
	}
	_, err = work.ledger.Append(ctx, record)
	return err
}
