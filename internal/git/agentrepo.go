package git

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/files"
)

// agentRepo is a repository made for an agent: a few plain files that borrow the objects of ours. It is written again
// each time that the agent has touched it, so nothing put into it (hooks, configuration, a half-done rebase) outlives
// the iteration.
type agentRepo struct {
	head    string            // what HEAD holds: a commit, or "ref: refs/heads/…"
	refs    map[string]string // full name → commit
	index   string            // the index to copy
	objects []string          // where it finds its objects, as the agent or check in it sees them
	sparse  []byte            // its sparse-checkout patterns; nil: it has none
}

// writeRepo makes .git in the directory, whatever was there. Names in it are only ever resolved inside the directory,
// so a link that an agent planted leads nowhere.
func (t *checkout) writeRepo(dir string, r agentRepo) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.RemoveAll(".git"); err != nil { // directories that their owner may not write
		err = chmod(filepath.Join(dir, ".git"), 0o755, 0)
		if err = errors.Join(err, root.RemoveAll(".git")); err != nil {
			return fmt.Errorf("making the agent's repository: %w", err)
		}
	}
	shallow, err := readText(filepath.Join(t.common, "shallow"))
	index, failed := readText(r.index)
	if err := errors.Join(err, failed); err != nil {
		return fmt.Errorf("making the agent's repository: %w", err)
	}
	for _, d := range []string{".git", ".git/refs", ".git/info", ".git/objects", ".git/objects/info"} {
		if err := root.Mkdir(d, 0o755); err != nil {
			return fmt.Errorf("making the agent's repository: %w", err)
		}
	}
	for name, text := range map[string][]byte{
		"HEAD": []byte(r.head + "\n"), "config": []byte(t.agentConfig(r)), "packed-refs": []byte(r.packed()),
		"info/exclude": readQuietly(t.o.excludes()), "objects/info/alternates": []byte(strings.Join(r.objects, "\n") + "\n"),
		"info/sparse-checkout": r.sparse, "info/attributes": t.attributes, "shallow": shallow.text, "index": index.text,
	} {
		if text == nil {
			continue
		}
		if err := root.WriteFile(".git/"+name, text, 0o644); err != nil {
			return fmt.Errorf("making the agent's repository: %w", err)
		}
	}
	if t.keys != "" {
		if err := root.Symlink(t.keys, ".git/git-crypt"); err != nil {
			return fmt.Errorf("making the agent's repository: %w", err)
		}
	}
	return nil
}

func (t *checkout) agentConfig(r agentRepo) string {
	var b strings.Builder
	b.WriteString("[core]\n\trepositoryFormatVersion = 0\n\tbare = false\n")
	if t.hash().Size() == sha256.Size {
		b.WriteString("\trepositoryFormatVersion = 1\n[extensions]\n\tobjectFormat = sha256\n")
	}
	if r.sparse != nil {
		b.WriteString("[core]\n\tsparseCheckout = true\n")
	}
	b.Write(t.contents)
	if t.o.Identity.Name != "" {
		fmt.Fprintf(&b, "[user]\n\tname = %s\n\temail = %s\n", quoted(t.o.Identity.Name), quoted(t.o.Identity.Email))
	}
	if t.o.Remote.URL != "" {
		fmt.Fprintf(&b, "[remote \"origin\"]\n\turl = %s\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n",
			quoted(t.o.Remote.shown()))
	}
	return b.String()
}

func (r agentRepo) packed() string {
	var b strings.Builder
	for name, commit := range r.refs {
		fmt.Fprintf(&b, "%s %s\n", commit, name)
	}
	return b.String()
}

// left is where an agent has left its repository.
type left struct {
	place
	refs map[string]string // every branch, tag, stash and other ref, full name → id
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
		return nil, fmt.Errorf(".git/HEAD: %w", err)
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

// readRefs reads the refs of a repository that is in a directory, "" or with a slash at the end.
func readRefs(root *os.Root, dir string, refs map[string]string) {
	packed, _ := files.ReadIn(root, dir+"packed-refs", mostFile) // there may be none
	for line := range strings.Lines(string(packed)) {
		if id, name, _ := strings.Cut(strings.TrimSpace(line), " "); isID(id) && strings.HasPrefix(name, "refs/") {
			refs[name] = id
		}
	}
	seen := 0
	_ = fs.WalkDir(root.FS(), dir+"refs", func(name string, d fs.DirEntry, err error) error {
		if seen++; seen > mostRefFiles {
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

// mostFile bounds a file that a stranger may have put there, in bytes.
const mostFile = 16 << 20

func firstLine(root *os.Root, name string) (string, error) {
	text, err := files.ReadIn(root, name, mostFile)
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line), err
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

// headNow is where HEAD is in the agent's repository.
func (t *checkout) headNow() place {
	l, err := readAgents(t.work)
	if err != nil { // broken is somewhere, too
		return place{ref: err.Error()}
	}
	return l.place
}

func unreadable(err error) string {
	why, _, _ := strings.Cut(err.Error(), "\n")
	return fmt.Sprintf("the agent's repository cannot be read (%s); its files were kept", why)
}

// refs are the branches and tags of the harness's repository.
func (t *checkout) refs() (map[string]string, error) {
	root, err := os.OpenRoot(t.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	refs := map[string]string{}
	readRefs(root, "", refs)
	maps.DeleteFunc(refs, func(ref, _ string) bool { return strings.HasPrefix(ref, "refs/remotes/") })
	return refs, nil
}
