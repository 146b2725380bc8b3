package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/secret"
)

// Correction is what the harness takes back of an iteration, or writes itself. All paths are from the top, with
// slashes. A path of Restore or Keep that is a directory stands for everything in it.
type Correction struct {
	Since   string   // the commit whose version of the paths of Restore is put back; what it did not have is removed
	Restore []string // "ralph/tasks.json"
	// Keep puts back everything that differs from Since but these paths; nil does not.
	Keep    []string
	Write   map[string][]byte // regular files that are not executable; each wins over what is put back
	Message string
}

// Correct makes one commit of the harness's own on top of the run's newest one. Index, working tree and HEAD agree on
// the corrected paths afterwards, whatever stood there: a link is replaced and not followed, and so is a directory in
// the place of a file. Nothing else in the working tree is touched, and files of the user's stay even where the agent
// had committed them. The result is Empty, with the SHA that was, when the commit holds it all already. The branch
// moves last: whoever is killed on the way corrects again.
func (t *Tree) Correct(ctx context.Context, c Correction) (loop.Commit, error) {
	if err := c.check(t.secrets()); err != nil {
		return loop.Commit{}, fmt.Errorf("correcting the commit %.12s: %w", t.head, err)
	}
	c.Message = t.harmless(c.Message)
	if err := t.settle(); err != nil {
		return loop.Commit{}, err
	}
	puts, gone, err := t.corrections(ctx, c)
	if err != nil {
		return loop.Commit{}, err
	}
	steady := t.indexed == t.head
	t.indexed = ""
	commit, tree, err := t.commitOn(ctx, steady, puts, gone, c.Message)
	if err != nil {
		return loop.Commit{}, fmt.Errorf("correcting the commit %.12s: %w", t.head, err)
	}
	if !steady { // else it is done
		err = t.inIndex(ctx, nil, puts, gone)
	}
	if err != nil {
		return loop.Commit{}, fmt.Errorf("correcting the index: %w", err)
	}
	if err := t.layDown(ctx, puts, gone); err != nil {
		return loop.Commit{}, fmt.Errorf("correcting the working tree: %w", err)
	}
	if err := t.setHead(commit); err != nil {
		return loop.Commit{}, err
	}
	if steady {
		t.indexed = commit
	}
	if commit == t.head {
		return loop.Commit{SHA: commit, Tree: tree, Empty: true, NoDiff: tree == t.baseTree}, t.handOver(ctx)
	}
	made, err := t.compared(ctx, t.head, commit, tree)
	if err != nil {
		return loop.Commit{}, err
	}
	t.head, t.headTree = made.SHA, made.Tree
	if err := t.handOver(ctx); err != nil {
		return loop.Commit{}, fmt.Errorf("handing the tree back to the agent: %w", err)
	}
	return made, nil
}

// check refuses what no commit may hold.
func (c Correction) check(secrets *secret.Redactor) error {
	for _, name := range slices.Concat(c.Restore, c.Keep, slices.Collect(maps.Keys(c.Write))) {
		if !fs.ValidPath(name) || name == "." {
			return fmt.Errorf("%q is no path from the top of the tree", name)
		}
		if slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return strings.EqualFold(part, ".git") }) {
			return fmt.Errorf("%q is git's own", name)
		}
	}
	for name, content := range c.Write {
		if s, ok := secrets.First(string(content)); ok {
			return fmt.Errorf("%s:%d would hold a secret of ralph's, %s", name, lineAt(string(content), s.From), s.As)
		}
	}
	if _, ok := secrets.First(c.Message); ok {
		return errors.New("the message would hold a secret of ralph's")
	}
	return nil
}

// entry is a file of a commit, by its path.
type entry struct{ mode, id, name string }

// corrections are the entries that a correction puts into the newest commit, and the names that it takes out.
func (t *Tree) corrections(ctx context.Context, c Correction) (puts, gone []entry, err error) {
	changed, err := t.toPutBack(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	asked, kept, written := newPaths(c.Restore), newPaths(c.Keep), newPaths(slices.Collect(maps.Keys(c.Write)))
	for _, ch := range changed {
		name := ch.was.name
		switch {
		case !asked.cover(name) && (c.Keep == nil || kept.cover(name)):
		case written.cover(name):
			gone = append(gone, ch.is)
		case ch.was.mode == missing:
			gone = append(gone, ch.is)
		case !written.below(name): // a file in the place of a directory that is written into
			puts = append(puts, ch.was)
		}
	}
	gone = slices.DeleteFunc(gone, func(e entry) bool { return e.mode == missing || written.names[e.name] })
	ids, err := t.blobs(ctx, c.Write)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Write)) {
		puts = append(puts, entry{"100644", ids[name], name})
	}
	return puts, gone, nil
}

// paths are names of files and directories.
type paths struct{ names, above map[string]bool }

func newPaths(names []string) paths {
	p := paths{map[string]bool{}, map[string]bool{}}
	for _, name := range names {
		p.names[name] = true
		for at := path.Dir(name); at != "." && !p.above[at]; at = path.Dir(at) {
			p.above[at] = true
		}
	}
	return p
}

