package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Moved tells that the run's branch had moved on the remote, and that our commits are on top of that now. No check has
// seen the result.
type Moved struct {
	From, Onto string      // our tip before; the remote's tip
	Commit     loop.Commit // what our commits change there
}

// Push sends the run's branch and its record together: both arrive, or neither. A branch that someone else has moved
// is fetched, our commits are put on top of it once, and moved says so. Errors of note: *TakenError, *ConflictError,
// *ContentError, *AccessError, and those that IsAway knows. Without a remote it does nothing.
func (t *Tree) Push(ctx context.Context) (moved *Moved, err error) {
	if t.origin == nil || t.settled() {
		return nil, nil
	}
	err = t.pushBoth(ctx)
	var stale *staleError
	if err != nil && !errors.As(err, &stale) && t.arrived(ctx) {
		return nil, nil
	}
	if !errors.As(err, &stale) {
		return nil, err
	}
	if moved, err = t.rebase(ctx); err == nil && moved != nil {
		if err = t.pushBoth(ctx); errors.As(err, &stale) {
			moved, err = nil, &ConflictError{t.branch, "has moved again since"}
		}
	}
	var conflict *ConflictError
	if errors.As(err, &conflict) {
		err = t.keepApart(ctx, err)
	}
	return moved, err
}

// PushBase sends the run's branch although the run has committed nothing: its base is what it is about.
func (t *Tree) PushBase(ctx context.Context) error {
	t.whole = true
	_, err := t.Push(ctx)
	return err
}

// keepApart keeps commits that conflict with a branch which someone has moved.
func (t *Tree) keepApart(ctx context.Context, because error) error {
	ref, err := t.origin.hold(ctx, t.head, "")
	if ref != "" {
		t.o.log("the run's commits are kept as %s", ref)
	}
	return errors.Join(because, err)
}

// PushRecord sends the run record alone. On the remote the record moves only from what we know it to be, so of two
// processes that want the run one gets it; the other gets a *TakenError.
func (t *Tree) PushRecord(ctx context.Context) error {
	if t.origin == nil || t.record == t.pushed.record {
		return nil
	}
	err := t.offer(ctx, pushed{branch: t.pushed.branch, record: t.record}, func() []move {
		return append(t.deletion(), t.recordMove())
	})
	if err == nil {
		t.deleting = RemoteRef{}
	}
	if err == nil || t.record == t.pushed.record {
		t.pushed.record = t.record
		return nil
	}
	return err
}

// offer pushes what moves says, so that the remote then has next. If the remote has an earlier push of ours, whose
// answer got lost, it pushes again from there.
func (t *Tree) offer(ctx context.Context, next pushed, moves func() []move) (err error) {
	t.offered = append(t.offered, next)
	for range 2 {
		known := t.pushed
		if err = t.lost(ctx, t.pushRefs(ctx, moves()...)); err == nil {
			t.offered = nil
			return nil
		}
		if t.pushed == known {
			return err
		}
	}
	return err
}

// arrived asks the remote whether it has all of a push that seemed to fail; false also when it does not answer.
func (t *Tree) arrived(ctx context.Context) bool {
	if t.o.DryRun || t.o.Task == "" {
		return false
	}
	refs, err := t.origin.list(ctx, t.recordRef(), t.ref())
	if err != nil || refs.at[t.recordRef()] != t.record || t.ahead() && refs.at[t.ref()] != t.head {
		return false
	}
	t.pushedBoth()
	return true
}

// settled reports whether the remote has everything. A branch without commits is not pushed, but by PushBase.
func (t *Tree) settled() bool {
	return t.record == t.pushed.record && !t.ahead() && len(t.keeping) == 0
}

func (t *Tree) ahead() bool {
	return t.head != t.pushed.branch && (t.pushed.branch != "" || t.whole || t.head != t.base)
}

