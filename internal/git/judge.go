package git

import (
	"bytes"
	"cmp"
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

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// JudgeTree is a checkout of exactly one commit that checks run in, apart from the tree that the agent works in: no
// turn of an agent is to write there. It has a repository of its own over the objects of the run's, which must not be
// written either, with its branches and tags. The harness itself reads that repository never: it knows the checkout by
// an index of its own.
type JudgeTree struct {
	t       *Tree
	dir     string
	objects []string // see OpenJudge
	parts   []*part  // the commit's own files, then its submodules'
	commit  string
	repo    Footprint       // its own repository, as the harness has written it
	repoAt  string          // for which commit
	lacks   map[string]bool // large files that the clone did not have when the run began
}

// part is a checkout of one commit of one repository.
type part struct {
	path   string // from the top of the tree; "" is the top
	git    door
	commit string
}

// OpenJudge makes a judging tree, which holds nothing until Use, in an absolute directory; what was there is removed.
// objects are the directories of objects as what runs in the tree sees them, in the order of ObjectDirs; nil: where they
// are. Empty and not nil: it sees none of them, and the tree's repository has the commit alone, without what came before.
func (t *Tree) OpenJudge(dir string, objects []string) (*JudgeTree, error) {
	err := cmp.Or(files.RemoveAll(dir), os.MkdirAll(dir, 0o755))
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("making the tree for the checks: %w", err)
	}
	j := &JudgeTree{t: t, dir: dir, objects: objects}
	if objects == nil {
		j.objects = t.ObjectDirs()
	}
	j.parts = []*part{{git: j.door("", t.store())}}
	return j, nil
}

// door starts git on a part of the tree.
func (j *JudgeTree) door(at, objects string) door {
	d := j.t.git
	d.dir = filepath.Join(j.dir, at)
	d.env = append(d.env[:len(d.env):len(d.env)], "GIT_WORK_TREE="+d.dir, "GIT_OBJECT_DIRECTORY="+objects,
		"GIT_LFS_SKIP_DOWNLOAD_ERRORS=1",
		"GIT_INDEX_FILE="+j.indexFile(at))
	d.pair = append(d.pair[:len(d.pair):len(d.pair)], offline...)
	return d
}

func (j *JudgeTree) indexFile(at string) string {
	return j.dir + strings.ReplaceAll(path.Clean("/"+at), "/", "%2F") + ".index"
}

// Dir is the checkout, an absolute path without links.
func (j *JudgeTree) Dir() string { return j.dir }

// Commit is the commit that the tree is at; empty before the first Use.
func (j *JudgeTree) Commit() string { return j.commit }

// Use makes the tree what a commit has: every tracked file is held against it, and written again where it differs. What
// is not tracked stays; see Tidy and Wipe. lacking lists in sentences the parts of the commit that could not be had:
// contents of submodules and large files that this clone did not hold before the turn.
func (j *JudgeTree) Use(ctx context.Context, commit string) (lacking []string, err error) {
	before := map[string]string{}
	for _, p := range j.parts {
		before[p.path] = p.commit
	}
	if err := j.checkOut(ctx, j.parts[0], commit); err != nil {
		return nil, err
	}
	if lacking, err = j.useModules(ctx); err != nil {
		return nil, err
	}
	large, err := j.missingLarge(ctx)
	if err != nil {
		return nil, err
	}
	j.commit = commit
	if err := j.give(ctx, before); err != nil {
		return nil, fmt.Errorf("giving the tree for the checks to their user: %w", err)
	}
	return append(lacking, large...), j.renewRepo(ctx)
}

// checkOut makes a part what a commit has.
func (j *JudgeTree) checkOut(ctx context.Context, p *part, commit string) error {
	if err := os.MkdirAll(p.git.dir, 0o755); err != nil {
		return fmt.Errorf("making the tree for the checks: %w", err)
	}
	_ = os.Remove(j.indexFile(p.path) + ".lock")
	_, _, err := p.git.run(ctx, call{args: []string{"read-tree", "--reset", "-u", commit}})
	if err != nil && ctx.Err() == nil { // something that was left there is in the way
		if err = j.makeWritable(p); err == nil {
			_, _, err = p.git.run(ctx, call{args: []string{"read-tree", "--reset", "-u", commit}})
		}
	}
	if err != nil {
		return fmt.Errorf("checking out %.12s for the checks: %w", commit, err)
	}
	p.commit = commit
	return nil
}

