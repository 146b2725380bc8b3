package engine

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/prompt"
)

// What a stuck run is shown of its repository.
const (
	lookTime    = 20 * time.Second
	mostLooked  = 5         // names that are looked for
	mostShown   = 6         // excerpts
	mostContext = 8 << 10   // bytes of them together
	mostFile    = 512 << 10 // bytes of a file that somebody wrote by hand
	aroundLine  = 20        // lines before and after the place of a failure
	ofDefined   = 20        // lines from a definition on
	ofNamed     = 40        // lines of a file that is named like what is missing
)

// lookUp finds the files that a failure says are missing, or would define what it says is missing: of the run's commit,
// through git alone. What cannot be read is left out; the run goes on without it. ctx is that of the whole run.
func (spec *Spec) lookUp(ctx context.Context) func(s loop.State, v loop.Verdict) prompt.Found {
	if spec.Tree == nil {
		return nil
	}
	return func(s loop.State, v loop.Verdict) prompt.Found {
		ctx, cancel := context.WithTimeout(ctx, lookTime)
		defer cancel()
		names := v.MissingNames[:min(len(v.MissingNames), mostLooked)]
		l := &search{tree: spec.Tree, commit: s.Head()}
		if err := l.find(ctx, names, v.Findings); err != nil {
			spec.Log("warning: looking for what the failure says is missing (%s): %v", strings.Join(names, ", "), err)
		}
		found := prompt.Found{Looked: names, Defined: l.defined}
		for _, p := range l.places {
			if e, ok := l.excerpt(ctx, p); ok {
				found.Excerpts = append(found.Excerpts, e)
			}
		}
		return found
	}
}

// find goes from what is surest to what is least: the place of the failure, files of the name, definitions of the name,
// and what is named almost like it.
func (l *search) find(ctx context.Context, names []string, findings []loop.Finding) error {
	entries, err := l.tree.Files(ctx, l.commit)
	if err != nil {
		return err
	}
	l.known = map[string]bool{}
	for _, e := range entries {
		if e.Size <= mostFile && !foreign(e.Path) {
			l.files = append(l.files, e.Path)
			l.known[e.Path] = true
		}
	}
	l.failed(findings)
	var open []string // symbols and names that no exact match was found for
	for _, name := range names {
		if !l.named(name) {
			open = append(open, name)
		}
	}
	defined, err := l.definitions(ctx, names)
	if err != nil {
		return err
	}
	open = slices.DeleteFunc(open, func(name string) bool { return defined[name] })
	l.defined = len(open) < len(names)
	return l.nearest(ctx, open)
}

// failed adds the first place of the failure that is a file of ours.
func (l *search) failed(findings []loop.Finding) {
	for _, f := range findings {
		name := path.Clean(strings.TrimPrefix(f.File, "/"))
		if f.Line < 1 || !l.known[name] {
			continue
		}
		l.add(place{name, max(f.Line-aroundLine, 1), f.Line + aroundLine, "where it failed"})
		return
	}
}

// foreign reports whether a file is somebody else's, made by a tool, or ralph's own.
func foreign(name string) bool {
	for _, dir := range strings.Split(path.Dir(name), "/") {
		if slices.Contains(
			[]string{
				"vendor", "node_modules", "third_party", "bower_components", "site-packages", ".venv", "venv", "dist",
				"target", "__pycache__", ".git", ".ralph",
			},
			dir,
		) {
			return true
		}
	}
	return strings.Contains(name, ".min.") || strings.HasSuffix(name, ".lock") || strings.HasSuffix(name, ".map") ||
		strings.ContainsAny(name, "\n\r\x00")
}

// named adds the files that a name may mean, and reports whether there are any.
func (l *search) named(name string) bool {
	for _, form := range forms(name) {
		var found []string
		for _, file := range l.files {
			if means(form, file) {
				found = append(found, file)
			}
		}
		slices.SortStableFunc(found, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
		for _, file := range found[:min(len(found), 2)] {
			l.add(place{file, 1, ofNamed, fmt.Sprintf("is named like %s", name)})
		}
		if len(found) > 0 {
			return true
		}
	}
	return false
}

// forms are the paths that a name can stand for, the surest first: "./src/x" is src/x, "foo.bar" is foo/bar,
// "crate::foo::Bar" is foo/Bar or foo, and of a Go package's path its tail.
func forms(name string) []string {
	name = strings.Trim(strings.NewReplacer("\\", "/", "::", "/").Replace(name), `'"/ `)
	for {
		cut := name
		for _, lead := range []string{"./", "../", "@/", "~/", "crate/", "super/", "self/"} {
			cut = strings.TrimPrefix(cut, lead)
		}
		if cut == name {
			break
		}
		name = cut
	}
	name = strings.TrimLeft(name, ".")
	if name == "" || len(name) > 200 {
		return nil
	}
	out := []string{name}
	if dotted := strings.ReplaceAll(name, ".", "/"); dotted != name && !strings.Contains(name, "/") {
		out = append(out, dotted)
		name = dotted
	}
	parts := strings.Split(name, "/")
	for i := 1; i < len(parts) && i <= 6; i++ { // a module's own name, or the host before it, is no directory here
		out = append(out, strings.Join(parts[i:], "/"))
	}
	if len(parts) > 1 {
		out = append(out, strings.Join(parts[:len(parts)-1], "/"))
	}
	return slices.DeleteFunc(out, func(form string) bool { return len(form) < 2 })
}

// means reports whether a file is what a form names: the file itself, without its extension, the file that a directory
// is known by, or one of a Go package.
func means(form, file string) bool {
	at := func(p string) bool { return p == form || strings.HasSuffix(p, "/"+form) }
	stem := strings.TrimSuffix(file, path.Ext(file))
	dir, base := path.Split(stem)
	dir = strings.TrimSuffix(dir, "/")
	switch {
	case at(file), path.Ext(file) != "" && at(stem):
		return true
	case base == "__init__", base == "index", base == "mod", base == "lib":
		return at(dir)
	}
	return strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") && at(dir)
}
