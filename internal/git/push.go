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
	"github.com/ralph-loop/ralph/internal/regex"
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

// keepApart keeps commits that do not go on top of a branch which someone has moved.
func (t *Tree) keepApart(ctx context.Context, because error) error {
	ref, err := t.origin.hold(ctx, t.head, "")
	if ref != "" {
		t.o.log("the run's commits are kept as %s", ref)
	}
	if err != nil {
		return errors.Join(because, err)
	}
	return because
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

// offer pushes what moves says, so that the remote then has next. Should the remote have an earlier push of ours, whose
// answer got lost, it pushes once more from there.
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

// RemoteRef is a ref of the remote at a commit.
type RemoteRef struct{ Name, Commit string }

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
	for _, ref := range slices.Sorted(maps.Keys(t.keeping)) {
		moves = append(moves, move{ref: ref, to: t.keeping[ref]})
	}
	return moves
}

// pushedBoth notes that the remote has the branch and its record as they are here.
func (t *Tree) pushedBoth() {
	if t.ahead() {
		t.pushed.branch = t.head
	}
	t.pushed.record, t.deleting, t.keeping = t.record, RemoteRef{}, nil
}

// staleError is a push that the remote did not take because a ref had moved.
type staleError struct{ detail string }

func (e *staleError) Error() string { return "the remote has moved: " + e.detail }

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

// remote is an origin that is reached by its URL.
type remote struct {
	git door
	*Remote
}

func (r remote) list(ctx context.Context, patterns ...string) (remoteRefs, error) {
	return r.git.listRemote(ctx, *r.Remote, patterns...)
}

func (r remote) fetch(ctx context.Context, specs ...string) error {
	return r.git.fetch(ctx, *r.Remote, nil, specs...)
}

// hold does nothing: it has the base anyhow, and what is not pushed is gone.
func (remote) hold(context.Context, string, string) (string, error) { return "", nil }

func (remote) bring(context.Context, string, string, string) error { return nil } // Checkout did

func (remote) gone() error { return nil }

// push pushes in one step. A lease is named in full, since one on "what was fetched" means nothing where nothing was.
func (r remote) push(ctx context.Context, moves []move) error {
	options := []string{"push", "--porcelain", "--atomic", "--no-verify", "--no-follow-tags", "--recurse-submodules=no",
		"--no-signed"}
	specs := []string{"--", r.URL}
	for _, m := range moves {
		spec := m.to + ":" + m.ref
		if m.leased {
			options = append(options, "--force-with-lease="+m.ref+":"+m.from)
		} else {
			spec = "+" + spec
		}
		specs = append(specs, spec)
	}
	err := r.outlast(ctx, 0, func() error {
		_, _, err := r.git.askOnce(ctx, *r.Remote, call{args: append(options, specs...)})
		return err
	})
	var e *commandError
	if !errors.As(err, &e) {
		return err
	}
	return r.rejected(e)
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

// movedSigns are how git says that a ref is not where we thought: by itself, or through the remote when it moved in
// between.
var movedSigns = []string{"(stale info)", "(fetch first)", "(non-fast-forward)", "cannot lock ref",
	"incorrect old value", "failed to update ref", "reference already exists"}

// rejected tells why a remote did not take a push.
func (r Remote) rejected(e *commandError) error {
	said := e.Stdout + e.Stderr
	for _, sign := range movedSigns {
		if strings.Contains(said, sign) {
			return &staleError{refusal(e)}
		}
	}
	why := refusal(e)
	if why == "" || passes(e) {
		return r.explain("pushing to", e)
	}
	words := cmp.Or(remoteWords(e.Stderr), why)
	if ofContent.MatchString(why) && !notContent.MatchString(words) {
		return &ContentError{r.shown(), words}
	}
	return fmt.Errorf("%s refused the push: %s", r.shown(), safetext.OneLine(words))
}

// ofContent are git's reasons for a refusal by who looks at what is pushed: a hook of the server, its rules, or the
// permission that files of workflows need.
var ofContent = regex.Lazy(`hook declined|rule violations|refusing to allow .* workflow`)

// notContent are words of a refusal that no other content changes: what a branch may be, who may push, in whose name,
// how commits are signed, and a server that takes nothing now.
var notContent = regex.Lazy(`(?i)GH006|\bprotected (branch|ref)|verified signature|through a pull request|being restricted|` +
	`\bbranch name|\b(author|committer)('s)? e-?mail|email privacy|not (allowed|authorized|permitted) to (push|write|create)|` +
	`\b(access|permission) denied|\bis (currently )?(archived|read.only|locked|disabled|suspended|frozen|under maintenance)`)

// refusal is the reason that git gives for the first ref that was not taken.
func refusal(e *commandError) string {
	for line := range strings.Lines(e.Stdout) {
		if rest, ok := strings.CutPrefix(line, "!\t"); ok && !strings.Contains(rest, "atomic push failed") {
			_, why, _ := strings.Cut(strings.TrimSpace(rest), "\t")
			return why
		}
	}
	return ""
}

// remoteWords is all that the remote itself says of a push, a line each: "GH006: Protected branch update failed for
// refs/heads/main."
func remoteWords(stderr string) string {
	var words []string
	for line := range strings.Lines(stderr) {
		said, ok := strings.CutPrefix(line, "remote:")
		if said = strings.TrimPrefix(strings.TrimSpace(said), "error: "); ok && said != "" {
			words = append(words, said)
		}
	}
	return safetext.FirstBytes(strings.Join(words, "\n"), mostRemoteWords)
}

// mostRemoteWords bounds what a remote says of a push, in bytes.
const mostRemoteWords = 8 << 10

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
