package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/lease"
	"github.com/ralph-loop/ralph/internal/loop"
)

// Journal is the journal of a run as the loop sees it: a commit is pushed together with the run record before its
// record counts, and the views hear of every record.
type Journal struct {
	File  *journal.Journal
	Tree  *git.Tree
	Clock func() time.Time
	// pulse keeps the run on the remote; nil: nothing does. On the CLI a lock file keeps others out.
	Heartbeat *lease.Heartbeat
	// last makes the push of the outcome give the lease back; see hurry.
	last bool
	// Remote says that the run record is pushed with the commits.
	Remote bool
	// token is the credential to push with now; an App's is renewed every hour. nil: the tree's own.
	Token func(context.Context) (string, error)
	// watch hears of a record after it is stored and says what it published, if anything. It cannot stop the run.
	Watch func(ctx context.Context, r loop.Record, s loop.State) *loop.Post
	// redact takes secrets out of everything that is recorded.
	Redact func(string) string
	// Log says that the remote is away.
	Log   func(format string, args ...any)
	saved int // how many records the run record on the remote holds
	// refused is the newest commit, as it was made, that the remote does not take for what it holds.
	refused loop.Commit
	// stored hears of a record the moment it is stored; tests kill the process there.
	Stored func(loop.Record)
}

// State is what the records add up to.
func (l *Journal) State() loop.State { return atWork(l.File.State()) }

// atWork is the state of a run that this process works on: no one has to guess whether it is alive by what older
// records say of leases.
func atWork(s loop.State) loop.State {
	s.Lease = time.Time{}
	return s
}

// Lost is a *lease.LostError when someone else has the run, else nil. Then nothing more may be pushed or published.
func (l *Journal) Lost() error { return l.Heartbeat.Lost() }

// Append implements loop.Journal. What must never be lost, a commit and an outcome, is on the remote before it is in
// the journal here, so that readers of the record can rely on it. A commit that the remote did not take is recorded as
// that, and counts for nothing. When someone else has the run, it is in the journal here alone, and no one hears of it.
func (l *Journal) Append(ctx context.Context, r loop.Record) (loop.State, error) {
	r = redacted(r, l.Redact)
	var failed error
	if l.Tree != nil && (r.Commit != nil || r.Type == loop.Ended || r.Type == loop.WentBack) {
		if r, failed = l.push(ctx, r); failed != nil {
			r, failed = l.takeBack(ctx, r, failed)
		} else if r.Commit != nil {
			l.refused = loop.Commit{}
		}
		if failed != nil && r.Commit == nil {
			return l.State(), failed
		}
		if failed != nil {
			commit := *r.Commit
			commit.Refused = failed.Error()
			r.Commit = &commit
		}
	}
	if _, err := l.Store(r); err != nil || failed != nil {
		return l.State(), errors.Join(failed, err)
	}
	// a sweep that looks for dead runs must see that this one only waits, or what happened to its turn
	if r.Type == loop.Paused || r.Type == loop.Warned || r.Commit != nil && r.Commit.Declined != "" {
		if err := l.share(ctx); err != nil {
			return l.State(), err
		}
	}
	if l.Watch == nil || l.Lost() != nil {
		return l.State(), l.Lost()
	}
	post := l.Watch(ctx, r, l.State())
	if post == nil {
		return l.State(), nil
	}
	return l.Posted(ctx, post)
}

// Posted records what was published. A pull request is in the record on the remote as soon as it exists, so that a
// stop, a close or a request there finds this run. If that push fails, the next one has it.
func (l *Journal) Posted(ctx context.Context, post *loop.Post) (loop.State, error) {
	s, err := l.Store(loop.Record{Type: loop.Posted, At: l.Clock(), Post: post})
	if err == nil && post.Pull != 0 {
		_ = l.share(ctx)
		err = l.Lost()
	}
	return s, err
}

// takeBack makes of a commit that the remote does not take for what it holds one that the next turn makes again: its
// files stay in the working tree, and its iteration gets the remote's words. Every other error stays one.
func (l *Journal) takeBack(ctx context.Context, r loop.Record, why error) (loop.Record, error) {
	content, ok := errors.AsType[*git.ContentError](why)
	if r.Type != loop.Committed || !ok {
		return r, why
	}
	commit := *r.Commit
	commit.Declined = content.Words
	l.refused = commit
	commit.SHA, commit.Plan = "", nil
	r.Commit = &commit
	return r, l.Tree.TakeBack(ctx, l.State().Head())
}

