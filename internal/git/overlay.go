package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Overlay says what a commit is to have otherwise.
type Overlay struct {
	From     string            // the commit that Names are taken from
	Names    []string          // files that are as From has them; those that it has not are taken out
	Contents map[string][]byte // files that hold something else; they keep the commit's mode
}

// Overlaid makes a commit on top of another in which some files are different. No branch points at it, and no working
// tree sees it.
func (t *Tree) Overlaid(ctx context.Context, commit string, o Overlay) (string, error) {
	puts, gone, err := t.overlay(ctx, commit, o)
	if err != nil {
		return "", fmt.Errorf("laying files of commit %.12s over %.12s: %w", o.From, commit, err)
	}
	dir, err := os.MkdirTemp(t.scratch(), "overlay-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	own := []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
	if _, _, err := t.git.run(ctx, call{env: own, args: []string{"read-tree", commit}}); err != nil {
		return "", fmt.Errorf("laying files over commit %.12s: %w", commit, err)
	}
	if err := t.inIndex(ctx, own, puts, gone); err != nil {
		return "", fmt.Errorf("laying files over commit %.12s: %w", commit, err)
	}
	tree, _, err := t.git.run(ctx, call{env: own, args: []string{"write-tree"}})
	if err != nil {
		return "", fmt.Errorf("laying files over commit %.12s: %w", commit, err)
	}
	made, _, err := t.git.run(ctx, call{
		in:   strings.NewReader("ralph: the base's tests\n"),
		args: []string{"commit-tree", strings.TrimSpace(tree), "-p", commit, "-F", "-"},
	})
	if err != nil {
		return "", fmt.Errorf("laying files over commit %.12s: %w", commit, err)
	}
	return strings.TrimSpace(made), nil
}

// overlay are the entries that an index gets, and the names that it loses.
func (t *Tree) overlay(ctx context.Context, commit string, o Overlay) (puts, gone []entry, err error) {
	before, err := t.entries(ctx, o.From)
	if err != nil {
		return nil, nil, err
	}
	now, err := t.entries(ctx, commit)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range o.Names {
		if e, ok := before[name]; ok {
			puts = append(puts, e)
		} else {
			gone = append(gone, entry{name: name})
		}
	}
	ids, err := t.blobs(ctx, o.Contents)
	for name, id := range ids {
		if e, ok := now[name]; ok {
			puts = append(puts, entry{e.mode, id, name})
		}
	}
	return puts, gone, err
}

// entries are the files of a commit by name.
func (t *Tree) entries(ctx context.Context, commit string) (map[string]entry, error) {
	out, err := t.git.out(ctx, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return nil, err
	}
	return entriesOf(out), nil
}

// entriesOf reads what ls-tree -z has printed.
func entriesOf(out string) map[string]entry {
	all := map[string]entry{}
	for _, record := range records(out) {
		about, name, _ := strings.Cut(record, "\t")
		if f := fields(about); len(f) == 3 {
			all[name] = entry{f[0], f[2], name}
		}
	}
	return all
}
