package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/ralph-loop/ralph/internal/files"
)

// users is the repository of a clone, in which its user and the agent work. The harness reads there where HEAD and the
// refs are, and moves its own; whatever looks at contents is done in the harness's own repository (see repository.go).
type users struct {
	door   door
	dir    string // its git directory, absolute; of a linked worktree its own
	common string // where objects and branches are
	top    string // the working tree

	file    *fileText           // of a linked worktree: its file .git, which leads to dir
	objects os.FileInfo         // the directory of objects: the same as long as nobody has put another repository there
	frozen  map[string]fileText // files that decide what git does, as they were before the first turn
	refs    map[string]string   // as the harness has left them, full name → id

	now  place // HEAD, as it was last looked at
	seen map[string]string
	tips string // where the runs of the repository note what they move; empty: nowhere
}

// notARepository says why a directory cannot be worked in.
func (u *users) notARepository(err error) error {
	var e *commandError
	switch {
	case errors.As(err, &e) && strings.Contains(e.Stderr, "dubious ownership"):
		return fmt.Errorf("%s belongs to another user: tell git to trust it (git config --global --add safe.directory %s)",
			u.door.dir, u.door.dir)
	case err == nil || exit(err) > 0:
		return fmt.Errorf("%s is not in a git repository with a working tree: change into one, or run git init and make a "+
			"first commit", u.door.dir)
	}
	return err
}

// find settles where the clone is. From here on every command is told so, whatever becomes of the directory's .git.
func (u *users) find(ctx context.Context) error {
	out, err := u.door.out(ctx, "rev-parse", "--is-inside-work-tree", "--show-toplevel", "--absolute-git-dir")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err != nil || len(lines) != 3 {
		return u.notARepository(err)
	}
	u.top, u.dir = lines[1], lines[2]
	u.common = commonOf(u.dir)
	u.door.dir = u.top
	u.door.env = append(u.door.env, "GIT_DIR="+u.dir, "GIT_WORK_TREE="+u.top)
	u.objects, err = os.Stat(filepath.Join(u.common, "objects"))
	return err
}

// commonOf is where a repository keeps its objects: linked worktrees name it in a file.
func commonOf(dir string) string {
	text, err := files.Read(filepath.Join(dir, "commondir"))
	if err != nil {
		return dir
	}
	common := strings.TrimSpace(string(text))
	if !filepath.IsAbs(common) {
		common = filepath.Join(dir, common)
	}
	return filepath.Clean(common)
}

func (u *users) index() string { return filepath.Join(u.dir, "index") }

// place is where HEAD is: "" as the ref when it is detached, "" as the commit when there is none.
type place struct{ ref, commit string }

// where reads HEAD.
func (u *users) where(ctx context.Context) (place, error) {
	var p place
	out, err := u.door.out(ctx, "rev-parse", "-q", "HEAD^{commit}", "--symbolic-full-name", "HEAD")
	if exit(err) > 0 {
		ref, err := u.door.out(ctx, "symbolic-ref", "-q", "HEAD")
		return place{ref: strings.TrimSpace(ref)}, ignore(err)
	}
	if ids := fields(out); len(ids) > 0 {
		p.commit = ids[0]
		if len(ids) > 1 && ids[1] != "HEAD" {
			p.ref = ids[1]
		}
	}
	return p, err
}

// at is the commit that a ref is at; "" when there is no such ref.
func (u *users) at(ctx context.Context, ref string) string {
	out, _ := u.door.out(ctx, "rev-parse", "--verify", "-q", ref+"^{commit}") // no such ref: ""
	return strings.TrimSpace(out)
}

// readRefs lists every ref.
func (u *users) readRefs(ctx context.Context) (map[string]string, error) {
	out, err := u.door.out(ctx, "for-each-ref", "--format=%(objectname) %(refname)")
	if err != nil {
		return nil, fmt.Errorf("listing refs: %w", err)
	}
	refs := map[string]string{}
	for line := range strings.Lines(out) {
		id, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		refs[ref] = id
	}
	return refs, nil
}

// freezeFiles are the files of a clone that decide what git does in it, its hooks as they are now among them.
func (u *users) freezeFiles() []string {
	hooks, _ := filepath.Glob(filepath.Join(u.common, "hooks", "*"))
	return append(hooks,
		filepath.Join(u.common, "config"), filepath.Join(u.dir, "config.worktree"), filepath.Join(u.dir, "commondir"),
		filepath.Join(u.common, "info", "exclude"), filepath.Join(u.common, "info", "attributes"),
		filepath.Join(u.common, "info", "grafts"),
		filepath.Join(u.dir, "info", "sparse-checkout"), filepath.Join(u.common, "shallow"),
		filepath.Join(u.common, "objects", "info", "alternates"))
}