// declined is what is known not to be taken of a commit without pushing it: it holds a file that is too large, or the
// very files that the remote has refused before. Nothing is pushed twice unchanged, but where the message is at fault.
func (l *Journal) declined(c *loop.Commit) string {
	switch {
	case c == nil:
		return ""
	case c.Declined == "" && c.Tree == l.refused.Tree && !strings.Contains(strings.ToLower(l.refused.Declined), "message"):
		return l.refused.Declined
	}
	return c.Declined
}

// endUnpushed records an outcome of a run whose commits, or whose outcome, the remote did not take: the record goes
// alone, so that no sweep resumes the run. The error is that of the remote if it rejects that, too.
func (l *Journal) endUnpushed(ctx context.Context, end *loop.End) error {
	_, err := l.Store(redacted(loop.Record{Type: loop.Ended, At: l.Clock(), End: end}, l.Redact))
	if err != nil || !l.Remote || l.Lost() != nil {
		return err
	}
	return l.share(ctx)
}

func (l *Journal) Store(r loop.Record) (loop.State, error) {
	if l.Tree == nil && r.Type == loop.TurnBegun {
		l.File.SyncSoon(turnBegins) // what came before the turn, while the agent is running
	}
	s, err := l.File.Append(r)
	if err == nil && l.Stored != nil {
		l.Stored(r)
	}
	if err == nil {
		err = l.sync(r)
	}
	return atWork(s), err
}

// turnBegins is how long an agent's process takes to begin, at most: until then a sync would only be in its way.
const turnBegins = 20 * time.Millisecond

// sync puts what is recorded on the disk before a commit, a push or a call to GitHub relies on it. Only the agent
// relies on the beginning of a turn, unless it is published. A run of a prompt has no tree: it waits for no disk.
func (l *Journal) sync(r loop.Record) error {
	switch {
	case l.Tree == nil && r.Type == loop.Ended:
		l.File.SyncSoon(0)
	case l.Tree != nil && (l.Remote || r.Type != loop.TurnBegun):
		return l.File.Sync()
	}
	return nil
}

// push pushes the branch with a run record that holds r already, and returns r as it is then true. When someone else
// pushed to the branch meanwhile, our commits were put on top of theirs: that is another commit, and it is pushed in
// its turn.
func (l *Journal) push(ctx context.Context, r loop.Record) (loop.Record, error) {
	if words := l.declined(r.Commit); words != "" {
		return r, &git.ContentError{Words: words}
	}
	if err := l.ready(ctx); err != nil {
		return r, err
	}
	for range 2 {
		if l.Remote {
			if err := l.save(ctx, r); err != nil {
				return r, err
			}
		}
		var moved *git.Moved
		err := l.send(ctx, l.last && r.Type == loop.Ended, func() (err error) {
			moved, err = l.Tree.Push(ctx)
			return err
		})
		if err != nil {
			return r, fmt.Errorf("pushing %s: %w", l.Tree.Branch(), err)
		}
		switch {
		case moved != nil && r.Type == loop.WentBack:
			return r, fmt.Errorf("%s has moved to %.12s on the remote; ask again to resume from there", l.Tree.Branch(), moved.Onto)
		case moved == nil:
			l.saved = l.State().Records + 1
			return r, nil
		}
		if r.Commit == nil {
			continue // what was judged is not what would be pushed: the caller's error
		}
		commit := moved.Commit
		commit.Note = fmt.Sprintf(
			"the branch had moved to %.12s; the run's commits were put on top of it", moved.Onto,
		)
		commit.Onto = moved.Onto
		r.Commit = &commit
	}
	return r, fmt.Errorf(
		"pushing %s: it keeps moving during the run; ask again when no one else pushes to it", l.Tree.Branch(),
	)
}

// ready says whether anything may be pushed, with the credential of now.
func (l *Journal) ready(ctx context.Context) error {
	if err := l.Lost(); err != nil || l.Token == nil {
		return err
	}
	token, err := l.Token(ctx)
	if err == nil {
		l.Tree.Renew(token)
	}
	return err
}

