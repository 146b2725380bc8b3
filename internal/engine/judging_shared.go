package engine

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/detect"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
)

// On a laptop without a setup, checks rely on what lies in the clone: packages that somebody has installed, a file with settings. Such paths are
// shared with the tree of the checks as they were before the run's first turn, and the report names them: the commit does not have them.

// Shared is a path of the clone that the checks are given.
type Shared struct {
	path    string        // from the top, with slashes
	digest  string        // of what it held before the run's first turn
	changed bool          // it was changed since, and nobody has accepted that
	seen    git.Footprint // of the clone's, as it was last known to be the same
	laid    git.Footprint // of the copy
}

// Cached names are those under which tools keep what they can make again: a change there is none.
var cachedNames = []string{"__pycache__", ".cache", ".vite", ".vite-temp", ".vitest", ".pytest_cache", ".turbo", ".nx", ".mypy_cache", ".ruff_cache"}

// Share finds what is shared: what the setting judge.share names, or where nothing installs dependencies the directories in which they usually
// lie. known is what the run's record says of an earlier process, nil when it says nothing; accepted are names that the person accepts as they are
// now.
func (w *Spec) Share(ctx context.Context, known []loop.Shared, accepted []string) ([]*Shared, error) {
	paths, err := w.sharedNames(ctx)
	if err != nil {
		return nil, err
	}
	if known != nil && !w.namesShared() {
		paths = slices.DeleteFunc(paths, func(name string) bool { // it was not there before the first turn
			return !slices.ContainsFunc(known, func(was loop.Shared) bool { return was.Path == name }) && !slices.Contains(accepted, name) && !slices.Contains(accepted, "all")
		})
	}
	var out []*Shared
	for _, name := range paths {
		digest, err := digestOf(w.Workspace.Dir(), name)
		if err != nil {
			return nil, fmt.Errorf("reading %s, which is shared with the checks: %w", name, err)
		}
		s := &Shared{path: name, digest: digest}
		for _, was := range known {
			if was.Path == name && was.Digest != digest && !slices.Contains(accepted, name) && !slices.Contains(accepted, "all") {
				s.digest, s.changed = was.Digest, true
			}
		}
		out = append(out, s)
	}
	for _, name := range accepted {
		if name != "all" && !slices.Contains(paths, name) {
			return nil, invalid.Errorf("flag --accept is %q, which is not shared with the checks; shared are: %s", name, cmp.Or(strings.Join(paths, ", "), "none"))
		}
	}
	return out, nil
}

// sharedNames are the paths that are shared.
func (w *Spec) sharedNames(ctx context.Context) ([]string, error) {
	if w.InJob || w.Tree == nil {
		return nil, nil // a job's checkout has nothing that the commit has not
	}
	if w.namesShared() {
		return w.namedShared(ctx)
	}
	if steps, err := w.setupSteps(ctx); err != nil || len(steps) > 0 {
		return nil, err
	}
	ignored, err := w.Tree.IgnoredPaths(ctx)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, name := range ignored {
		if name, isDir := strings.CutSuffix(name, "/"); isDir && slices.Contains(detect.DependencyDirs, path.Base(name)) && w.sharable(ctx, name) == nil {
			found = append(found, name)
		}
	}
	return found, nil
}

// namesShared reports whether the settings say what is shared.
func (w *Spec) namesShared() bool {
	return w.Settings.Judge != nil && w.Settings.Judge.Share != nil
}

func (w *Spec) namedShared(ctx context.Context) ([]string, error) {
	var found []string
	for _, name := range w.Settings.Judge.Share {
		given := name
		if name = path.Clean(filepath.ToSlash(name)); !filepath.IsLocal(filepath.FromSlash(name)) || name == "." || name == ".git" || strings.HasPrefix(name, ".git/") {
			return nil, invalid.Errorf("the setting judge.share names %q; allowed are paths in the clone, from its top, that git does not track", given)
		}
		if !Exists(filepath.Join(w.Workspace.Dir(), name)) {
			w.Log("warning: the setting judge.share names %s, which is not in the clone", name)
			continue
		}
		if err := w.sharable(ctx, name); err != nil {
			return nil, err
		}
		found = append(found, name)
	}
	return found, nil
}

// sharable says why a path cannot be shared.
func (w *Spec) sharable(ctx context.Context, name string) error {
	at := filepath.Join(w.Workspace.Dir(), filepath.FromSlash(name))
	real, err := filepath.EvalSymlinks(at)
	if err != nil {
		return invalid.Errorf("the setting judge.share names %s, which cannot be read: %w", name, err)
	}
	top, err := filepath.EvalSymlinks(w.Workspace.Dir())
	if err != nil {
		return fmt.Errorf("finding the worktree: %w", err)
	}
	if rel, err := filepath.Rel(top, real); err != nil || !filepath.IsLocal(rel) {
		return invalid.Errorf("the setting judge.share names %s, which is a link that leads out of the clone, to %s: share nothing through links", name, real)
	}
	tracked, err := w.Tree.Tracked(ctx, name)
	if err != nil {
		return err
	}
	if tracked {
		return invalid.Errorf("the setting judge.share names %s, which git tracks: the checks have it from the commit; take it out of the setting", name)
	}
	return nil
}

func Exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// sharedPaths are the paths that the checks are given.
func (j *judgingTree) sharedPaths() []string {
	var paths []string
	for _, s := range j.shared {
		if !s.changed {
			paths = append(paths, s.path)
		}
	}
	return paths
}

