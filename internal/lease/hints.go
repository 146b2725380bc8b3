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

// hintRefs is where what people say to runs is, each at the name of its task: a commit without parents with one file.
// It is apart from the lease, which is read far more often, and whose file older versions read strictly.
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
	ID   string    `json:"id"`             // "comment-123": the same however often it is told
	Task string    `json:"task,omitempty"` // filled in by Say
	By   string    `json:"by"`             // login
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

// AddHint leaves a hint for whoever works on h.Task. One that already exists is left as it is.
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

// stale reports whether a ref was moved by somebody else.
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
	if json.Unmarshal(f.Content, &all) != nil { // anybody who can push may have written it
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
