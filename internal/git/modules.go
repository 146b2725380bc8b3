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

// module is a submodule that the clone has checked out, as it was before the first turn.
type module struct {
	objects string   // its directory of objects
	commit  string   // that the run's base has of it
	known   []string // commits that its remote is known to have
}

// deepModules bounds how deep submodules are searched for within each other.
const deepModules = 5

// findModules remembers the submodules that the run's first commit has, and those that the origin has checked out.
func (t *Tree) findModules(ctx context.Context) (err error) {
	t.modules, t.firstLinks = map[string]module{}, map[string][]string{}
	if len(t.links) == 0 {
		return nil
	}
	objects := t.store()
	if c, ok := t.origin.(*clone); ok {
		return t.findModulesIn(ctx, c.top, "", t.head, objects, 0)
	}
	links, err := t.git.gitlinks(ctx, t.head, objects)
	for name, id := range links {
		t.firstLinks[name] = []string{id}
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
		t.firstLinks[name] = []string{id}
		dir := moduleDir(filepath.Join(top, name))
		if dir == "" { // it is not checked out
			continue
		}
		m := module{objects: filepath.Join(dir, "objects"), commit: id}
		refs, err := door{dir: dir, env: append(environment(t.o.Env), "GIT_DIR="+dir), pair: safe}.below(ctx, "refs/remotes/")
		if err != nil {
			continue // what cannot be read counts as missing
		}
		for _, id := range refs {
			if !slices.Contains(m.known, id) {
				m.known = append(m.known, id)
			}
		}
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
		m, ok := t.modules[name]
		if c, is := t.origin.(*clone); !ok || !is {
			t.firstLinks[name] = append(t.firstLinks[name], id)
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
	for _, entry := range records(out) {
		about, name, _ := strings.Cut(entry, "\t")
		if f := strings.Fields(about); len(f) == 3 && f[0] == "160000" {
			links[name] = f[2]
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

// useModules makes the submodules of the judging tree what its commit has. lacking names those whose commit this clone
// did not have before the turn: no one else can have it.
func (j *JudgeTree) useModules(ctx context.Context) (lacking []string, err error) {
	if len(j.t.modules) == 0 && len(j.t.links) == 0 {
		return nil, nil
	}
	parts := []*part{j.parts[0]}
	for i := 0; i < len(parts); i++ {
		of := parts[i]
		links, err := j.t.git.gitlinks(ctx, of.commit, value(of.git.env, "GIT_OBJECT_DIRECTORY"))
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
	m, ok := j.t.modules[at]
	if !ok {
		if slices.Contains(j.t.firstLinks[at], commit) {
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