// makeWritable lets a part's directories be written that a check has closed.
func (j *JudgeTree) makeWritable(p *part) error {
	root, err := files.OpenBelow(j.dir, p.git.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return files.Walk(root, func(e files.Entry) error {
		if e.Info.IsDir() && e.Info.Mode().Perm()&0o700 != 0o700 {
			return e.In.Chmod(e.Name, e.Info.Mode().Perm()|0o700)
		}
		return nil
	})
}

// Strays are what the tree has otherwise than its commit.
type Strays struct {
	Changed []string // tracked files
	Others  []string // files and directories, these with a slash at the end, that are neither tracked nor ignored
}

// Strays looks for them.
func (j *JudgeTree) Strays(ctx context.Context) (found Strays, err error) {
	for i, p := range j.parts {
		if p.commit == "" {
			continue
		}
		args := []string{"ls-files", "-z", "-t", "--modified", "--deleted"}
		if i == 0 {
			args = append(args, "--others", "--exclude-standard", "--directory")
		}
		out, err := p.git.out(ctx, args...)
		if err != nil {
			return found, fmt.Errorf("comparing the tree of the checks with commit %.12s: %w", p.commit, err)
		}
		for _, record := range records(out) {
			kind, name, _ := strings.Cut(record, " ")
			if p.path != "" {
				name = p.path + "/" + name
			}
			switch {
			case kind == "?":
				found.Others = append(found.Others, name)
			case !slices.Contains(found.Changed[max(0, len(found.Changed)-1):], name): // a removed file is listed twice
				found.Changed = append(found.Changed, name)
			}
		}
	}
	return found, nil
}

// Restore puts the tree back from what Strays has found.
func (j *JudgeTree) Restore(ctx context.Context, found Strays) error {
	if len(found.Changed) > 0 {
		for _, p := range j.parts {
			if p.commit == "" {
				continue
			}
			if err := j.checkOut(ctx, p, p.commit); err != nil {
				return err
			}
		}
		if err := giveFiles(j.dir, found.Changed, j.t.o.As); err != nil {
			return fmt.Errorf("giving the tree for the checks to their user: %w", err)
		}
		if err := j.Tidy(ctx); err != nil { // what was in the way of a tracked file is no longer there
			return err
		}
	} else if err := j.Remove(found.Others); err != nil {
		return err
	}
	return j.renewRepo(ctx)
}

// Tidy removes what is neither tracked nor ignored.
func (j *JudgeTree) Tidy(ctx context.Context) error {
	others, err := j.others(ctx, "--exclude-standard")
	if err != nil {
		return err
	}
	return j.Remove(others)
}

// Left names what is in the tree and is not the commit's, ignored or not: files, and whole directories with a slash
// at the end.
func (j *JudgeTree) Left(ctx context.Context) ([]string, error) {
	others, err := j.others(ctx)
	return slices.DeleteFunc(others, func(name string) bool { return name == ".git/" || name == ".git" }), err
}

// Ignored names what is in the tree and is ignored, as Left does.
func (j *JudgeTree) Ignored(ctx context.Context) ([]string, error) {
	return j.others(ctx, "--ignored", "--exclude-standard")
}

func (j *JudgeTree) others(ctx context.Context, which ...string) ([]string, error) {
	out, err := j.parts[0].git.out(ctx, append([]string{"ls-files", "-z", "--others", "--directory"}, which...)...)
	if err != nil {
		return nil, fmt.Errorf("listing what is not tracked in the tree of the checks: %w", err)
	}
	return records(out), nil
}

// mostRemoved bounds how many removed files Wipe names.
const mostRemoved = 2000

// Wipe removes what is not the commit's, ignored or not, but the paths to keep and what is in them. It names the files
// that it has removed, the first 2,000.
func (j *JudgeTree) Wipe(ctx context.Context, keep []string) (removed []string, err error) {
	left, err := j.Left(ctx)
	if err != nil {
		return nil, err
	}
	kept := newPaths(trimmed(keep))
	for _, name := range left {
		if removed, err = j.wipe(strings.TrimSuffix(name, "/"), kept, removed); err != nil {
			return removed, err
		}
	}
	return removed, nil
}

func (j *JudgeTree) wipe(name string, kept paths, removed []string) ([]string, error) {
	switch {
	case kept.cover(name):
		return removed, nil
	case !kept.below(name):
		walkPaths(j.dir, []string{name}, func(file string, info fs.FileInfo) {
			if !info.IsDir() && len(removed) < mostRemoved {
				removed = append(removed, file)
			}
		})
		return removed, j.Remove([]string{name})
	}
	root, err := os.OpenRoot(j.dir)
	if err != nil {
		return removed, fmt.Errorf("clearing the tree of the checks: %w", err)
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), name)
	if err != nil {
		return removed, fmt.Errorf("clearing the tree of the checks: %w", err)
	}
	for _, e := range entries {
		if removed, err = j.wipe(path.Join(name, e.Name()), kept, removed); err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// Remove takes files and directories away, by their paths from the top. No link is followed.
func (j *JudgeTree) Remove(names []string) error {
	if len(names) == 0 {
		return nil
	}
	root, err := os.OpenRoot(j.dir)
	if err != nil {
		return fmt.Errorf("clearing the tree of the checks: %w", err)
	}
	defer root.Close()
	for _, name := range trimmed(names) {
		if name == ".git" || name == "" {
			continue
		}
		if err := files.RemoveIn(root, name); err != nil {
			return fmt.Errorf("clearing the tree of the checks: %w", err)
		}
	}
	return nil
}

// renewRepo makes the tree's own repository what the run's is, when something has changed it, or the commit has.
func (j *JudgeTree) renewRepo(ctx context.Context) error {
	git := filepath.Join(j.dir, ".git")
	if j.repoAt == j.commit && len(j.repo.changes(git)) == 0 {
		return nil
	}
	r := agentRepo{head: "ref: " + j.t.ref(), refs: j.refs(), index: j.indexFile(""), objects: j.objects,
		sparse: j.t.sparse}
	alone := j.objects != nil && len(j.objects) == 0
	if alone {
		r.refs = map[string]string{j.t.ref(): j.commit}
	}
	if err := j.t.writeRepo(j.dir, r); err != nil {
		return err
	}
	if alone {
		if err := j.pack(ctx); err != nil {
			return err
		}
	}
	if err := giveAll(j.dir, ".git", j.t.o.As); err != nil {
		return fmt.Errorf("giving the tree for the checks to their user: %w", err)
	}
	j.repo, j.repoAt = FootprintOf(git, []string{"."}), j.commit
	return nil
}

// pack puts the commit's own objects into the tree's repository, which ends there.
func (j *JudgeTree) pack(ctx context.Context) error {
	p, packs := j.parts[0], filepath.Join(j.dir, ".git", "objects", "pack")
	err := os.Mkdir(packs, 0o755)
	if err == nil {
		_, _, err = p.git.run(ctx, call{in: strings.NewReader("--shallow " + p.commit + "\n" + p.commit + "\n"),
			args: []string{"pack-objects", "-q", "--revs", filepath.Join(packs, "pack")}})
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(j.dir, ".git", "shallow"), []byte(p.commit+"\n"), 0o644)
	}
	if err != nil {
		return fmt.Errorf("packing the commit for the checks: %w", err)
	}
	return nil
}

// refs are those of the tree's own repository: the run's as they were before the turn, with the run's branch at the
// commit.
func (j *JudgeTree) refs() map[string]string {
	refs := map[string]string{}
	for ref, id := range j.t.given {
		for _, kind := range []string{"refs/heads/", "refs/tags/", "refs/remotes/"} {
			if strings.HasPrefix(ref, kind) && !strings.HasSuffix(ref, "/HEAD") {
				refs[ref] = id
			}
		}
	}
	refs[j.t.ref()] = j.commit
	return refs
}

// give makes what has been written since the user's whom the checks run as.
func (j *JudgeTree) give(ctx context.Context, before map[string]string) error {
	if j.t.o.As == nil {
		return nil
	}
	for _, p := range j.parts {
		if before[p.path] == p.commit {
			continue
		}
		if before[p.path] == "" {
			if err := p.git.giveTree(ctx, p.git.dir, j.t.o.As); err != nil {
				return err
			}
			continue
		}
		of := &objects{git: p.git}
		if p.path == "" {
			of = &j.t.objects // which knows what its newest commit has changed
		}
		changed, err := of.Changed(ctx, before[p.path], p.commit)
		if err != nil {
			return err
		}
		names := safetext.Map(changed, func(name string) string { return path.Join(p.path, name) })
		if err := giveFiles(j.dir, names, j.t.o.As); err != nil {
			return err
		}
	}
	return nil
}

// Close removes the tree.
func (j *JudgeTree) Close() error {
	err := files.RemoveAll(j.dir)
	for _, p := range j.parts {
		_ = os.Remove(j.indexFile(p.path))
	}
	if err != nil {
		return fmt.Errorf("removing the tree of the checks: %w", err)
	}
	return nil
}

// A large file of Git LFS is a pointer in its commit; what it points to is taken from what the clone has, and never
// fetched for a check.

// pointer begins a file whose content was not to be had.
const pointer = "version https://git-lfs.github.com/spec/"

// missingLarge names, in a sentence, the large files of the tree whose content this clone does not have, but those that
// it lacked when the run began. A clone without Git LFS has none of them anyhow.
func (j *JudgeTree) missingLarge(ctx context.Context) ([]string, error) {
	if !j.t.large {
		return nil, nil
	}
	p := j.parts[0]
	out, err := p.git.out(ctx, "ls-files", "-z", "--", ":(top,attr:filter=lfs)")
	if err != nil {
		return nil, fmt.Errorf("looking for large files: %w", err)
	}
	missing := slices.DeleteFunc(records(out), func(name string) bool { return !j.isPointer(name) })
	if j.lacks == nil { // the clone came without them
		j.lacks = map[string]bool{}
		for _, name := range missing {
			j.lacks[name] = true
		}
	}
	missing = slices.DeleteFunc(missing, func(name string) bool { return j.lacks[name] })
	if len(missing) == 0 {
		return nil, nil
	}
	return []string{fmt.Sprintf("the contents of %s are not in this clone (git lfs fetch brings them)",
		safetext.FirstN(missing, mostNamed))}, nil
}

func (j *JudgeTree) isPointer(name string) bool {
	root, err := os.OpenRoot(j.dir)
	if err != nil {
		return false
	}
	defer root.Close()
	name = path.Clean(name)
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return false
	}
	text, err := files.ReadIn(root, name, 1024)
	return err == nil && bytes.HasPrefix(text, []byte(pointer))
}

