package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/detect"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// sharedCheck is what refuses a turn that has changed what is shared.
const sharedCheck = "shared"

// SharedRefused reports whether the newest turn of a run was refused for that. Its user may accept what is in the
// agent's tree.
func SharedRefused(s loop.State) bool {
	last := s.Last()
	return last != nil && slices.ContainsFunc(last.Verdicts, func(v loop.Verdict) bool { return v.Check == sharedCheck && !v.Pass })
}

// cachedNames are those under which tools keep what they can make again: a change there does not count.
var cachedNames = []string{
	"__pycache__", ".cache", ".vite", ".vite-temp", ".vitest", ".pytest_cache", ".turbo", ".nx", ".mypy_cache",
	".ruff_cache",
}

// FindShared finds what is shared: what the setting judge.share names, or where nothing installs dependencies the
// directories in which they usually lie. known is what the run's record says of an earlier process, nil when it says
// nothing; accepted are names that the person accepts as they are now.
func (spec *Spec) FindShared(ctx context.Context, known []loop.Shared, accepted []string) ([]*Shared, error) {
	paths, err := spec.sharedNames(ctx)
	if err != nil {
		return nil, err
	}
	paths = slices.DeleteFunc(paths, func(name string) bool { return !spec.namesShared() && cameLater(known, accepted, name) })
	return safetext.Map(paths, func(name string) *Shared { return &Shared{path: name} }), nil
}

// Share notes how the agent's tree has what is shared. With lay it is given copies of what is in the clone, except of what
// was accepted in a run that continues; otherwise it has them.
func (spec *Spec) Share(all []*Shared, known []loop.Shared, accepted []string, lay bool) (err error) {
	for _, s := range all {
		if err := spec.layShared(s.path, lay && (known == nil || !isAccepted(accepted, s.path))); err != nil {
			return err
		}
		if s.digest, err = digestOf(spec.Workspace.Dir(), s.path); err != nil {
			return fmt.Errorf("reading %s, which is shared with the checks: %w", s.path, err)
		}
		for _, was := range known {
			if was.Path == s.path && was.Digest != s.digest && !isAccepted(accepted, s.path) {
				s.digest, s.changed = was.Digest, true
			}
		}
	}
	return nil
}

// cameLater reports whether a path did not exist before the run's first turn, and no one accepts it.
func cameLater(known []loop.Shared, accepted []string, name string) bool {
	return known != nil && !isAccepted(accepted, name) &&
		!slices.ContainsFunc(known, func(was loop.Shared) bool { return was.Path == name })
}

func isAccepted(accepted []string, name string) bool {
	return slices.Contains(accepted, name) || slices.Contains(accepted, loop.AcceptAll)
}

// layShared gives the agent's tree a copy of a path of the clone. What it says of the clone's place is said of the
// tree's, so that no tool is led back.
func (spec *Spec) layShared(name string, anew bool) error {
	to := spec.Workspace.Dir()
	if !anew && Exists(filepath.Join(to, filepath.FromSlash(name))) {
		return nil
	}
	began := time.Now()
	root, err := os.OpenRoot(to)
	if err == nil {
		err = errors.Join(files.RemoveIn(root, name), root.Close())
	}
	if err == nil {
		err = copyPath(name, spec.Clone, to, func(text string) string { return replacePath(text, spec.Clone, to) })
	}
	if err != nil {
		return fmt.Errorf("giving %s to the run: %w", name, err)
	}
	if took := time.Since(began); took > time.Second {
		spec.Log("%s is copied for the run (%s)", name, safetext.Duration(took.Round(time.Second)))
	}
	return nil
}

// Acceptable says what is wrong with the names that a person accepts: one that continues with a run is a path that is
// shared with the checks, or a finding of the newest iteration. A run that begins has no findings yet.
func Acceptable(names []string, all []*Shared, before *loop.State) error {
	if before == nil {
		return nil
	}
	var findings []string
	everyone := true // all accepts something, if only later
	paths := safetext.Map(all, func(s *Shared) string { return s.path })
	if last := before.Last(); last != nil {
		open := before.Open(last.Verdicts)
		findings, everyone = loop.Names(open), len(open) == 0 || len(loop.ForReaders(open)) > 0
	}
	for _, name := range names {
		if (name != loop.AcceptAll || !everyone) && !slices.Contains(paths, name) &&
			!slices.Contains(findings, loop.ConcernName(name)) {
			return invalid.Errorf(
				"flag --accept is %q, which is no finding to be accepted and not shared with the checks; findings are: %s; shared "+
					"are: %s", name, cmp.Or(strings.Join(findings, ", "), "none"), cmp.Or(strings.Join(paths, ", "), "none"),
			)
		}
	}
	return nil
}

// Acceptances are the findings that a person accepts: what they name besides shared paths.
func Acceptances(names []string, all []*Shared) (list []loop.Acceptance) {
	for _, name := range names {
		if !slices.ContainsFunc(all, func(s *Shared) bool { return s.path == name }) {
			list = append(list, loop.Acceptance{Name: name})
		}
	}
	return list
}

// SharedRecord is what is shared, as the run's record reports it; never nil.
func SharedRecord(all []*Shared) []loop.Shared {
	out := make([]loop.Shared, 0, len(all))
	for _, s := range all {
		out = append(out, loop.Shared{Path: s.path, Digest: s.digest})
	}
	return out
}