// cover reports whether a path is one of these or in one.
func (p paths) cover(name string) bool {
	for ; name != "."; name = path.Dir(name) {
		if p.names[name] {
			return true
		}
	}
	return false
}

// below reports whether one of these is in what the path names.
func (p paths) below(name string) bool { return p.above[name] }

// missing is the mode of what a commit has not.
const missing = "000000"

// change is one path that two commits do not have alike.
type change struct{ was, is entry }

// toPutBack is what the newest commit has otherwise than the correction's, and what the working tree has otherwise than
// the newest commit: git may not have been able to commit it, or somebody was killed on the way.
func (t *Tree) toPutBack(ctx context.Context, c Correction) ([]change, error) {
	if len(c.Restore) == 0 && c.Keep == nil {
		return nil, nil
	}
	changed, err := t.changes(ctx, "diff-tree", "-r", "--ignore-submodules=none", c.Since, t.head)
	if err != nil {
		return nil, err
	}
	lying, err := t.changes(ctx, "diff-index", "--ignore-submodules=all", t.head)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, ch := range changed {
		known[ch.was.name] = true
	}
	for _, ch := range lying {
		if !known[ch.was.name] {
			changed = append(changed, ch)
		}
	}
	return changed, nil
}

// changes runs a comparing command.
func (t *Tree) changes(ctx context.Context, command string, args ...string) ([]change, error) {
	args = append([]string{command, "-z", "--raw", "--no-abbrev", "--no-renames"}, args...)
	out, err := t.git.out(ctx, append(args, "--")...)
	if err != nil {
		return nil, fmt.Errorf("comparing with commit %.12s: %w", t.head, err)
	}
	var all []change
	parts := records(out)
	for i := 0; i+1 < len(parts); i += 2 {
		f := fields(strings.TrimPrefix(parts[i], ":"))
		if len(f) != 5 {
			return nil, fmt.Errorf("comparing with commit %.12s: git answered %q", t.head, parts[i])
		}
		all = append(all, change{entry{f[0], f[2], parts[i+1]}, entry{f[1], f[3], parts[i+1]}})
	}
	return all, nil
}

// blobs stores contents as they are, whatever the tree's attributes say, with one git process.
func (t *Tree) blobs(ctx context.Context, files map[string][]byte) (ids map[string]string, err error) {
	if len(files) == 0 {
		return nil, nil
	}
	var in strings.Builder
	in.WriteString("feature done\n")
	names := slices.Sorted(maps.Keys(files))
	for i, name := range names {
		fmt.Fprintf(&in, "blob\nmark :%d\ndata %d\n%s\nget-mark :%d\n", i+1, len(files[name]), files[name], i+1)
	}
	in.WriteString("done\n")
	out, _, err := t.git.run(ctx, call{args: []string{"fast-import", "--quiet"}, in: strings.NewReader(in.String())})
	if err != nil {
		return nil, fmt.Errorf("storing %s: %w", names[0], err)
	}
	got := fields(out)
	if len(got) != len(names) {
		return nil, fmt.Errorf("storing %s: git answered %q", names[0], out)
	}
	ids = map[string]string{}
	for i, name := range names {
		ids[name] = got[i]
	}
	return ids, nil
}

// commitOn makes a commit on top of the newest one: by the tree's index when that is steady, known to be at the newest
// and nobody else's, else by one of its own. When the tree stays the same the result is the newest.
func (t *Tree) commitOn(ctx context.Context, steady bool, puts, gone []entry, message string) (commit, tree string,
	err error) {
	var own []string
	if !steady {
		dir, err := os.MkdirTemp(t.scratch(), "correct-")
		if err != nil {
			return "", "", err
		}
		defer os.RemoveAll(dir)
		own = []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
		if _, _, err := t.git.run(ctx, call{env: own, args: []string{"read-tree", t.head}}); err != nil {
			return "", "", err
		}
	}
	if err := t.inIndex(ctx, own, puts, gone); err != nil {
		return "", "", err
	}
	tree, _, err = t.git.run(ctx, call{env: own, args: []string{"write-tree"}})
	if tree = strings.TrimSpace(tree); err != nil || tree == t.headTree {
		return t.head, tree, err
	}
	commit, err = t.commitTree(ctx, tree, t.head, message)
	return commit, tree, err
}

// inIndex makes an index hold entries, and others not. A directory gives way to a file of its name, and a file to a
// directory.
func (t *Tree) inIndex(ctx context.Context, own []string, puts, gone []entry) error {
	if len(puts)+len(gone) == 0 {
		return nil
	}
	var in strings.Builder
	for _, e := range gone {
		fmt.Fprintf(&in, "0 %s\t%s\x00", strings.Repeat("0", len(t.head)), e.name)
	}
	for _, e := range puts {
		fmt.Fprintf(&in, "%s %s\t%s\x00", e.mode, e.id, e.name)
	}
	_, _, err := t.git.run(ctx, call{env: own, in: strings.NewReader(in.String()),
		args: []string{"update-index", "-z", "--index-info"}})
	return err
}

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
