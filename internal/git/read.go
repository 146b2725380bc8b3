package git

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/regex"
)

// File reads a file as a commit has it; ok is false when it has none. Only regular files are read: a link is refused.
func (t *Tree) File(ctx context.Context, commit, path string) (content []byte, ok bool, err error) {
	out, err := t.git.out(ctx, "ls-tree", "-z", "--full-tree", commit, "--", ":(literal)"+path)
	if err != nil {
		return nil, false, fmt.Errorf("looking for %s in commit %.12s: %w", path, commit, err)
	}
	for _, entry := range records(out) {
		about, name, _ := strings.Cut(entry, "\t")
		f := fields(about)
		if name != path || len(f) != 3 {
			continue
		}
		if f[0] != "100644" && f[0] != "100755" {
			return nil, false, fmt.Errorf("%s is not a regular file in commit %.12s: make it one", path, commit)
		}
		text, err := t.git.out(ctx, "cat-file", "blob", f[2])
		if err != nil {
			return nil, false, fmt.Errorf("reading %s of commit %.12s: %w", path, commit, err)
		}
		return []byte(text), true, nil
	}
	return nil, false, nil
}

// List names what is at the top of a commit's tree.
func (t *Tree) List(ctx context.Context, commit string) ([]string, error) {
	out, err := t.git.out(ctx, "ls-tree", "-z", "--name-only", "--full-tree", commit)
	if err != nil {
		return nil, fmt.Errorf("listing commit %.12s: %w", commit, err)
	}
	return records(out), nil
}

// Diff is the change between two commits as a patch, at most so many bytes of its beginning and a line that says how
// much is missing. No program that a repository names takes part.
func (t *Tree) Diff(ctx context.Context, from, to string, most int) (string, error) {
	out := bounded{most: most}
	_, _, err := t.git.run(ctx, call{out: &out, args: []string{
		"diff", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none", "--submodule=short", "-M", from,
		to, "--"}})
	if err != nil {
		return "", fmt.Errorf("comparing commits %.12s and %.12s: %w", from, to, err)
	}
	text := strings.ToValidUTF8(out.kept.String(), "\uFFFD")
	if out.lost > 0 {
		text += fmt.Sprintf("\n[... %d bytes of the diff are left out ...]\n", out.lost)
	}
	return text, nil
}

// bounded keeps the beginning of what is written to it.
type bounded struct {
	kept bytes.Buffer
	most int
	lost int64
}

func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.most-b.kept.Len())
	b.kept.Write(p[:n])
	b.lost += int64(len(p) - n)
	return len(p), nil
}

// Bounds of what is kept of files that were read: so many of them, each of at most so many bytes.
const (
	mostKnown      = 256
	mostKnownBytes = 16 << 10
)

// fullID matches a name that stands for one commit for ever.
var fullID = regex.Lazy(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// readKey is a question to a commit.
type readKey struct {
	commit, path string
	most         int
}

type readResult struct {
	content []byte
	ok      bool
}

// readResults are the answers that are kept. The zero value is empty. When it is full it begins anew.
type readResults struct {
	mu   sync.Mutex
	kept map[readKey]readResult
}

func (r *readResults) get(k readKey) (readResult, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.kept[k]
	return known, ok
}

func (r *readResults) put(k readKey, answer readResult) {
	if len(answer.content) > mostKnownBytes {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept == nil || len(r.kept) >= mostKnown {
		r.kept = map[readKey]readResult{}
	}
	r.kept[k] = answer
}