// sharedNames are the paths that are shared.
func (spec *Spec) sharedNames(ctx context.Context) ([]string, error) {
	if spec.Clone == "" {
		return nil, nil // there is nothing but what the commit has
	}
	if spec.namesShared() {
		return spec.namedShared(ctx)
	}
	var found []string
	if steps, err := spec.setupSteps(ctx); err != nil || len(steps) > 0 {
		if spec.Environment != "" {
			found = append(found, spec.fromTop(spec.Environment))
		}
		return found, err
	}
	for _, name := range spec.Ignored {
		if name, isDir := strings.CutSuffix(
			name, "/",
		); isDir && slices.Contains(detect.DependencyDirs, path.Base(name)) &&
			spec.sharable(ctx, name) == nil {
			found = append(found, name)
		}
	}
	return found, nil
}

// namesShared reports whether the settings say what is shared.
func (spec *Spec) namesShared() bool {
	return spec.Settings.Judge != nil && spec.Settings.Judge.Share != nil
}

func (spec *Spec) namedShared(ctx context.Context) ([]string, error) {
	var found []string
	for _, name := range spec.Settings.Judge.Share {
		given := name
		if name = path.Clean(
			filepath.ToSlash(name),
		); !filepath.IsLocal(filepath.FromSlash(name)) || name == "." || name == ".git" ||
			strings.HasPrefix(name, ".git/") {
			return nil, invalid.Errorf(
				"the setting judge.share names %q; must be paths in the clone, from its top, that git does not track",
				given,
			)
		}
		if !Exists(filepath.Join(spec.Clone, name)) {
			spec.Log("warning: the setting judge.share names %s, which is not in the clone", name)
			continue
		}
		if err := spec.sharable(ctx, name); err != nil {
			return nil, err
		}
		found = append(found, name)
	}
	return found, nil
}

// sharable says why a path cannot be shared.
func (spec *Spec) sharable(ctx context.Context, name string) error {
	at := filepath.Join(spec.Clone, filepath.FromSlash(name))
	real, err := filepath.EvalSymlinks(at)
	if err != nil {
		return invalid.Errorf("the setting judge.share names %s, which cannot be read: %w", name, err)
	}
	top, err := filepath.EvalSymlinks(spec.Clone)
	if err != nil {
		return fmt.Errorf("finding the worktree: %w", err)
	}
	if rel, err := filepath.Rel(top, real); err != nil || !filepath.IsLocal(rel) {
		return invalid.Errorf(
			"the setting judge.share names %s, which is a link that leads out of the clone, to %s: share nothing through links",
			name, real,
		)
	}
	tracked, err := spec.Tree.Tracked(ctx, name)
	if err != nil {
		return err
	}
	if tracked {
		return invalid.Errorf(
			"the setting judge.share names %s, which git tracks: the checks have it from the commit; take it out of the setting",
			name,
		)
	}
	return nil
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
	return strings.HasSuffix(name, ".pyc") ||
		slices.ContainsFunc(
			strings.Split(name, "/"), func(part string) bool { return slices.Contains(cachedNames, part) },
		)
}

// digestOf is the digest of a path in a directory: of every name, mode and content, but caches. No link is followed.
func digestOf(dir, name string) (string, error) {
	sum := sha256.New()
	top, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer top.Close()
	in, err := top.OpenRoot(filepath.FromSlash(path.Dir(name)))
	if err != nil {
		return "", err
	}
	defer in.Close()
	info, err := in.Lstat(path.Base(name))
	if err != nil {
		return "", err
	}
	add := func(e files.Entry) error { return addEntry(sum, e, path.Join(name, e.Path)) }
	err = add(files.Entry{In: in, Name: path.Base(name), Info: info})
	if err == nil && info.IsDir() {
		var sub *os.Root
		if sub, err = in.OpenRoot(path.Base(name)); err == nil {
			err = errors.Join(files.Walk(sub, add), sub.Close())
		}
	}
	if errors.Is(err, fs.SkipDir) {
		err = nil
	}
	return fmt.Sprintf("sha256:%x", sum.Sum(nil)), err
}

// addEntry adds what is at a path from the top.
func addEntry(w io.Writer, e files.Entry, at string) error {
	if cached(at) {
		if e.Info.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	fmt.Fprintf(w, "%s\x00%s\x00", at, e.Info.Mode())
	switch {
	case e.Info.Mode()&fs.ModeSymlink != 0:
		to, err := e.In.Readlink(e.Name)
		fmt.Fprintf(w, "%s\x00", to)
		return err
	case e.Info.Mode().IsRegular():
		file, _, err := files.Open(e.In, e.Name)
		if err != nil {
			return err
		}
		defer file.Close()
		n, err := io.Copy(w, file)
		fmt.Fprintf(w, "\x00%d\x00", n)
		return err
	}
	return nil
}

// Environment is the virtual environment of Python in a person's clone that detected checks use, as seen from the
// working directory: ".venv"; "" none. known and accepted are as of Share: one that came after a run's first turn is
// the agent's.
func Environment(
	ctx context.Context, p Place, set config.Settings, known []loop.Shared, accepted []string,
) (string, error) {
	spec := &Spec{Place: p, Rules: Rules{Settings: set}}
	name := environmentIn(filepath.Join(p.Clone, filepath.FromSlash(set.WorkingDirectory)))
	if name == "" || p.Clone == "" {
		return "", nil
	}
	at := spec.fromTop(name)
	if cameLater(known, accepted, at) || !slices.Contains(p.Ignored, at+"/") || spec.sharable(ctx, at) != nil {
		return "", nil
	}
	return name, nil
}