// layShared gives the tree its own copies. What was changed in the run is not given.
func (j *judgingTree) layShared() error {
	for _, s := range j.shared {
		if s.changed {
			continue
		}
		if err := j.lay(s); err != nil {
			return fmt.Errorf("giving %s to the checks: %w", s.path, err)
		}
	}
	return nil
}

func (j *judgingTree) lay(s *Shared) error {
	if err := j.tree.Remove([]string{s.path}); err != nil {
		return err
	}
	from := j.run.Workspace.Dir()
	s.seen = git.FootprintOf(from, []string{s.path})
	c := copier{from: from, to: j.dir}
	if !j.mapped() {
		c.lead = func(text string) string { return replacePath(text, from, j.dir) }
	}
	if err := c.copy(s.path); err != nil {
		return err
	}
	s.laid = git.FootprintOf(j.dir, []string{s.path})
	return nil
}

// restoreShared makes the copies what they were: what was added is removed, what was changed is copied again.
func (j *judgingTree) restoreShared() error {
	for _, s := range j.shared {
		if s.changed {
			continue
		}
		added, changed := s.laid.Differs(j.dir)
		if changed {
			if err := j.lay(s); err != nil {
				return fmt.Errorf("giving %s to the checks again: %w", s.path, err)
			}
		} else if err := j.tree.Remove(added); err != nil {
			return err
		}
	}
	return nil
}

// refused is the verdict when a turn has changed what is shared: what passes with the copies from before would not pass with what is there now.
func (j *judgingTree) refused() (*loop.Verdict, error) {
	var names []string
	for _, s := range j.shared {
		if j.setAt != "" && slices.ContainsFunc(j.own, func(own string) bool { return strings.TrimSuffix(own, "/") == s.path }) {
			continue // the setup has made it anew
		}
		was := s.changed
		if s.changed = s.differs(j.run.Workspace.Dir()); s.changed {
			names = append(names, s.path)
		} else if was { // it is again as it was
			if err := j.lay(s); err != nil {
				return nil, fmt.Errorf("giving %s to the checks: %w", s.path, err)
			}
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	what := strings.Join(names, ", ")
	v := unfit("shared", fmt.Sprintf("%s was changed during the run, and is in no commit: name what installs it in the setting setup, undo the change, or accept it with --resume --accept %s", what, names[0]))
	v.Tell = fmt.Sprintf("The checks use %s as it lay in the clone before this run; it has been changed since, and git ignores it, so the change is in no commit. Undo that change: the work must pass without it.", what)
	return v, nil
}

// differs reports whether the clone's path holds something else now than before the first turn. Caches do not count.
func (s *Shared) differs(dir string) bool {
	added, changed := s.seen.Differs(dir)
	if !s.changed && !changed && !slices.ContainsFunc(added, func(name string) bool { return !cached(name) }) {
		return false
	}
	now, err := digestOf(dir, s.path)
	if err != nil || now != s.digest {
		return true
	}
	s.seen = git.FootprintOf(dir, []string{s.path})
	return false
}

// cached reports whether a path is one under which tools keep what they can make again.
func cached(name string) bool {
	return strings.HasSuffix(name, ".pyc") || slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return slices.Contains(cachedNames, part) })
}

// digestOf is the digest of a path in a directory: of every name, mode and content, but caches.
func digestOf(dir, name string) (string, error) {
	sum := sha256.New()
	err := filepath.WalkDir(filepath.Join(dir, filepath.FromSlash(name)), func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, at)
		rel = filepath.ToSlash(rel)
		if cached(rel) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%s\x00%s\x00", rel, info.Mode())
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(at)
			fmt.Fprintf(sum, "%s\x00", to)
			return err
		case info.Mode().IsRegular():
			return addTo(sum, at)
		}
		return nil
	})
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), err
}

func addTo(w io.Writer, name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	n, err := io.Copy(w, file)
	fmt.Fprintf(w, "\x00%d\x00", n)
	return err
}

// copier copies paths from one directory to another: files, directories and links, which stay links.
type copier struct {
	from, to string
	// lead leads what a text says of the one directory to the other; nil: nothing has to be led.
	lead func(text string) string
}

// mostLed is the size above which no file is looked through for paths.
const mostLed = 256 << 10

func (c copier) copy(name string) error {
	if err := os.MkdirAll(filepath.Dir(filepath.Join(c.to, name)), 0o755); err != nil {
		return err
	}
	return filepath.WalkDir(filepath.Join(c.from, name), func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(c.from, at)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		to := filepath.Join(c.to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(to, info.Mode().Perm()|0o700)
		case info.Mode()&fs.ModeSymlink != 0:
			return c.link(at, to)
		case info.Mode().IsRegular():
			return c.file(at, to, info)
		}
		return nil
	})
}

func (c copier) link(from, to string) error {
	target, err := os.Readlink(from)
	if err != nil {
		return err
	}
	if c.lead != nil && filepath.IsAbs(target) {
		target = c.lead(target)
	}
	return os.Symlink(target, to)
}

// file copies a file. A script that names the directory it was made for, as those of a virtual environment do, is led to the other one.
func (c copier) file(from, to string, info fs.FileInfo) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if c.lead != nil && info.Size() <= mostLed {
		text, err := io.ReadAll(in)
		if err == nil && bytes.IndexByte(text, 0) < 0 {
			text = []byte(c.lead(string(text)))
		}
		_, writing := out.Write(text)
		return errors.Join(err, writing)
	}
	if _, err := io.Copy(out, in); err != nil { // by the system, which shares the blocks where the file system can
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}