// freeze remembers the files that decide what git does, as they were before the agent ran.
func (u *users) freeze() error {
	u.frozen = map[string]fileText{}
	for _, file := range u.freezeFiles() {
		text, err := readText(file)
		if err != nil {
			return fmt.Errorf("reading the clone's configuration: %w", err)
		}
		u.frozen[file] = text
	}
	if git := filepath.Join(u.top, ".git"); !isDirectory(git) {
		text, err := readText(git)
		if err != nil {
			return fmt.Errorf("reading where the clone's repository is: %w", err)
		}
		u.file = &text
	}
	return nil
}

// fileText is a file as it was.
type fileText struct {
	text []byte // nil: there was none
	mode fs.FileMode
	dir  string // the directory that it lay in, without links; noDir: there was none; empty: nobody has looked
}

const noDir = "-"

// readText reads a file. One that is missing is no error; a pipe or a device has nothing in it, and nobody waits for
// it.
func readText(file string) (t fileText, err error) {
	if t.dir, err = filepath.EvalSymlinks(filepath.Dir(file)); err != nil {
		t.dir = noDir
	}
	info, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return t, nil
	case err != nil:
		return t, err
	}
	t.text, t.mode = []byte{}, info.Mode().Perm()
	at, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return t, err
	}
	defer at.Close()
	if now, err := at.Stat(); err != nil || !now.Mode().IsRegular() {
		return t, err
	}
	if text, err := io.ReadAll(at); err != nil || text != nil {
		t.text = text
		return t, err
	}
	return t, nil
}

// thaw puts back the files that decide what git does, where they were changed during the run: git runs programs that
// its configuration names, outside of the agent's sandbox. What they were changed to is kept in a directory. It names
// what was put back.
func (u *users) thaw(kept string) (changed []string, err error) {
	for _, file := range u.freezeFiles() {
		if _, known := u.frozen[file]; !known { // a new hook
			u.frozen[file] = fileText{}
		}
	}
	for _, file := range slices.Sorted(maps.Keys(u.frozen)) {
		was := u.frozen[file]
		now, err := readText(file)
		if err == nil && bytes.Equal(now.text, was.text) && (now.text == nil) == (was.text == nil) && plainFile(file, was) {
			continue
		}
		if now.text != nil {
			if err := replace(filepath.Join(kept, filepath.Base(file)+".changed"), now.text, 0o600); err != nil {
				return changed, fmt.Errorf("keeping the clone's configuration: %w", err)
			}
		}
		if err := was.putBack(file); err != nil {
			return changed, fmt.Errorf("putting the clone's configuration back: %w", err)
		}
		changed = append(changed, filepath.Base(file))
	}
	if git := filepath.Join(u.top, ".git"); u.file != nil {
		if now, err := readText(git); err != nil || !bytes.Equal(now.text, u.file.text) {
			if err := u.file.putBack(git); err != nil {
				return changed, fmt.Errorf("putting back where the clone's repository is: %w", err)
			}
			changed = append(changed, ".git")
		}
	}
	return changed, nil
}

// plainFile reports whether a file is what it was in kind: no link leads elsewhere in its place.
func plainFile(file string, was fileText) bool {
	info, err := os.Lstat(file)
	return was.text == nil || err == nil && info.Mode().IsRegular()
}

