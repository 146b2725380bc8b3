package lease

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// tries is how often a lease that moves under a push is examined again.
const tries = 8

// Client is one process's way to the leases of a remote. It is safe for use by several goroutines at once. The process
// that took a lease through it is its holder.
type Client struct {
	mu     sync.Mutex
	store  *git.RefStore
	key    string
	job    string        // begins the keys of all processes of one job, which take the lease over from each other; can be empty
	lasts  time.Duration // how long a lease does
	clock  func() time.Time
	dryRun bool
}

// Open makes a small repository below o.Root, or in a temporary directory when that is "". It uses the options Root,
// Remote, Env, Log and DryRun; a dry run changes nothing on the remote.
func Open(ctx context.Context, o git.Options, clock func() time.Time) (*Client, error) {
	store, err := git.OpenRefStore(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("making a place for the run's lease: %w", err)
	}
	return &Client{store: store, key: rand.Text(), lasts: Time, clock: clock, dryRun: o.DryRun}, nil
}

// OfJob makes the process one of a job of a server, which starts the processes of a job one after the other: the newest
// takes the lease immediately from an earlier one. Its leases last longTime. It comes before Take.
func (c *Client) OfJob(job string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum := sha256.Sum256([]byte(job))
	c.job, c.lasts = hex.EncodeToString(sum[:16])+".", longTime
	c.key = c.job + rand.Text()
}

// succeeds reports whether a lease is that of an earlier process of the same job.
func (c *Client) succeeds(l Lease) bool { return c.job != "" && strings.HasPrefix(l.key, c.job) }

// Close removes the repository. It gives no lease back.
func (c *Client) Close() { c.store.Close() }

// Renew gives another token for the remote, when the one before is about to expire.
func (c *Client) Renew(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.store.Renew(token)
}

// Take takes the lease of want.Task until Time from now, or longTime for a job, when no one holds it, when it is over or
// when it is ours.
// Otherwise the error is a *HeldError. Of want count Task, Run, Owner and RunURL. A dry run only looks.
func (c *Client) Take(ctx context.Context, want Lease) (Lease, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	read := c.reader(want.Task)
	now, err := read(ctx, Lease{})
	if err != nil {
		return now, err
	}
	return c.change(ctx, want.Task, "taking the lease of", now, read, func(now Lease) (Lease, bool, error) {
		own := now.key == c.key || c.succeeds(now)
		if !own && now.Alive(c.clock()) {
			return now, false, &HeldError{now}
		}
		next := Lease{Task: want.Task, Run: want.Run, Owner: want.Owner, RunURL: want.RunURL, Taken: c.clock(), key: c.key}
		if own {
			next.Taken, next.Stop = now.Taken, now.Stop
		}
		next.Until = c.clock().Add(c.lasts)
		return next, true, nil
	})
}

// Extend makes a lease of ours end so long from now, with a run that may have got its name. What came back is the
// newest of it: with a Stop when someone asked for one. The error is a *LostError when it is no longer ours.
func (c *Client) Extend(ctx context.Context, held Lease) (Lease, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.change(ctx, held.Task, "renewing the lease of", held, c.refresh, func(now Lease) (Lease, bool, error) {
		now.Until = c.clock().Add(c.lasts)
		return now, true, nil
	})
}

// Look reads a lease of ours again. It is cheap when it has not moved: one question about one ref. The error is a
// *LostError when it is no longer ours.
func (c *Client) Look(ctx context.Context, held Lease) (Lease, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refresh(ctx, held)
}

// AskStop asks the holder of a task's run to stop. heard is false when no one does, and then nothing was written.
// Someone's earlier wish stays as it is.
func (c *Client) AskStop(ctx context.Context, task string, wish Stop) (heard bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	read := c.reader(task)
	now, err := read(ctx, Lease{})
	if err != nil {
		return false, err
	}
	_, err = c.change(ctx, task, "asking for a stop in the lease of", now, read, func(now Lease) (Lease, bool, error) {
		heard = now.Alive(c.clock())
		if heard && now.Unreadable != "" {
			return now, false, fmt.Errorf("asking the run of %s to stop: its lease cannot be read (%s); cancel the workflow run "+
				"instead", task, now.Unreadable)
		}
		write := heard && now.Stop == nil
		if write {
			now.Stop = &wish
		}
		return now, write, nil
	})
	return heard && err == nil, err
}

