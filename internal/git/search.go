package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Bounds of git's output in a search, in bytes. A larger repository is searched in part.
const (
	mostNames = 16 << 20
	mostHits  = 4 << 20
)

// Entry is a regular file of a commit.
type Entry struct {
	Path string // from the top
	Size int    // bytes
}

// Files lists the regular files of a commit: no links, no submodules.
func (o *objects) Files(ctx context.Context, commit string) ([]Entry, error) {
	out := bounded{most: mostNames}
	if _, _, err := o.git.run(ctx,
		call{out: &out, args: []string{"ls-tree", "-r", "-t", "-l", "-z", "--full-tree", commit}}); err != nil {
		return nil, fmt.Errorf("listing the files of commit %.12s: %w", commit, err)
	}
	var entries []Entry
	top := map[string]entry{}
	for _, record := range whole(out, "\x00") {
		about, path, _ := strings.Cut(record, "\t")
		f := strings.Fields(about) // mode, type, id, size
		if len(f) != 4 {
			continue
		}
		e := entry{f[0], f[2], path}
		if !strings.Contains(path, "/") {
			top[path] = e
		}
		if size, err := strconv.Atoi(f[3]); err == nil && e.regular() {
			entries = append(entries, Entry{path, size})
		}
	}
	if out.lost == 0 && isID(commit) {
		o.known.directories.keep(commit+":", top)
	}
	return entries, nil
}

// Names lists what is in a directory of a commit, without the directory's own name; nothing when there is no such
// directory.
func (o *objects) Names(ctx context.Context, commit, dir string) ([]string, error) {
	if _, ok, err := o.entry(ctx, commit, dir); err != nil || !ok {
		return nil, err
	}
	all, err := o.directory(ctx, commit, dir+"/")
	var names []string
	for name := range all {
		names = append(names, strings.TrimPrefix(name, dir+"/"))
	}
	slices.Sort(names)
	return names, err
}

// List names what is at the top of a commit's tree.
func (o *objects) List(ctx context.Context, commit string) ([]string, error) {
	all, err := o.directory(ctx, commit, "")
	return slices.Sorted(maps.Keys(all)), err
}

// Hit is a line of a file that a search has found.
type Hit struct {
	Path string
	Line int // 1-based
	Text string
}

// Grep finds the lines of a commit's text files that hold one of the words. They are no patterns: each is searched for as
// it is, with nothing before or after it that belongs to a word.
func (o *objects) Grep(ctx context.Context, commit string, words []string) ([]Hit, error) {
	if len(words) == 0 {
		return nil, nil
	}
	args := []string{"grep", "-z", "-n", "-I", "-F", "-w", "--no-color", "--full-name", "--no-column",
		"--no-recurse-submodules", "--no-textconv"}
	for _, word := range words {
		args = append(args, "-e", word)
	}
	out := bounded{most: mostHits}
	_, _, err := o.git.run(ctx, call{out: &out, args: append(args, commit, "--")})
	var e *commandError
	if err != nil && (!errors.As(err, &e) || e.Exit != 1) { // 1: nothing was found
		return nil, fmt.Errorf("searching commit %.12s: %w", commit, err)
	}
	var hits []Hit
	for _, record := range whole(out, "\n") { // commit:path NUL line NUL text
		path, rest, _ := strings.Cut(record, "\x00")
		path, begins := strings.CutPrefix(path, commit+":") // what does not is the rest of a name that a line ends in
		number, text, ok := strings.Cut(rest, "\x00")
		n, err := strconv.Atoi(number)
		if !begins || !ok || err != nil {
			continue
		}
		hits = append(hits, Hit{path, n, text})
	}
	return hits, nil
}

// whole are the parts of a bounded output; the one that the bound cut through is dropped.
func whole(out bounded, sep string) []string {
	parts := strings.Split(out.kept.String(), sep)
	return parts[:len(parts)-1]
}