// DeleteWithRecord makes the next push that sends the run record delete a ref of the remote too: all of it arrives, or
// nothing. When the ref has moved meanwhile the push does nothing, and its error is a *RefMovedError. The zero
// RemoteRef takes an earlier wish back.
func (t *Tree) DeleteWithRecord(ref RemoteRef) { t.deleting = ref }

// deletion is what DeleteWithRecord adds to a push.
func (t *Tree) deletion() []move {
	if t.deleting.Commit == "" {
		return nil
	}
	return []move{{ref: t.deleting.Name, leased: true, from: t.deleting.Commit}}
}

func (t *Tree) recordMove() move {
	return move{ref: t.recordRef(), to: t.record, leased: true, from: t.pushed.record}
}

func (t *Tree) pushBoth(ctx context.Context) error {
	next := pushed{branch: t.pushed.branch, record: t.record}
	if t.ahead() {
		next.branch = t.head
	}
	err := t.offer(ctx, next, t.both)
	if errors.Is(err, errHeld) { // what else there was has moved
		t.pushed.record, t.keeping = t.record, nil
		return nil
	}
	if err == nil {
		t.pushedBoth()
	}
	return err
}

// both are the moves of a push of the branch and its record.
func (t *Tree) both() (moves []move) {
	if t.ahead() {
		moves = append(moves, move{ref: t.ref(), to: t.head, leased: true, from: t.pushed.branch})
	}
	if t.record != t.pushed.record {
		moves = append(append(moves, t.deletion()...), t.recordMove())
	}
	kept := slices.Sorted(maps.Keys(t.keeping))
	return append(moves, safetext.Map(kept, func(ref string) move { return move{ref: ref, to: t.keeping[ref]} })...)
}

// pushedBoth notes that the remote has the branch and its record as they are here.
func (t *Tree) pushedBoth() {
	if t.ahead() {
		t.pushed.branch = t.head
	}
	t.pushed.record, t.deleting, t.keeping = t.record, RemoteRef{}, nil
}

// pushRefs moves refs of the origin in one step.
func (t *Tree) pushRefs(ctx context.Context, moves ...move) error {
	if t.o.DryRun || len(moves) == 0 {
		return nil
	}
	if err := t.settle(); err != nil {
		return err
	}
	for _, m := range moves {
		if s, ok := t.leaks.redactor().First(m.ref); ok {
			return fmt.Errorf("the name of a branch would tell a secret of ralph's, %s: nothing was pushed", s.As)
		}
	}
	return t.origin.push(ctx, moves)
}

// TakeBack takes the run's newest commits back to an earlier one and leaves their files, in the index and the working
// tree: the next commit is made of them again. On a laptop a ref of the clone keeps what is taken back.
func (t *Tree) TakeBack(ctx context.Context, to string) error {
	if _, err := t.origin.hold(ctx, t.head, to); err != nil {
		return err
	}
	tree, err := t.TreeOf(ctx, to)
	if err != nil {
		return err
	}
	if err := t.setHead(to); err != nil {
		return err
	}
	t.head, t.headTree, t.indexed = to, tree, ""
	return t.handOver(ctx)
}

// lost makes of a push that came too late a *TakenError when it was the record that had moved.
func (t *Tree) lost(ctx context.Context, err error) error {
	var stale *staleError
	if !errors.As(err, &stale) || t.o.Task == "" {
		return err
	}
	ask := []string{t.recordRef(), t.ref()}
	if t.deleting.Commit != "" {
		ask = append(ask, t.deleting.Name)
	}
	refs, listErr := t.origin.list(ctx, ask...)
	if listErr != nil {
		return listErr
	}
	if ref := t.deleting; ref.Commit != "" && refs.at[ref.Name] != ref.Commit && refs.at[t.recordRef()] != t.record {
		t.deleting = RemoteRef{}
		return &RefMovedError{ref.Name}
	}
	if refs.at[t.recordRef()] == t.pushed.record {
		return err
	}
	for _, o := range t.offered {
		if o.record == refs.at[t.recordRef()] { // an earlier push of ours did arrive, and its answer got lost
			t.pushed.record = o.record
			if o.branch == refs.at[t.ref()] {
				t.pushed.branch = o.branch
			}
			if t.settled() {
				return nil
			}
			return err
		}
	}
	return &TakenError{t.o.Task}
}