// Release gives a lease of ours back. One that is gone already is no error; one that someone else has now stays, and
// the error is a *LostError.
func (c *Client) Release(ctx context.Context, held Lease) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.change(ctx, held.Task, "giving back the lease of", held, c.refresh,
		func(Lease) (Lease, bool, error) { return Lease{}, true, nil })
	if lost := (*LostError)(nil); errors.As(err, &lost) && lost.Now.Task == "" {
		return nil
	}
	return err
}

// change puts what next makes of a task's lease in its place, and begins again with what read finds where someone else has
// moved it. The zero lease removes it. In a dry run nothing is written.
func (c *Client) change(ctx context.Context, task, doing string, now Lease, read func(context.Context, Lease) (Lease, error),
	next func(Lease) (want Lease, write bool, err error)) (Lease, error) {
	for range tries {
		want, write, err := next(now)
		if err != nil || !write || c.dryRun {
			return want, err
		}
		var text []byte
		if want == (Lease{}) {
			err = c.store.Move(ctx, refs+task, now.sha, "")
		} else if text, err = want.text(); err == nil {
			want.sha, err = c.put(ctx, refs+task, now.sha, fileName, "ralph: "+task+" is held\n", text)
		}
		if err == nil {
			return want, nil
		}
		if !stale(err) {
			return now, fmt.Errorf("%s %s: %w", doing, task, err)
		}
		if now, err = read(ctx, now); err != nil {
			return now, err
		}
	}
	return now, fmt.Errorf("%s %s: others keep moving it; ask again in a moment", doing, task)
}

// put moves a ref from one commit to the next, which it makes of one file.
func (c *Client) put(ctx context.Context, ref, from, file, message string, text []byte) (commit string, err error) {
	commit, err = c.store.Write(ctx, file, message, git.RefFile{Content: text, Date: c.clock()})
	if err != nil {
		return "", fmt.Errorf("writing %s down: %w", file, err)
	}
	return commit, c.store.Move(ctx, ref, from, commit)
}

// reader reads the lease of a task, also of another process.
func (c *Client) reader(task string) func(context.Context, Lease) (Lease, error) {
	return func(ctx context.Context, known Lease) (Lease, error) {
		now, err := c.at(ctx, task, known)
		if err != nil {
			err = fmt.Errorf("looking at the lease of %s: %w", task, err)
		}
		return now, err
	}
}

// refresh is a lease of ours as it is now.
func (c *Client) refresh(ctx context.Context, held Lease) (Lease, error) {
	now, err := c.reader(held.Task)(ctx, held)
	switch {
	case err != nil:
		return held, err
	case now.key == c.key:
		if held.Run != "" { // which the holder may have learnt since
			now.Run = held.Run
		}
		return now, nil
	}
	return held, &LostError{held.Task, now}
}

// at reads a lease from the remote; the zero Lease without one. A lease at the commit of known is known.
func (c *Client) at(ctx context.Context, task string, known Lease) (Lease, error) {
	commit, err := c.store.Fetch(ctx, refs+task)
	switch {
	case err != nil || commit == "":
		return Lease{}, err
	case commit == known.sha:
		return known, nil
	}
	f, err := c.store.Read(ctx, commit, fileName, maxFile)
	if err != nil {
		return Lease{}, err
	}
	return read(task, f, c.clock()), nil
}

// RecordsAndLeases reads the run records of every task and who holds which task now, in one fetch. A task may have
// either alone. What a lease's end means, clock says; see Lease.Alive.
func RecordsAndLeases(ctx context.Context, o git.Options, clock func() time.Time) ([]git.RunRecord, map[string]Lease,
	error) {
	records, files, err := git.RecordsWith(ctx, o, git.RefFiles{Below: refs, Name: fileName, Most: maxFile})
	if err != nil {
		return nil, nil, err
	}
	leases := map[string]Lease{}
	for task, f := range files {
		leases[task] = read(task, f, clock())
	}
	return records, leases, nil
}