// putBack writes the file again. Whatever lies in its place is not written through, and no link that has come in the
// place of its directory.
func (t fileText) putBack(file string) error {
	dir := filepath.Dir(file)
	if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 && t.dir != "" {
		if now, err := filepath.EvalSymlinks(dir); err != nil || now != t.dir {
			if err := os.Remove(dir); err != nil {
				return err
			}
		}
	}
	if t.text == nil {
		return os.RemoveAll(file)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return replace(file, t.text, t.mode)
}

// GoneError says that the clone's repository is not there any more: somebody has removed it, or put another one in its
// place.
type GoneError struct{ Dir, Work string }

func (e *GoneError) Error() string {
	return fmt.Sprintf("the repository %s was removed or replaced during the turn, so nothing could be committed; the "+
		"files are in %s as the turn left them, and what was committed before is where the repository has gone", e.Dir,
		e.Work)
}

// check fails when the repository is another one than before.
func (u *users) check() error {
	now, err := os.Stat(filepath.Join(u.common, "objects"))
	if err != nil || !os.SameFile(now, u.objects) {
		return &GoneError{u.common, u.top}
	}
	return nil
}

// mendHead makes HEAD and the directory of refs readable to git where they are not: without them it finds no repository
// at all.
func (u *users) mendHead(ref string, tell func(string)) error {
	head := filepath.Join(u.dir, "HEAD")
	text, err := readText(head)
	if err != nil || !plainFile(head, fileText{text: []byte{}}) || !soundHead(text.text) {
		if err := (fileText{text: []byte("ref: " + ref + "\n"), mode: 0o644}).putBack(head); err != nil {
			return fmt.Errorf("putting HEAD back: %w", err)
		}
		tell("HEAD pointed nowhere and is set back to " + short(ref))
	}
	refs := filepath.Join(u.common, "refs")
	if !isDirectory(refs) {
		if err := errors.Join(os.RemoveAll(refs), os.Mkdir(refs, 0o755)); err != nil {
			return fmt.Errorf("putting the refs back: %w", err)
		}
	}
	return nil
}

// soundHead reports whether git takes a text for a HEAD.
func soundHead(text []byte) bool {
	line := strings.TrimSpace(string(text))
	if ref, ok := strings.CutPrefix(line, "ref: "); ok {
		odd := func(r rune) bool { return r <= ' ' || r == 0x7f }
		return strings.HasPrefix(ref, "refs/") && !strings.HasSuffix(ref, "/") && !strings.Contains(ref, "..") &&
			!strings.ContainsFunc(ref, odd)
	}
	return (len(line) == 40 || len(line) == 64) && strings.Trim(line, "0123456789abcdef") == ""
}

// look reads where HEAD and every ref are, after others have been at work: what keeps git from reading them is put
// right first. ref is the branch that HEAD is put on where it is nothing that git can read, which is told.
func (u *users) look(ctx context.Context, ref string, tell func(string)) (now place, refs map[string]string,
	err error) {
	if err := errors.Join(u.check(), u.mendHead(ref, tell)); err != nil {
		return now, nil, err
	}
	if refs, err = u.readRefs(ctx); err != nil {
		return now, nil, err
	}
	head, err := readText(filepath.Join(u.dir, "HEAD"))
	if err != nil {
		return now, nil, fmt.Errorf("reading HEAD: %w", err)
	}
	line := strings.TrimSpace(string(head.text))
	name, symbolic := strings.CutPrefix(line, "ref: ")
	switch {
	case !symbolic:
		return place{commit: line}, refs, nil
	case strings.HasSuffix(name, "/.invalid"): // refs are kept in tables, and HEAD with them
		now, err = u.where(ctx)
		return now, refs, err
	}
	return place{ref: name, commit: refs[name]}, refs, nil
}

// stand puts HEAD on a branch and that on a commit. The files stay as they are. now and refs are what look has found.
func (u *users) stand(ctx context.Context, now place, refs map[string]string, ref, commit string) error {
	if now.ref != ref {
		if _, err := u.door.out(ctx, "symbolic-ref", "HEAD", ref); err != nil {
			return fmt.Errorf("putting HEAD back on %s: %w", short(ref), err)
		}
	}
	if refs[ref] != commit {
		if err := u.note(ref, commit); err != nil {
			return err
		}
		if _, err := u.door.out(ctx, "update-ref", ref, commit); err != nil {
			return fmt.Errorf("moving %s: %w", short(ref), err)
		}
	}
	u.refs = maps.Clone(refs)
	u.refs[ref] = commit
	return nil
}

// set puts a ref on a commit.
func (u *users) set(ctx context.Context, ref, commit string) error {
	if err := u.note(ref, commit); err != nil {
		return err
	}
	if _, err := u.door.out(ctx, "update-ref", ref, commit); err != nil {
		return fmt.Errorf("moving %s: %w", short(ref), err)
	}
	if u.refs != nil {
		u.refs[ref] = commit
	}
	return nil
}

// short is a ref as people write it.
func short(ref string) string {
	return strings.TrimPrefix(strings.TrimPrefix(ref, "refs/heads/"), "refs/")
}

func isDirectory(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}
