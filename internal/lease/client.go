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
	job    string // begins the keys of all processes of one job, which take the lease over from each other; can be empty
	lasts  time.Duration
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
func (c *Client) Close() error {
	c.store.Close()
	return nil
}

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
	for range tries {
		now, err := c.at(ctx, want.Task, Lease{})
		if err != nil {
			return Lease{}, fmt.Errorf("looking whether a run of %s is running: %w", want.Task, err)
		}
		own := now.key == c.key || c.succeeds(now)
		if !own && now.Alive(c.clock()) {
			return Lease{}, &HeldError{now}
		}
		next := Lease{Task: want.Task, Run: want.Run, Owner: want.Owner, RunURL: want.RunURL, Taken: c.clock(), key: c.key}
		if own {
			next.Taken, next.Stop = now.Taken, now.Stop
		}
		next.Until = c.clock().Add(c.lasts)
		if c.dryRun {
			return next, nil
		}
		next, moved, err := c.put(ctx, now, next)
		if err != nil {
			return Lease{}, fmt.Errorf("taking the lease of %s: %w", want.Task, err)
		}
		if !moved {
			return next, nil
		}
	}
	return Lease{}, fmt.Errorf("taking the lease of %s: others keep taking and leaving it; ask again in a moment",
		want.Task)
}

// Extend makes a lease of ours end so long from now, with a run that may have got its name. What came back is the
// newest of it: with a Stop when someone asked for one. The error is a *LostError when it is no longer ours.
func (c *Client) Extend(ctx context.Context, held Lease) (Lease, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range tries {
		next := held
		next.Until = c.clock().Add(c.lasts)
		next, moved, err := c.put(ctx, held, next)
		if err != nil {
			return held, fmt.Errorf("renewing the lease of %s: %w", held.Task, err)
		}
		if !moved {
			return next, nil
		}
		if held, err = c.refresh(ctx, held); err != nil {
			return held, err
		}
	}
	return held, fmt.Errorf("renewing the lease of %s: it keeps moving", held.Task)
}

// Look reads a lease of ours again. It is cheap when it has not moved: one question about one ref. The error is a
// *LostError when it is no longer ours.
func (c *Client) Look(ctx context.Context, held Lease) (Lease, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refresh(ctx, held)
}

// At reads the lease of a task; ok is false without one. Whether it still counts, Alive says.
func (c *Client) At(ctx context.Context, task string) (found Lease, ok bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, err = c.at(ctx, task, Lease{})
	return found, found.sha != "", err
}

// AskStop asks the holder of a task's run to stop. heard is false when no one does, and then nothing was written; of is
// the lease that carries the wish. Someone's earlier wish stays as it is.
func (c *Client) AskStop(ctx context.Context, task string, wish Stop) (heard bool, of Lease, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range tries {
		now, err := c.at(ctx, task, Lease{})
		switch {
		case err != nil:
			return false, now, fmt.Errorf("asking the run of %s to stop: %w", task, err)
		case !now.Alive(c.clock()):
			return false, now, nil
		case now.Unreadable != "":
			return false, now, fmt.Errorf(
				"asking the run of %s to stop: its lease cannot be read (%s); cancel the workflow run instead",
				task, now.Unreadable)
		case now.Stop != nil || c.dryRun:
			return true, now, nil
		}
		next := now
		next.Stop = &wish
		next, moved, err := c.put(ctx, now, next)
		if err != nil {
			return false, now, fmt.Errorf("asking the run of %s to stop: %w", task, err)
		}
		if !moved {
			return true, next, nil
		}
	}
	return false, Lease{}, fmt.Errorf("asking the run of %s to stop: its lease keeps moving; ask again in a moment", task)
}

// Release gives a lease of ours back. One that is gone already is no error; one that someone else has now stays, and
// the error is a *LostError.
func (c *Client) Release(ctx context.Context, held Lease) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range tries {
		err := c.store.Move(ctx, refs+held.Task, held.sha, "")
		if err == nil || held.sha == "" {
			return nil
		}
		if !stale(err) {
			return fmt.Errorf("giving back the lease of %s: %w", held.Task, err)
		}
		var lost *LostError
		if held, err = c.refresh(ctx, held); errors.As(err, &lost) && lost.Now.Task == "" {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return fmt.Errorf("giving back the lease of %s: it keeps moving; it ends by itself at %s",
		held.Task, held.Ends().UTC().Format("15:04 UTC"))
}

// refresh is a lease of ours as it is now.
func (c *Client) refresh(ctx context.Context, held Lease) (Lease, error) {
	now, err := c.at(ctx, held.Task, held)
	switch {
	case err != nil:
		return held, fmt.Errorf("looking at the lease of %s: %w", held.Task, err)
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

// put moves a lease on the remote from one commit to the next, which it makes. moved says that the lease was no longer
// at from.
func (c *Client) put(ctx context.Context, from, next Lease) (put Lease, moved bool, err error) {
	text, err := next.text()
	if err != nil {
		return from, false, err
	}
	file := git.RefFile{Content: text, Date: c.clock()}
	if next.sha, err = c.store.Write(ctx, fileName, "ralph: "+next.Task+" is held\n", file); err != nil {
		return from, false, fmt.Errorf("writing the lease down: %w", err)
	}
	err = c.store.Move(ctx, refs+next.Task, from.sha, next.sha)
	if stale(err) {
		return from, true, nil
	}
	return next, false, err
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
		file := git.RefFile{Content: text, Date: c.clock()}
		next, err := c.store.Write(ctx, hintFile, "ralph: hints for "+h.Task+"\n", file)
		if err != nil {
			return fmt.Errorf("writing a hint down: %w", err)
		}
		if err = c.store.Move(ctx, hintRefs+h.Task, commit, next); err == nil {
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