// hintRefs is where what people say to runs is, each at the name of its task: a commit without parents with one file.
// It is separate from the lease, which is read far more often.
const hintRefs = "refs/ralph/hints/"

// How much is kept of what people say.
const (
	hintFile  = "hints.json"
	mostHints = 20        // the newest
	hintBytes = 4 << 10   // of one
	hintsSize = 512 << 10 // bytes of the file
)

// Hint is something that a person says to a run while it works.
type Hint struct {
	ID   string    `json:"id"`             // "comment-123": the same however often it is sent
	Task string    `json:"task,omitempty"` // filled in by Say
	By   string    `json:"by"`             // login
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

// AddHint leaves a hint for the run of h.Task. One that already exists is left as it is.
func (c *Client) AddHint(ctx context.Context, h Hint) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	h.Text = safetext.FirstBytes(h.Text, hintBytes)
	for range tries {
		commit, all, err := c.hints(ctx, h.Task)
		if err != nil {
			return fmt.Errorf("reading what was said to the run of %s: %w", h.Task, err)
		}
		if c.dryRun || slices.ContainsFunc(all, func(o Hint) bool { return o.ID == h.ID }) {
			return nil
		}
		all = append(all, h)
		text, err := json.Marshal(all[max(0, len(all)-mostHints):])
		if err != nil {
			return fmt.Errorf("writing a hint down: %w", err)
		}
		_, err = c.put(ctx, hintRefs+h.Task, commit, hintFile, "ralph: hints for "+h.Task+"\n", text)
		if err == nil {
			return nil
		}
		if !stale(err) {
			return fmt.Errorf("leaving a hint for the run of %s: %w", h.Task, err)
		}
	}
	return fmt.Errorf("leaving a hint for the run of %s: others keep leaving theirs; ask again in a moment", h.Task)
}

// Hints are what people have said to the run of a task, oldest first, at most 20. What cannot be read is nothing.
func (c *Client) Hints(ctx context.Context, task string) ([]Hint, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, all, err := c.hints(ctx, task)
	if err != nil {
		return nil, fmt.Errorf("reading what was said to the run of %s: %w", task, err)
	}
	return all, nil
}

// ForgetHints removes the hints for a task, of which the run has taken in those with these IDs. Where there are others
// all stay: the run has not read them.
func (c *Client) ForgetHints(ctx context.Context, task string, heard []string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	commit, all, err := c.hints(ctx, task)
	if err != nil || commit == "" ||
		slices.ContainsFunc(all, func(h Hint) bool { return !slices.Contains(heard, h.ID) }) {
		return err
	}
	if err = c.store.Move(ctx, hintRefs+task, commit, ""); stale(err) {
		return nil
	}
	return err
}

// stale reports whether a ref was moved by someone else.
func stale(err error) bool {
	var moved *git.RefMovedError
	return errors.As(err, &moved)
}

func (c *Client) hints(ctx context.Context, task string) (commit string, all []Hint, err error) {
	if commit, err = c.store.Fetch(ctx, hintRefs+task); err != nil || commit == "" {
		return "", nil, err
	}
	f, err := c.store.Read(ctx, commit, hintFile, hintsSize)
	if err != nil {
		return commit, nil, err
	}
	if json.Unmarshal(f.Content, &all) != nil { // anyone who can push may have written it
		return commit, nil, nil
	}
	all = slices.DeleteFunc(all, func(h Hint) bool {
		return h.ID == "" || len(h.ID) > maxText || h.Text == "" || len(h.Text) > hintBytes || !utf8.ValidString(h.Text)
	})
	for i := range all {
		all[i].ID, all[i].By, all[i].Task = nameText(all[i].ID), loginText(all[i].By), task
	}
	return commit, all[max(0, len(all)-mostHints):], nil
}
