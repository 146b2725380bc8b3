package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Git writes the files of another commit one by one, and moves HEAD last. When it is killed between, the files look as
// if their user had modified them. So the two commits are noted before, and the next start puts the files back to where
// HEAD is.

// movingFile notes them in the harness's own directory for the clone.
func (t *Tree) movingFile() string { return filepath.Join(t.o.Root, "moving") }

// moving notes that the files are about to be made those of another commit.
func (t *Tree) moving(from, to string) error {
	if err := replace(t.movingFile(), []byte(from+" "+to+"\n"), 0o600); err != nil {
		return fmt.Errorf("noting what is checked out: %w", err)
	}
	return nil
}

// hasMoved notes that they are, or that nothing has been touched.
func (t *Tree) hasMoved() { _ = os.Remove(t.movingFile()) }

// endMove ends what a process that was killed had begun: files that are missing, empty, or as the other commit has them
// become those of HEAD. What its user has edited since stays.
func (t *Tree) endMove(ctx context.Context) error {
	text, err := os.ReadFile(t.movingFile())
	if err != nil { // nobody was killed there
		return nil
	}
	at, err := t.user.where(ctx)
	if err != nil {
		return err
	}
	between := fields(string(text))
	sparse, err := t.user.door.out(ctx, "config", "--bool", "core.sparseCheckout")
	if ignore(err) != nil {
		return err
	}
	// there files are missing on purpose
	if len(between) == 2 && slices.Contains(between, at.commit) && strings.TrimSpace(sparse) != "true" {
		other := between[0]
		if other == at.commit {
			other = between[1]
		}
		if err := t.putBackTo(ctx, at.commit, other); err != nil {
			return fmt.Errorf("putting the files back to %.12s, after a ralph was killed while it checked out %.12s: %w",
				at.commit, other, err)
		}
	}
	t.hasMoved()
	return nil
}

// putBackTo makes the clone's index and files what a commit has, where they are another one's.
func (t *Tree) putBackTo(ctx context.Context, commit, other string) error {
	out, err := t.user.door.out(ctx, "diff-tree", "-r", "-z", "--raw", "--full-index", "--no-renames",
		"--ignore-submodules=all", other, commit)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(t.work)
	if err != nil {
		return err
	}
	defer root.Close()
	var index strings.Builder
	var lay []string
	for entry := records(out); len(entry) > 1; entry = entry[2:] {
		f, name := fields(strings.TrimPrefix(entry[0], ":")), entry[1]
		if len(f) < 4 || slices.Contains(f[:2], "160000") {
			continue
		}
		is, wanted := f[2], f[1] != missing
		if wanted {
			fmt.Fprintf(&index, "%s %s 0\t%s\x00", f[1], f[3], name)
		} else {
			fmt.Fprintf(&index, "0 %s 0\t%s\x00", f[3], name)
		}
		half, err := t.half(ctx, root, name, is)
		switch {
		case err != nil:
			return err
		case half && wanted:
			lay = append(lay, name)
		case half && behindDirectories(root, name):
			_ = root.Remove(name) // it may be missing
		}
	}
	if _, _, err := t.user.door.run(ctx,
		call{in: strings.NewReader(index.String()), args: []string{"update-index", "-z", "--index-info"}}); err != nil {
		return err
	}
	if len(lay) > 0 {
		_, _, err = t.user.door.run(ctx,
			call{in: joined(lay), args: []string{"checkout-index", "-f", "-u", "-q", "-z", "--stdin"}})
	}
	if err == nil && len(lay) > 0 {
		t.log("git: %d files are put back to %.12s: a ralph was killed while it checked out %.12s", len(lay), commit, other)
	}
	return err
}

// half reports whether a file is one that a git which was killed has left: missing, empty, or as its id says.
func (t *Tree) half(ctx context.Context, root *os.Root, name, id string) (bool, error) {
	info, err := root.Lstat(name)
	switch {
	case err != nil:
		return os.IsNotExist(err) || !behindDirectories(root, name), nil
	case info.Mode()&os.ModeSymlink != 0:
		to, err := root.Readlink(name)
		if err != nil {
			return false, err
		}
		out, _, err := t.user.door.run(ctx, call{in: strings.NewReader(to), args: []string{"hash-object", "--stdin"}})
		return strings.TrimSpace(out) == id, err
	case !info.Mode().IsRegular():
		return false, nil
	case info.Size() == 0:
		return true, nil
	}
	out, err := t.user.door.out(ctx, "hash-object", "--", name)
	return strings.TrimSpace(out) == id, err
}
