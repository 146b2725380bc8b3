package check

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// named reports whether all tests that ran are known by name.
func named(t *loop.TestNames) bool { return t != nil && !t.Cut && len(t.Passed)+len(t.Failed) > 0 }

// testOf is the name of a test without the group that it is of.
func testOf(name string) string { return name[strings.LastIndexByte(name, '\t')+1:] }

func setOf(lists ...[]string) map[string]bool {
	set := map[string]bool{}
	for _, list := range lists {
		for _, name := range list {
			set[name] = true
		}
	}
	return set
}

func ownName(name string) string {
	for _, sep := range []string{"\t", "::", " > ", " › "} {
		name = name[strings.LastIndex(name, sep)+1:]
		name = strings.TrimPrefix(name, sep[1:])
	}
	return name
}

// ownNames are tests without the groups and files that they are in.
func ownNames(t *loop.TestNames) map[string]bool {
	set := map[string]bool{}
	for name := range setOf(t.Passed, t.Failed, t.Skipped) {
		set[ownName(name)] = true
	}
	return set
}

// lacking are the names of one set that another has not, in order.
func lacking(from, of map[string]bool) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(from)), func(name string) bool { return of[name] })
}

// written are the ways in which a file may write a test's own name.
func written(own string) (words []string) {
	last := own[strings.LastIndexByte(own, '/')+1:]
	bare, _, _ := strings.Cut(strings.ReplaceAll(last, " (", "["), "[")
	for _, w := range []string{own, last, bare, strings.ReplaceAll(bare, "_", " ")} {
		if len(w) > 3 && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return words
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

func quoted(test string) string { return safetext.Shorten(safetext.OneLine(test), 120) }
