package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

// What an agent's own repository says is read as plain files: no program may look at its configuration.

// agentRef is where the agent's commits are kept in our repository while we look at them.
const agentRef = "refs/ralph/agent"

// absorb fetches the commits of the agent's HEAD and refs. Git's serving side is made for repositories that are not
// trusted: it runs nothing of theirs.
func (t *history) absorb(ctx context.Context, l left) error {
	specs := []string{"+HEAD:" + agentRef}
	if l.commit == "" {
		specs = nil
	}
	for _, ref := range t.moved(l) {
		if l.refs[ref] != "" && len(specs) <= mostNamed {
			specs = append(specs, "+"+ref+":"+agentRef+"s/"+ref)
		}
	}
	if own := l.refs[t.ref()]; own != "" && own != l.commit {
		specs = append(specs, "+"+t.ref()+":"+agentRef+"s/own")
	}
	if len(specs) == 0 {
		return nil
	}
	return t.git.absorb(ctx, t.work, specs...)
}

func (d door) absorb(ctx context.Context, from string, specs ...string) error {
	args := []string{"fetch", "-q", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
		"--no-auto-maintenance", "--", from}
	_, _, err := d.run(ctx, call{pair: []pair{{"transfer.fsckObjects", "true"}}, args: append(args, specs...)})
	return err
}

// keepModules keeps the commits of submodules that a commit leads to, as far as they are in the agent's tree: that is
// thrown away.
func (t *history) keepModules(ctx context.Context, c loop.Commit) (notes []string) {
	if len(t.links) == 0 {
		return nil
	}
	for _, f := range c.Files {
		if !t.links[f.Path] || len(notes) == mostNamed {
			continue
		}
		dir := moduleDir(filepath.Join(t.work, f.Path))
		real, err := filepath.EvalSymlinks(dir)
		// whose repository that is, no one knows
		if dir == "" || err != nil || !strings.HasPrefix(real, t.work+string(filepath.Separator)) {
			continue
		}
		note, err := t.keepModule(ctx, f.Path, real)
		if err != nil {
			note = fmt.Sprintf("the commit of the submodule %s could not be kept: %v", f.Path, err)
		}
		notes = append(notes, note)
	}
	return notes
}

func (t *history) keepModule(ctx context.Context, name, dir string) (note string, err error) {
	id, err := t.git.out(ctx, "rev-parse", "HEAD:"+name)
	if err != nil {
		return "", err
	}
	id = strings.TrimSpace(id)
	ref := agentRef + "s/module"
	if err := t.git.absorb(ctx, dir, "+HEAD:"+ref); err != nil {
		return "", errors.New("its repository cannot be read")
	}
	if _, err = t.git.out(ctx, "merge-base", "--is-ancestor", id, ref); err != nil {
		return "", errors.New("its repository does not have it on the branch that is checked out")
	}
	kept, err := t.keepCommit(ctx, id)
	return fmt.Sprintf("the commit %.12s of the submodule %s is kept as %s", id, name, kept), err
}

// readAgents reads where HEAD and the refs are in the repository inside a directory.
func readAgents(dir string) (*left, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for _, name := range []string{".git", ".git/objects", ".git/refs"} {
		if info, err := root.Lstat(name); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("%s is no longer a directory", name)
		}
	}
	if _, err := root.Lstat(".git/commondir"); err == nil {
		return nil, errors.New("it is a part of another one")
	}
	head, err := firstLine(root, ".git/HEAD")
	if err != nil {
		return nil, err
	}
	l := &left{refs: map[string]string{}}
	readRefs(root, ".git/", l.refs)
	ref, symbolic := strings.CutPrefix(head, "ref: ")
	if !symbolic {
		if !isID(head) {
			return nil, errors.New("its HEAD is no commit")
		}
		l.commit = head
		return l, nil
	}
	if ref = path.Clean(ref); !strings.HasPrefix(ref, "refs/") {
		return nil, errors.New("its HEAD points outside")
	}
	if l.place = (place{ref, l.refs[ref]}); l.commit == "" {
		return nil, errors.New("its HEAD points nowhere")
	}
	return l, nil
}

func isID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// readRefs reads the refs of a repository that is in a directory, "" or with a slash at the end.
func readRefs(root *os.Root, dir string, refs map[string]string) {
	packed, _ := smallFile(root, dir+"packed-refs") // there may be none
	for line := range strings.Lines(packed) {
		if id, name, _ := strings.Cut(strings.TrimSpace(line), " "); isID(id) && strings.HasPrefix(name, "refs/") {
			refs[name] = id
		}
	}
	files := 0
	_ = fs.WalkDir(root.FS(), dir+"refs", func(name string, d fs.DirEntry, err error) error {
		if files++; files > mostRefFiles {
			return fs.SkipAll
		}
		if err != nil || !d.Type().IsRegular() || strings.HasSuffix(name, ".lock") {
			return nil
		}
		if id, err := firstLine(root, name); err == nil && isID(id) {
			refs[strings.TrimPrefix(name, dir)] = id
		}
		return nil
	})
}

func firstLine(root *os.Root, name string) (string, error) {
	text, err := smallFile(root, name)
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(line), err
}

// smallFile reads a regular file that a stranger may have put there.
func smallFile(root *os.Root, name string) (string, error) {
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 16<<20 {
		return "", errors.Join(err, fmt.Errorf("%s is not a file", name))
	}
	text, err := root.ReadFile(name)
	return string(text), err
}

// halfDone are the files of a .git by which a merge, a rebase or the like continues. The messages and trees that git
// prepares for them say nothing.
var halfDone = []string{"MERGE_HEAD", "MERGE_MODE", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply",
	"sequencer", "BISECT_LOG", "BISECT_START"}

// unfinished notes what halfDone shows.
const unfinished = "the agent had left a merge or rebase unfinished; its files were kept unchanged"

// halfDoneIn reports whether a .git is in the middle of something.
func halfDoneIn(dir string) bool {
	return slices.ContainsFunc(halfDone, func(name string) bool { return exists(filepath.Join(dir, name)) })
}