// rebase puts our commits on top of where the remote's branch is now, in the working tree too. It returns nil when the
// branch has not moved after all.
func (t *Tree) rebase(ctx context.Context) (*Moved, error) {
	refs, err := t.origin.list(ctx, t.ref())
	if err != nil {
		return nil, err
	}
	onto, from := refs.at[t.ref()], t.pushed.branch
	switch {
	case onto == from:
		return nil, fmt.Errorf("%s did not take the branch %s: try again", cmp.Or(t.o.Remote.shown(), "the clone"), t.branch)
	case onto == "":
		return nil, &ConflictError{t.branch, "no longer exists there"}
	case from == "":
		from = t.base
	}
	if err := t.origin.fetch(ctx, "+"+t.ref()+":refs/ralph/onto"); err != nil {
		return nil, err
	}
	m := &Moved{From: t.head, Onto: onto}
	if err := t.replay(ctx, onto, from); err != nil {
		return nil, err
	}
	if t.sign != nil { // what is made again has lost its signature
		signed, err := t.signAbove(ctx, onto, t.ref())
		if err == nil {
			err = t.setHead(signed)
		}
		if err != nil {
			return nil, err
		}
	}
	if m.Commit, err = t.between(ctx, onto, t.ref()); err != nil {
		return nil, err
	}
	m.Commit.NoDiff = m.Commit.Tree == t.baseTree
	m.Commit.Note = fmt.Sprintf("the branch had moved to %.12s; the run's commits were put on top of that",
		onto)
	t.pushed.branch, t.head, t.headTree, t.indexed = onto, m.Commit.SHA, m.Commit.Tree, m.Commit.SHA
	t.headAt = t.head
	changed, err := t.git.out(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", m.From, t.head, "--")
	if err != nil {
		return nil, fmt.Errorf("comparing the branch before and after: %w", err)
	}
	if err := t.give(records(changed)); err != nil {
		return nil, err
	}
	return m, t.handOver(ctx)
}

// replay rebases, or leaves everything as it was.
func (t *Tree) replay(ctx context.Context, onto, from string) error {
	if err := t.settle(); err != nil {
		return err
	}
	t.indexed = ""
	_, err := t.git.out(ctx, "rebase", "-q", "--no-verify", "--no-autostash", "--no-update-refs", "--no-autosquash",
		"--no-stat", "--onto", onto, from, t.branch)
	var e *commandError
	if !errors.As(err, &e) {
		return err
	}
	if _, abort := t.git.out(context.WithoutCancel(ctx), "rebase", "--abort"); abort != nil {
		t.o.log("git: %v", abort) // it had not started
	}
	return &ConflictError{t.branch, "our commits do not apply on top of that without a conflict"}
}

// FailureBranch keeps the work of a run that was stopped by a limit: a branch of the run's own commits up to on, and one
// more that adds these files. Nothing is checked out. The bot pushes it; in a clone it is a local branch. One of the same
// name is the same run's, made again. Where another branch is in the way of the name, it has dashes for its slashes.
func (t *Tree) FailureBranch(ctx context.Context, on, name, message string, files map[string][]byte) (branch string,
	err error) {
	if err := CheckBranchName(ctx, name); err != nil {
		return "", err
	}
	refs, err := t.origin.list(ctx, inTheWay("refs/heads/"+name)...)
	if err != nil {
		return "", err
	}
	if refs.inTheWay("refs/heads/"+name) != "" {
		name = strings.ReplaceAll(name, "/", "-")
	}
	all, err := t.files(files)
	var commit string
	if err == nil {
		commit, _, err = t.commitOn(ctx, on, "", all, t.leaks.harmless(message))
	}
	if err != nil {
		return "", fmt.Errorf("making the failure branch %s: %w", name, err)
	}
	if err := t.pushRefs(ctx, move{ref: "refs/heads/" + name, to: commit}); err != nil {
		return "", fmt.Errorf("pushing the failure branch %s: %w", name, err)
	}
	return name, nil
}

// Archive moves the failure branches of the task's earlier runs from wip/… to wip/archive/…
func (t *Tree) Archive(ctx context.Context) error {
	old := "refs/heads/wip/ralph-fail-" + t.o.Task + "-"
	if t.o.Task == "" {
		return nil
	}
	refs, err := t.origin.list(ctx, old+"*")
	if err != nil {
		return err
	}
	var fetch []string
	var push []move
	for ref, commit := range refs.at {
		if to, ok := archived(ref, old); ok {
			fetch = append(fetch, "+"+ref+":"+to)
			push = append(push, move{ref: to, to: commit}, move{ref: ref, leased: true, from: commit})
		}
	}
	if len(push) == 0 {
		return nil
	}
	if err := t.origin.fetch(ctx, fetch...); err != nil {
		return err
	}
	if err := t.pushRefs(ctx, push...); err != nil {
		return fmt.Errorf("archiving old failure branches: %w", err)
	}
	return nil
}

// archived is where a failure branch goes; ok is false for the branch of another task whose name begins with ours
// ("issue-4-2").
func archived(ref, old string) (to string, ok bool) {
	stamp, ok := strings.CutPrefix(ref, old)
	if !ok || len(stamp) != len("20060102-150405") || strings.Trim(stamp, "0123456789-") != "" {
		return "", false
	}
	return "refs/heads/wip/archive/" + strings.TrimPrefix(ref, "refs/heads/wip/"), true
}

// TakenError says that another process holds the run: its lease reached the remote first.
type TakenError struct{ Task string }

func (e *TakenError) Error() string {
	return fmt.Sprintf("%s is already running: another process has just taken it", e.Task)
}

// ConflictError says that the run's branch moved on the remote and our commits conflict with it.
type ConflictError struct{ Branch, Why string }

func (e *ConflictError) Error() string {
	return fmt.Sprintf("the branch %s was changed by someone else during the run, and %s; resolve this by hand, then retry", e.Branch, e.Why)
}

// SaveRecord makes the next commit of the run record, refs/ralph/runs/<task>: these files and no others. It stays here
// until it is pushed.
func (t *Tree) SaveRecord(ctx context.Context, files map[string][]byte, message string) (commit string, err error) {
	if t.o.Task == "" {
		return "", errors.New("saving the run record: the run has no task")
	}
	c := newCommit{message: message}
	if t.record != "" {
		c.parents = []string{t.record}
	}
	if commit, err = t.only(ctx, files, c); err != nil {
		return "", fmt.Errorf("saving the run record of %s: %w", t.o.Task, err)
	}
	t.record = commit
	return commit, nil
}

// LoadRecord reads the run record as it was when the tree was opened, or as it was saved since; ok is false without
// one.
func (t *Tree) LoadRecord(ctx context.Context) (r RunRecord, ok bool, err error) {
	if t.record == "" {
		return RunRecord{}, false, nil
	}
	r = RunRecord{Task: t.o.Task, SHA: t.record}
	if r.Files, err = t.allFiles(ctx, t.record); err != nil {
		return r, false, fmt.Errorf("reading the run record of %s: %w", t.o.Task, err)
	}
	return r, true, nil
}

// KeepRecord makes the run record the next commit of the origin's refs/ralph/runs/<task>. It names the ref.
func (t *Tree) KeepRecord(ctx context.Context, files map[string][]byte, message string) (ref string, err error) {
	if _, err = t.SaveRecord(ctx, files, message); err != nil {
		return "", err
	}
	return t.recordRef(), t.PushRecord(ctx)
}