// save makes the run record hold the journal, and the record that comes next when there is one.
func (l *Journal) save(ctx context.Context, next ...loop.Record) error {
	text, s := l.File.Bytes(), l.State()
	if len(next) > 0 {
		var err error
		if text, err = l.File.BytesWith(next[0]); err != nil {
			return err
		}
		s = s.With(next[0])
	}
	message := fmt.Sprintf("ralph: %s, run %s, record %d", s.Start.Task, s.Start.Run, s.Records)
	if _, err := l.Tree.SaveRecord(ctx, map[string][]byte{journal.File: text}, message); err != nil {
		return fmt.Errorf("saving the run record: %w", err)
	}
	return nil
}

// share pushes the run record, if it lacks something.
func (l *Journal) share(ctx context.Context) error {
	if !l.Remote || l.State().Records == l.saved {
		return nil
	}
	return l.pushRecord(ctx, false)
}

// pushRecord pushes the run record as the journal stands now, and with the record that comes next when there is one.
func (l *Journal) pushRecord(ctx context.Context, last bool, next ...loop.Record) error {
	if err := l.ready(ctx); err != nil {
		return err
	}
	if err := l.save(ctx, next...); err != nil {
		return err
	}
	records := l.State().Records + len(next)
	err := l.send(ctx, last, func() error { return l.Tree.PushRecord(ctx) })
	if err == nil {
		l.saved = records
	}
	return err
}

// Claim records the beginning. It reaches the remote first, in one compare-and-swap: should someone have the run in
// spite of its lease, nothing begins.
func (l *Journal) Claim(ctx context.Context, r loop.Record) error {
	r = redacted(r, l.Redact)
	if l.Remote {
		if err := l.pushRecord(ctx, false, r); err != nil {
			return err
		}
	}
	_, err := l.Store(r)
	return err
}

// Finish pushes what the run record on the remote still lacks and gives the lease back: in one step when there is
// something to push.
func (l *Journal) Finish(ctx context.Context) error {
	if l.Heartbeat == nil || l.Heartbeat.Given() {
		return l.share(ctx)
	}
	if err := l.Lost(); err != nil {
		return err
	}
	if l.Remote && l.State().Records != l.saved {
		err := l.pushRecord(ctx, true)
		if err == nil || l.Lost() != nil {
			return err
		}
		return errors.Join(err, l.Heartbeat.Release(ctx))
	}
	return l.Heartbeat.Release(ctx)
}

// EndWithNextPush makes the push of the outcome the last one: a job that was canceled may have no time for another.
func (l *Journal) EndWithNextPush() { l.last = true }

// send pushes. The last push gives the lease back in the same step, so that the run is never without a holder and
// without an outcome. When the record turns out to be someone else's, the error says whose.
func (l *Journal) send(ctx context.Context, last bool, push func() error) error {
	if last && l.Heartbeat != nil && !l.Heartbeat.Given() {
		return l.sendLast(ctx, push)
	}
	again := false
	err := git.Outlast(ctx, l.Log, func() error {
		if again && l.Heartbeat != nil { // another run may have taken it meanwhile
			if err := l.Heartbeat.Look(ctx); err != nil {
				return err
			}
		}
		again = true
		return push()
	})
	if _, taken := errors.AsType[*git.TakenError](err); taken && l.Heartbeat != nil {
		if lost, ok := errors.AsType[*lease.LostError](l.Heartbeat.Look(ctx)); ok {
			return lost
		}
	}
	return err
}

// sendLast gives the lease back with a push. One that moves under it, as someone asks the run to stop, is examined
// again.
func (l *Journal) sendLast(ctx context.Context, push func() error) (err error) {
	l.Heartbeat.StopRenewing()
	defer l.Tree.DeleteWithRecord(git.RemoteRef{})
	for range 3 {
		held, lost := l.Heartbeat.Lease()
		if lost != nil {
			return lost
		}
		l.Tree.DeleteWithRecord(held.Ref())
		err = git.Outlast(ctx, l.Log, push)
		if err == nil {
			l.Heartbeat.MarkReleased()
		}
		if _, moved := errors.AsType[*git.RefMovedError](err); !moved {
			return err
		}
		if err := l.Heartbeat.Look(ctx); err != nil {
			return err
		}
	}
	return err
}
