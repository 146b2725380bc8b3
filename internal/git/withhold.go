package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

// withhold makes the commits from since to HEAD again, as one without what no commit may hold: what is committed is
// pushed. Files that hold a secret of the harness's are left out of it; what looks like a credential is taken out of
// its file. It fails when that does not help, and then nothing is committed.
func (t *Tree) withhold(ctx context.Context, since, message string, found *leaks) (c loop.Commit, err error) {
	if _, err := t.git.out(ctx, "reset", "-q", "--soft", since); err != nil {
		return c, fmt.Errorf("taking back a commit that holds a secret: %w", err)
	}
	t.indexed = ""
	if names := slices.Sorted(maps.Keys(found.files)); len(names) > 0 {
		_, _, err := t.git.run(ctx, call{in: joined(names),
			args: []string{"--literal-pathspecs", "reset", "-q", "--pathspec-from-file=-", "--pathspec-file-nul"}})
		if err != nil {
			return c, fmt.Errorf("leaving out files that hold a secret: %w", err)
		}
	}
	if err := t.takeOut(ctx, since, found.marked); err != nil {
		return c, fmt.Errorf("taking what looks like a credential out of the commit: %w", err)
	}
	_, err = t.git.out(ctx, "diff-index", "--cached", "--quiet", "--ignore-submodules=none", since)
	switch exit(err) {
	case 1:
		if err := t.commit(ctx, since, message); err != nil {
			return c, err
		}
	default:
		if err != nil {
			return c, fmt.Errorf("comparing with %.12s: %w", since, err)
		}
	}
	if c, err = t.between(ctx, since, "HEAD"); err != nil {
		return c, err
	}
	c.Empty = c.SHA == since
	left, err := t.leaksIn(ctx, since, c.SHA)
	if err == nil && left.any() {
		err = errors.New("the commit still holds a secret without what was left out: " + strings.Join(left.notes(), "; "))
	}
	return c, err
}

// takeOut makes the index hold other contents of files that it has.
func (t *Tree) takeOut(ctx context.Context, since string, contents map[string][]byte) error {
	if len(contents) == 0 {
		return nil
	}
	ids, err := t.blobs(ctx, contents)
	if err != nil {
		return err
	}
	staged, err := t.changes(ctx, "diff-index", "--cached", "--ignore-submodules=none", since)
	if err != nil {
		return err
	}
	var puts []entry
	for _, ch := range staged {
		if id, ok := ids[ch.is.name]; ok && ch.is.mode != missing {
			puts = append(puts, entry{ch.is.mode, id, ch.is.name})
		}
	}
	return t.inIndex(ctx, nil, puts, nil)
}

// beginning keeps what is written to it up to an empty record, and passes everything on.
type beginning struct {
	bytes.Buffer
	rest *search
	over bool
}

func (b *beginning) Write(p []byte) (int, error) {
	if !b.over {
		from := max(0, b.Len()-1)
		b.Buffer.Write(p)
		if i := bytes.Index(b.Bytes()[from:], []byte("\x00\x00")); i >= 0 {
			b.Truncate(from + i)
			b.over = true
		}
	}
	return b.rest.Write(p)
}
