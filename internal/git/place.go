package git

import (
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

// layDown makes the working tree hold entries as the index has them, and others not.
func (t *Tree) layDown(ctx context.Context, puts, gone []entry) error {
	for _, first := range []bool{true, false} {
		some := func(all []entry) []entry {
			return slices.DeleteFunc(slices.Clone(all), func(e entry) bool { return steers(e.name) != first })
		}
		if err := t.takeAway(ctx, some(gone)); err != nil {
			return err
		}
		if err := t.checkOutFiles(ctx, some(puts)); err != nil {
			return err
		}
	}
	return t.findLinksAfter(ctx, puts, gone)
}

// steers reports whether a file says how others are written, or which are left alone: it has to be right before they
// are.
func steers(name string) bool {
	return path.Base(name) == ".gitattributes" || path.Base(name) == ".gitignore"
}

// checkOutFiles writes what the index has.
func (t *Tree) checkOutFiles(ctx context.Context, puts []entry) error {
	var names []string
	for _, e := range puts {
		names = append(names, e.name)
	}
	if err := t.git.writeAgain(ctx, names); err != nil {
		return err
	}
	return t.give(names)
}

// writeAgain writes files as the index has them.
func (d door) writeAgain(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	_, _, err := d.run(ctx, call{in: joined(names),
		args: []string{"checkout-index", "-f", "-u", "-q", "-z", "--stdin"}})
	return err
}

// takeAway removes files from the working tree, with the directories that are empty then. What the tree's lists of
// excluded files name stays: it may be the user's, though the agent had committed it.
func (t *Tree) takeAway(ctx context.Context, gone []entry) error {
	if len(gone) == 0 {
		return nil
	}
	root, err := os.OpenRoot(t.work)
	if err != nil {
		return err
	}
	defer root.Close()
	gone = slices.DeleteFunc(slices.Clone(gone), func(e entry) bool { return !behindDirectories(root, e.name) })
	ignored, err := t.git.ignored(ctx, gone)
	if err != nil {
		return err
	}
	for _, e := range gone {
		if ignored[e.name] {
			continue
		}
		info, err := root.Lstat(e.name)
		switch {
		case err != nil: // it is gone
		case !info.IsDir():
			err = root.Remove(e.name)
		case e.mode == "160000": // a repository, which git did not look into
			err = t.git.clean(ctx, e.name)
		}
		if err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("removing %s: %w", e.name, err)
		}
		for dir := path.Dir(e.name); dir != "."; dir = path.Dir(dir) {
			if root.Remove(dir) != nil {
				break // it is not empty
			}
		}
	}
	return nil
}

// ignored are those of the entries that git would not have taken up by itself.
func (d door) ignored(ctx context.Context, entries []entry) (map[string]bool, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, "./"+e.name) // so that no name is read as a pattern
	}
	out, _, err := d.run(ctx, call{in: joined(names), args: []string{"check-ignore", "--no-index", "-z", "--stdin"}})
	if err != nil && exit(err) != 1 { // 1: none
		return nil, err
	}
	found := map[string]bool{}
	for _, name := range records(out) {
		found[strings.TrimPrefix(name, "./")] = true
	}
	return found, nil
}

// behindDirectories reports whether nothing but directories leads to a file: no link, which would lead to another one.
func behindDirectories(root *os.Root, name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if info, err := root.Lstat(dir); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// findLinksAfter looks for the submodules again when a correction has changed one.
func (t *Tree) findLinksAfter(ctx context.Context, puts, gone []entry) error {
	for _, list := range [][]entry{puts, gone} {
		for _, e := range list {
			if e.mode == "160000" || t.links[e.name] {
				return t.findLinks(ctx)
			}
		}
	}
	return nil
}
