package lease

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// A run of the bot is held by a lease on its remote: the ref refs/ralph/leases/<task>, at a commit without parents
// whose one file says who holds it and until when. A ref that does not exist is a run that no one holds. A process that
// moves it names the commit that it is at now, so of two one gets it. Nothing but git is needed for it, and a renewal
// leaves no history behind.

// How long leases last.
const (
	Time    = 5 * time.Minute  // what a process takes, and takes again before it is over
	longest = 10 * time.Minute // what a lease is believed that cannot be read, from the date of its commit on
	// longestRead is what any other lease is believed, whatever it says: a server's lasts longTime.
	longestRead = 30 * time.Minute
	Slack       = 30 * time.Second // for clocks that differ: a lease may be taken over so long after its end
)

// Lease is who holds a task's run. Every text in it is plain, on one line and short, but it may be anyone's who can
// push. Run and Owner are words that mark nothing up; show the others as the texts of strangers.
type Lease struct {
	Task   string // "issue-42"
	Run    string // "20261121-053000-7f3a"; "" until the holder knows which run it is
	Owner  string // "workflow run 77, attempt 1"
	RunURL string // an address of http or https, or ""
	Taken  time.Time
	Until  time.Time // when it ends unless it is renewed
	Stop   *Stop     // someone asked the holder to stop; nil: no one
	// Unreadable says why its text cannot be read, in a few words; "" when it can. Such a lease is held by who knows whom
	// until the longest such lease is over.
	Unreadable string

	key string // of the process that holds it: what tells two of the same name apart
	sha string // its commit; "" for none
}

// Stop is the wish that a run stops.
type Stop struct {
	By  string    // a login; "" when no one knows
	Why string    // what goes before the name: "asked to stop", "issue closed"; "" is the former
	At  time.Time // when
}

func (s Stop) String() string {
	by, why := s.By, s.Why
	if by == "" {
		by = "somebody"
	}
	if why == "" {
		why = "asked to stop"
	}
	return why + " by " + by
}

// Ends is from when on another process may take the lease over.
func (l Lease) Ends() time.Time { return l.Until.Add(Slack) }

// Alive reports whether someone holds the run at a time.
func (l Lease) Alive(at time.Time) bool { return l.sha != "" && at.Before(l.Ends()) }

// Who names the holder for a sentence.
func (l Lease) Who() string {
	switch {
	case l.Unreadable != "":
		return "a process whose lease cannot be read: " + l.Unreadable
	case l.Owner == "":
		return "another process"
	}
	return l.Owner
}

// HeldError says that another process holds the run. Until when no one knows: it renews its lease while it works.
type HeldError struct{ Lease Lease }

func (e *HeldError) Error() string {
	return fmt.Sprintf("%s is already running (%s)", e.Lease.Task, e.Lease.Who())
}

// LostError says that a lease is no longer the holder's: it must stop at once and write nothing more. Now is who has
// it, with no Task when no one has.
type LostError struct {
	Task string
	Now  Lease
}

func (e *LostError) Error() string {
	if e.Now.Task == "" {
		return fmt.Sprintf("this process no longer holds %s: its lease was removed from the remote; ask again to resume",
			e.Task)
	}
	return fmt.Sprintf("this process no longer holds %s: %s has taken it over; see its status there",
		e.Task, e.Now.Who())
}

// refs is where the leases are, each at the name of its task.
const refs = "refs/ralph/leases/"

// Ref is where the lease is on the remote: for a push that gives it back together with something else. The zero
// RemoteRef for no lease.
func (l Lease) Ref() git.RemoteRef {
	if l.sha == "" {
		return git.RemoteRef{}
	}
	return git.RemoteRef{Name: refs + l.Task, Commit: l.sha}
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
