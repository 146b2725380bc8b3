package check

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// deed says in words what the change does to a file of tests; "": to all of them.
func (r *replay) deed(file string) string {
	switch {
	case slices.Contains(r.files.Deleted, file):
		return "the change deletes " + shownName(file)
	case file != "":
		return "the change edits " + shownName(file)
	case len(r.files.Touched()) > 0:
		return "the change edits or deletes " + few(r.files.Touched())
	}
	return "the change adds " + few(r.files.Added)
}

func quoted(test string) string { return safetext.Shorten(safetext.OneLine(test), 120) }

// fileOf is the file of tests that the change touches and that a failing test belongs to; "" when that cannot be told.
func (r *replay) fileOf(ctx context.Context, f loop.Finding) (string, error) {
	touched := r.files.Touched()
	for _, name := range touched {
		if f.File != "" && samePath(f.File, name) {
			return name, nil
		}
	}
	for _, name := range touched {
		content, ok, err := r.Changes.File(ctx, r.at.State.Start.Base, name)
		if err != nil {
			return "", err
		}
		if ok && slices.ContainsFunc(namesOf(f.Test), func(word string) bool { return holdsWord(string(content), word) }) {
			return name, nil
		}
	}
	if len(touched) == 1 {
		return touched[0], nil
	}
	return "", nil
}

// namesOf are the ways in which a file may write the name of a test, the most exact one first.
func namesOf(test string) []string {
	names := []string{test}
	for _, sep := range []string{" > ", " › ", "::", "/", ".", " "} {
		if i := strings.LastIndex(test, sep); i >= 0 {
			names = append(names, strings.Trim(test[i+len(sep):], "()"))
		}
	}
	if i := strings.IndexAny(test, "/ (["); i > 0 {
		names = append(names, test[:i])
	}
	return slices.DeleteFunc(names, func(name string) bool { return len(name) < 4 })
}

// samePath reports whether a tool's path is a file's, from whatever directory the tool names it.
func samePath(said, name string) bool {
	said = strings.TrimPrefix(path.Clean(strings.ReplaceAll(said, `\`, "/")), "file://")
	return said == name || strings.HasSuffix(said, "/"+name) || strings.HasSuffix(name, "/"+said)
}

// diff is what the change does to a file of tests.
func (r *replay) diff(ctx context.Context, name string) (string, error) {
	if r.patch == "" {
		text, _, err := r.Changes.Patch(ctx, r.at.State.Start.Base, r.at.Iteration.Commit.SHA)
		if err != nil {
			return "", err
		}
		r.patch = "\n" + text
	}
	_, rest, ok := strings.Cut(r.patch, "\ndiff --git a/"+name+" ")
	if !ok {
		return "", nil
	}
	section, _, _ := strings.Cut(rest, "\ndiff --git ")
	if at := strings.Index(section, "\n--- "); at >= 0 {
		section = section[at+1:]
	}
	return strings.ToValidUTF8(section, "\uFFFD") + "\n", nil
}

// loading matches the lines by which compilers and test runners name a file that they cannot take in, with the file.
var loading = []*pattern{
	lazy(`^(?:vet: )?(\S+\.go):\d+:\d+: `),                                         // go
	lazy(`^(\S+?):\d+:\d+:? (?:- )?(?:fatal )?error\b`),                            // gcc, clang, tsc --pretty, ocaml
	lazy(`^(\S+?)\(\d+,\d+\): error `),                                             // tsc, dotnet
	lazy(`^(?:\[ERROR\] )?(?:e: )?(\S+\.\w+):(?:\[\d+,\d+\]|\d+: error:|\d+:\d+)`), // maven, javac, kotlinc
	lazy(`\bERROR collecting (\S+)`),                                               // pytest
	lazy(`^An error occurred while loading (\S+?)\.?$`),                            // rspec
	lazy(`^(?:PHP )?(?:Fatal|Parse) error: .* in (\S+?)(?: on line|:)`),            // php
	lazy(`^\*\* \(\w*Error\) (\S+\.exs?):`),                                        // mix
}

var (
	rustError = lazy(`^error(?:\[E\d+\])?: `)
	rustPlace = lazy(`^\s*--> (\S+?):\d+:\d+`)
	// unittestModule is how unittest names a file of tests that it cannot load.
	unittestModule = lazy(`^ImportError: Failed to import test module: ([\w.]+)$`)
	// unlinked matches what a loader of modules says, which names the file in the lines around.
	unlinked = lazy(
		`^(?:\w*Error: )?(?:Cannot find (?:module|package) |.*SyntaxError: The requested module |.*does not provide an export named)`)
)

// unloadable reports whether an output says that a file cannot be compiled or loaded.
func unloadable(output, name string) bool {
	lines := strings.Split(output, "\n")
	inError := false
	for i, text := range lines {
		text = clipped(strings.TrimRight(text, "\r"))
		if rustError.MatchString(text) {
			inError = true
		} else if strings.HasPrefix(text, "warning") || text == "" {
			inError = false
		}
		if m := rustPlace.FindStringSubmatch(text); m != nil && inError && samePath(m[1], name) {
			return true
		}
		for _, p := range loading {
			if m := p.FindStringSubmatch(text); m != nil && samePath(m[1], name) {
				return true
			}
		}
		if m := unittestModule.FindStringSubmatch(text); m != nil &&
			samePath(strings.ReplaceAll(m[1], ".", "/")+".py", name) {
			return true
		}
		if unlinked.MatchString(text) && mentionsFile(strings.Join(lines[max(0, i-6):min(len(lines), i+12)], "\n"), name) {
			return true
		}
	}
	return false
}

// absent matches how compilers, shells and test runners say that a file does not exist.
var absent = lazy(`(?i)no such file|not found|no matching files|(?:can(?:not|.t| not)|could(?: not|n.t)|unable to) ` +
	`(?:find|open|locate|load|read|resolve|stat)|no module named|no rule to make|ENOENT|not exist|missing|unresolved`)

// misses reports whether an output says that a file does not exist: in a line that names it, or in one beside it.
func misses(output, name string) bool {
	lines := strings.Split(output, "\n")
	for i, text := range lines {
		if mentionsFile(clipped(text), name) &&
			slices.ContainsFunc(lines[max(0, i-1):min(len(lines), i+2)], func(near string) bool {
				return absent.MatchString(clipped(near))
			}) {
			return true
		}
	}
	return false
}

// mentionsFile reports whether a text names a file: by its path, or by its last name.
func mentionsFile(text, name string) bool {
	base := path.Base(name)
	if holdsWord(text, base) {
		return true
	}
	stem := strings.TrimSuffix(base, path.Ext(base))
	return len(stem) > 5 && strings.Contains(stem, "test") && holdsWord(text, stem)
}