// useModules makes the submodules of the judging tree what its commit has. lacking names those whose commit this clone
// did not have before the turn: no one else can have it.
func (j *JudgeTree) useModules(ctx context.Context) (lacking []string, err error) {
	if len(j.t.modules) == 0 && len(j.t.links) == 0 {
		return nil, nil
	}
	parts := []*part{j.parts[0]}
	for i := 0; i < len(parts); i++ {
		of := parts[i]
		links, err := j.t.git.gitlinks(ctx, of.commit, proc.Value(of.git.env, "GIT_OBJECT_DIRECTORY"))
		if err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(links)) {
			at := path.Join(of.path, name)
			p, why, err := j.module(ctx, at, links[name])
			if err != nil {
				return nil, err
			}
			if why != "" {
				lacking = append(lacking, why)
			}
			if p != nil {
				parts = append(parts, p)
			}
		}
	}
	j.parts = parts
	return lacking, nil
}

// module checks a submodule out; nil when the clone has not either, and why says what is wrong with that.
func (j *JudgeTree) module(ctx context.Context, at, commit string) (p *part, why string, err error) {
	m := j.t.modules[at]
	if m.objects == "" {
		if slices.Contains(m.known, commit) {
			return nil, "", nil // the clone does not have it either
		}
		return nil, fmt.Sprintf("the submodule %s is new in this run, so the checks do not have what is in it", at), nil
	}
	p = &part{path: at, git: j.door(at, m.objects)}
	known, err := j.knows(ctx, p, m, commit)
	if err != nil {
		return nil, "", err
	}
	if !known {
		return nil, fmt.Sprintf("the submodule %s is at %.12s, which its remote was not known to have before this run: others might not have it", at, commit), nil
	}
	if i := slices.IndexFunc(j.parts, func(q *part) bool { return q.path == at }); i >= 0 {
		p.commit = j.parts[i].commit
	}
	return p, "", j.checkOut(ctx, p, commit)
}

// knows reports whether a submodule's commit was to be had before the first turn.
func (j *JudgeTree) knows(ctx context.Context, p *part, m module, commit string) (bool, error) {
	if commit == m.commit {
		return true, nil
	}
	if err := os.MkdirAll(p.git.dir, 0o755); err != nil {
		return false, fmt.Errorf("making the tree for the checks: %w", err)
	}
	for _, tip := range m.known {
		_, err := p.git.out(ctx, "merge-base", "--is-ancestor", commit, tip)
		if err == nil {
			return true, nil
		}
		if exit(err) < 0 {
			return false, errors.Join(fmt.Errorf("looking at the submodule %s", p.path), err)
		}
	}
	return false, nil
}
