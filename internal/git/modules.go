package git

import (
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
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// deepModules bounds how deep submodules are searched for within each other.
const deepModules = 5

// findModules remembers the submodules that the run's first commit has.
func (t *Tree) findModules(ctx context.Context) (err error) {
	t.modules = map[string]module{}
	if len(t.links) == 0 {
		return nil
	}
	objects := t.store()
	if c, ok := t.origin.(*clone); ok {
		return t.findModulesIn(ctx, c.top, "", t.head, objects, 0)
	}
	links, err := t.git.gitlinks(ctx, t.head, objects)
	for name, id := range links {
		t.modules[name] = module{known: []string{id}}
	}
	return err
}

// layModules checks the submodules out that the origin has, for the agent.
func (t *Tree) layModules(ctx context.Context) error {
	if err := t.findModules(ctx); err != nil {
		return err
	}
	work, err := os.OpenRoot(t.work)
	if err != nil {
		return err
	}
	defer work.Close()
	for _, name := range slices.Sorted(maps.Keys(t.modules)) {
		m := t.modules[name]
		if m.objects == "" {
			continue
		}
		if err := files.MkdirAll(work, name, 0o755); err != nil {
			return fmt.Errorf("checking out the submodule %s: %w", name, err)
		}
		err := os.Remove(t.moduleIndex(name)) // of an earlier process
		if err == nil || errors.Is(err, os.ErrNotExist) {
			_, err = t.inModule(name).out(ctx, "read-tree", "--reset", "-u", m.commit)
		}
		if ignore(err) != nil {
			return fmt.Errorf("checking out the submodule %s: %w", name, err)
		}
	}
	return nil
}

func (t *Tree) moduleIndex(name string) string {
	return filepath.Join(t.o.Root, strings.ReplaceAll("module/"+name, "/", "%2F")+".index")
}

// inModule starts git on a submodule in the agent's tree. The repository there is not read, as the agent can have made
// it.
func (t *Tree) inModule(name string) door {
	d := t.git
	d.dir = filepath.Join(t.work, filepath.FromSlash(name))
	d.env = append(d.env[:len(d.env):len(d.env)], "GIT_WORK_TREE="+d.dir, "GIT_INDEX_FILE="+t.moduleIndex(name),
		"GIT_OBJECT_DIRECTORY="+cmp.Or(t.modules[name].objects, t.store()))
	return d
}

// leftInModules names in sentences what differs in each submodule from what the agent was given, committed there or
// not: no commit of the run has it, unless it has another commit of that submodule.
func (t *Tree) leftInModules(ctx context.Context, c loop.Commit) (notes []string, err error) {
	root, err := os.OpenRoot(t.work)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for _, name := range union(t.links, t.modules) {
		moved := slices.ContainsFunc(c.Files, func(f loop.FileChange) bool { return f.Path == name })
		if info, err := root.Lstat(name); moved || err != nil || !info.IsDir() || !behindDirectories(root, name) {
			continue // a commit says what happened to it
		}
		if lying, err := fs.ReadDir(root.FS(), name); err != nil || len(lying) == 0 {
			continue
		}
		out, err := t.inModule(name).out(ctx, "ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard",
			"--directory")
		if err != nil {
			return nil, fmt.Errorf("looking into the submodule %s: %w", name, err)
		}
		all := records(out)
		if slices.Sort(all); len(all) > 0 {
			notes = append(notes, fmt.Sprintf("the submodule %s: what was changed in it is in no commit of the run: %s", name,
				safetext.FirstN(slices.Compact(all), mostNamed)))
		}
	}
	return notes, nil
}

func (t *Tree) findModulesIn(ctx context.Context, top, at, commit, objects string, deep int) error {
	links, err := t.git.gitlinks(ctx, commit, objects)
	if err != nil || deep == deepModules {
		return err
	}
	for name, id := range links {
		name = path.Join(at, name)
		m := module{commit: id, known: []string{id}}
		t.modules[name] = m
		dir := moduleDir(filepath.Join(top, name))
		if dir == "" { // it is not checked out
			continue
		}
		refs, err := door{dir: dir, env: append(environment(t.o.Env), "GIT_DIR="+dir), pair: safe}.below(ctx, "refs/remotes/")
		if err != nil {
			continue // what cannot be read counts as missing
		}
		m.objects = filepath.Join(dir, "objects")
		m.known = slices.Compact(slices.Sorted(maps.Values(refs)))
		t.modules[name] = m
		if err := t.findModulesIn(ctx, top, name, id, m.objects, deep+1); err != nil {
			continue
		}
	}
	return nil
}

// bringModules fetches the commits of submodules that a newer base has, from the remotes of the clone's submodules. What
// the clone has not checked out stays so.
func (t *Tree) bringModules(ctx context.Context, at, commit, objects string, deep int) error {
	links, err := t.git.gitlinks(ctx, commit, objects)
	if err != nil || deep == deepModules {
		return err
	}
	for name, id := range links {
		name = path.Join(at, name)
		m := t.modules[name]
		if c, is := t.origin.(*clone); m.objects == "" || !is {
			m.known = append(m.known, id)
			t.modules[name] = m
			continue
		} else if id != m.commit {
			ctx, cancel := context.WithTimeout(ctx, remoteLimit)
			dir := filepath.Dir(m.objects)
			d := door{dir: dir, env: append(usersDoor(t.o.Env), "GIT_DIR="+dir), pair: safe}
			err := c.unasked(d).bring(ctx, id, "origin", id)
			cancel()
			if err != nil {
				return fmt.Errorf("the submodule %s is at %.12s there, which its remote does not give: %w", name, id, err)
			}
			m.known = append(m.known, id)
			t.modules[name] = m
		}
		if err := t.bringModules(ctx, name, id, m.objects, deep+1); err != nil {
			return err
		}
	}
	return nil
}

// gitlinks are the submodules of a commit, by path, with their commits.
func (d door) gitlinks(ctx context.Context, commit, objects string) (map[string]string, error) {
	out, _, err := d.run(ctx, call{args: []string{"ls-tree", "-r", "-z", "--full-tree", commit},
		env: []string{"GIT_OBJECT_DIRECTORY=" + objects}})
	if err != nil {
		return nil, fmt.Errorf("looking for submodules: %w", err)
	}
	links := map[string]string{}
	for name, e := range entriesOf(out) {
		if e.mode == gitlink {
			links[name] = e.id
		}
	}
	return links, nil
}

// moduleDir is the repository of a submodule that is checked out in a directory; empty when it is not.
func moduleDir(work string) string {
	git := filepath.Join(work, ".git")
	if isDirectory(git) {
		return git
	}
	text, err := files.Read(git)
	dir, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if err != nil || !ok {
		return ""
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(work, dir)
	}
	if !isDirectory(filepath.Join(dir, "objects")) {
		return ""
	}
	return filepath.Clean(dir)
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
