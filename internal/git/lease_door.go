package git

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
)

// leaseTries is how often a lease that moves under a push is looked at again.
const leaseTries = 8

// Leases is one process's way to the leases of a remote, with a small repository of its own, so that a run can be kept while the run's
// tree is at work. It is safe for use by several goroutines at once. Whoever took a lease through it is its holder.
type Leases struct {
	mu    sync.Mutex
	t     *Tree // only for its git, its remote and how that answers
	key   string
	clock func() time.Time
	// remove removes the repository.
	remove func()
}

// OpenLeases makes the repository below o.Root, or in a temporary directory when that is "". Nobody but us may look into it. Of the
// options Root, Remote, Env, Log and DryRun count; a dry run changes nothing on the remote.
func OpenLeases(ctx context.Context, o Options, clock func() time.Time) (*Leases, error) {
	dir, remove, err := proc.TempDir(o.Root)
	if err != nil {
		return nil, fmt.Errorf("making a place for the run's lease: %w", err)
	}
	l := &Leases{t: bare(o, dir), key: rand.Text(), clock: clock, remove: remove}
	if err := errors.Join(l.t.layOut(ctx), os.Chmod(dir, 0o700)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// bare is a repository of ours without anybody's work in it.
func bare(o Options, dir string) *Tree {
	o.Root, o.Identity, o.As = dir, Identity{"ralph", "ralph@localhost"}, nil
	return &Tree{o: o, bot: true, work: dir + "/work", dir: dir + "/repo.git", index: dir + "/index", state: dir}
}

// Close removes the repository. It gives no lease back.
func (l *Leases) Close() error {
	l.remove()
	return nil
}

// Renew gives another token for the remote, when the one before is about to expire.
func (l *Leases) Renew(token string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.t.Renew(token)
}

// Take takes the lease of want.Task until LeaseTime from now, when nobody holds it, when it is over or when it is ours. Otherwise the
// error is a *HeldError. Of want count Task, Run, Owner and RunURL. A dry run only looks.
func (l *Leases) Take(ctx context.Context, want Lease) (Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for range leaseTries {
		now, err := l.at(ctx, want.Task, Lease{})
		if err != nil {
			return Lease{}, fmt.Errorf("looking whether somebody works on %s: %w", want.Task, err)
		}
		if now.key != l.key && now.Alive(l.clock()) {
			return Lease{}, &HeldError{now}
		}
		next := Lease{Task: want.Task, Run: want.Run, Owner: want.Owner, RunURL: want.RunURL, Taken: l.clock(), key: l.key}
		if now.key == l.key {
			next.Taken, next.Stop = now.Taken, now.Stop
		}
		next.Until = l.clock().Add(LeaseTime)
		if l.t.o.DryRun {
			return next, nil
		}
		next, moved, err := l.put(ctx, now, next)
		if err != nil {
			return Lease{}, fmt.Errorf("taking the lease of %s: %w", want.Task, err)
		}
		if !moved {
			return next, nil
		}
	}
	return Lease{}, fmt.Errorf("taking the lease of %s: others keep taking and leaving it; ask again in a moment", want.Task)
}

// Extend makes a lease of ours end LeaseTime from now, with a run that may have got its name. What came back is the newest of it: with a
// Stop when somebody asked for one. The error is a *LostError when it is not ours any more.
func (l *Leases) Extend(ctx context.Context, held Lease) (Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for range leaseTries {
		next := held
		next.Until = l.clock().Add(LeaseTime)
		next, moved, err := l.put(ctx, held, next)
		if err != nil {
			return held, fmt.Errorf("renewing the lease of %s: %w", held.Task, err)
		}
		if !moved {
			return next, nil
		}
		if held, err = l.still(ctx, held); err != nil {
			return held, err
		}
	}
	return held, fmt.Errorf("renewing the lease of %s: it keeps moving", held.Task)
}

// Look reads a lease of ours again. It is cheap when it has not moved: one question about one ref. The error is a *LostError when it is
// not ours any more.
func (l *Leases) Look(ctx context.Context, held Lease) (Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.still(ctx, held)
}

// At reads the lease of a task; ok is false when there is none. Whether it still counts, Alive says.
func (l *Leases) At(ctx context.Context, task string) (found Lease, ok bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, err = l.at(ctx, task, Lease{})
	return found, found.sha != "", err
}

// AskStop asks whoever holds a task's run to stop. heard is false when nobody does, and then nothing was written; of is the lease that
// carries the wish. Somebody's earlier wish stays as it is.
func (l *Leases) AskStop(ctx context.Context, task string, wish Stop) (heard bool, of Lease, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for range leaseTries {
		now, err := l.at(ctx, task, Lease{})
		switch {
		case err != nil:
			return false, now, fmt.Errorf("asking the run of %s to stop: %w", task, err)
		case !now.Alive(l.clock()):
			return false, now, nil
		case now.Unreadable != "":
			return false, now, fmt.Errorf("asking the run of %s to stop: its lease cannot be read (%s); cancel the workflow run instead", task, now.Unreadable)
		case now.Stop != nil || l.t.o.DryRun:
			return true, now, nil
		}
		next := now
		next.Stop = &wish
		next, moved, err := l.put(ctx, now, next)
		if err != nil {
			return false, now, fmt.Errorf("asking the run of %s to stop: %w", task, err)
		}
		if !moved {
			return true, next, nil
		}
	}
	return false, Lease{}, fmt.Errorf("asking the run of %s to stop: its lease keeps moving; ask again in a moment", task)
}

// Release gives a lease of ours back. One that is gone already is no error; one that somebody else has now stays, and the error is a
// *LostError.
func (l *Leases) Release(ctx context.Context, held Lease) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for range leaseTries {
		err := l.t.pushRefs(ctx, lease(leaseRef(held.Task), held.sha), ":"+leaseRef(held.Task))
		var stale *staleError
		if err == nil || held.sha == "" {
			return nil
		}
		if !errors.As(err, &stale) {
			return fmt.Errorf("giving back the lease of %s: %w", held.Task, err)
		}
		var lost *LostError
		if held, err = l.still(ctx, held); errors.As(err, &lost) && lost.Now.Task == "" {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return fmt.Errorf("giving back the lease of %s: it keeps moving; it ends by itself at %s", held.Task, held.Ends().UTC().Format("15:04 UTC"))
}

// still is a lease of ours as it is now.
func (l *Leases) still(ctx context.Context, held Lease) (Lease, error) {
	now, err := l.at(ctx, held.Task, held)
	switch {
	case err != nil:
		return held, fmt.Errorf("looking at the lease of %s: %w", held.Task, err)
	case now.key == l.key:
		if held.Run != "" { // which the holder may have learnt since
			now.Run = held.Run
		}
		return now, nil
	}
	return held, &LostError{held.Task, now}
}

// at reads a lease from the remote; the zero Lease when there is none. A lease at the commit of known is known. One fetch of one ref does
// it: a listing would bring every ref of the remote.
func (l *Leases) at(ctx context.Context, task string, known Lease) (Lease, error) {
	l.unlock()
	ref := leaseRef(task)
	err := l.t.git.fetch(ctx, l.t.o.Remote, nil, "+"+ref+":"+ref)
	var e *commandError
	if errors.As(err, &e) && strings.Contains(e.Stderr, "couldn't find remote ref") {
		return Lease{}, nil
	}
	if err != nil {
		return Lease{}, err
	}
	sha, err := l.t.git.out(ctx, "rev-parse", "--verify", "-q", ref)
	if err != nil {
		return Lease{}, err
	}
	if sha = strings.TrimSpace(sha); sha == known.sha {
		return known, nil
	}
	all, err := l.t.git.leases(ctx, map[string]string{task: sha}, l.clock())
	return all[task], err
}

// put moves a lease on the remote from one commit to the next, which it makes. moved says that the lease was not at from any more.
func (l *Leases) put(ctx context.Context, from, next Lease) (put Lease, moved bool, err error) {
	if next.sha, err = l.write(ctx, next); err != nil {
		return from, false, err
	}
	ref := leaseRef(next.Task)
	err = l.t.pushRefs(ctx, lease(ref, from.sha), next.sha+":"+ref)
	var stale *staleError
	if errors.As(err, &stale) {
		return from, true, nil
	}
	return next, false, err
}

// write makes the commit of a lease: without a parent, so that nothing grows.
func (l *Leases) write(ctx context.Context, next Lease) (commit string, err error) {
	l.unlock()
	text, err := next.text()
	if err != nil {
		return "", err
	}
	var in bytes.Buffer
	fmt.Fprintf(&in, "feature done\ncommit refs/ralph/made\nmark :1\ncommitter ralph <ralph@localhost> %d +0000\n", l.clock().Unix())
	data(&in, []byte("ralph: "+next.Task+" is held\n"))
	fmt.Fprintf(&in, "deleteall\nM 100644 inline %s\n", leaseFile)
	data(&in, text)
	in.WriteString("\nget-mark :1\ndone\n")
	out, _, err := l.t.git.run(ctx, call{args: []string{"fast-import", "--quiet", "--force"}, in: &in})
	if err != nil {
		return "", fmt.Errorf("writing the lease down: %w", err)
	}
	return strings.TrimSpace(out), nil
}

// unlock removes the locks that a git left when it was killed, as one is whose remote was too slow. Nobody else uses the repository.
func (l *Leases) unlock() { removeLocks(l.t.dir) }
