// Package diffscan says what a change did to tests and checks, from its diff and the files of its two commits alone:
// tests that were weakened, work that is unfinished, files by which tests are judged. It starts nothing and reads
// only what it is given.
package diffscan

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/secret"
)

// Changes gives what a run has changed. Its owner fills the functions; every commit is named by its hash. It may be
// shared by the checks of a run: a patch is made and parsed once for each pair of commits.
type Changes struct {
	// Patch is the change between two commits in git's form, without context and renames, at most PatchBytes of it; whole
	// is false when it was cut.
	Patch func(ctx context.Context, from, to string) (patch string, whole bool, err error)
	// Names lists every path that differs, the old and the new one of a moved file. It is never cut.
	Names func(ctx context.Context, from, to string) ([]string, error)
	// File reads a regular file of a commit, at most FileBytes of its beginning; ok is false when there is none.
	File func(ctx context.Context, commit, path string) (content []byte, ok bool, err error)

	mu   sync.Mutex
	last *Change
}

// How much is read of a change.
const (
	PatchBytes = 8 << 20
	FileBytes  = 1 << 20
)

// Between is the change from one commit to another.
func (c *Changes) Between(ctx context.Context, from, to string) (*Change, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last != nil && c.last.From == from && c.last.To == to {
		return c.last, nil
	}
	names, err := c.Names(ctx, from, to)
	if err != nil {
		return nil, err
	}
	text, whole, err := c.Patch(ctx, from, to)
	if err != nil {
		return nil, err
	}
	files, unread := parsePatch(text, whole)
	d := newChange(from, to, names, files)
	d.file, d.Marked = c.File, !whole || strings.Contains(text, secret.MarkWord)
	left, err := d.reveal(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case !whole && left > 0:
		d.Partial = fmt.Sprintf("the change is larger than %d MiB, and %d files of it were not looked through",
			PatchBytes>>20, left)
	case unread > 0 && left > 0:
		d.Partial = fmt.Sprintf("the change of %d files could not be read, and was not looked through", left)
	}
	c.last = d
	return d, nil
}
